package audit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/machine/state"
)

// Must is the last entry that has to be there: the one that is known, or a later
// one that the anchor names.
func (l *Log) Must(known End) End {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, err := l.secret(tail{}, false)
	if err != nil {
		return known
	}
	a, err := l.readAnchor(key)
	if err != nil {
		return known
	}
	return a.must(known)
}

// KeptBefore is the last entry whose records were written in this run of the
// computer; 0 when nobody knows. It is asked before the records are looked at.
func (l *Log) KeptBefore() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, err := l.secret(tail{}, false)
	if err != nil {
		return 0
	}
	a, err := l.readAnchor(key)
	if err != nil || a.Boot == "" || a.Boot != boot() {
		return 0
	}
	return a.Kept
}

// Head tells where the log ends; zero when there is none. Problem says why the
// entries cannot be proved, when the key is missing, damaged or another one.
func (l *Log) Head() (end End, problem, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _, err := l.openBeside()
	if errors.Is(err, fs.ErrNotExist) {
		return End{}, nil, nil
	}
	if err != nil {
		return End{}, nil, state.Explain(err, l.path)
	}
	defer f.Close()
	last, err := readTail(f)
	if err != nil {
		return End{}, nil, state.Explain(err, l.path)
	}
	if last.line != nil {
		key, err := l.secret(last, false)
		if err == nil && !last.proved(key) {
			err = l.badKey("is not the key of this log")
		}
		if errors.Is(err, errKey) {
			problem = err
		}
	}
	return End{last.last.Seq, last.last.MAC}, problem, nil
}

// block is how much of the end of the log is read first.
const block = 32 << 10

// Since returns the entries with larger numbers, in order, without proving them.
// For 0 it also reads the logs that were kept when a new one began. What cannot
// be read is left out.
func (l *Log) Since(ctx context.Context, after int64) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Entry
	if after == 0 {
		for _, path := range l.Broken() {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, state.Explain(err, path)
			}
			list = append(list, entries(text, 0)...)
		}
	}
	f, size, err := l.openBeside()
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, state.Explain(err, l.path)
	}
	defer f.Close()
	for want := int64(block); ; want *= 8 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := max(0, size-want)
		buf := make([]byte, size-from)
		if _, err := f.ReadAt(buf, from); err != nil {
			return nil, state.Explain(err, l.path)
		}
		if from > 0 && after > 0 {
			_, buf, _ = bytes.Cut(buf, []byte("\n"))
			if found := entries(buf, 0); len(found) == 0 || found[0].Seq > after+1 {
				continue
			}
		} else if from > 0 {
			continue
		}
		return append(list, entries(buf, after)...), nil
	}
}

// Broken lists the logs that were kept because their key was lost, oldest first.
func (l *Log) Broken() []string {
	list, _ := filepath.Glob(strings.TrimSuffix(l.path, ".jsonl") + ".broken-*.jsonl") // the pattern is valid
	slices.Sort(list)
	return list
}

func entries(text []byte, after int64) (list []Entry) {
	for line := range bytes.Lines(text) {
		if e, ok := parseEntry(line); ok && e.Seq > after {
			list = append(list, e)
		}
	}
	return list
}
