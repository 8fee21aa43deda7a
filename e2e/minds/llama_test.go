//go:build servers && linux

package minds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/llm/anthropic"
	"lore/internal/llm/openai"
	"lore/internal/llm/wiretest"
)

// TestAdapters: the exam of each adapter that llama-server can sit.
func TestAdapters(t *testing.T) {
	t.Run("chat", func(t *testing.T) {
		wiretest.Scripted(t, openai.New(openai.Config{Name: "llama", BaseURL: llama.base + "/v1", Flavour: openai.Llama, API: openai.Chat}), "scripted", 0)
	})
	t.Run("responses", func(t *testing.T) {
		wiretest.Scripted(t, openai.New(openai.Config{Name: "llama", BaseURL: llama.base + "/v1", Flavour: openai.Llama, API: openai.Responses}), "scripted", 0)
	})
	t.Run("messages", func(t *testing.T) {
		wiretest.Scripted(t, anthropic.New(anthropic.Config{Name: "llama", BaseURL: llama.base, Local: true}), "scripted", 0)
	})
	t.Run("vectors", func(t *testing.T) {
		wiretest.Embeds(t, openai.New(openai.Config{Name: "llama", BaseURL: llamaEmbeds + "/v1", Flavour: openai.Llama}), "scripted")
	})
}

// The draft that the model wants to write, and what asks about it.
const (
	draft  = "Drafts/Tea.md"
	words  = "# Tea\n\nSee [[Sencha]].\n"
	prompt = "Apply? [y/n/s/e/d/?]"
	answer = "[[Notes/Water temperature]]." // how every answer after a call ends
)

// plays are what a person does.
var plays = map[string]func(w *world){
	"an answer is cited": cited, "a search is told": searched, "thoughts are not answers": thoughts,
	"approved elsewhere": approved, "approved here": approvedHere, "edited": edited, "edited here": editedHere, "denied": denied, "deleting": deleting,
	"killed": killed, "cancelled": cancelled, "a loop": loop, "limits": limits, "leave": leave,
}

// TestProgram plays them over both wires.
func TestProgram(t *testing.T) {
	for _, wire := range []string{"openai", "anthropic"} {
		t.Run(wire, func(t *testing.T) {
			for name, play := range plays {
				t.Run(name, func(t *testing.T) { play(newWorld(t, wire, llama.base)) })
			}
		})
	}
}

// cited: two calls at once, and an answer that names a note which was read and one
// which was not.
func cited(w *world) {
	r := w.mind(0, "ask", "BOTH: how hot?")
	if r.Status != "done" || !strings.HasSuffix(r.Answer, answer) || r.states() != "read_note done, read_note done" || r.Steps != 2 || r.In == 0 || r.Out == 0 {
		w.Errorf("%+v", r)
	}
	var states []string
	for _, c := range r.Citations {
		states = append(states, c.Link+" "+c.Path+" "+c.State)
	}
	if got := strings.Join(states, ", "); got != "Notes/Sencha#How I make it Notes/Sencha.md read, Notes/Water temperature  unread" {
		w.Error(got)
	}
}

func searched(w *world) {
	out, notices := w.lore(0, "ask", "how hot should it be?")
	if !strings.HasPrefix(out, "I look it up.\n") || !strings.Contains(out, answer) || !strings.Contains(notices, "✓ search_notes") {
		w.Error(out, notices)
	}
	// The name comes from the model too, asked without tools.
	if out, _ := w.lore(0, "chat", "--list"); !strings.Contains(out, "Spoken without any tool") {
		w.Error(out)
	}
}

func thoughts(w *world) {
	out, notices := w.lore(0, "ask", "THINK about it")
	if strings.TrimSpace(out) != "Short it is." || !strings.Contains(notices, "thinking …") {
		w.Errorf("%q %q", out, notices)
	}
}

// asked lets the mind want to write, and gives the question that waits.
func asked(w *world) string {
	w.Helper()
	r := w.mind(3, "run", "WRITE a draft")
	if r.Status != "waiting_approval" || r.states() != "write_note asked" || r.Calls[0].Question == "" || w.text(draft) != "" {
		w.Fatalf("%+v", r)
	}
	return r.Calls[0].Question
}

// carriedOn goes on with the last conversation, in another process.
func carriedOn(w *world) (out, notices string) {
	w.Helper()
	out, notices = w.lore(0, "chat", "--continue", "last")
	if !strings.Contains(out, answer) {
		w.Error(out, notices)
	}
	return out, notices
}

func approved(w *world) {
	w.lore(0, "approvals", "approve", asked(w))
	if w.text(draft) != words {
		w.Errorf("%q", w.text(draft))
	}
	if _, notices := carriedOn(w); !strings.Contains(notices, "✓ write_note") {
		w.Error(notices)
	}
	takenBack(w)
}

// takenBack undoes the draft, which removes a file and is asked about whatever a
// person said beforehand.
func takenBack(w *world, args ...string) {
	w.Helper()
	w.lore(3, append([]string{"undo", "--yes"}, args...)...)
	w.lore(0, "approvals", "approve") // the only one that waits
	if got := w.text(draft); got != "" {
		w.Errorf("%q", got)
	}
}

// approvedHere: one process asks at its terminal, the answer comes from there, or
// from another while it waits.
func approvedHere(w *world) {
	tm := w.sit("run", "WRITE a draft")
	tm.await(prompt)
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || !strings.Contains(tm.seen(), answer) || w.text(draft) != words {
		w.Fatalf("exit code %d\n%s", code, tm.seen())
	}
	takenBack(w)
	tm = w.sit("run", "WRITE a draft")
	tm.await(prompt)
	w.lore(0, "approvals", "approve") // the only one that waits
	if code := tm.exit(); code != 0 || !strings.Contains(tm.seen(), "Answered elsewhere") || !strings.Contains(tm.seen(), answer) || w.text(draft) != words {
		w.Errorf("exit code %d\n%s", code, tm.seen())
	}
}

func edited(w *world) {
	w.lore(0, "approvals", "edit", asked(w), "--yes", "--args", `{"path":"Drafts/Other.md","content":"Mine.\n"}`)
	carriedOn(w)
	if w.text(draft) != "" || w.text("Drafts/Other.md") != "Mine.\n" {
		w.Errorf("%q %q", w.text(draft), w.text("Drafts/Other.md"))
	}
}

func editedHere(w *world) {
	editor := filepath.Join(w.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/Sencha/Gyokuro/ \"$1\"\n"), 0o755); err != nil {
		w.Fatal(err)
	}
	w.env = append(w.env, "EDITOR="+editor)
	tm := w.sit("run", "WRITE a draft")
	tm.await(prompt)
	tm.enter("e\n")
	tm.await("Apply with these arguments?")
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || w.text(draft) != strings.Replace(words, "Sencha", "Gyokuro", 1) || !strings.Contains(tm.seen(), answer) {
		w.Errorf("exit code %d %q\n%s", code, w.text(draft), tm.seen())
	}
}

func denied(w *world) {
	w.lore(0, "approvals", "deny", asked(w), "--message", "not in this folder")
	if _, notices := carriedOn(w); !strings.Contains(notices, "– write_note") || w.text(draft) != "" {
		w.Error(notices)
	}
}

// deleting is asked about whatever a run was allowed.
func deleting(w *world) {
	before := w.text("Notes/Matcha.md")
	r := w.mind(3, "run", "--auto", "TIDY up")
	if r.states() != "delete_note asked" || before == "" || w.text("Notes/Matcha.md") != before {
		w.Errorf("%+v", r)
	}
	w.lore(0, "approvals", "deny", r.Calls[0].Question)
	carriedOn(w)
	if w.text("Notes/Matcha.md") != before {
		w.Error("it was deleted")
	}
}

// killed: the process that waits for a person dies, the answer finds another.
func killed(w *world) {
	tm := w.sit("run", "WRITE a draft")
	tm.await(prompt)
	if err := tm.kill(); err != nil {
		w.Fatal(err)
	}
	tm.exit()
	if out, _ := w.lore(0, "approvals"); !strings.Contains(out, "Create "+draft) {
		w.Error(out)
	}
	w.lore(0, "approvals", "approve") // the only one that waits
	carriedOn(w)
	if w.text(draft) != words {
		w.Errorf("%q", w.text(draft))
	}
	// Nothing is left to go on with: nobody is asked again, and nothing is done twice.
	w.lore(0, "chat", "--continue", "last")
	var made struct {
		Activity []struct{ Tool, Status string }
	}
	out, _ := w.lore(0, "activity", "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		w.Fatal(err)
	}
	times := 0
	for _, a := range made.Activity {
		if a.Tool == "write_note" && a.Status == "done" {
			times++
		}
	}
	if times != 1 {
		w.Errorf("it was done %d times\n%s", times, out)
	}
}

// cancelled: a text without end is broken off, and the server stops.
func cancelled(w *world) {
	before := strings.Count(llama.said(), "cancel task")
	tm := w.sit("ask", "LONG")
	tm.await("la la la")
	if !llama.busy(w.T) {
		w.Error("it does not generate")
	}
	tm.enter("\x03")
	if code := tm.exit(); code != 130 {
		w.Errorf("exit code %d\n%s", code, tm.seen())
	}
	until(w.T, "the end of the task", func() bool { return !llama.busy(w.T) })
	if strings.Count(llama.said(), "cancel task") == before {
		w.Error("the server was not told to stop")
	}
}

func loop(w *world) {
	r := w.mind(1, "run", "LOOP")
	if r.Status != "waiting_user" || !strings.Contains(r.Reason, "the model repeats itself") || r.Steps != 5 ||
		r.states() != "search_notes done, search_notes done, search_notes error, search_notes error, search_notes error" {
		w.Errorf("%+v", r)
	}
}

func limits(w *world) {
	r := w.mind(1, "run", "--steps", "1", "BOTH")
	if r.Status != "limit" || !strings.Contains(r.Reason, "the limit of 1 steps") || r.Answer != "This is what I have so far." || r.Steps != 2 {
		w.Errorf("%+v", r)
	}
	if r = w.mind(1, "run", "--tokens", "9000", "LOOP"); r.Status != "limit" || !strings.Contains(r.Reason, "the limit of 9000 tokens") || r.Answer != "This is what I have so far." || r.Steps > 4 {
		w.Errorf("%+v", r)
	}
}

// leave: what a person allowed for one run is not asked about in it.
func leave(w *world) {
	r := w.mind(0, "run", "--allow", "write_note:Drafts/**", "WRITE a draft")
	if r.Status != "done" || r.states() != "write_note done" || r.Calls[0].Operation == "" || w.text(draft) != words {
		w.Errorf("%+v", r)
	}
	takenBack(w, "--run", r.Run)
}
