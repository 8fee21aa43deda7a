package screen

import (
	"slices"
	"strings"

	"lore/internal/chat"
	"lore/internal/surface/draw"
	"lore/internal/surface/prose"
)

// A kind says what an entry of the transcript is.
type kind int

const (
	said    kind = iota // by the person
	answer              // of the mind
	thought             // of the mind
	called              // a call of a tool
	notice              // about the conversation
	problem             // what went wrong
)

// An entry is one piece of the transcript. Its lines are drawn when it changes.
type entry struct {
	kind   kind
	text   []byte
	run    string
	call   chat.Call
	open   bool            // everything of it is shown
	live   bool            // more of it comes
	unread map[string]bool // citations of notes that were not read

	page       *prose.Page // of an answer
	head, tail []string    // drawn; an answer has the lines of its page between them
	was        int         // lines, when it was drawn last
	stale      bool
	picked     bool
}

// done are the lines that do not change any more.
func (e *entry) done() []string {
	if e.page == nil {
		return nil
	}
	return e.page.Lines()
}

func (e *entry) count() int { return len(e.head) + len(e.done()) + len(e.tail) }

func (e *entry) line(i int) string {
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

// A transcript is what is shown of a conversation, and which part of it.
type transcript struct {
	paint   draw.Screen
	width   int
	entries []*entry
	stale   []*entry
	total   int // lines
	up      int // lines below those that are shown; 0 follows what comes
}

// add puts an entry at the end.
func (t *transcript) add(e *entry) *entry {
	t.entries = append(t.entries, e)
	t.touch(e)
	return e
}

// tell adds a short entry.
func (t *transcript) tell(k kind, text string) { t.add(&entry{kind: k, text: []byte(text)}) }

// touch says that an entry must be drawn again.
func (t *transcript) touch(e *entry) {
	if !e.stale {
		e.stale = true
		t.stale = append(t.stale, e)
	}
}

// write adds a piece to an answer: only what is new is drawn.
func (t *transcript) write(e *entry, text []byte) {
	e.text = append(e.text, text...)
	if e.page != nil {
		e.page.Write(string(text))
	}
	t.touch(e)
}

// redraw begins an entry from its text again.
func (t *transcript) redraw(e *entry) {
	e.page = nil
	t.touch(e)
}

// remove takes an entry away.
func (t *transcript) remove(gone *entry) {
	for i, e := range t.entries {
		if e == gone {
			t.entries = append(t.entries[:i], t.entries[i+1:]...)
			t.total -= e.was
			t.stale = slices.DeleteFunc(t.stale, func(x *entry) bool { return x == gone })
			return
		}
	}
}

// clear empties the transcript.
func (t *transcript) clear() { t.entries, t.stale, t.total, t.up = nil, nil, 0, 0 }

// resize draws everything for another width.
func (t *transcript) resize(width int) {
	if width == t.width {
		return
	}
	t.width = width
	for _, e := range t.entries {
		t.redraw(e)
	}
}

// settle draws what is stale. What a person looks at stays where it is.
func (t *transcript) settle() {
	for _, e := range t.stale {
		t.drawn(e)
		e.stale = false
		more := e.count() - e.was
		e.was += more
		t.total += more
		if t.up > 0 {
			t.up += more
		}
	}
	t.stale = t.stale[:0]
}

// scroll moves what is shown, up for more than nothing.
func (t *transcript) scroll(by, height int) {
	t.up = max(0, min(t.up+by, t.total-height))
}

// view is what fits into so many lines.
func (t *transcript) view(height int) []string {
	t.settle()
	t.up = max(0, min(t.up, t.total-height))
	skip, need := t.up, height
	var parts []string // from the last line to the first
	for i := len(t.entries) - 1; i >= 0 && need > 0; i-- {
		e := t.entries[i]
		n := e.count()
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
func (t *transcript) style(e *entry) prose.Style {
	st := prose.Style{Screen: t.paint, Width: t.width}
	if e.unread != nil {
		st.Unread = func(link string) bool { return e.unread[link] }
	}
	return st
}

// drawn draws an entry.
func (t *transcript) drawn(e *entry) {
	p := t.paint
	switch e.kind {
	case said:
		e.head = []string{""}
		e.tail = plain(string(e.text), p.Bold("> "), "  ", t.width)
	case answer:
		e.head = []string{""}
		if e.page == nil {
			e.page = prose.New(t.style(e))
			e.page.Write(string(e.text))
		}
		e.tail = e.page.Tail()
	case thought:
		e.tail = t.thought(e)
	case called:
		e.tail = t.called(e)
	case problem:
		e.tail = plain(string(e.text), p.Red("! "), "  ", t.width)
	default:
		e.tail = nil
		for _, l := range plain(string(e.text), "", "", t.width) {
			e.tail = append(e.tail, p.Dim(l))
		}
	}
}

// thought shows that the mind thinks, in one line unless it is opened.
func (t *transcript) thought(e *entry) []string {
	word := "thought"
	if e.live {
		word = "thinking …"
	}
	last := strings.TrimSpace(string(e.text))
	if i := strings.LastIndexByte(last, '\n'); i >= 0 {
		last = last[i+1:]
	}
	out := []string{t.pick(e, t.paint.Dim(clip("∴ "+word+": "+draw.OneLine(last), t.width-2)))}
	if e.open {
		for _, l := range plain(string(e.text), "    ", "    ", t.width) {
			out = append(out, t.paint.Dim(l))
		}
	}
	return out
}

// pick marks the entry that the person has chosen.
func (t *transcript) pick(e *entry, line string) string {
	if e.picked {
		return t.paint.Bold("▸ ") + line
	}
	return "  " + line
}
