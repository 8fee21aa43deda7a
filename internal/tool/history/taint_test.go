package history_test

import (
	"testing"
	"time"

	"lore/internal/machine/state"
	"lore/internal/tool/history"
)

// TestTaintsOfAnotherProcess: who was tainted by another process is so here at
// once, although the answer is kept in memory.
func TestTaintsOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	open := func() *history.Store {
		f := state.In(dir)
		t.Cleanup(func() { _ = f.Close() })
		return history.New(f, history.Options{})
	}
	here, there := open(), open()
	at := time.Now()
	for _, s := range []*history.Store{here, there} {
		if got, err := s.TaintedAt(t.Context(), "a"); err != nil || !got.IsZero() {
			t.Fatal(got, err)
		}
	}
	for i, who := range []string{"a", "b", "a"} {
		when := at.Add(time.Duration(i) * time.Minute)
		if err := there.Taint(t.Context(), who, when, at.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*history.Store{here, there, open()} {
			if got, err := s.TaintedAt(t.Context(), who); err != nil || !got.Equal(when) {
				t.Errorf("%d: %v, %v, want %v", i, got, err, when)
			}
		}
	}
	if got, err := here.TaintedAt(t.Context(), "c"); err != nil || !got.IsZero() {
		t.Error(got, err)
	}
}
