package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestSettlerWaits(t *testing.T) {
	t.Parallel()
	t0 := time.Unix(1000, 0)
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	s := debouncer{quiet: 300 * time.Millisecond, ceiling: 2 * time.Second}
	if !s.empty() {
		t.Fatal("a new settler holds something")
	}
	s.path("b.md", false, at(0))
	if got := s.wait(at(0)); got != 300*time.Millisecond {
		t.Errorf("after one event it waits %v", got)
	}
	s.path("a.md", false, at(200))
	if got := s.wait(at(250)); got != 250*time.Millisecond {
		t.Errorf("a second event does not start the rest again: %v", got)
	}
	for ms := 300; ms <= 1900; ms += 100 {
		s.path("b.md", false, at(ms))
	}
	if got := s.wait(at(1900)); got != 100*time.Millisecond {
		t.Errorf("the ceiling does not hold: %v", got)
	}
	if got := s.wait(at(5000)); got != 0 {
		t.Errorf("overdue by %v", got)
	}
	b := s.take()
	if !slices.Equal(b.Paths, []string{"a.md", "b.md"}) || b.Rescan || !s.empty() {
		t.Errorf("%+v", b)
	}
}

func TestSettlerRescans(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		fill func(*debouncer)
		want Reason
	}{
		"overflow": {func(s *debouncer) {
			s.path("a.md", false, now)
			s.all(Overflow, now)
			s.all(Interval, now)
			s.path("b.md", false, now)
		}, Overflow},
		"many paths": {func(s *debouncer) {
			for i := range manyPaths + 1 {
				s.path(fmt.Sprint(i), false, now)
			}
		}, ManyPaths},
		"many vanished": {func(s *debouncer) {
			for i := range manyVanished + 1 {
				s.path(fmt.Sprint(i), true, now)
			}
		}, ManyPaths},
		"a few vanished": {func(s *debouncer) {
			for i := range manyVanished {
				s.path(fmt.Sprint(i), true, now)
			}
		}, ""},
	} {
		var s debouncer
		c.fill(&s)
		if b := s.take(); b.Reason != c.want || b.Rescan != (c.want != "") || b.Rescan && b.Paths != nil {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

func TestBatchMerge(t *testing.T) {
	t.Parallel()
	a := Batch{Paths: []string{"a", "c"}}
	if got := a.merge(Batch{Paths: []string{"b", "c"}}); !slices.Equal(got.Paths, []string{"a", "b", "c"}) {
		t.Errorf("%+v", got)
	}
	all := Batch{Rescan: true, Reason: Wake}
	if got := a.merge(all); !got.Rescan || got.Paths != nil {
		t.Errorf("%+v", got)
	}
	if got := all.merge(a); !got.Rescan || got.Paths != nil {
		t.Errorf("%+v", got)
	}
}

func TestJumped(t *testing.T) {
	t.Parallel()
	t0 := time.Unix(1_000_000, 0)
	for d, want := range map[time.Duration]bool{
		5 * time.Second: false, 30 * time.Second: false, 2 * time.Minute: true, 10 * 365 * 24 * time.Hour: true,
		-time.Hour: true, -time.Millisecond: false,
	} {
		if got := jumped(t0, t0.Add(d), 5*time.Second); got != want {
			t.Errorf("%v: %v", d, got)
		}
	}
}
