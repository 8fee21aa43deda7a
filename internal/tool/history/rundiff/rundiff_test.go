package rundiff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// TestIn: the steps of one caller come to one edit for each file, counted from
// what a person approved last.
func TestIn(t *testing.T) {
	file := state.In(t.TempDir())
	h := history.New(file, history.Options{Now: func() time.Time { return now }})
	t.Cleanup(func() { _ = errors.Join(h.Close(), file.Close()) })
	n := 0
	did := func(run, question string, edits ...change.Edit) {
		t.Helper()
		n++
		op := tool.Operation{
			ID: fmt.Sprint("op-", n), Time: now, Tool: "edit_note", Question: question, Edits: edits,
			Who: access.Principal{Kind: access.Agent, ID: run, Surface: "web"},
		}
		if err := errors.Join(h.Begin(t.Context(), op), h.Finish(t.Context(), op.ID, tool.Applied, "")); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, run string, since time.Time, want string) {
		t.Helper()
		set, err := In(h)(t.Context(), access.Principal{Kind: access.Agent, ID: run}, since)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range set {
			before := "-"
			if e.Before != nil {
				before = *e.Before
			}
			out = append(out, e.Path+" "+before+">"+*e.After)
		}
		slices.Sort(out)
		if got := strings.Join(out, ", "); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	did("run-1", "", change.Replace("a.md", "one", "two"))
	did("run-2", "", change.Replace("b.md", "b", "of another run"))
	did("run-1", "", change.Move("a.md", "x/a.md"))
	did("run-1", "", change.Replace("x/a.md", "two", "three"))
	did("run-1", "", change.Create("new.md", "mine"))
	did("run-1", "", change.Move("d.md", "e.md"), change.Replace("c.md", "c", "cc"))
	did("run-1", "", change.Replace("e.md", "d", "dd"), change.Replace("c.md", "cc", "c"))
	long := now.Add(-time.Hour)
	want("a run", "run-1", long, "e.md d>dd, new.md ->mine, x/a.md one>three")
	want("another", "run-2", long, "b.md b>of another run")
	want("too late", "run-1", now.Add(time.Hour), "")
	want("nobody", "run-3", long, "")
	did("run-1", "pending-1", change.Replace("x/a.md", "three", "four"))
	did("run-1", "pending-2", change.Delete("new.md", "mine"))
	did("run-1", "", change.Replace("x/a.md", "four", "five"))
	want("after an approval", "run-1", long, "e.md d>dd, x/a.md four>five")
}
