package index_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"lore/internal/change"
)

// TestFilesAreTold: whoever listens hears which files became different, and
// finds them in the index then.
func TestFilesAreTold(t *testing.T) {
	b := newBench(t, nil)
	sub := b.bus.Subscribe(change.TopicFiles)
	defer sub.Close()
	next := func() change.Files {
		t.Helper()
		none := make(chan struct{})
		close(none)
		e, ok := sub.Next(none)
		if !ok {
			return change.Files{}
		}
		return e.Data.(change.Files)
	}
	b.write("a.md", "alpha")
	b.write("b.md", "beta")
	b.sync()
	if got := next(); !reflect.DeepEqual(got, change.Files{Many: true}) {
		t.Errorf("the first time: %+v", got)
	}
	b.sync()
	if got := next(); !got.None() {
		t.Errorf("nothing happened: %+v", got)
	}
	b.write("a.md", "another alpha")
	must(t, os.Rename(filepath.Join(b.dir, "b.md"), filepath.Join(b.dir, "c.md")))
	b.sync()
	if got, want := next(), (change.Files{Added: []string{"c.md"}, Changed: []string{"a.md"}, Removed: []string{"b.md"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.write("c.md", "gamma, and more of it")
	_, err := b.ix.Update(t.Context(), []string{"c.md", "none.md"})
	must(t, err)
	if got, want := next(), (change.Files{Changed: []string{"c.md"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
