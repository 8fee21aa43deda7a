package app

import (
	"os"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// TestUndoOfWhatIsAlreadySo: somebody took a change back by hand.
func TestUndoOfWhatIsAlreadySo(t *testing.T) {
	w := newWorld(t, 1)
	if _, err := w.call(person(), "write_note", object{"path": "many/n00.md", "content": "more", "mode": "append"}); err != nil {
		t.Fatal(err)
	}
	w.put("many/n00.md", hostile()["many/n00.md"])
	if _, err := w.call(person(), "undo", object{}); fault.Of(err) != fault.Conflict {
		t.Errorf("answered %v", err)
	}
}

// notYet skips what is known not to hold yet, unless it is asked for.
func notYet(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("PROOF_KNOWN") == "" {
		t.Skip("known, run with PROOF_KNOWN=1: " + why)
	}
}

// done calls and approves.
func (w *world) done(name string, args object) {
	w.t.Helper()
	res, err := w.call(person(), name, args)
	if err == nil && res.Question != nil {
		_, err = w.s.Door.Answer(w.t.Context(), access.Terminal(), res.Question.ID, tool.Answer{Approve: true})
	}
	if err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

func TestUndoOfTheDeleteOfATwin(t *testing.T) {
	w := newWorld(t, 1)
	w.put("tea.md", "the twin\n")
	w.restart()
	before := w.look()
	w.done("delete_note", object{"path": "tea.md"})
	w.done("undo", object{})
	if diff := differences(w.look(), before); diff != "" {
		t.Error(diff)
	}
}

func TestKnownUndoKeepsTheFormOfAName(t *testing.T) {
	notYet(t, "a file that comes back to its name gets it in the composed form")
	w := newWorld(t, 1)
	const name = "cafe\u0301.md"
	w.done("rename_note", object{"path": name, "new_path": "other.md"})
	w.done("undo", object{})
	if _, err := os.Lstat(w.path(name)); err != nil {
		t.Error(err)
	}
}

func TestKnownEmptyFolderStays(t *testing.T) {
	notYet(t, "a folder that was empty before a note was made in it goes when that is undone")
	w := newWorld(t, 1)
	w.done("write_note", object{"path": "empty folder/x.md", "content": "x"})
	w.done("undo", object{})
	if _, err := os.Lstat(w.path("empty folder")); err != nil {
		t.Error(err)
	}
}

// TestUndoBringsBackNamesThatNoNewNoteGets: a name that Windows would refuse was
// there before, so it comes back.
func TestUndoBringsBackNamesThatNoNewNoteGets(t *testing.T) {
	w := newWorld(t, 1)
	w.put("Q: why?.md", "because\n")
	w.restart()
	before := w.look()
	for _, step := range []func(){
		func() { w.done("delete_note", object{"path": "Q: why?.md"}) },
		func() { w.done("rename_note", object{"path": "Q: why?.md", "new_path": "plain.md"}) },
	} {
		step()
		w.done("undo", object{})
		if diff := differences(w.look(), before); diff != "" {
			t.Error(diff)
		}
	}
}
