package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// A world is a small vault with its tools, a model that follows a script, and the
// screen of somebody who talks with it.
type world struct {
	t    *testing.T
	m    *model
	dir  string
	reg  *tool.Registry
	mind *llmtest.Model
	msgs chan tea.Msg
	at   atomic.Int64 // milliseconds on the clock of the screen
	left bool         // the person left
}

func newWorld(t *testing.T, steps ...llmtest.Step) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), mind: llmtest.New(steps...), msgs: make(chan tea.Msg, 100)}
	w.at.Store(time.Now().UnixMilli())
	list := "one\n" + strings.Repeat("\nfiller\n", 10) + "\ntwo\n"
	for name, text := range map[string]string{"Tea.md": "# Tea\n\nNever boil green tea.\n", "Drinks/Coffee.md": "# Coffee\n\nBeans.\n", "list.md": list} {
		p := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, w.dir, nil)
	w.reg = tool.NewRegistry(p.Deps(), notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now}))
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	var n atomic.Int64
	a := &agent.Agent{
		Store: chat.New(file, nil), Door: w.reg, Now: time.Now, Log: slog.New(slog.DiscardHandler), Holder: "test",
		Model: func(context.Context, string) (llm.Model, llm.Info, error) {
			return w.mind, llm.Info{Context: 100_000, Mute: true}, nil
		},
		ID:     func(word string) string { return fmt.Sprintf("%s-%d", word, n.Add(1)) },
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy},
	}
	ctx, leave := context.WithCancel(t.Context())
	h := &effects{ctx: ctx, s: Session{Agent: a, Door: w.reg, Begin: func(ctx context.Context, text, model string) (string, error) {
		id := a.ID("chat")
		return id, a.Store.Put(ctx, chat.Chat{ID: id, Title: text, Model: model})
	}, Undo: func(ctx context.Context, _ string) (tool.Result, error) {
		return w.reg.Call(ctx, access.Terminal(), "undo", json.RawMessage(`{}`))
	}}}
	t.Cleanup(func() { leave(); h.close() })
	h.box.wake = func() { go w.hand(wake{}) }
	w.m = newModel(h, Options{Tools: true, Limits: agent.DefaultLimits()}, func() time.Time { return time.UnixMilli(w.at.Load()) })
	w.m.after = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	w.m.resize(100, 40)
	w.do(w.m.Init())
	return w
}

func (w *world) hand(msg tea.Msg) {
	select {
	case w.msgs <- msg:
	case <-w.m.h.ctx.Done():
	}
}

// do runs a command; what it tells comes back as a message.
func (w *world) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				w.do(c)
			}
		default:
			w.hand(msg)
		}
	}()
}

// feed gives a message to the model.
func (w *world) feed(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		w.left = true
		return
	}
	_, cmd := w.m.Update(msg)
	w.do(cmd)
}

func (w *world) view() string {
	text, _, _ := w.m.drawn()
	return text
}

// until works until the screen is so.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case msg := <-w.msgs:
			w.feed(msg)
		case <-limit:
			w.t.Fatalf("never: %s\n%s", what, w.view())
		}
	}
}

func (w *world) shows(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		w.until(text, func() bool { return strings.Contains(w.view(), text) })
	}
}

func (w *world) lacks(text string) {
	w.t.Helper()
	w.until("without "+text, func() bool { return !strings.Contains(w.view(), text) })
}

// press presses keys by their names, or types a text.
func (w *world) press(keys ...string) {
	for _, k := range keys {
		w.feed(keyOf(k))
	}
}

func (w *world) types(text string) {
	for _, r := range text {
		w.feed(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func keyOf(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	k := tea.KeyPressMsg{}
	rest := name
	for {
		if s, ok := strings.CutPrefix(rest, "ctrl+"); ok {
			k.Mod |= tea.ModCtrl
			rest = s
		} else if s, ok := strings.CutPrefix(rest, "alt+"); ok {
			k.Mod |= tea.ModAlt
			rest = s
		} else {
			break
		}
	}
	if c, ok := codes[rest]; ok {
		k.Code = c
		return k
	}
	if rest == "space" {
		rest = " "
	}
	k.Code = []rune(rest)[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

// wait lets time pass on the clock of the screen.
func (w *world) wait() { w.at.Add(settleFor.Milliseconds()) }

func (w *world) file(name string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// says sends a text.
func (w *world) says(text string) {
	w.t.Helper()
	w.types(text)
	w.press("enter")
}

func call(name string, args map[string]any) llm.Part {
	b, _ := json.Marshal(args)
	return llm.Part{Kind: llm.ToolCall, ID: "c" + fmt.Sprint(len(b)), Name: name, Args: b}
}

func write(path, text string) llm.Part {
	return call("write_note", map[string]any{"path": path, "content": text, "mode": "append"})
}

func asks(parts ...llm.Part) llmtest.Step { return llmtest.Step{Calls: parts} }

const keysShown = "[a] allow once"

// opened is a world in which one question waits.
func opened(t *testing.T, after ...llmtest.Step) *world {
	t.Helper()
	w := newWorld(t, append([]llmtest.Step{asks(write("Tea.md", "A new line."))}, after...)...)
	w.says("add a line")
	w.shows("Approval needed", "+A new line.", "risk: change")
	return w
}

func TestKeysBeforeTheCardWasSeen(t *testing.T) {
	w := opened(t, llmtest.Text("Done."))
	if strings.Contains(w.view(), keysShown) {
		t.Fatal("the keys are offered before they count")
	}
	w.press("a")
	if w.m.input.Value() != "a" || w.m.mode != writing || w.m.cards[0].busy != "" {
		t.Fatalf("a key that was typed too early answered, or was lost: %q", w.m.input.Value())
	}
	w.press("backspace", "tab")
	w.at.Add(settleFor.Milliseconds() - 1)
	w.press("a")
	if w.m.cards[0].busy != "" {
		t.Fatal("the card took a key as soon as it had the keys")
	}
	w.press("backspace", "tab")
	w.wait()
	w.shows(keysShown)
	w.press("a")
	w.shows("Done.", "✓ write_note", "ready")
	if !strings.Contains(w.file("Tea.md"), "A new line.") || w.m.current() != nil || w.m.mode != writing {
		t.Error("it was not done, or the card stayed")
	}
}

// TestUndoInTheChat: what would be undone is a card like others. It needs no run.
func TestUndoInTheChat(t *testing.T) {
	w := opened(t, llmtest.Text("Done."), llmtest.Text("Hello."))
	before := w.file("Tea.md")
	w.press("tab")
	w.says("/undo")
	w.shows("a change waits for you")
	w.press("tab")
	w.wait()
	w.press("a")
	w.shows("Done.", "ready")
	after := w.file("Tea.md")
	for _, answer := range []string{"esc", "d", "a"} {
		w.says("/undo")
		w.shows("Approval needed", "-A new line.")
		w.press("tab")
		w.says("hello")
		w.shows("approve or deny the change above first")
		w.m.input.Set("")
		w.press("tab")
		w.wait()
		w.shows(keysShown)
		w.press(answer)
		w.lacks("Approval needed")
		want, told := after, "Nothing was undone."
		if answer == "a" {
			want, told = before, "Undone."
		}
		w.shows(told)
		if got := w.file("Tea.md"); got != want || w.m.mode != writing || w.m.active() {
			t.Fatalf("%s: %q", answer, got)
		}
	}
	w.says("/undo")
	w.shows("there is no change to undo")
	w.says("/compact")
	w.shows("without a model, there is nothing to summarize")
	w.says("hello")
	w.shows("Hello.", "ready")
	w.says("/new")
	w.says("/compact")
	w.shows("There is nothing to summarize yet.")
}

func TestWhoeverWritesKeepsTheKeys(t *testing.T) {
	gate := make(chan struct{})
	step := asks(write("Tea.md", "A new line."))
	step.Wait = gate
	w := newWorld(t, step, llmtest.Text("Done."))
	w.says("add a line")
	w.types("and th")
	close(gate)
	w.shows("Approval needed", "Tab switches to this approval")
	w.wait()
	w.types("a")
	if w.m.input.Value() != "and tha" || w.m.cards[0].busy != "" {
		t.Errorf("%q", w.m.input.Value())
	}
}

func TestDeny(t *testing.T) {
	w := opened(t, llmtest.Text("As you like."))
	w.wait()
	w.press("D")
	w.types("not here")
	w.press("enter")
	w.shows("As you like.", "– write_note", "(denied)")
	if strings.Contains(w.file("Tea.md"), "A new line.") {
		t.Error("it was done")
	}
	last := w.mind.Requests()[1].Messages
	if text := last[len(last)-1].Parts[0].Text; !strings.Contains(text, "not here") {
		t.Errorf("the mind was not told: %s", text)
	}
}

func TestAlways(t *testing.T) {
	w := newWorld(t, asks(write("Drinks/Coffee.md", "A line.")), asks(write("Drinks/Coffee.md", "Another.")), llmtest.Text("Done."))
	w.says("add lines")
	w.shows("Approval needed")
	w.wait()
	w.press("w")
	w.shows("on: Drinks/**", "for 30 days")
	w.press("enter")
	w.shows("Done.")
	if text := w.file("Drinks/Coffee.md"); !strings.Contains(text, "A line.") || !strings.Contains(text, "Another.") {
		t.Error(text)
	}
	rules, err := w.reg.Rules(t.Context())
	if err != nil || len(rules) != 1 || rules[0].Paths != "Drinks/**" || rules[0].Tool != "write_note" {
		t.Errorf("%+v %v", rules, err)
	}
}

func TestARuleThatMayNotBe(t *testing.T) {
	w := newWorld(t, asks(call("delete_note", map[string]any{"path": "Tea.md"})), llmtest.Text("Done."))
	w.says("delete it")
	w.shows("Approval needed")
	w.wait()
	w.press("w", "enter")
	w.shows("rules cannot allow destructive changes")
	if w.m.current() == nil || w.m.current().busy != "" {
		t.Error("the question does not wait any more")
	}
}

func TestParts(t *testing.T) {
	diff := "<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n"
	w := newWorld(t, asks(call("edit_note", map[string]any{"path": "list.md", "diff": diff})), llmtest.Text("Done."))
	w.says("shout")
	w.shows("Approval needed", "-one", "+ONE")
	w.wait()
	w.press("p")
	w.shows("▸ [x] part 1  +1 -1  +ONE", "  [x] part 2  +1 -1  +TWO")
	w.press("space", "down", "space", "enter")
	w.shows("no part is selected")
	w.press("space", "enter")
	w.shows("Done.")
	if text := w.file("list.md"); !strings.Contains(text, "one") || !strings.Contains(text, "TWO") {
		t.Error(text)
	}
}

func TestEditedArguments(t *testing.T) {
	w := opened(t, llmtest.Text("Done."))
	w.wait()
	w.press("e")
	w.shows(`"content": "A new line."`)
	w.m.line.Set("{")
	w.press("enter")
	w.shows("Invalid JSON")
	w.m.line.Set(`{"path":"Tea.md","content":"x","mood":"y"}`)
	w.press("enter")
	w.shows("mood")
	w.until("a complaint", func() bool { return w.m.cards[0].wrong != "" })
	w.m.line.Set(`{"path":"Tea.md","content":"Better.","mode":"append"}`)
	w.press("enter")
	w.shows("With your edited arguments", "+Better.")
	w.press("esc") // back to what was asked
	w.shows("+A new line.")
	w.wait()
	w.press("e")
	w.m.line.Set(`{"path":"Tea.md","content":"Better.","mode":"append"}`)
	w.press("enter")
	w.shows("+Better.")
	w.wait()
	w.press("a")
	w.shows("Done.")
	if text := w.file("Tea.md"); !strings.Contains(text, "Better.") || strings.Contains(text, "A new line.") {
		t.Error(text)
	}
}

func TestSeveralQuestions(t *testing.T) {
	w := newWorld(t, asks(write("Tea.md", "First."), write("Drinks/Coffee.md", "Second one.")), llmtest.Text("Done."))
	w.says("add lines")
	w.shows("Approval 1 of 2", "+First.")
	w.wait()
	w.press("n")
	w.shows("Approval 2 of 2", "+Second one.")
	w.wait()
	w.press("a")
	w.shows("Approval needed", "+First.")
	w.wait()
	w.press("d")
	w.shows("Done.", "– write_note", "✓ write_note")
	if strings.Contains(w.file("Tea.md"), "First.") || !strings.Contains(w.file("Drinks/Coffee.md"), "Second one.") {
		t.Error("the wrong one was done")
	}
}

func TestAnsweredElsewhere(t *testing.T) {
	w := opened(t, llmtest.Text("Done."))
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), w.m.cards[0].q.ID, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	w.shows("Answered elsewhere", "Done.")
	w.lacks("Approval needed")
	w.lacks("needs approval")
}

func TestComputedAgain(t *testing.T) {
	w := opened(t, llmtest.Text("Done."))
	if err := os.WriteFile(filepath.Join(w.dir, "Tea.md"), []byte("# Tea\n\nOther words.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.wait()
	w.press("a")
	w.shows("The plan changed; review it again", "Other words.")
	if w.m.current().ready(w.m.now()) {
		t.Error("what is new takes keys at once")
	}
	w.wait()
	w.press("a")
	w.shows("Done.")
	if text := w.file("Tea.md"); !strings.Contains(text, "Other words.") || !strings.Contains(text, "A new line.") {
		t.Error(text)
	}
}

func TestLeavingAQuestion(t *testing.T) {
	w := opened(t)
	w.press("ctrl+c")
	w.shows("press Ctrl-C again to quit; the approval stays pending")
	w.press("ctrl+c")
	w.until("left", func() bool { return w.left })
	q, err := w.reg.Questions(t.Context(), tool.Pending)
	if err != nil || len(q) != 1 {
		t.Errorf("%v %v", q, err)
	}
	w.left = false
	w.press("ctrl+d")
	w.until("left", func() bool { return w.left })
}

func TestStoppingAtAQuestion(t *testing.T) {
	w := opened(t, llmtest.Text("I am here."))
	w.press("esc")
	w.shows("Stopped. Changes made so far are kept.", "– write_note", "ready")
	q, err := w.reg.Questions(t.Context(), tool.Pending)
	if err != nil || len(q) != 0 || w.m.current() != nil {
		t.Errorf("%v %v", q, err)
	}
	w.says("hello")
	w.shows("I am here.")
}

func TestStoppingAnAnswer(t *testing.T) {
	w := newWorld(t, llmtest.Step{Chunks: []string{"I begin"}}, llmtest.Step{Wait: make(chan struct{})}, llmtest.Text("I am here."))
	w.says("one")
	w.shows("I begin", "ready")
	w.says("two")
	w.shows("working")
	w.says("too early")
	w.shows("the model is still working")
	for w.mind.Open() == 0 { // it must have been asked
		select {
		case msg := <-w.msgs:
			w.feed(msg)
		case <-time.After(time.Millisecond):
		}
	}
	w.press("esc")
	w.shows("Stopped. Changes made so far are kept.", "ready")
	w.press("enter")
	w.shows("> too early", "I am here.")
}

func TestGoingOn(t *testing.T) {
	w := opened(t, llmtest.Text("Done."))
	id := w.m.chat
	w.press("tab")
	w.says("/new")
	w.lacks("Approval needed")
	w.says("/history")
	w.shows("Chats:", "add a line")
	w.press("enter")
	w.shows("> add a line", "+A new line.", "… write_note")
	if w.m.chat != id {
		t.Error(w.m.chat)
	}
	w.wait()
	w.press("a")
	w.shows("Done.", "✓ write_note")
}

// TestAForkShowsItsCalls: its messages are of runs that are not its own.
func TestAForkShowsItsCalls(t *testing.T) {
	w := newWorld(t, asks(call("read_note", map[string]any{"path": "Tea"})), llmtest.Text("It is read."))
	w.says("Read it")
	w.until("the answer", func() bool { return w.m.run != nil && w.m.run.Status == chat.Done })
	fork, err := w.m.h.s.Agent.Store.Fork(t.Context(), w.m.chat, "chat-fork", 4)
	if err != nil {
		t.Fatal(err)
	}
	w.do(w.m.h.load(fork.ID))
	w.until("the fork", func() bool { return w.m.chat == fork.ID })
	w.shows("It is read.", "read_note")
}

// TestACardBehindAList is new to the eyes when the list is closed.
func TestACardBehindAList(t *testing.T) {
	w := opened(t)
	w.wait()
	w.press("tab")
	w.says("/model")
	w.shows("Models:")
	w.press("esc")
	w.shows("Approval needed")
	w.press("a")
	if w.m.cards[0].busy != "" {
		t.Error("a key answered what was not seen yet")
	}
	w.m.input.Set("")
	w.press("ctrl+o")
	w.wait()
	w.press("esc", "a")
	if w.m.cards[0].busy != "" {
		t.Error("a key answered what was not looked at")
	}
}

// TestAPasteIsNoAnswer goes to the input, whatever has the keys.
func TestAPasteIsNoAnswer(t *testing.T) {
	w := opened(t)
	w.wait()
	w.feed(tea.PasteMsg{Content: "a"})
	if w.m.cards[0].busy != "" || w.m.input.Value() != "a" || w.m.mode != writing {
		t.Error("a paste answered")
	}
}

// TestTakenByAnother waits for the process that works on the run, and shows what
// it did.
func TestTakenByAnother(t *testing.T) {
	w := newWorld(t, llmtest.Text("Said by the other."), llmtest.Text("And here."))
	a := w.m.h.s.Agent
	r, err := a.Start(t.Context(), "chat-other", agent.Request{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	other := *a
	other.Holder = "other"
	if ok, err := a.Store.Hold(t.Context(), r.ID, other.Holder, time.Hour); err != nil || !ok {
		t.Fatal(err)
	}
	w.do(w.m.h.load("chat-other"))
	w.shows("> hello", "Another process is working on this chat", "working")
	if _, err := other.Work(t.Context(), r.ID, nil); err != nil {
		t.Fatal(err)
	}
	w.shows("Said by the other.", "ready")
	w.says("go on")
	w.shows("And here.")
}

// TestFilesThatAreShown are chosen by their names, even one.
func TestFilesThatAreShown(t *testing.T) {
	q := tool.Question{Changes: []tool.FileChange{{Path: "a.md", Action: "read"}, {Path: "b.md", Action: "read"}}}
	c := card{q: q, parts: partsOf(&q)}
	c.parts[0].take = false
	a, err := c.some()
	if err != nil || fmt.Sprint(a.Paths) != "[b.md]" || a.Hunks != nil {
		t.Errorf("%+v %v", a, err)
	}
	q.Changes = q.Changes[:1]
	if parts := partsOf(&q); len(parts) != 1 || parts[0].name != "a.md" {
		t.Errorf("%+v", parts)
	}
}

// TestLeavingBeforeItIsStopped leaves no run behind that goes on.
func TestLeavingBeforeItIsStopped(t *testing.T) {
	w := newWorld(t, llmtest.Step{Wait: make(chan struct{})})
	w.says("one")
	w.until("it works", func() bool { return w.m.working && w.m.stop != nil })
	w.press("ctrl+c", "ctrl+c") // and nothing is heard any more
	w.m.h.close()
	if err := w.m.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := w.m.h.s.Agent.Store.Run(t.Context(), w.m.run.ID)
	if err != nil || r.Status != chat.Cancelled {
		t.Errorf("%s %v", r.Status, err)
	}
}
