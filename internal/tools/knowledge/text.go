package knowledge

import (
	"strings"
	"unicode"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/vault"
)

// An edit is a note on its way to another text: every step reads what the one
// before left.
type edit struct {
	env     Env
	before  string // the file as it is
	now     *note.Note
	foreign bool // the file is not written in UTF-8
}

func (env Env) edit(n *node) *edit {
	return &edit{env: env, before: n.data, now: n.Note, foreign: n.data != n.Text()}
}

// do makes one step.
func (e *edit) do(patches []change.Patch, err error) error {
	if err != nil || len(patches) == 0 {
		return err
	}
	text, err := change.Splice(e.now.Text(), patches...)
	if err != nil {
		return fault.New(fault.Conflict, "two edits to %s overlap: %v", e.now.Path, err)
	}
	e.now = e.env.Parse.Parse(e.now.Path, []byte(text))
	return nil
}

// property sets a property, or removes it when the value is nil.
func (e *edit) property(key string, value any) error {
	if value == nil {
		if _, has := e.now.Front.Get(key); !has {
			return nil
		}
		return e.do(note.RemoveProperty(e.now, key))
	}
	return e.do(note.SetProperty(e.now, key, value))
}

// set is what the steps come to: nothing when the text is the same.
func (e *edit) set() (change.Set, error) {
	if e.now.Text() == e.before {
		return nil, nil
	}
	if e.now.ReadOnly || e.foreign {
		return nil, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not valid UTF-8", e.now.Path)
	}
	return change.Set{change.Replace(e.now.Path, e.before, e.now.Text())}, nil
}

// hash names the text that comes out.
func (e *edit) hash() string { return vault.Sum([]byte(e.now.Text())).String() }

// A body is the text of a node between its title and its relations: what the
// node says, and nothing that Lore keeps beside it.
type body struct{ start, end int }

// bodyOf finds the body. A heading of the first level that begins the note is
// its title; the body ends where the section Relations begins, if nothing but
// that section follows.
func bodyOf(n *note.Note) body {
	b := body{n.Front.Span.End, len(n.Text())}
	if len(n.Headings) > 0 {
		if h := n.Headings[0]; h.Level == 1 && strings.TrimSpace(strings.TrimPrefix(n.Text()[b.start:h.Span.Start], "\ufeff")) == "" {
			b.start = h.Span.End
		}
	}
	for i := len(n.Headings) - 1; i >= 0; i-- {
		h := n.Headings[i]
		if !h.Nested && strings.EqualFold(strings.TrimSpace(strings.TrimRight(h.Text, ": \t")), "relations") && h.Section.End == len(n.Text()) && h.Span.Start >= b.start {
			b.end = h.Span.Start
		}
	}
	return b
}

// says is the body as text.
func says(n *note.Note) string {
	b := bodyOf(n)
	return bare(n.Text()[b.start:b.end])
}

// bare is a text without the blank lines around it. The blanks that its first
// line begins with mean something: four of them are code.
func bare(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	for {
		line, rest, more := strings.Cut(s, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// replaceBody gives the note another body.
func replaceBody(n *note.Note, text string) []change.Patch {
	b := bodyOf(n)
	eol := "\n"
	if strings.Contains(n.Text(), "\r\n") {
		eol = "\r\n"
	}
	text = strings.ReplaceAll(strings.ReplaceAll(bare(text), "\r\n", "\n"), "\n", eol)
	lead := ""
	if b.start > 0 && b.start > n.Front.Span.End {
		lead = eol + eol
	}
	tail := eol
	if b.end < len(n.Text()) {
		tail += eol
	}
	return []change.Patch{{Start: b.start, End: b.end, Text: lead + text + tail}}
}
