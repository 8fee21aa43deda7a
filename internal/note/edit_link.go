package note

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lore/internal/change"
	"lore/internal/fault"
)

// A Rewrite is what one link of a note is to become.
type Rewrite struct {
	Link     Link
	Target   string // what [Link.Target] is to be; "" leaves it
	Fragment string // what [Link.Fragment] is to be; "" leaves it
	Text     string // what a wikilink that shows its target is to show; "" leaves it, as does any other link
}

// ReplaceTarget makes the link l of n point to target and keeps everything else
// about it: fragment, text, and the way it is written (angle brackets,
// percent-encoding, escapes of a property or a canvas). target is what
// [Link.Target] is to be afterwards. A link that takes its target from a
// definition needs no change of its own: the result is empty.
func ReplaceTarget(n *Note, l Link, target string) ([]change.Patch, error) {
	if target == "" {
		return nil, fault.Field("target", "give a path without control characters", "%q cannot be used in a link", target)
	}
	patches, refused := RewriteLinks(n, []Rewrite{{Link: l, Target: target}})
	return patches, refused[0]
}

// ReplaceFragment makes the link l of n point to another fragment of the same
// target, and keeps everything else about it as [ReplaceTarget] does. A link
// that has no fragment of its own needs no change: the result is empty.
func ReplaceFragment(n *Note, l Link, fragment string) ([]change.Patch, error) {
	if fragment == "" {
		return nil, fault.Field("fragment", "name a heading or a block", "is empty")
	}
	patches, refused := RewriteLinks(n, []Rewrite{{Link: l, Fragment: fragment}})
	return patches, refused[0]
}

// RewriteLinks changes many links of n at once, each as [ReplaceTarget] and
// [ReplaceFragment] would. refused says for each why it is left as it is, nil
// for those that change; the patches are those of all that are not refused, in
// the order of the text.
func RewriteLinks(n *Note, rewrites []Rewrite) (patches []change.Patch, refused []error) {
	refused = make([]error, len(rewrites))
	made := make([]rewritten, 0, len(rewrites))
	sure := true
	for i, r := range rewrites {
		m, err := n.rewrite(r)
		if err != nil {
			refused[i] = err
			continue
		}
		if len(m.patches) == 0 {
			continue
		}
		m.which = i
		made = append(made, m)
		sure = sure && m.sure
	}
	if !sure {
		made = n.accept(made, refused)
		if !n.verify(made) { // each for itself is right, and together they are not
			for _, m := range made {
				refused[m.which] = n.unwritable(m.Rewrite)
			}
			made = nil
		}
	}
	for _, m := range made {
		patches = append(patches, m.patches...)
	}
	slices.SortFunc(patches, func(a, b change.Patch) int { return a.Start - b.Start })
	return slices.Compact(patches), refused
}

// A rewritten link is a [Rewrite] with its patches.
type rewritten struct {
	Rewrite
	patches []change.Patch
	which   int
	sure    bool // nothing else can be read differently afterwards
}

// rewrite makes the patches of one link.
func (n *Note) rewrite(r Rewrite) (rewritten, error) {
	if r.Link.Dest == (Span{}) {
		r.Target = ""
	}
	if r.Link.Frag == (Span{}) {
		r.Fragment = ""
	}
	m := rewritten{Rewrite: r, sure: true}
	if err := n.editable(); err != nil {
		return m, err
	}
	for _, s := range []Span{r.Link.Dest, r.Link.Frag} {
		if s.Start < 0 || s.End > len(n.text) || s.Start > s.End {
			return m, fault.New(fault.Conflict, "there is no link at bytes %d to %d of %s", r.Link.Span.Start, r.Link.Span.End, n.Path)
		}
	}
	parts := []struct {
		name, text string
		span       Span
		write      func(l Link, old, text string) (string, error)
	}{
		{"target", r.Target, r.Link.Dest, n.writeTarget},
		{"fragment", r.Fragment, r.Link.Frag, n.writeFragment},
	}
	for _, p := range parts {
		if p.text == "" {
			continue
		}
		if strings.ContainsFunc(p.text, unicode.IsControl) {
			return m, fault.Field(p.name, "give it without control characters", "%q cannot be used in a link", p.text)
		}
		text, err := p.write(r.Link, n.written(p.span), p.text)
		if err == nil && n.canvas {
			text, err = jsonInner(text)
		}
		if err != nil {
			return m, fault.Rename(err, "target", p.name)
		}
		m.patches = append(m.patches, change.Patch{Start: p.span.Start, End: p.span.End, Text: text})
	}
	if p, ok, err := n.writeText(&r); err != nil {
		return m, err
	} else if ok {
		m.patches = append(m.patches, p)
	} else {
		m.Text = ""
	}
	// Inside the path of a canvas's file nothing else can change.
	if r.Link.Kind != Canvas {
		m.sure = r.Fragment == "" && m.Text == "" && r.Link.Kind != InFront && !r.Link.External && !n.canvas && !strings.ContainsAny(r.Target, "`$%<>\\!*~\"'&{}()")
	}
	return m, nil
}

// written is the text of a span, without the escapes of a canvas.
func (n *Note) written(s Span) string {
	text := n.text[s.Start:s.End]
	if n.canvas && strings.IndexByte(text, '\\') >= 0 {
		var plain string
		if json.Unmarshal([]byte(`"`+text+`"`), &plain) == nil {
			return plain
		}
	}
	return text
}

func (n *Note) writeTarget(l Link, old, target string) (string, error) {
	switch {
	case l.Kind == Canvas:
		return target, nil
	case l.Kind == BlockRef:
		if !isUUID(target) {
			return "", fault.Field("target", "give the ID of a block", "%q is not a block ID", target)
		}
		return target, nil
	case l.External && l.Span == l.Dest || l.External && n.text[l.Span.Start] == '<':
		return urlTarget(target)
	case n.isWiki(l):
		return wikiTarget(target)
	}
	return encodeDest(target, old, n.angle(l.Dest), l.External)
}

func (n *Note) writeFragment(l Link, old, fragment string) (string, error) {
	switch {
	case l.Kind == Canvas:
		return fragment, nil
	case n.isWiki(l):
		return wikiFragment(fragment)
	}
	angle := n.angle(l.Dest)
	var parts []string
	for _, p := range strings.Split(fragment, "#") {
		parts = append(parts, escapeDest(p, angle, highEscaped(old), false))
	}
	raw := strings.Join(parts, "#")
	if decodeDest(raw) != fragment {
		return "", fault.Field("fragment", "", "%q cannot be written as the fragment of a Markdown link", fragment)
	}
	return raw, nil
}

// writeText lets a wikilink that shows its target show other words. In a table
// the bar before them is escaped, or it would end the cell.
func (n *Note) writeText(r *Rewrite) (p change.Patch, ok bool, err error) {
	s := r.Link.Span
	if r.Text == "" || r.Link.Kind != Wikilink || !n.isWiki(r.Link) || strings.Contains(n.text[s.Start:s.End], "|") {
		return p, false, nil
	}
	text := r.Text
	if strings.ContainsAny(text, "[]|\\\r\n") || strings.TrimSpace(text) != text {
		return p, false, nil // it cannot be shown like that
	}
	bar := "|"
	if n.canvas {
		if text, err = jsonInner(text); err != nil {
			return p, false, err
		}
	} else if inTable(n.text, s.Start) {
		bar = `\|`
	}
	if n.opt.DendronAlias {
		return change.Patch{Start: s.Start + 2, End: s.Start + 2, Text: text + bar}, true, nil
	}
	return change.Patch{Start: s.End - 2, End: s.End - 2, Text: bar + text}, true, nil
}

// inTable reports whether the line at an offset is one of a table: its block has
// a row of dashes above it, or right below.
func inTable(text string, at int) bool {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	for line := from; ; {
		end := len(text)
		if i := strings.IndexByte(text[line:], '\n'); i >= 0 {
			end = line + i
		}
		if line == from && end < len(text) {
			next, _, _ := strings.Cut(text[end+1:], "\n")
			if tableRule.MatchString(next) {
				return true
			}
		}
		row := strings.TrimLeft(text[line:end], "> \t")
		if strings.TrimSpace(row) == "" {
			return false
		}
		if line != from && tableRule.MatchString(text[line:end]) {
			return true
		}
		if line == 0 {
			return false
		}
		line = strings.LastIndexByte(text[:line-1], '\n') + 1
	}
}

// tableRule is the row below the head of a table.
var tableRule = regexp.MustCompile(`^[> \t]*(?:\|[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?|:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?)[ \t]*\r?$`)

// angle reports whether a destination stands in angle brackets.
func (n *Note) angle(dest Span) bool {
	before := n.text[:dest.Start]
	return strings.HasSuffix(before, "<") || n.canvas && strings.HasSuffix(before, `\u003c`)
}

// accept returns the rewrites that change nothing but their own links, and says
// for the others why not. Most notes need one look.
func (n *Note) accept(made []rewritten, refused []error) []rewritten {
	if len(made) == 0 || n.verify(made) {
		return made
	}
	if len(made) == 1 {
		refused[made[0].which] = n.unwritable(made[0].Rewrite)
		return nil
	}
	half := len(made) / 2
	return slices.Concat(n.accept(made[:half], refused), n.accept(made[half:], refused))
}

func (n *Note) unwritable(r Rewrite) error {
	field, text := "target", r.Target
	if text == "" {
		field, text = "fragment", r.Fragment
	}
	return fault.Field(field, "rename the note first", "%q cannot be written into the link on line %d of %s", text, r.Link.Line, n.Path)
}

// verify reads the note again with the patches: all links must be what they
// were, and the rewritten ones what they are to be.
func (n *Note) verify(made []rewritten) bool {
	want := make(map[Span]Rewrite, len(made))
	var patches []change.Patch
	for _, m := range made {
		patches = append(patches, m.patches...)
		r := want[m.Link.Dest]
		want[m.Link.Dest] = Rewrite{Target: cmp.Or(m.Target, r.Target), Fragment: cmp.Or(m.Fragment, r.Fragment), Text: cmp.Or(m.Text, r.Text)}
	}
	text, err := change.Splice(n.text, patches...)
	if err != nil {
		return false
	}
	var again *Note
	if n.canvas {
		again = ParseCanvas(n.Path, []byte(text))
	} else {
		again = n.opt.Parse(n.Path, []byte(text))
	}
	ok := len(again.Links) == len(n.Links) && again.Front.Broken == n.Front.Broken && len(again.Headings) == len(n.Headings)
	for i := 0; ok && i < len(n.Links); i++ {
		old, got := n.Links[i], again.Links[i]
		if old.Dest == (Span{}) {
			continue // it follows its definition
		}
		r := want[old.Dest]
		ok = got.Target == cmp.Or(r.Target, old.Target) && got.Fragment == cmp.Or(r.Fragment, old.Fragment) && got.Kind == old.Kind &&
			got.External == old.External && (r.Text == "" || got.Text == r.Text)
	}
	return ok
}

// isWiki reports whether a link is written with double brackets.
func (n *Note) isWiki(l Link) bool {
	s := n.text[l.Span.Start:l.Span.End]
	return l.Kind != Markdown && strings.HasPrefix(strings.TrimPrefix(s, "!"), "[[") && strings.HasSuffix(s, "]]")
}

func jsonInner(s string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // nobody escapes a path for HTML in a canvas
	if err := enc.Encode(s); err != nil {
		return "", fmt.Errorf("target %q: %w", s, fault.Invalid)
	}
	return strings.TrimSuffix(b.String()[1:], "\"\n"), nil
}

func urlTarget(s string) (string, error) {
	if !isURL(s) || strings.ContainsAny(s, " \t<>") {
		return "", fault.Field("target", "give a complete URL", "%q is not a complete URL", s)
	}
	return s, nil
}

// wikiTarget refuses what ends or divides a wikilink.
func wikiTarget(s string) (string, error) {
	if i := strings.IndexAny(s, "[]|#^"); i >= 0 {
		return "", fault.Field("target", "rename the note first", "%q contains %q, which is not allowed in a wikilink", s, s[i])
	}
	if strings.TrimSpace(s) != s || strings.HasSuffix(s, "\\") {
		return "", fault.Field("target", "rename the note first", "%q begins or ends with a character that wikilinks drop", s)
	}
	return s, nil
}

// wikiFragment refuses what ends or divides a wikilink. Several headings are
// divided by '#'.
func wikiFragment(s string) (string, error) {
	if i := strings.IndexAny(s, "[]|"); i >= 0 {
		return "", fault.Field("fragment", "", "%q contains %q, which is not allowed in a wikilink", s, s[i])
	}
	if strings.Trim(strings.TrimSpace(s), "#") != s || strings.HasSuffix(s, "\\") {
		return "", fault.Field("fragment", "", "%q begins or ends with a character that wikilinks drop", s)
	}
	return s, nil
}

// encodeDest writes target as a destination of the same style as old.
func encodeDest(target, old string, angle, external bool) (string, error) {
	high := highEscaped(old)
	for _, strict := range []bool{false, true} {
		raw := escapeDest(target, angle, high, strict)
		var l Link
		// A name such as "Step 1: boil.md" must not be read as a URL.
		if cut := l.setTarget(raw); cut == len(raw) && l.Target == target && l.Fragment == "" && l.External == external {
			return raw, nil
		}
	}
	return "", fault.Field("target", "", "%q cannot be written as the target of a Markdown link", target)
}

// highEscaped reports whether a destination encodes what is not ASCII.
func highEscaped(old string) bool {
	return strings.Contains(old, "%") && !hasHighByte(old) && hasHighByte(percentDecode(old))
}

func hasHighByte(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return true
		}
	}
	return false
}

// escapeDest percent-encodes what would end a destination or be decoded again.
// Strict leaves only letters, digits and a few marks.
func escapeDest(s string, angle, high, strict bool) string {
	const hex = "0123456789ABCDEF"
	balanced := angle || parensBalanced(s)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		var escape bool
		switch {
		case c >= 0x80:
			escape = high
		case c < ' ' || c == 0x7F:
			escape = true
		case isWordByte(c) || strings.IndexByte("-._~/", c) >= 0:
		case strict:
			escape = true
		case c == ' ':
			escape = !angle
		case c == '(' || c == ')':
			escape = !balanced
		case c == '%':
			escape = i+2 < len(s) && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0
		default:
			escape = strings.IndexByte("#<>\\|`[]\"", c) >= 0
		}
		if escape {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func parensBalanced(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			if depth++; depth > maxBrackets {
				return false
			}
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
