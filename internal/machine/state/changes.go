package state

import (
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// Changes tells when the file was written, by whichever process, until stop is
// called. Several writes may be told as one. The channel is nil where the system
// does not tell: then whoever waits has to look.
func (f *File) Changes() (changed <-chan struct{}, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.waiting == nil && !f.follow() {
		return nil, func() {}
	}
	c := make(chan struct{}, 1)
	f.waiting[c] = true
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiting, c)
		if len(f.waiting) == 0 && f.events != nil {
			_ = f.events.Close() // only read
			f.events, f.waiting = nil, nil
		}
	}
}

// follow begins to listen to the folder: one watch for all who wait, because a
// system has few.
func (f *File) follow() bool {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	if err := w.Add(f.dir); err != nil {
		_ = w.Close() // only opened
		return false
	}
	f.events, f.waiting = w, map[chan struct{}]bool{}
	go f.tellChanges(w)
	return true
}

// tellChanges passes events on until the watch is closed. An error may have lost
// some of them.
func (f *File) tellChanges(w *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if !strings.HasPrefix(filepath.Base(e.Name), fileName) || e.Op == fsnotify.Chmod {
				continue
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
		}
		f.mu.Lock()
		if f.events == w {
			for c := range f.waiting {
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
		f.mu.Unlock()
	}
}
