package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/vault/vaultcheck"
)

// TestUndoKeepsWhatOthersWrote lets others edit the files between operations,
// with and without the index knowing. Whatever Lore does, undo first of all,
// every text that they wrote is in its file, in the history, in the trash or in
// a copy; and an undo never replaces it.
func TestUndoKeepsWhatOthersWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	for _, seed := range seeds() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			o := &others{world: newWorld(t, seed+100), kept: map[string]bool{}}
			o.foreign = true
			for i := range fewer(600, 100) {
				if o.chance(35) {
					o.edit()
				}
				before := o.unknown()
				o.act()
				o.undoKept(before)
				o.nothingLost()
				if i%50 == 49 {
					if _, err := o.s.Indexer.Sync(t.Context()); err != nil {
						t.Fatal(err)
					}
					o.check()
				}
			}
			t.Logf("seed %d: %d foreign edits, %d calls, %d answers, %d changes, %d refusals, %d undone or redone, %d of them merged beside foreign text",
				seed, o.edits, o.calls, o.answers, o.changes, o.refusals, o.kinds["undo"]+o.kinds["redo"], o.merged)
		})
	}
}

// TestSavedBetweenPlanAndEdits lets an editor save one of the files at the last
// moment: after the plan and after the intent was recorded.
func TestSavedBetweenPlanAndEdits(t *testing.T) {
	w := newWorld(t, 1)
	var saved, words string
	w.s.Door = w.app.hooked(t.Context(), w.s, w.s.Approvals, w.s.History, func(ctx context.Context, op string, set change.Set) error {
		if e := set[w.random.IntN(len(set))]; e.Before != nil {
			w.names++
			saved, words = cmp.Or(e.From, e.Path), fmt.Sprintf("saved at the last moment, %d\n", w.names)
			w.put(saved, words)
		}
		return w.s.Apply(ctx, op, set)
	}, w.s.Reindex)
	refused := 0
	for range fewer(150, 40) {
		saved = ""
		before := w.look()
		changed := w.changes
		w.act()
		if saved == "" {
			continue
		}
		refused++
		before[saved] = "-rw-r--r-- " + words
		if have := w.look(); w.changes != changed || differences(have, before) != "" && !sameTexts(have, before) {
			w.fail("%s was saved meanwhile:\n%s", saved, differences(have, before))
		}
		w.settled()
	}
	if refused == 0 {
		w.fail("nothing was tried")
	}
	t.Logf("%d calls, %d of them overtaken by an editor and refused whole", w.calls, refused)
}

// sameTexts compares contents alone: the editor has its own idea of modes.
func sameTexts(a, b view) bool {
	text := func(s string) string {
		_, t, _ := strings.Cut(s, " ")
		return t
	}
	return maps.EqualFunc(a, b, func(x, y string) bool { return text(x) == text(y) })
}

// settled sees that no operation is left open.
func (w *world) settled() {
	w.t.Helper()
	if list, err := w.s.History.Unresolved(w.t.Context()); err != nil || len(list) > 0 {
		w.fail("%d operations are not settled (%v)", len(list), err)
	}
}

// others are people and programs that write into the vault too.
type others struct {
	*world
	texts  []string        // versions that they wrote and did not replace themselves
	kept   map[string]bool // versions that are in the history, which keeps them
	edits  int
	merged int
}

// edit is one edit of a file by somebody else.
func (o *others) edit() {
	o.t.Helper()
	o.edits++
	token := fmt.Sprintf("foreign-%d.", o.edits)
	p := o.some(".md")
	if p == "" || o.chance(10) {
		p = o.fresh(".md")
	}
	at := o.disk(p)
	old, err := os.ReadFile(at)
	if err != nil {
		old = nil
	}
	lines := strings.SplitAfter(string(old), "\n")
	var text string
	switch o.random.IntN(4) {
	case 0:
		text = token + " everything is new\n"
	case 1:
		text = token + "\n" + string(old)
	case 2:
		i := o.random.IntN(len(lines) + 1)
		text = strings.Join(slices.Insert(lines, i, token+"\n"), "")
	default:
		text = string(old) + token
	}
	// What they replace themselves is their own affair.
	if !o.recorded(string(old)) {
		o.texts = slices.DeleteFunc(o.texts, func(s string) bool { return s == string(old) })
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		o.t.Fatal(err)
	}
	if o.chance(50) { // as editors do
		err = os.WriteFile(at+".part", []byte(text), 0o644)
		if err == nil {
			err = os.Rename(at+".part", at)
		}
	} else {
		err = os.WriteFile(at, []byte(text), 0o644)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	o.texts = append(o.texts, text)
	o.note("somebody wrote %s into %s", token, p)
	if o.chance(50) {
		if _, err := o.s.Indexer.Update(o.t.Context(), []string{p}); err != nil {
			o.t.Fatal(err)
		}
	}
}

// disk is the path of a file on disk: its name may have another normal form.
func (o *others) disk(p string) string {
	if _, err := os.Stat(o.path(p)); err == nil {
		return o.path(p)
	}
	if alt := o.path(strings.ReplaceAll(p, "\u00e9", "e\u0301")); alt != o.path(p) {
		if _, err := os.Stat(alt); err == nil {
			return alt
		}
	}
	return o.path(p)
}

// recorded reports whether the history holds a text.
func (o *others) recorded(text string) bool {
	if o.kept[text] {
		return true
	}
	sum := sha256.Sum256([]byte(text))
	_, ok := o.s.History.Image(o.t.Context(), hex.EncodeToString(sum[:]))
	o.kept[text] = ok
	return ok
}

// own are the texts in Lore's folder: trash, and what was displaced.
func (o *others) own() map[string]bool {
	out := map[string]bool{}
	all, err := vaultcheck.Tree(o.path(".lore"), "")
	if err != nil {
		return out // no such folder yet
	}
	for _, s := range all {
		out[s] = true
	}
	return out
}

// nothingLost looks for every text that others wrote.
func (o *others) nothingLost() {
	o.t.Helper()
	current := map[string]bool{}
	for _, s := range o.look() {
		_, text, _ := strings.Cut(s, " ")
		current[text] = true
	}
	var own map[string]bool
	for _, text := range o.texts {
		if current[text] || o.recorded(text) {
			continue
		}
		if own == nil {
			own = o.own()
		}
		if !own[text] {
			o.fail("a text of somebody else is nowhere: %.300q", text)
		}
	}
}

// unknown are the files as others left them, which no operation has seen: to
// redo a delete may remove what that delete removed, and nothing else.
func (o *others) unknown() view {
	out := view{}
	for p, s := range o.look() {
		if _, text, _ := strings.Cut(s, " "); slices.Contains(o.texts, text) && !o.recorded(text) {
			out[p] = s
		}
	}
	return out
}

// undoKept sees that the last thing, if it was an undo that was done, replaced
// no text of others: their words are still among the visible files.
func (o *others) undoKept(before view) {
	o.t.Helper()
	last := o.trail[len(o.trail)-1]
	if !strings.Contains(last, ": done ") || !strings.HasPrefix(last, "undo ") && !strings.HasPrefix(last, "redo ") &&
		!strings.Contains(last, "(undo)") && !strings.Contains(last, "(redo)") {
		return
	}
	after := o.look()
	var all strings.Builder
	for _, s := range after {
		all.WriteString(s)
	}
	for p, s := range before {
		_, text, _ := strings.Cut(s, " ")
		if after[p] == s {
			continue
		}
		// The file is as somebody else left it, and the undo touched it.
		for _, word := range strings.Fields(text) {
			if strings.HasPrefix(word, "foreign-") && !strings.Contains(all.String(), strings.TrimRight(word, ".")+".") {
				o.fail("an undo replaced %s in %s", word, p)
			}
		}
		o.merged++
	}
}
