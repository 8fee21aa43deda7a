package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const seenCols, seenRows = 100, 32

// A look is a lore process that draws on all of its terminal.
type look struct {
	*terminal
	t          *testing.T
	cols, rows int
}

func onGlass(t *testing.T, vault string, args ...string) *look {
	t.Helper()
	return onGlassOf(t, seenCols, seenRows, nil, vault, args...)
}

func onGlassOf(t *testing.T, cols, rows int, env []string, vault string, args ...string) *look {
	t.Helper()
	size := unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	return &look{onTerminalOf(t, size, append(env, "TERM=xterm-256color"), vault, args...), t, cols, rows}
}

// now is what a person sees.
func (l *look) now() string {
	g := newGlass(l.cols, l.rows)
	g.write(l.seen())
	if len(g.odd) > 0 {
		l.t.Fatalf("codes that the glass does not know: %q", g.odd)
	}
	return g.text()
}

// sees waits until the screen is so.
func (l *look) sees(what string, ok func(text string) bool) string {
	l.t.Helper()
	for range 1200 {
		text := l.now()
		if ok(text) {
			return text
		}
		select {
		case <-l.eof:
			if text := l.now(); ok(text) { // its last words
				return text
			}
			l.t.Fatalf("the program ended without %s:\n%s", what, l.now())
		case <-time.After(50 * time.Millisecond):
		}
	}
	l.t.Fatalf("never: %s\n%s", what, l.now())
	return ""
}

// shows waits for texts that are there at once.
func (l *look) shows(texts ...string) string {
	l.t.Helper()
	return l.sees(strings.Join(texts, " and "), func(s string) bool {
		for _, want := range texts {
			if !strings.Contains(s, want) {
				return false
			}
		}
		return true
	})
}

// lacks waits until a text is gone.
func (l *look) lacks(text string) {
	l.t.Helper()
	l.sees("without "+text, func(s string) bool { return !strings.Contains(s, text) })
}

func (l *look) leaves() {
	l.t.Helper()
	l.enter("\x04")
	if code := l.exit(); code != 0 {
		l.t.Errorf("exit code %d\n%s", code, l.now())
	}
}

func TestChatScreenQuotes(t *testing.T) {
	vault := home(t)
	l := onGlass(t, vault, "chat")
	l.shows("Ask about your notes", "ready · quote")
	l.enter("how hot should the water be for sencha?\r")
	text := l.shows("[[Notes/", "See also", "No language model", "ready · quote")
	l.enter("\x1b[5~\x1b[5~\x1b[5~") // page up
	text += l.shows("> how hot should the water be", "✓ search_notes", "(done)", "The best matching passages")
	if regexp.MustCompile(`not read\b`).MatchString(text) {
		t.Errorf("a passage that was found counts as not read:\n%s", text)
	}
	l.enter("/read_note Matcha\r") // passes through to the mind
	l.shows("[[Caffeine]]", "Thin tea")
	l.leaves()
	if !strings.Contains(l.seen(), "lore chat --continue chat-") {
		t.Errorf("nobody is told how to go on:\n%q", l.seen())
	}
}

// An act is one answer of a scripted model.
type act struct {
	text []string
	call string // of a tool, with args
	args string
	hold bool // it never ends by itself
	fail int  // a status instead of an answer
}

// A stage is a server that speaks as OpenAI's do, and follows a script.
type stage struct {
	mu   sync.Mutex
	acts []act
	ends chan struct{} // an answer that never ends was left
	got  []string      // which models were asked
	told []string      // what they were told
}

// onStage makes a model that follows a script the one that answers.
func onStage(t *testing.T, vault string, acts ...act) *stage {
	t.Helper()
	t.Setenv("LORE_MODEL", "") // the settings name it
	s := &stage{acts: acts, ends: make(chan struct{}, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"alpha"},{"id":"beta"},{"id":"gamma"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", s.answer)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	for _, kv := range [][2]string{
		{"providers.box.kind", "openai"}, {"providers.box.base_url", srv.URL + "/v1"}, {"providers.box.api", "chat"}, {"model", "box/alpha"},
	} {
		if out, code := run(t, vault, "config", "set", "--yes", kv[0], kv[1]); code != 0 {
			t.Fatalf("config: %s", out)
		}
	}
	return s
}

func (s *stage) next(tools bool, model string) act {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !tools {
		return act{text: []string{"A name"}} // what the conversation is called
	}
	s.got = append(s.got, model)
	if len(s.acts) == 0 {
		return act{text: []string{"The script is over."}}
	}
	a := s.acts[0]
	s.acts = s.acts[1:]
	return a
}

func (s *stage) answer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string
		Tools []json.RawMessage
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.told = append(s.told, string(body))
	s.mu.Unlock()
	a := s.next(len(q.Tools) > 0, q.Model)
	if a.fail != 0 {
		http.Error(w, `{"error":{"message":"not now"}}`, a.fail)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", b)
		w.(http.Flusher).Flush()
	}
	delta := func(d map[string]any, finish any) {
		send(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	for _, text := range a.text {
		delta(map[string]any{"content": text}, nil)
	}
	if a.hold {
		<-r.Context().Done()
		s.ends <- struct{}{}
		return
	}
	stop := "stop"
	if a.call != "" {
		stop = "tool_calls"
		delta(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": a.call, "arguments": a.args}}}}, nil)
	}
	delta(map[string]any{}, stop)
	send(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 1200, "completion_tokens": 34}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// addLine is a call that asks.
func addLine(text string) act {
	args, _ := json.Marshal(map[string]string{"path": "Notes/Matcha.md", "under_heading": "Matcha", "text": text})
	return act{text: []string{"I will add it."}, call: "edit_note", args: string(args)}
}

const cardKeys = "[a] allow once"

func TestChatScreenAllows(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("A line by the model."), act{text: []string{"## Done\n\nSee [[Notes/Ma", "tcha]] and [[Nowhere]].", " \x1b[2J\x1b]0;owned\x07"}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("\x1b[200~add a line\nto the note\x1b[201~")
	l.shows("> add a line", "  to the note", "ready") // many lines are one message, and nothing is sent yet
	l.enter("\r")
	text := l.shows(cardKeys, "Edit Notes/Matcha.md", "+A line by the model.", "(edit_note); risk: change", "… edit_note: Edit Notes/Matcha.md", "(needs approval)", "needs approval · box/alpha")
	if strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "by the model") {
		t.Fatalf("nobody said yes:\n%s", text)
	}
	l.enter("a")
	l.shows("✓ edit_note", "(done)", "Done", "See [[Notes/Matcha]] and [[Nowhere]] (not read).", "3.7k/200k tokens", "2/25 steps", "ready") // with the name of the conversation
	l.lacks(cardKeys)
	if !strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "A line by the model.") {
		t.Error("it was not done")
	}
	if s := l.seen(); strings.Contains(s, "owned\x07") || strings.Contains(s, "]0;owned\x1b") {
		t.Errorf("a code of the model reached the terminal: %q", s)
	}
	l.enter("\x0f\r") // look at the call
	l.shows("arguments", `"under_heading": "Matcha"`, "result", "lore undo op-")
	l.enter("\x1b")
	l.shows("Enter send")
	l.leaves()
}

func TestChatScreenDenies(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("A line."), act{text: []string{"As you like."}})
	before := fileText(t, vault, "Notes/Matcha.md")
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("add a line\r")
	l.shows(cardKeys)
	l.enter("D")
	l.shows("why:")
	l.enter("not there\r")
	l.shows("– edit_note", "(denied)", "As you like.", "ready")
	if fileText(t, vault, "Notes/Matcha.md") != before {
		t.Error("it was done all the same")
	}
	l.leaves()
}

func TestChatScreenEdits(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("Wrong words."), act{text: []string{"All right."}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("add a line\r")
	l.shows(cardKeys)
	l.enter("e")
	l.shows(`"text": "Wrong words."`, "Enter previews the change")
	clean := strings.Repeat("\x15\x7f", 30) // ctrl+u and backspace
	l.enter(clean + `{"path":"Notes/Matcha.md","under_heading":"Matcha","words":"x"}` + "\r")
	l.shows("words") // what is wrong with it
	l.sees("a complaint", func(s string) bool {
		return strings.Contains(s, "not known") || strings.Contains(s, "unknown") || strings.Contains(s, "no field")
	})
	l.enter(clean + `{"path":"Notes/Matcha.md","under_heading":"Matcha","text":"Right words."}` + "\r")
	l.shows("With your edited arguments", "+Right words.", cardKeys)
	l.enter("a")
	l.shows("✓ edit_note", "All right.", "ready")
	if text := fileText(t, vault, "Notes/Matcha.md"); !strings.Contains(text, "Right words.") || strings.Contains(text, "Wrong words.") {
		t.Error(text)
	}
	l.leaves()
}

func TestChatScreenStops(t *testing.T) {
	vault := home(t)
	s := onStage(t, vault, act{text: []string{"I begin ", "and begin"}, hold: true}, act{text: []string{"Here I am."}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("write without end\r")
	l.shows("I begin and begin", "working")
	l.enter("\x1b")
	<-s.ends
	l.shows("Stopped. Changes made so far are kept.", "ready")
	l.enter("are\x1b\ryou\nthere?\r") // alt+enter and ctrl+j begin lines
	l.shows("> are\n  you\n  there?", "Here I am.", "ready")
	l.enter("\x03")
	l.shows("press Ctrl-C again to quit")
	l.enter("\x03")
	if code := l.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	l = onGlass(t, vault, "chat", "--continue", "last")
	l.shows("I begin and begin", "Here I am.") // what was read is kept
	l.leaves()
}

func TestChatPlainStops(t *testing.T) {
	vault := home(t)
	s := onStage(t, vault, act{text: []string{"I begin ", "and begin"}, hold: true})
	tm := onTerminalOf(t, unix.Winsize{Col: 80, Row: 24}, nil, vault, "chat", "--plain")
	tm.await("> ")
	tm.enter("write without end\n")
	tm.await("and begin")
	tm.enter("\x03")
	<-s.ends
	if code := tm.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	l := onGlass(t, vault, "chat", "--continue", "last")
	l.shows("> write without end", "I begin and begin", "ready")
	l.leaves()
}

func TestChatScreenGoesOn(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("A line that waits."), act{text: []string{"It is done."}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("add a line\r")
	l.shows(cardKeys)
	l.leaves() // in the middle of the question
	if out, _ := run(t, vault, "approvals"); !strings.Contains(out, "Edit Notes/Matcha.md") {
		t.Errorf("the question was lost: %s", out)
	}
	l = onGlass(t, vault, "chat", "--continue", "last")
	l.shows("> add a line", "I will add it.", "… edit_note", "+A line that waits.", cardKeys)
	out, code := run(t, vault, "approvals", "approve", "pending") // from another terminal
	if code != 0 {
		t.Errorf("approve: %d %s", code, out)
	}
	l.shows("Answered elsewhere", "✓ edit_note", "It is done.", "ready")
	if !strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "A line that waits.") {
		t.Error("it was not done")
	}
	l.leaves()
}

func TestChatScreenChoosesAModel(t *testing.T) {
	vault := home(t)
	s := onStage(t, vault, act{text: []string{"I am another."}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("/models\r")
	l.shows("Models:", "box/alpha", "box/beta", "box/gamma")
	l.enter("bet")
	l.lacks("box/gamma")
	l.enter("\r")
	l.shows("Now using box/beta", "ready · box/beta")
	l.enter("who are you?\r")
	l.shows("I am another.", "ready · box/beta")
	s.mu.Lock()
	if len(s.got) != 1 || s.got[0] != "beta" {
		t.Errorf("asked: %q", s.got)
	}
	s.mu.Unlock()
	l.enter("/new\r")
	l.lacks("I am another.")
	l.enter("/history\r")
	l.shows("Chats:", "A name")
	l.enter("\r")
	l.shows("> who are you?", "I am another.")
	l.leaves()
}

func TestChatScreenAsksAgain(t *testing.T) {
	vault := home(t)
	onStage(t, vault, act{fail: http.StatusServiceUnavailable}, act{text: []string{"Now it works."}})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("hello\r")
	l.shows("> hello\nretrying the model in", "Now it works.", "ready") // a part of the conversation, not written over it
	l.leaves()
}

func TestChatPlain(t *testing.T) {
	vault := home(t)
	tm := onTerminalOf(t, unix.Winsize{Col: 80, Row: 24}, nil, vault, "chat", "--plain")
	tm.await("> ")
	tm.enter("/help\n")
	tm.await("Or name a tool")
	tm.enter("/quit\n")
	if code := tm.exit(); code != 0 || strings.Contains(tm.seen(), "\x1b[?1049h") {
		t.Errorf("exit code %d\n%q", code, tm.seen())
	}
	tm = onTerminalOf(t, unix.Winsize{Col: 80, Row: 24}, []string{"TERM=dumb"}, vault, "chat")
	tm.await("> ")
	tm.enter("/quit\n")
	if code := tm.exit(); code != 0 || strings.Contains(tm.seen(), "\x1b") {
		t.Errorf("exit code %d\n%q", code, tm.seen())
	}
}

// TestChatScreenNarrow draws on forty columns without colours.
func TestChatScreenNarrow(t *testing.T) {
	vault := home(t)
	onStage(t, vault, addLine("茶の線 と words that are longer than the line."), act{text: []string{"| a | b |\n|---|---|\n| 玉露 | done |\n"}})
	l := onGlassOf(t, 40, 24, []string{"NO_COLOR=1"}, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("add a line\r")
	l.shows("[a] allow once")
	l.enter("v")
	l.shows("[a] allow once", "+茶の線", "the line.")
	l.enter("a")
	l.shows("✓ edit_note", "玉露", "done")
	for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[2m"} {
		if strings.Contains(l.seen(), code) {
			t.Errorf("painted by %q", code)
		}
	}
	size := unix.Winsize{Col: 90, Row: 30}
	if err := unix.IoctlSetWinsize(int(l.master.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	l.cols, l.rows = 90, 30
	l.shows("Enter send  Alt+Enter new line  Ctrl+O calls  /help  Ctrl-D quit", strings.Repeat("─", 89))
	l.leaves()
}

// TestChatScreenLeftAtOnce leaves before the run was stopped: it is stopped all
// the same, and nobody goes on with it.
func TestChatScreenLeftAtOnce(t *testing.T) {
	vault := home(t)
	s := onStage(t, vault, act{text: []string{"I begin"}, hold: true})
	l := onGlass(t, vault, "chat")
	l.shows("ready · box/alpha")
	l.enter("write without end\r")
	l.shows("I begin", "working")
	l.enter("\x03\x03")
	if code := l.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	<-s.ends
	l = onGlass(t, vault, "chat", "--continue", "last")
	text := l.shows("> write without end", "ready")
	if strings.Contains(text, "The script is over.") {
		t.Errorf("it went on:\n%s", text)
	}
	l.leaves()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) != 1 {
		t.Errorf("the model was asked %d times", len(s.got))
	}
}
