// Package think takes thoughts out of answers: some servers leave them in the
// text, between <think> and </think>. A person is shown the answer, and calls
// that were only thought of are none.
package think

import (
	"context"
	"iter"
	"strings"

	"lore/internal/llm"
)

// The marks, and how they are spelled by some.
var (
	opens  = []string{"<think>", "<thinking>"}
	closes = []string{"</think>", "</thinking>"}
)

// Wrap makes a model whose thoughts are no part of its answers.
func Wrap(m llm.Model) llm.Model { return &model{m} }

type model struct{ llm.Model }

// Stream passes on what is said, thoughts as thoughts.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := &splitter{yield: yield}
		for e, err := range m.Model.Stream(ctx, r) {
			if !s.pass(e, err) {
				return
			}
		}
	}
}

// A splitter reads one answer. A thought stands at its beginning or nowhere: what
// an answer says about such marks later is its own business.
type splitter struct {
	yield   func(llm.Event, error) bool
	held    string // text that may be the beginning of a mark
	state   int
	trimmed bool // the blank lines after a thought are gone
}

const (
	begin = iota
	thinking
	speaking
)

func (s *splitter) pass(e llm.Event, err error) bool {
	if err != nil {
		return s.yield(e, err)
	}
	switch {
	case e.Type == llm.TextDelta:
		return s.text(e.Text)
	case e.Type == llm.PartDone && e.Part.Kind == llm.Text:
		return s.part(*e.Part)
	case e.Type == llm.PartDone || e.Type == llm.Finish:
		return s.flush() && s.yield(e, nil)
	}
	return s.yield(e, nil)
}

// text passes on a piece, as far as it is known what it is.
func (s *splitter) text(piece string) bool {
	s.held += piece
	if s.state == begin {
		rest := strings.TrimLeft(s.held, " \t\r\n")
		mark, may := prefix(rest, opens)
		switch {
		case mark != "":
			s.state, s.held = thinking, rest[len(mark):]
		case may:
			return true
		default:
			s.state, s.trimmed = speaking, true
		}
	}
	if s.state == thinking {
		at, mark := index(s.held, closes)
		if at < 0 {
			keep := tail(s.held, closes)
			out := s.held[:len(s.held)-keep]
			s.held = s.held[len(out):]
			return out == "" || s.yield(llm.Event{Type: llm.ReasoningDelta, Text: out}, nil)
		}
		thought := s.held[:at]
		s.held, s.state = s.held[at+len(mark):], speaking
		s.trimmed = false
		if thought != "" && !s.yield(llm.Event{Type: llm.ReasoningDelta, Text: thought}, nil) {
			return false
		}
	}
	return s.speak()
}

// speak passes on what is held as an answer.
func (s *splitter) speak() bool {
	out := s.held
	if !s.trimmed {
		out = strings.TrimLeft(out, "\r\n")
		s.trimmed = out != ""
	}
	s.held = ""
	return out == "" || s.yield(llm.Event{Type: llm.TextDelta, Text: out}, nil)
}

// flush passes on what turned out to be no mark.
func (s *splitter) flush() bool {
	if s.held == "" {
		return true
	}
	if s.state == thinking {
		out := s.held
		s.held = ""
		return s.yield(llm.Event{Type: llm.ReasoningDelta, Text: out}, nil)
	}
	s.state, s.trimmed = speaking, true
	return s.speak()
}

// part parts a whole text.
func (s *splitter) part(p llm.Part) bool {
	if !s.flush() {
		return false
	}
	thought, text, ok := Split(p.Text)
	s.state, s.trimmed = begin, false
	if !ok {
		return s.yield(llm.Event{Type: llm.PartDone, Part: &p}, nil)
	}
	if thought != "" && !s.yield(llm.Event{Type: llm.PartDone, Part: &llm.Part{Kind: llm.Reasoning, Text: thought}}, nil) {
		return false
	}
	p.Text = text
	return s.yield(llm.Event{Type: llm.PartDone, Part: &p}, nil)
}

// Split parts a text into its thought and what is said, and reports whether it
// has a thought. One that is never ended has nothing else. The beginning may be
// missing: some templates write it for the model.
func Split(s string) (thought, text string, ok bool) {
	rest := strings.TrimLeft(s, " \t\r\n")
	mark, _ := prefix(rest, opens)
	at, end := index(s, closes)
	switch {
	case mark != "":
		if at, end = index(rest, closes); at < 0 {
			return strings.TrimSpace(rest[len(mark):]), "", true
		}
		return strings.TrimSpace(rest[len(mark):at]), strings.TrimLeft(rest[at+len(end):], "\r\n"), true
	case at >= 0 && !hasAny(s[:at], opens) && !strings.Contains(s[:at], "`"):
		return strings.TrimSpace(s[:at]), strings.TrimLeft(s[at+len(end):], "\r\n"), true
	}
	return "", s, false
}

// prefix is the mark that a text begins with; may says that it can still become
// one.
func prefix(s string, marks []string) (mark string, may bool) {
	for _, m := range marks {
		if strings.HasPrefix(s, m) {
			return m, true
		}
		may = may || strings.HasPrefix(m, s)
	}
	return "", may
}

// index finds the first of some marks.
func index(s string, marks []string) (int, string) {
	at, which := -1, ""
	for _, m := range marks {
		if i := strings.Index(s, m); i >= 0 && (at < 0 || i < at) {
			at, which = i, m
		}
	}
	return at, which
}

func hasAny(s string, marks []string) bool { i, _ := index(s, marks); return i >= 0 }

// tail is how much of the end of a text may be the beginning of a mark.
func tail(s string, marks []string) int {
	most := 0
	for _, m := range marks {
		for n := min(len(m)-1, len(s)); n > most; n-- {
			if strings.HasSuffix(s, m[:n]) {
				most = n
			}
		}
	}
	return most
}
