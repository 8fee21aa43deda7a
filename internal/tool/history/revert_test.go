package history_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

// A world is a vault as a map, changed only through its history: what the
// program does, without files.
type world struct {
	place
	t     *testing.T
	files map[string]string
	n     int
}

func newWorld(t *testing.T) *world { return &world{place: open(t), t: t, files: map[string]string{}} }

// apply makes an edit, which must find what it expects.
func (w *world) apply(e change.Edit) {
	w.t.Helper()
	at := e.Path
	if e.From != "" {
		at = e.From
	}
	have, ok := w.files[at]
	switch {
	case e.From != "" && !ok, e.Before != nil && (!ok || have != *e.Before), e.Before == nil && e.From == "" && ok:
		w.t.Fatalf("%s does not hold what the edit expects: %q, %v", at, have, ok)
	}
	delete(w.files, at)
	switch {
	case e.After != nil:
		w.files[e.Path] = *e.After
	case e.From != "":
		w.files[e.Path] = have
	}
}

// change records and makes an operation, and returns its id.
func (w *world) change(run string, reverts []string, edits ...change.Edit) string {
	w.t.Helper()
	w.n++
	op := operation(fmt.Sprint("op-", w.n), edits...)
	op.Who.ID, op.Reverts = run, reverts
	must(w.t, w.Begin(w.t.Context(), op))
	for _, e := range edits {
		w.apply(e)
	}
	must(w.t, w.Finish(w.t.Context(), op.ID, tool.Applied, ""))
	return op.ID
}

// turn takes back or brings back, step by step, as one operation.
func (w *world) turn(want history.Wanted) string {
	w.t.Helper()
	steps, err := w.Back(w.t.Context(), want)
	must(w.t, err)
	var refs []string
	var edits change.Set
	for _, s := range steps {
		for _, turn := range s.Turns {
			refs = append(refs, turn.Ref(false))
		}
		edits = append(edits, s.Edit)
	}
	return w.change("person", refs, edits...)
}

func (w *world) states(ids ...string) string {
	w.t.Helper()
	var out []string
	for _, id := range ids {
		out = append(out, string(w.outcome(w.t, id)))
	}
	return strings.Join(out, " ")
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestUndoAndRedoTurnStatesOver(t *testing.T) {
	w := newWorld(t)
	a := w.change("r", nil, change.Create("x", "1"), change.Create("y", "1"))
	b := w.change("r", nil, change.Replace("x", "1", "2"))
	u1 := w.turn(history.Wanted{})
	w.want("undo takes the last", w.states(a, b, u1)+" "+w.files["x"], "applied undone applied 1")
	u2 := w.turn(history.Wanted{})
	w.want("undo again takes the one before", fmt.Sprint(w.states(a, b, u1, u2), " ", len(w.files)), "undone undone applied applied 0")
	if _, err := w.Back(t.Context(), history.Wanted{}); fault.Of(err) != fault.NotFound {
		t.Errorf("nothing is left to undo: %v", err)
	}
	r1 := w.turn(history.Wanted{Redo: true})
	w.want("redo brings back the last undone", w.states(a, b, u1, u2, r1)+" "+w.files["x"], "applied undone applied undone applied 1")
	r2 := w.turn(history.Wanted{Redo: true})
	w.want("and then the next", w.states(a, b, u1, u2, r1, r2)+" "+w.files["x"], "applied applied undone undone applied applied 2")
	if _, err := w.Back(t.Context(), history.Wanted{Redo: true}); fault.Of(err) != fault.NotFound {
		t.Errorf("nothing is left to redo: %v", err)
	}
	u3 := w.turn(history.Wanted{Operation: r2})
	w.want("undoing a redo undoes", w.states(b, r2, u3)+" "+w.files["x"], "undone undone applied 1")
	r3 := w.turn(history.Wanted{Operation: u3})
	w.want("undoing an undo redoes", w.states(b, u3, r3)+" "+w.files["x"], "applied undone applied 2")
	for _, c := range []struct {
		want history.Wanted
		says string
	}{
		{history.Wanted{Operation: u3}, "already undone; use redo"},
		{history.Wanted{Operation: b, Redo: true}, "was not undone"},
		{history.Wanted{Operation: a, Path: "z"}, `no change to "z"`},
		{history.Wanted{Path: "z"}, `no recorded change to "z"`},
		{history.Wanted{Run: "nobody"}, `"nobody" has no changes`},
	} {
		if _, err := w.Back(t.Context(), c.want); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.want, err)
		}
	}
}

func TestUndoOfOneFile(t *testing.T) {
	w := newWorld(t)
	a := w.change("r", nil, change.Create("x", "1"), change.Create("y", "1"))
	b := w.change("r", nil, change.Replace("x", "1", "2"), change.Replace("y", "1", "2"))
	u := w.turn(history.Wanted{Path: "x"})
	w.want("one file", w.states(a, b, u)+w.files["x"]+w.files["y"], "applied applied applied12")
	op, err := w.Operation(t.Context(), b)
	must(t, err)
	w.want("half of it", fmt.Sprint(op.Undone, " of ", op.Count), "1 of 2")
	u2 := w.turn(history.Wanted{Operation: b})
	w.want("the rest of it", w.states(b, u, u2)+w.files["x"]+w.files["y"], "undone applied applied11")
	r := w.turn(history.Wanted{Operation: b, Redo: true, Path: "y"})
	w.want("one file again", w.states(b, u, u2, r)+w.files["x"]+w.files["y"], "applied applied undone applied12")
}

func TestUndoOfRun(t *testing.T) {
	w := newWorld(t)
	w.change("other", nil, change.Create("z", "1"))
	a := w.change("r", nil, change.Create("x", "1"), change.Create("y", "1"))
	b := w.change("r", nil, change.Move("x", "x2"), change.Replace("z", "1", "2"))
	w.change("other", nil, change.Create("q", "1"))
	c := w.change("r", nil, change.MoveReplace("x2", "x3", "1", "3"), change.Delete("y", "1"))
	u := w.turn2(history.Wanted{Run: "r"}) // in one operation a path stands twice here, so step by step
	w.want("the run is gone", fmt.Sprint(w.states(a, b, c, u), w.files), "undone undone undone appliedmap[q:1 z:1]")
}

// turn2 is turn with one operation in history whose edits are only counted.
func (w *world) turn2(want history.Wanted) string {
	w.t.Helper()
	steps, err := w.Back(w.t.Context(), want)
	must(w.t, err)
	var refs []string
	for _, s := range steps {
		w.apply(s.Edit)
		for _, turn := range s.Turns {
			refs = append(refs, turn.Ref(true))
		}
	}
	w.n++
	op := operation(fmt.Sprint("op-", w.n))
	op.Reverts = refs
	w.do(w.t, op)
	return op.ID
}

// TestPartOfAnUndo brings back one of two operations that were undone as one.
func TestPartOfAnUndo(t *testing.T) {
	w := newWorld(t)
	a := w.change("r", nil, change.Create("x", "1"))
	b := w.change("r", nil, change.Replace("x", "1", "2"))
	u := w.change("person", []string{a, b}, change.Delete("x", "2"))
	w.want("both", w.states(a, b, u), "undone undone applied")
	r := w.turn(history.Wanted{Operation: a, Redo: true})
	w.want("one again", w.states(a, b, u, r)+w.files["x"], "applied undone applied applied1")
	w.turn(history.Wanted{Operation: b, Redo: true})
	w.want("the other", w.states(a, b, u)+w.files["x"], "applied applied undone2")
}

func TestWhatAPersonLeftOutStays(t *testing.T) {
	w := newWorld(t)
	a := w.change("r", nil, change.Create("x", "1"), change.Create("y", "1"))
	w.change("person", []string{a}, change.Delete("x", "1")) // y was not ticked
	files, err := w.Files(t.Context(), a)
	must(t, err)
	if w.outcome(t, a) != tool.Applied || !files[0].Undone || files[1].Undone {
		t.Errorf("%+v", files)
	}
}

func TestSince(t *testing.T) {
	w := newWorld(t)
	a := w.change("r", nil, change.Create("x", "1"))
	b := w.change("s", nil, change.Move("x", "y"))
	first, err := w.Operation(t.Context(), a)
	must(t, err)
	for _, c := range []struct {
		path string
		seq  int64
		want string
	}{{"x", first.Seq, b}, {"y", 0, b}, {"x", first.Seq + 1, ""}, {"z", 0, ""}} {
		op, ok, err := w.Since(t.Context(), c.path, c.seq)
		if err != nil || op.ID != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, %v", c, op.ID, err)
		}
	}
}

// TestStorm makes a thousand random operations, undos and redos and compares
// every state with a model: an edit is undone when it was turned over an odd
// number of times, and the contents say the same.
func TestStorm(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t)
	undone := map[history.Reversal]bool{} // the model
	byOp := map[string][]history.Reversal{}
	var ops []string
	for i := range rounds {
		k := rnd.IntN(10)
		if k < 4 || len(ops) < 3 {
			id, edits := w.random(rnd, i)
			ops = append(ops, id)
			for _, e := range edits {
				turn := history.Reversal{Op: id, Path: e.Path, From: e.From}
				undone[turn] = false
				byOp[id] = append(byOp[id], turn)
			}
			continue
		}
		want := history.Wanted{Redo: k >= 7}
		if k%3 == 0 {
			want.Operation = ops[rnd.IntN(len(ops))]
		}
		steps, err := w.Back(t.Context(), want)
		if err != nil {
			if k := fault.Of(err); k != fault.NotFound && k != fault.Conflict {
				t.Fatal(err)
			}
			continue
		}
		if !w.possible(steps) {
			continue // as the tool would say: changed since
		}
		w.turn(want)
		for _, s := range steps {
			for _, turn := range s.Turns {
				if undone[turn] != want.Redo {
					t.Fatalf("round %d: %+v turns over %v, which is undone: %v", i, want, turn, undone[turn])
				}
				undone[turn] = !undone[turn]
			}
		}
	}
	for _, id := range ops {
		files, err := w.Files(t.Context(), id)
		must(t, err)
		all := true
		for j, f := range files {
			turn := byOp[id][j]
			if f.Undone != undone[turn] {
				t.Errorf("%v is undone: %v, the model says %v", turn, f.Undone, undone[turn])
			}
			all = all && undone[turn]
		}
		if got := w.outcome(t, id); (got == tool.Undone) != all {
			t.Errorf("%s is %s, the model says undone: %v", id, got, all)
		}
		if _, err := w.Edits(t.Context(), id); err != nil {
			t.Errorf("what an undo would need of %s: %v", id, err)
		}
	}
	if bad := w.count(t, `SELECT count(*) FROM image i WHERE uses <> (SELECT count(*) FROM image WHERE base = i.id)
	    + (SELECT count(*) FROM edit WHERE kept AND before = i.hash) + (SELECT count(*) FROM edit WHERE kept AND after = i.hash)`); bad != 0 {
		t.Errorf("%d contents have a wrong number of uses", bad)
	}
	if v, err := w.Verify(t.Context()); err != nil || v.Torn > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	t.Logf("%d operations, %d of them reverts", w.n, w.n-len(ops))
}

// random makes a change of up to three files.
func (w *world) random(rnd *rand.Rand, i int) (string, change.Set) {
	var set change.Set
	for range 1 + rnd.IntN(3) {
		name := fmt.Sprint("f", rnd.IntN(6))
		if slices.ContainsFunc(set, func(e change.Edit) bool { return e.Path == name || e.From == name }) {
			continue
		}
		have, ok := w.files[name]
		to := fmt.Sprint("g", i, len(set))
		switch k := rnd.IntN(4); {
		case !ok:
			set = append(set, change.Create(name, fmt.Sprint(i)))
		case k == 0:
			set = append(set, change.Delete(name, have))
		case k == 1:
			set = append(set, change.Move(name, to))
		default:
			set = append(set, change.Replace(name, have, fmt.Sprint(i, have)))
		}
	}
	return w.change("r", nil, set...), set
}

// possible reports whether every file is what the steps expect.
func (w *world) possible(steps []history.Step) bool {
	seen := map[string]bool{}
	for _, s := range steps {
		e := s.Edit
		at := e.Path
		if e.From != "" {
			at = e.From
			if _, ok := w.files[e.Path]; ok || seen[e.Path] {
				return false
			}
		}
		have, ok := w.files[at]
		if seen[at] || e.Before != nil && (!ok || have != *e.Before) || e.Before == nil && (e.From == "") == ok {
			return false
		}
		seen[at], seen[e.Path] = true, true
	}
	return true
}
