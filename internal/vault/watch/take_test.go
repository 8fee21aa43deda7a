package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// patient settles nothing by itself while a test runs: what is taken was asked
// for.
var patient = Options{Quiet: generous, Ceiling: generous, Check: generous}

func TestTakeKnowsWhatWasSavedBefore(t *testing.T) {
	t.Parallel()
	if !eventsInOrder {
		t.Skip("events come in no order here")
	}
	dir := t.TempDir()
	put(t, dir, "sub/a.md")
	opt := patient
	opt.Marks = filepath.Join(t.TempDir(), "marks")
	w := watch(t, dir, opt)
	for i := range 300 {
		name := fmt.Sprintf("sub/n%d.md", i)
		if i%3 == 0 {
			name = fmt.Sprintf("new%d/below/n.md", i)
		}
		put(t, dir, name)
		b, sure, err := w.Take(t.Context())
		if err != nil || !sure || !b.Rescan && !slices.Contains(b.Paths, name) {
			t.Fatalf("after %s: %+v, sure %v, %v", name, b, sure, err)
		}
		if w.Behind() {
			t.Fatal("what was taken still waits")
		}
	}
	if left, err := os.ReadDir(opt.Marks); err != nil || len(left) > 0 {
		t.Errorf("%d marks are left, %v", len(left), err)
	}
}

func TestBehindFromTheFirstEvent(t *testing.T) {
	t.Parallel()
	needEvents(t)
	dir := t.TempDir()
	w := watch(t, dir, patient)
	put(t, dir, "a.md")
	for !w.Behind() {
		if t.Context().Err() != nil {
			t.Fatal("the event never came")
		}
	}
	if b, sure, err := w.Take(t.Context()); err != nil || sure || !slices.Equal(b.Paths, []string{"a.md"}) {
		t.Errorf("%+v, sure %v, %v", b, sure, err)
	}
}

func TestTakeIsNotSure(t *testing.T) {
	t.Parallel()
	marks := filepath.Join(t.TempDir(), "marks")
	for name, opt := range map[string]Options{
		"without marks": patient,
		"polling":       {Quiet: generous, Ceiling: generous, Check: generous, Polling: true, Marks: marks},
		"marks that cannot be made": {
			Quiet: generous, Ceiling: generous, Check: generous, Marks: filepath.Join(os.DevNull, "marks"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, t.TempDir(), opt)
			if _, sure, err := w.Take(t.Context()); sure || err != nil {
				t.Errorf("sure %v, %v", sure, err)
			}
		})
	}
	t.Run("a mark that is never heard of", func(t *testing.T) {
		t.Parallel()
		f := newFake(9)
		opt := with(quick, f)
		opt.Marks = filepath.Join(t.TempDir(), "marks")
		w := watch(t, t.TempDir(), opt)
		if _, sure, err := w.Take(t.Context()); sure || err != nil {
			t.Errorf("sure %v, %v", sure, err)
		}
	})
}
