package note

import "strings"

// wikilink reads [[target#fragment|text]]; the brackets begin at i, the whole
// link at start, which differs for an embed. It returns the end, or 0.
func (in *inline) wikilink(start, i int) int {
	s := in.s
	end := wikiEnd(s, i+2)
	if end == 0 {
		return 0
	}
	// "[[1]](url)" is a Markdown link whose text has brackets.
	if strings.HasPrefix(s[end:], "(") {
		if _, tail := linkTail(s, end+1); tail > 0 {
			return 0
		}
	}
	l, dest, ok := splitWiki(s[i+2:end-2], in.p.note.opt)
	if !ok {
		return 0
	}
	l.Kind = Wikilink
	if start < i {
		l.Kind = Embed
	}
	l.Field = in.fieldAt(start)
	l.Span = in.span(start, end)
	l.Dest = in.span(i+2+dest.Start, i+2+dest.End)
	if l.Fragment != "" {
		l.Frag = in.span(i+2+l.Frag.Start, i+2+l.Frag.End)
	}
	in.p.note.addLink(l)
	in.floor = len(in.brackets)
	return end
}

// wikiEnd finds the end of a wikilink whose inside begins at s[i], or 0. It
// ends on the same line, a second "[[" begins a new one, and of three brackets
// the last two count.
func wikiEnd(s string, i int) int {
	if i < len(s) && s[i] == '[' {
		return 0
	}
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '\n', '\r':
			return 0
		case '[':
			if j+1 < len(s) && s[j+1] == '[' {
				return 0
			}
		case ']':
			if j+1 < len(s) && s[j+1] == ']' {
				return j + 2
			}
		}
	}
	return 0
}

// splitWiki divides the inside of a wikilink. dest is the target in it, as is
// the place of the fragment in l.
func splitWiki(s string, opt Options) (l Link, dest Span, ok bool) {
	from, to := 0, len(s)
	if bar := strings.IndexByte(s, '|'); bar >= 0 {
		left := bar
		if left > 0 && s[left-1] == '\\' {
			left--
		}
		if opt.DendronAlias && strings.TrimSpace(s[bar+1:]) != "" {
			l.Text, from = strings.TrimSpace(s[:left]), bar+1
		} else {
			l.Text, to = strings.TrimSpace(s[bar+1:]), left
		}
	}
	if opt.DendronAlias {
		// dendron://vault/note names a note of another vault of the workspace.
		if rest, yes := strings.CutPrefix(s[from:to], "dendron://"); yes {
			if slash := strings.IndexByte(rest, '/'); slash >= 0 {
				from += len("dendron://") + slash + 1
			}
		}
	}
	cut := to
	url := isURL(s[from:to]) && strings.Contains(s[from:to], "://")
	if hash := strings.IndexByte(s[from:to], '#'); hash >= 0 && !url {
		cut = from + hash
		l.Fragment = strings.Trim(strings.TrimSpace(s[cut+1:to]), "#")
		if l.Fragment != "" {
			at := cut + 1 + strings.Index(s[cut+1:to], l.Fragment)
			l.Frag = Span{at, at + len(l.Fragment)}
		}
	}
	dest = Span{trimLeft(s, from, cut), trimRight(s, from, cut)}
	dest.Start = min(dest.Start, dest.End)
	l.Target, l.External = s[dest.Start:dest.End], url
	return l, dest, l.Target != "" || l.Fragment != ""
}

// paren reads what begins with "(": Logseq's ((uuid)) or (key:: value).
func (in *inline) paren(i int) int {
	s := in.s
	if i+40 <= len(s) && s[i+1] == '(' && s[i+38] == ')' && s[i+39] == ')' && isUUID(s[i+2:i+38]) {
		in.p.note.addLink(Link{
			Kind: BlockRef, Target: s[i+2 : i+38], Field: in.fieldAt(i), Span: in.span(i, i+40), Dest: in.span(i+2, i+38),
		})
		return i + 40
	}
	if end := in.bracketField(i, ')'); end > 0 {
		return end
	}
	return i + 1
}

func isUUID(s string) bool {
	for i := 0; i < len(s); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if unhex(s[i]) < 0 {
			return false
		}
	}
	return len(s) == 36
}
