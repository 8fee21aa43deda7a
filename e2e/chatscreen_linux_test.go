package e2e

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const seenCols, seenRows = 100, 32

// A look is a lore process that draws on all of its terminal.
type look struct {
	*terminal
	t *testing.T
}

func onGlass(t *testing.T, vault string, args ...string) *look {
	t.Helper()
	return &look{onTerminalOf(t, unix.Winsize{Col: seenCols, Row: seenRows}, []string{"TERM=xterm-256color"}, vault, args...), t}
}

// now is what a person sees.
func (l *look) now() string {
	g := newGlass(seenCols, seenRows)
	g.write(l.seen())
	if len(g.odd) > 0 {
		l.t.Fatalf("codes that the glass does not know: %q", g.odd)
	}
	return g.text()
}

// sees waits until the screen is so.
func (l *look) sees(what string, ok func(text string) bool) string {
	l.t.Helper()
	for range 600 {
		text := l.now()
		if ok(text) {
			return text
		}
		select {
		case <-l.eof:
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
	text := l.shows("> how hot should the water be", "[[", "✓ search_notes", "(done)", "These passages", "ready · quote")
	if strings.Contains(text, "not read") {
		t.Errorf("a passage that was found counts as not read:\n%s", text)
	}
	l.enter("/read_note Matcha\r") // passes through to the mind
	l.shows("✓ read_note")
	l.leaves()
	if !strings.Contains(l.seen(), "lore chat --continue chat-") {
		t.Errorf("nobody is told how to go on:\n%q", l.seen())
	}
}
