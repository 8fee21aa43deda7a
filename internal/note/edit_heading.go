package note

import (
	"strconv"
	"strings"
	"unicode"

	"lore/internal/change"
	"lore/internal/fault"
)

// A Step is one part of a fragment and the heading it names.
type Step struct {
	Text    string // as the link has it
	Heading int    // in [Note.Headings]
	Slug    bool   // it is the heading's name in a URL, as [Note.Slug] gives it
}

// Trail follows the fragment of a link ("Heading", "A#B", or a slug) to a
// heading of the note, and names the headings on the way, the one that it leads
// to last. Where several fit it takes the first, as Obsidian and GitHub do. It
// is nil for a block and for what leads nowhere.
func (n *Note) Trail(fragment string) []Step {
	if strings.HasPrefix(fragment, "^") || strings.TrimSpace(fragment) == "" {
		return nil
	}
	ways := [][]string{{fragment}}
	if parts := splitRef(fragment, "#"); len(parts) > 1 {
		ways = append(ways, parts)
	}
	for level, same := range headingWays {
		for _, parts := range ways {
			if found := n.firstTrail(parts, same); found != nil {
				return found
			}
		}
		if level == 0 {
			if i := n.slugAt(fragment); i >= 0 {
				return []Step{{fragment, i, true}}
			}
		}
	}
	return nil
}

// headingWays are the ways of comparing headings, strictest first.
var headingWays = []func(a, b string) bool{
	func(a, b string) bool { return a == b },
	func(a, b string) bool { return strings.EqualFold(squeeze(a), squeeze(b)) },
	func(a, b string) bool { return fold(a) == fold(b) },
}

func (n *Note) firstTrail(parts []string, same func(a, b string) bool) []Step {
	called := func(i int, name string) bool { return same(n.Headings[i].Text, name) }
	last := len(parts) - 1
	var open []int // the headings above the one looked at
	for i := range n.Headings {
		for len(open) > 0 && n.Headings[open[len(open)-1]].Level >= n.Headings[i].Level {
			open = open[:len(open)-1]
		}
		if called(i, parts[last]) {
			steps := make([]Step, len(parts))
			steps[last] = Step{Text: parts[last], Heading: i}
			left := last
			for k := len(open) - 1; k >= 0 && left > 0; k-- {
				if called(open[k], parts[left-1]) {
					left--
					steps[left] = Step{Text: parts[left], Heading: open[k]}
				}
			}
			if left == 0 {
				return steps
			}
		}
		open = append(open, i)
	}
	return nil
}

// Slug is the name of heading i in a URL, as GitHub makes it: lower case,
// hyphens for blanks, no punctuation, and a number behind one that was there
// before.
func (n *Note) Slug(i int) string {
	seen := map[string]int{}
	for k := range n.Headings {
		s := slug(n.Headings[k].Text)
		count := seen[s]
		seen[s]++
		if count > 0 {
			s += "-" + strconv.Itoa(count)
			seen[s]++
		}
		if k == i {
			return s
		}
	}
	return ""
}

// slugAt finds the heading with that slug, or -1.
func (n *Note) slugAt(fragment string) int {
	if strings.ContainsAny(fragment, " #") {
		return -1
	}
	plain := strings.TrimRight(strings.TrimRight(fragment, "0123456789"), "-")
	for i := range n.Headings {
		// Only a heading that could have it is worth the count of those before it.
		if s := slug(n.Headings[i].Text); (s == fragment || s == plain) && n.Slug(i) == fragment {
			return i
		}
	}
	return -1
}

func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// FindHeading returns the index of the heading that ref names, as for
// [Note.Section]: one that fits several is an error.
func (n *Note) FindHeading(ref string) (int, error) {
	i, err := n.findHeading(strings.TrimSpace(ref))
	if fault.Of(err) != fault.NotFound {
		return i, err
	}
	if t := n.Trail(strings.TrimSpace(strings.TrimLeft(ref, "# "))); len(t) > 0 {
		return t[len(t)-1].Heading, nil
	}
	return 0, err
}

// emphasis are the marks that may stand around a whole heading, longest first.
var emphasis = []string{"***", "**", "__", "~~", "==", "*", "_", "`"}

// SetHeading gives heading i another text. Its level, the marks around it, a
// "^id" behind it and every other byte stay. Text that would not be read as
// this one heading is refused.
func SetHeading(n *Note, i int, text string) ([]change.Patch, error) {
	if err := n.editable(); err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, unicode.IsControl) {
		return nil, fault.Field("new_heading", "give one line of text", "%q cannot be a heading", text)
	}
	if i < 0 || i >= len(n.Headings) {
		return nil, fault.New(fault.NotFound, "there is no heading %d in %s", i, n.Path)
	}
	span := n.Headings[i].Content
	for again := true; again; {
		again = false
		inner := n.text[span.Start:span.End]
		for _, m := range emphasis {
			if k := len(m); len(inner) > 2*k && strings.HasPrefix(inner, m) && strings.HasSuffix(inner, m) && !strings.Contains(inner[k:len(inner)-k], m) {
				span, again = Span{span.Start + k, span.End - k}, true
				break
			}
		}
	}
	p := change.Patch{Start: span.Start, End: span.End, Text: text}
	if p.Start == p.End && p.Start > 0 && n.text[p.Start-1] == '#' {
		p.Text = " " + text // a heading without any text
	}
	if !n.verifyHeading(i, p) {
		return nil, fault.Field("new_heading", "leave out characters that have a special meaning in Markdown", "%q cannot be the heading on line %d of %s", text, n.Headings[i].Line, n.Path)
	}
	return []change.Patch{p}, nil
}

// verifyHeading reads the note again with the patch: the headings must be the
// same but for the text of one, and the links, blocks and properties too.
func (n *Note) verifyHeading(i int, p change.Patch) bool {
	text, err := change.Splice(n.text, p)
	if err != nil {
		return false
	}
	again := n.opt.Parse(n.Path, []byte(text))
	ok := len(again.Headings) == len(n.Headings) && len(again.Blocks) == len(n.Blocks) && again.Front.Span == n.Front.Span &&
		len(again.Tasks) == len(n.Tasks)
	for k := 0; ok && k < len(n.Headings); k++ {
		old, now := &n.Headings[k], &again.Headings[k]
		ok = now.Level == old.Level && now.Nested == old.Nested && now.Line == old.Line+linesLess(n, p, old.Line) && (k == i || now.Text == old.Text)
	}
	if ok {
		h := again.Headings[i]
		ok = h.Text != "" && h.Content.Start <= p.Start+1 && h.Content.End >= p.Start+len(p.Text)
	}
	outside := func(links []Link, end int) (out []string) {
		for _, l := range links {
			if l.Span.End <= p.Start || l.Span.Start >= end {
				out = append(out, l.Target+"#"+l.Fragment)
			}
		}
		return out
	}
	return ok && strings.Join(outside(n.Links, p.End), "\n") == strings.Join(outside(again.Links, p.Start+len(p.Text)), "\n")
}

// linesLess is how many lines a setext heading of several lines loses above a
// line of the note.
func linesLess(n *Note, p change.Patch, line int) int {
	first, last := n.line(p.Start), n.line(max(p.Start, p.End-1))
	if line > first {
		return first - last
	}
	return 0
}
