// Package textcall lets models call tools that have no way of their own to do
// it: the tools are described in words, and calls are read out of what the model
// says, in the ways that models were taught to write them.
//
// Words can lie: a note that is lenient.Quoted may hold what looks like a call. So only
// tools that are offered are called, never out of thoughts, quotes and code
// beside other words, never what is not complete, and never when the answer was
// cut; and each call says that it came from a text.
package textcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/textcall/lenient"
)

// A Call is a call of a tool that was read out of a text.
type Call struct {
	Name     string
	Args     json.RawMessage
	Repaired string // what had to be mended to read it; "": nothing
}

// Parse reads the calls of a whole answer. The rest is what was said beside them.
func Parse(text string, tools []llm.Tool) (calls []Call, rest string) {
	m := NewMachine(tools)
	before := m.Feed(text)
	after, calls := m.Finish(true)
	return calls, before + after
}

// A piece is a part of an answer that cannot be told yet: a call before it may
// turn out to be none.
type piece struct {
	raw   string
	what  what
	calls []Call
}

// A Machine reads an answer as it comes.
type Machine struct {
	scan    scanner
	unread  []byte
	enough  int // how much must be unread to look again: looking at each byte costs the square of the length
	held    []piece
	closing bool // some of the held calls count only if nothing is said after them
	said    bool // something was said before any call
	led     bool // the answer began with its calls, and goes on
}

// NewMachine makes one that knows these tools.
func NewMachine(tools []llm.Tool) *Machine {
	return &Machine{scan: scanner{tools: offered(tools), fresh: true, line: true}}
}

// Feed takes what came, and gives what is certainly text.
func (m *Machine) Feed(delta string) string {
	m.unread = append(m.unread, delta...)
	if len(m.unread) < m.enough {
		return ""
	}
	return m.read(false)
}

func (m *Machine) read(last bool) string {
	var out strings.Builder
	s := string(m.unread)
	for s != "" {
		e, err := m.scan.next(s, last)
		if errors.Is(err, lenient.ErrMore) && !last {
			break
		}
		if err != nil || e.n <= 0 {
			e = element{n: 1}
		}
		m.take(piece{s[:e.n], e.what, e.calls}, &out)
		s = s[e.n:]
	}
	m.unread = append(m.unread[:0], s...)
	m.enough = len(s) + len(s)/4 + 1
	return out.String()
}

// take adds a piece, and tells what no call is before any more.
func (m *Machine) take(p piece, out *strings.Builder) {
	switch {
	case p.what == thought: // all before it was thought, not said
		m.tell(out, func(piece) bool { return true })
	case m.closing && p.what == words && strings.Trim(p.raw, afterwards) != "":
		m.closing = false
		if m.led = m.led || m.isLead(); !m.led {
			m.tell(out, func(q piece) bool { return q.what == closing })
		}
	case m.led && p.what == closing: // the model goes on for ever
		p.what, p.calls = words, nil
	}
	if len(m.held) == 0 && p.calls == nil {
		m.said = m.said || p.what == words && strings.TrimSpace(p.raw) != ""
		out.WriteString(p.raw)
		return
	}
	m.closing = m.closing || p.what == closing
	m.held = append(m.held, p)
}

// afterwards is what may stand behind a call: the end of a statement says nothing.
const afterwards = " \t\r\n.;"

// isLead reports whether the answer began with a list of calls, and what follows is a
// paragraph of its own: it tells what they are for.
func (m *Machine) isLead() bool {
	k := slices.IndexFunc(m.held, func(p piece) bool { return p.calls != nil })
	if k < 0 || m.said {
		return false
	}
	list := m.held[k].raw
	if strings.HasPrefix(list, "```") {
		_, list, _ = strings.Cut(list, "\n")
	}
	if !strings.HasPrefix(strings.TrimSpace(list), "[") {
		return false
	}
	gap := ""
	for i, p := range m.held {
		if p.calls != nil && i > k {
			return false
		}
		if i != k {
			gap += p.raw
		}
	}
	return strings.TrimSpace(gap) == "" && strings.Count(gap, "\n") > 1
}

// tell makes text of the calls that are none, and gives what can be told then.
func (m *Machine) tell(out *strings.Builder, none func(piece) bool) {
	first := -1
	for k := range m.held {
		if m.held[k].calls != nil && none(m.held[k]) {
			m.held[k].calls = nil
			m.held[k].what = words
		}
		if m.held[k].calls != nil && first < 0 {
			first = k
		}
	}
	if first < 0 {
		first = len(m.held)
	}
	for _, p := range m.held[:first] {
		out.WriteString(p.raw)
	}
	m.held = append(m.held[:0], m.held[first:]...)
}

// Finish gives the rest of the text, and the calls if the answer ended well.
func (m *Machine) Finish(well bool) (text string, calls []Call) {
	var out strings.Builder
	out.WriteString(m.read(true))
	if !well {
		m.tell(&out, func(piece) bool { return true })
	}
	var rest strings.Builder
	for _, p := range m.held {
		before := calls
		for _, c := range p.calls {
			if !slices.ContainsFunc(before, c.repeats) { // an echo is made once
				calls = append(calls, c)
			}
		}
		if p.calls == nil && p.what != marks {
			rest.WriteString(p.raw)
		}
	}
	end := rest.String()
	if m.held = nil; m.closing && strings.Trim(end, afterwards) == "" {
		end = strings.Trim(end, ".;")
	}
	return out.String() + end, calls
}

func (c Call) repeats(d Call) bool { return c.Name == d.Name && bytes.Equal(c.Args, d.Args) }

// Tried reports whether an answer ends with something that begins like a call and
// cannot be read as one, and which tool it names that is not offered.
func Tried(text string, tools []llm.Tool) (unknown string, tried bool) {
	m := NewMachine(tools)
	m.Feed(text)
	_, calls := m.Finish(true)
	return m.scan.unknown, m.scan.tried && len(calls) == 0
}

// Mend reads an object that is nearly JSON, and says what had to be mended. What is
// open, or has words beside it, is none.
func Mend(text string) (args json.RawMessage, what string, ok bool) {
	r := lenient.Reader{S: text, Last: true}
	var b bytes.Buffer
	if !r.Space() || r.S[r.I] != '{' || r.Value(&b) != nil || r.Space() || !json.Valid(b.Bytes()) {
		return nil, "", false
	}
	return b.Bytes(), strings.Join(r.Notes, ", "), true
}
