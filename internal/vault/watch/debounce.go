package watch

import (
	"slices"
	"time"

	"lore/internal/vault"
)

// A Reason says why everything should be looked at again.
type Reason string

// The reasons of a rescan.
const (
	AtStart     Reason = "start"
	Overflow    Reason = "overflow"     // events were lost
	WatchLimit  Reason = "watch limit"  // the system grants no more watches
	Interval    Reason = "interval"     // the regular look
	Wake        Reason = "wake"         // the machine slept, or the clock was set
	RootChanged Reason = "root changed" // the vault's folder went away or is another one
	Returned    Reason = "returned"     // the vault's folder is back
	Mounted     Reason = "mounted"      // a file system in the vault came or went
	FolderMoved Reason = "folder moved" // a folder went away or has another name
	ManyPaths   Reason = "many paths"   // one look is cheaper, and safer, than so many hints
)

// A Batch is a hint: these paths settled, or everything may have changed. A
// path in it may be new, changed, gone, or the same as before. That it is gone
// is for a walk to say ([vault.Listing.Gone]): the folder itself may be what is gone.
type Batch struct {
	Paths  []string // keys, sorted, each once; empty when Rescan is set
	Rescan bool
	Reason Reason // of a rescan
}

const (
	// manyPaths is where a batch becomes a rescan.
	manyPaths = 1000
	// A batch in which this many names vanished becomes a rescan too, because
	// only a walk can tell deleted notes from a vault that went away.
	manyVanished = vault.ManyGone
)

// A debouncer gathers hints until the files are quiet, but not for ever. It holds
// no clock: its caller says what time it is.
type debouncer struct {
	quiet, ceiling time.Duration
	paths          map[string]struct{}
	vanished       int
	reason         Reason
	first, last    time.Time // of the hints that wait
}

// path takes in a hint about one file.
func (s *debouncer) path(key string, vanished bool, now time.Time) {
	s.touch(now)
	if s.reason != "" {
		return
	}
	if s.paths == nil {
		s.paths = map[string]struct{}{}
	}
	s.paths[key] = struct{}{}
	if vanished {
		s.vanished++
	}
	if len(s.paths) > manyPaths || s.vanished > manyVanished {
		s.all(ManyPaths, now)
	}
}

// all takes in that everything may have changed. The first reason stays.
func (s *debouncer) all(r Reason, now time.Time) {
	s.touch(now)
	if s.reason == "" {
		s.reason = r
	}
	s.paths, s.vanished = nil, 0
}

func (s *debouncer) touch(now time.Time) {
	if s.empty() {
		s.first = now
	}
	s.last = now
}

func (s *debouncer) empty() bool { return s.reason == "" && len(s.paths) == 0 }

// wait is how long the hints must still rest; it is never negative.
func (s *debouncer) wait(now time.Time) time.Duration {
	quiet := s.quiet - now.Sub(s.last)
	ceiling := s.ceiling - now.Sub(s.first)
	return max(0, min(quiet, ceiling, s.quiet))
}

// take returns the hints and forgets them.
func (s *debouncer) take() Batch {
	b := Batch{Rescan: s.reason != "", Reason: s.reason}
	for p := range s.paths {
		b.Paths = append(b.Paths, p)
	}
	slices.Sort(b.Paths)
	*s = debouncer{quiet: s.quiet, ceiling: s.ceiling}
	return b
}

// merge joins a batch that nobody has taken yet with a later one.
func (b Batch) merge(later Batch) Batch {
	switch {
	case b.Rescan:
		return b
	case later.Rescan:
		return later
	}
	b.Paths = append(b.Paths, later.Paths...)
	slices.Sort(b.Paths)
	b.Paths = slices.Compact(b.Paths)
	if len(b.Paths) > manyPaths {
		return Batch{Rescan: true, Reason: ManyPaths}
	}
	return b
}

// jumped reports whether the wall clock moved otherwise than the passing of
// every explains: the machine slept, or someone set the clock.
func jumped(last, now time.Time, every time.Duration) bool {
	d := now.Round(0).Sub(last.Round(0)) // without the monotonic part, which stops in sleep
	return d < -time.Second || d > every+time.Minute
}
