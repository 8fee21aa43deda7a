package history_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func now() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) }

// A place is a history in a folder of its own.
type place struct {
	*history.Store
	file *state.File
}

func openIn(t testing.TB, dir string, o history.Options) place {
	t.Helper()
	if o.Now == nil {
		o.Now = now
	}
	f := state.In(dir)
	s := history.New(f, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = f.Close()
	})
	return place{s, f}
}

func open(t testing.TB) place { return openIn(t, t.TempDir(), history.Options{}) }

func (p place) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	d, err := p.file.DB(t.Context())
	must(t, err)
	must(t, d.Read.QueryRow(query, args...).Scan(&n))
	return n
}

func operation(id string, edits ...change.Edit) tool.Operation {
	return tool.Operation{
		ID: id, Time: now(), Tool: "edit_note", Args: json.RawMessage(`{"path":"a.md"}`), ArgsHash: "aa", Summary: "Edit note: change a.md",
		Who:   access.Principal{Kind: access.Agent, ID: "run-1", Surface: "web", Scopes: []access.Scope{access.Read, access.Write}},
		Edits: edits,
	}
}

// do records an operation that happens.
func (p place) do(t testing.TB, op tool.Operation) {
	t.Helper()
	must(t, p.Begin(t.Context(), op))
	must(t, p.Finish(t.Context(), op.ID, tool.Applied, ""))
}

func (p place) outcome(t testing.TB, id string) tool.Outcome {
	t.Helper()
	o, err := p.Outcome(t.Context(), id)
	must(t, err)
	return o
}

func TestEveryByteComesBack(t *testing.T) {
	p := open(t)
	big := strings.Repeat("All work and no play. ", 10_000)
	set := change.Set{
		change.Create("new.md", ""),
		change.Replace("a.md", "before\r\n", "after\x00\xff"),
		change.Delete("gone.md", big),
		change.Move("img/a.png", "img/b.png"),
		change.MoveReplace("x.md", "y.md", "[[a]]", "[[b]]"),
	}
	op := operation("op-1", set...)
	must(t, p.Begin(t.Context(), op))
	if o := p.outcome(t, "op-1"); o != tool.Intended {
		t.Errorf("it is %s", o)
	}
	must(t, p.Finish(t.Context(), "op-1", tool.Applied, "well"))
	got, err := p.Edits(t.Context(), "op-1")
	must(t, err)
	if !reflect.DeepEqual(got, set) {
		t.Errorf("got  %v\nwant %v", got, set)
	}
	full, err := p.Operation(t.Context(), "op-1")
	must(t, err)
	op.Edits = nil
	want := history.Operation{Operation: op, Seq: 1, Outcome: tool.Applied, Finished: now(), Reason: "well", Count: 5, Kept: true}
	if !reflect.DeepEqual(full, want) {
		t.Errorf("got  %+v\nwant %+v", full, want)
	}
	files, err := p.Files(t.Context(), "op-1")
	must(t, err)
	if files[3].Before != "" || files[3].From != "img/a.png" || files[2].After != "" || len(files[2].Before) != 64 {
		t.Errorf("%+v", files)
	}
	text, ok := p.Image(t.Context(), files[2].Before)
	if !ok || text != big {
		t.Error("the image differs")
	}
	if _, ok := p.Image(t.Context(), strings.Repeat("0", 64)); ok {
		t.Error("an image that nobody stored")
	}
	if n := p.count(t, `SELECT sum(length(data)) FROM image WHERE size = ?`, len(big)); n > len(big)/20 {
		t.Errorf("%d bytes are kept as %d", len(big), n)
	}
}

func TestContentsAreKeptOnce(t *testing.T) {
	p := open(t)
	p.do(t, operation("op-1", change.Create("a.md", "one"), change.Create("b.md", "one")))
	p.do(t, operation("op-2", change.Replace("a.md", "one", "two")))
	must(t, p.Begin(t.Context(), operation("op-3", change.Replace("a.md", "two", "three"), change.Move("b.md", "c.md"))))
	if n := p.count(t, `SELECT count(*) FROM image`); n != 3 {
		t.Errorf("%d images", n)
	}
	must(t, p.Finish(t.Context(), "op-3", tool.Dropped, "the file changed"))
	if n := p.count(t, `SELECT count(*) FROM image`); n != 2 {
		t.Errorf("%d images after it was dropped", n)
	}
	if _, err := p.Edits(t.Context(), "op-3"); fault.Of(err) != fault.Unavailable {
		t.Errorf("a dropped one: %v", err)
	}
	if _, err := p.Edits(t.Context(), "op-2"); err != nil {
		t.Error(err)
	}
	if sum, kept := p.count(t, `SELECT sum(length(data)) FROM image`), p.count(t, `SELECT value FROM fact WHERE name = 'image_bytes'`); sum != kept {
		t.Errorf("%d bytes counted as %d", sum, kept)
	}
}

func TestFinish(t *testing.T) {
	p := open(t)
	must(t, p.Begin(t.Context(), operation("op-1", change.Create("a.md", "x"))))
	must(t, p.Begin(t.Context(), operation("op-2", change.Create("b.md", "x"))))
	if err := p.Begin(t.Context(), operation("op-1")); fault.Of(err) != fault.Conflict {
		t.Errorf("the same id twice: %v", err)
	}
	if list, err := p.Unresolved(t.Context()); err != nil || len(list) != 2 || list[0].ID != "op-1" {
		t.Errorf("%v, %v", list, err)
	}
	for _, c := range []struct {
		id   string
		to   tool.Outcome
		kind fault.Kind
	}{
		{"op-1", tool.Undone, fault.Internal},
		{"op-9", tool.Applied, fault.NotFound},
		{"op-1", tool.Applied, ""},
		{"op-1", tool.Applied, ""},
		{"op-1", tool.Dropped, fault.Conflict},
		{"op-2", tool.Dropped, ""},
		{"op-2", tool.Dropped, ""},
		{"op-2", tool.Applied, fault.Conflict},
	} {
		if err := p.Resolve(t.Context(), c.id, c.to, ""); fault.Of(err) != c.kind {
			t.Errorf("%s to %s: %v", c.id, c.to, err)
		}
	}
	if list, err := p.Unresolved(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := p.Outcome(t.Context(), "op"); fault.Of(err) != fault.NotFound {
		t.Errorf("an outcome needs the whole id: %v", err)
	}
}

func TestOperationByPrefix(t *testing.T) {
	p := open(t)
	if _, err := p.Operation(t.Context(), ""); fault.Of(err) != fault.NotFound {
		t.Errorf("nothing was done: %v", err)
	}
	for _, id := range []string{"op-abc", "op-abd", "op-x", "op-xy"} {
		p.do(t, operation(id, change.Create(id, id)))
	}
	for _, c := range []struct {
		in, want string
		kind     fault.Kind
		says     string
	}{
		{"", "op-xy", "", ""}, {"op-abc", "op-abc", "", ""}, {"abd", "op-abd", "", ""}, {"op-x", "op-x", "", ""}, {"x", "op-x", "", ""},
		{"ab", "", fault.Ambiguous, "op-abd, op-abc"}, {"op-abe", "", fault.NotFound, "did you mean op-abc"},
	} {
		op, err := p.Operation(t.Context(), c.in)
		if op.ID != c.want || fault.Of(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %q, %v", c.in, op.ID, err)
		}
	}
}

func TestOperationsFilter(t *testing.T) {
	p := open(t)
	for i, at := range []string{"a.md", "dir/b.md", "dir/sub/c.md", "dir0.md", "a.md"} {
		op := operation(fmt.Sprint("op-", i), change.Create(at, fmt.Sprint(i)))
		op.Time = now().Add(-time.Duration(i) * time.Hour) // a clock that goes backwards
		if i == 1 {
			op.Tool, op.Who = "rename_note", access.Terminal()
			op.Edits = change.Set{change.Move("old/b.md", at)}
		}
		p.do(t, op)
	}
	for _, c := range []struct {
		f    history.Filter
		want string
	}{
		{history.Filter{}, "4 3 2 1 0"},
		{history.Filter{Limit: 2}, "4 3"},
		{history.Filter{Limit: 2, Offset: 3}, "1 0"},
		{history.Filter{After: 3}, "3 4"},
		{history.Filter{Path: "a.md"}, "4 0"},
		{history.Filter{Path: "dir"}, "2 1"},
		{history.Filter{Path: "old"}, "1"},
		{history.Filter{Path: "old/b.md"}, "1"},
		{history.Filter{Tool: "rename_note"}, "1"},
		{history.Filter{Kind: access.Person}, "1"},
		{history.Filter{Run: "run-1", Status: "applied"}, "4 3 2 0"},
		{history.Filter{Since: now().Add(-time.Hour)}, "1 0"},
		{history.Filter{Until: now().Add(-3 * time.Hour)}, "4 3"},
		{history.Filter{Status: "undone"}, ""},
	} {
		list, err := p.Operations(t.Context(), c.f)
		must(t, err)
		var got []string
		for _, op := range list {
			got = append(got, strings.TrimPrefix(op.ID, "op-"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.f, got, c.want)
		}
	}
}

func TestLongArgumentsAreCut(t *testing.T) {
	p := open(t)
	op := operation("op-1", change.Create("a.md", "x"))
	op.Args = json.RawMessage(fmt.Sprintf(`{"path":"a.md","text":%q,"tags":["x"]}`, strings.Repeat("é", 100_000)))
	p.do(t, op)
	got, err := p.Operation(t.Context(), "op-1")
	must(t, err)
	var back struct {
		Path, Text string
		Tags       []string
	}
	must(t, json.Unmarshal(got.Args, &back))
	if back.Path != "a.md" || len(back.Tags) != 1 || !strings.HasSuffix(back.Text, "é… (200000 bytes)") || len(got.Args) > 1000 {
		t.Errorf("%s", got.Args)
	}
}
