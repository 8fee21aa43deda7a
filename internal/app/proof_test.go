package app

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

var proofSeed = flag.Uint64("proof.seed", 0, "run the random operations with this seed only")

// seeds are as many as TORTURE says, one without it.
func seeds() []uint64 {
	if *proofSeed != 0 {
		return []uint64{*proofSeed}
	}
	var out []uint64
	for i := range torture() {
		out = append(out, uint64(i+1))
	}
	return out
}

// fewer is n, which TORTURE asks for; less without it, and least in short runs.
func fewer(n, short int) int {
	switch {
	case testing.Short():
		return short
	case os.Getenv("TORTURE") == "":
		return n / 5
	}
	return n
}

// TestEverythingCanBeUndone does hundreds of random things to a vault through the
// only door, with answers of every kind, and then takes all of them back: the
// vault is what it was, byte for byte.
func TestEverythingCanBeUndone(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	for _, seed := range seeds() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			before := w.look()
			for i := range fewer(1000, 150) {
				w.act()
				if i%50 == 49 {
					w.check()
				}
				if i%250 == 149 {
					w.restart()
				}
			}
			touched := differences(w.look(), before)
			if touched == "" {
				w.fail("nothing changed")
			}
			undone := w.undoAll()
			w.check()
			if diff := differences(w.look(), before); diff != "" {
				w.fail("after all was undone:\n%s", diff)
			}
			t.Logf("seed %d: %d calls, %d answers, %d changes, %d refusals, %d undone one by one", seed, w.calls, w.answers, w.changes, w.refusals, undone)
			for _, k := range slices.Sorted(maps.Keys(w.kinds)) {
				t.Logf("%5d %s", w.kinds[k], k)
			}
		})
	}
}

// newest is the last operation in force that is no undo; "" when there is none.
// Those in gone are known to be out.
func (w *world) newest(gone map[string]bool) string {
	w.t.Helper()
	for _, id := range slices.Backward(w.ops) {
		if gone[id] {
			continue
		}
		op, err := w.s.History.Operation(w.t.Context(), id)
		if err != nil {
			w.fail("%v", err)
		}
		if op.Outcome == tool.Applied && len(op.Reverts) == 0 {
			return id
		}
		gone[id] = true
	}
	return ""
}

// undoAll takes back every operation, newest first. Where a younger undo stands
// in the way, it does what the answer says: undo the later change first.
func (w *world) undoAll() (undone int) {
	w.t.Helper()
	gone, same := map[string]bool{}, map[string]bool{}
	for {
		id := w.newest(gone)
		if id == "" {
			return undone
		}
		others := len(w.ops)
		err := w.undoOne(id, 20)
		if len(w.ops) > others+1 { // others were turned over on the way
			gone = maps.Clone(same)
		}
		switch {
		case err == nil:
			undone++
		case strings.Contains(err.Error(), "already has that content"):
			gone[id], same[id] = true, true
		default:
			w.fail("%s cannot be undone: %v", id, err)
		}
	}
}

var named = regexp.MustCompile(`op-[a-z2-7]+\)`)

func (w *world) undoOne(id string, patience int) error {
	w.t.Helper()
	for {
		res, err := w.call(person(), "undo", object{"operation": id})
		if err == nil && res.Question != nil {
			res, err = w.s.Door.Answer(w.t.Context(), access.Terminal(), res.Question.ID, tool.Answer{Approve: true})
			w.note("approved: %s", w.outcome(res, err))
			w.count("undo", res, err)
		}
		if err == nil || patience == 0 {
			return err
		}
		patience--
		first := history.Operation{}
		for _, text := range named.FindAllString(err.Error(), -1) {
			op, e := w.s.History.Operation(w.t.Context(), strings.TrimSuffix(text, ")"))
			if e == nil && op.Seq > first.Seq {
				first = op
			}
		}
		if first.ID == "" || first.ID == id {
			return err
		}
		if e := w.undoOne(first.ID, patience); e != nil {
			return errors.Join(err, e)
		}
	}
}
