// Package transcript shows a conversation as it grows: what was said, answered,
// thought and called. Only what changed is drawn again, and only what is seen is
// handed out. It takes no keys.
package transcript

import (
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// A Kind says what an entry of the transcript is.
type Kind int

// The kinds of entries.
const (
	Said    Kind = iota // by the person
	Answer              // of the mind
	Thought             // of the mind
	Called              // a call of a tool
	Notice              // about the conversation
	Problem             // what went wrong
)

// An Entry is one piece of the transcript. Its lines are drawn when it changes.
type Entry struct {
	Kind   Kind
	Text   []byte
	Run    string
	Call   chat.Call
	Open   bool              // everything of it is shown
	Live   bool              // more of it comes
	Doubts map[string]string // what is wrong with citations, by their links
	Picked bool              // the person has chosen it

	page       *markdown.Page // of an answer
	head, tail []string       // drawn; an answer has the lines of its page between them
	was        int            // lines, when it was drawn last
	stale      bool
}

// done are the lines that do not change any more.
func (e *Entry) done() []string {
	if e.page == nil {
		return nil
	}
	return e.page.Lines()
}

// Count is how many lines it has.
func (e *Entry) Count() int { return len(e.head) + len(e.done()) + len(e.tail) }

func (e *Entry) line(i int) string {
	if i < len(e.head) {
		return e.head[i]
	}
	i -= len(e.head)
	done := e.done()
	if i < len(done) {
		return done[i]
	}
	return e.tail[i-len(done)]
}

// A Transcript is what is shown of a conversation, and which part of it.
type Transcript struct {
	Paint   draw.Screen
	Entries []*Entry
	Up      int // lines below those that are shown; 0 follows what comes

	width int
	stale []*Entry
	total int // lines
}

// Add puts an entry at the end.
func (t *Transcript) Add(e *Entry) *Entry {
	t.Entries = append(t.Entries, e)
	t.Touch(e)
	return e
}

// Tell adds a short entry.
func (t *Transcript) Tell(k Kind, text string) { t.Add(&Entry{Kind: k, Text: []byte(text)}) }

// Touch says that an entry must be drawn again.
func (t *Transcript) Touch(e *Entry) {
	if !e.stale {
		e.stale = true
		t.stale = append(t.stale, e)
	}
}

// Write adds a piece to an answer: only what is new is drawn.
func (t *Transcript) Write(e *Entry, text []byte) {
	e.Text = append(e.Text, text...)
	if e.page != nil {
		e.page.Write(string(text))
	}
	t.Touch(e)
}

// Redraw begins an entry from its text again.
func (t *Transcript) Redraw(e *Entry) {
	e.page = nil
	t.Touch(e)
}

// Remove takes an entry away.
func (t *Transcript) Remove(gone *Entry) {
	for i, e := range t.Entries {
		if e == gone {
			t.Entries = append(t.Entries[:i], t.Entries[i+1:]...)
			t.total -= e.was
			t.stale = slices.DeleteFunc(t.stale, func(x *Entry) bool { return x == gone })
			return
		}
	}
}

// Clear empties the transcript.
func (t *Transcript) Clear() { t.Entries, t.stale, t.total, t.Up = nil, nil, 0, 0 }

// Resize draws everything for another width.
func (t *Transcript) Resize(width int) {
	if width == t.width {
		return
	}
	t.width = width
	for _, e := range t.Entries {
		t.Redraw(e)
	}
}

// Refresh draws what is stale. What a person looks at stays where it is.
func (t *Transcript) Refresh() {
	for _, e := range t.stale {
		t.drawn(e)
		e.stale = false
		more := e.Count() - e.was
		e.was += more
		t.total += more
		if t.Up > 0 {
			t.Up += more
		}
	}
	t.stale = t.stale[:0]
}

// Scroll moves what is shown, up for more than nothing.
func (t *Transcript) Scroll(by, height int) {
	t.Refresh()
	t.Up = max(0, min(t.Up+by, t.total-height))
}

// View is what fits into so many lines.
func (t *Transcript) View(height int) []string {
	t.Refresh()
	t.Up = max(0, min(t.Up, t.total-height))
	skip, need := t.Up, height
	var parts []string // from the last line to the first
	for i := len(t.Entries) - 1; i >= 0 && need > 0; i-- {
		e := t.Entries[i]
		n := e.Count()
		if skip >= n {
			skip -= n
			continue
		}
		for k := n - 1 - skip; k >= 0 && need > 0; k-- {
			parts = append(parts, e.line(k))
			need--
		}
		skip = 0
	}
	out := make([]string, 0, height)
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i])
	}
	return out
}

// style is how answers look.
func (t *Transcript) style(e *Entry) markdown.Style {
	st := markdown.Style{Screen: t.Paint, Width: t.width}
	if e.Doubts != nil {
		st.Doubt = func(link string) string { return e.Doubts[link] }
	}
	return st
}

// drawn draws an entry.
func (t *Transcript) drawn(e *Entry) {
	p := t.Paint
	switch e.Kind {
	case Said:
		e.head = []string{""}
		e.tail = markdown.Plain(string(e.Text), p.Bold("> "), "  ", t.width)
	case Answer:
		e.head = []string{""}
		if e.page == nil {
			e.page = markdown.New(t.style(e))
			e.page.Write(string(e.Text))
		}
		e.tail = e.page.Tail()
	case Thought:
		e.tail = t.thought(e)
	case Called:
		e.tail = t.called(e)
	case Problem:
		e.tail = markdown.Plain(string(e.Text), p.Red("! "), "  ", t.width)
	default:
		e.tail = nil
		for _, l := range markdown.Plain(string(e.Text), "", "", t.width) {
			e.tail = append(e.tail, p.Dim(l))
		}
	}
}

// mostThought is how much of a thought is drawn while it goes on.
const mostThought = 2000

// thought shows that the mind thinks, in one line unless it is opened.
func (t *Transcript) thought(e *Entry) []string {
	word := "thought"
	if e.Live {
		word = "thinking …"
	}
	text := e.Text
	if e.Live { // it is drawn again for every word
		text = text[max(0, len(text)-mostThought):]
	}
	last := strings.TrimSpace(string(text))
	if i := strings.LastIndexByte(last, '\n'); i >= 0 {
		last = last[i+1:]
	}
	out := []string{t.pick(e, t.Paint.Dim(markdown.Clip("∴ "+word+": "+draw.OneLine(last), t.width-2)))}
	if e.Open {
		for _, l := range markdown.Plain(string(text), "    ", "    ", t.width) {
			out = append(out, t.Paint.Dim(l))
		}
	}
	return out
}

// pick marks the entry that the person has chosen.
func (t *Transcript) pick(e *Entry, line string) string {
	if e.Picked {
		return t.Paint.Bold("▸ ") + line
	}
	return "  " + line
}
