package note

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"lore/internal/change"
	"lore/internal/fault"
)

// ReplaceTarget makes the link l of n point to target and keeps everything else
// about it: fragment, text, and the way it is written (angle brackets,
// percent-encoding, escapes of a property or a canvas). target is what
// [Link.Target] is to be afterwards. A link that takes its target from a
// definition needs no change of its own: the result is empty.
func ReplaceTarget(n *Note, l Link, target string) ([]change.Patch, error) {
	if err := n.editable(); err != nil {
		return nil, err
	}
	if l.Dest == (Span{}) {
		return nil, nil
	}
	if l.Dest.Start < 0 || l.Dest.End > len(n.text) || l.Dest.Start > l.Dest.End {
		return nil, fault.New(fault.Conflict, "link at %d..%d of %s", l.Span.Start, l.Span.End, n.Path)
	}
	if strings.ContainsFunc(target, unicode.IsControl) || target == "" {
		return nil, fault.Field("target", "give a path without control characters", "%q cannot stand in a link", target)
	}
	old := n.text[l.Dest.Start:l.Dest.End]
	var text string
	var err error
	switch {
	case l.Kind == Canvas:
		text, err = jsonInner(target)
	case l.Kind == BlockRef:
		if text = target; !isUUID(target) {
			err = fault.Field("target", "give the id of a block", "%q is no block id", target)
		}
	case l.External && l.Span == l.Dest || l.External && n.text[l.Span.Start] == '<':
		text, err = urlTarget(target)
	case n.isWiki(l):
		text, err = wikiTarget(target)
	default:
		angle := l.Dest.Start > 0 && n.text[l.Dest.Start-1] == '<'
		text, err = encodeDest(target, old, angle)
	}
	if err != nil {
		return nil, err
	}
	p := change.Patch{Start: l.Dest.Start, End: l.Dest.End, Text: text}
	if l.Kind == Canvas {
		return []change.Patch{p}, nil // inside a JSON string nothing else can change
	}
	if l.Kind == InFront || l.External || strings.ContainsAny(target, "`$%<>\\!*~\"'&{}") {
		if err := n.verifyLink(l, p, target); err != nil {
			return nil, err
		}
	}
	return []change.Patch{p}, nil
}

// isWiki reports whether a link is written with double brackets.
func (n *Note) isWiki(l Link) bool {
	s := n.text[l.Span.Start:l.Span.End]
	return l.Kind != Markdown && strings.HasPrefix(strings.TrimPrefix(s, "!"), "[[") && strings.HasSuffix(s, "]]")
}

func jsonInner(s string) (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("target %q: %w", s, fault.Invalid)
	}
	return string(b[1 : len(b)-1]), nil
}

func urlTarget(s string) (string, error) {
	if !isURL(s) || strings.ContainsAny(s, " \t<>") {
		return "", fault.Field("target", "give a whole URL", "%q cannot stand alone as a URL", s)
	}
	return s, nil
}

// wikiTarget refuses what ends or divides a wikilink.
func wikiTarget(s string) (string, error) {
	if i := strings.IndexAny(s, "[]|#^"); i >= 0 {
		return "", fault.Field("target", "rename the note first", "%q holds %q, which cannot stand in a wikilink", s, s[i])
	}
	if strings.TrimSpace(s) != s || strings.HasSuffix(s, "\\") {
		return "", fault.Field("target", "rename the note first", "%q begins or ends with a character that a wikilink loses", s)
	}
	return s, nil
}

// encodeDest writes target as a destination of the same style as old.
func encodeDest(target, old string, angle bool) (string, error) {
	unicode := strings.Contains(old, "%") && !hasHighByte(old) && hasHighByte(percentDecode(old))
	for _, strict := range []bool{false, true} {
		raw := escapeDest(target, angle, unicode, strict)
		var l Link
		if cut := l.setTarget(raw); cut == len(raw) && l.Target == target && l.Fragment == "" {
			return raw, nil
		}
	}
	return "", fault.Field("target", "", "%q cannot be written as the target of a Markdown link", target)
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

// verifyLink reads the note again with the patch: all links must be what they
// were, and this one must point to target.
func (n *Note) verifyLink(l Link, p change.Patch, target string) error {
	text, err := change.Splice(n.text, p)
	if err != nil {
		return fmt.Errorf("link in %s: %w", n.Path, fault.Conflict)
	}
	again := n.opt.Parse(n.Path, []byte(text))
	ok := len(again.Links) == len(n.Links) && again.Front.Broken == n.Front.Broken
	for i := 0; ok && i < len(n.Links); i++ {
		want, got := n.Links[i], again.Links[i]
		switch {
		case want.Dest == l.Dest:
			ok = got.Target == target && got.Fragment == want.Fragment && got.Kind == want.Kind
		case want.Dest == (Span{}):
		default:
			ok = got.Target == want.Target && got.Fragment == want.Fragment
		}
	}
	if !ok {
		return fault.Field("target", "rename the note first", "%q cannot be written into the link on line %d of %s", target, l.Line, n.Path)
	}
	return nil
}
