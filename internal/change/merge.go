package change

import "strings"

// A Conflict is a place that both sides changed in different ways.
type Conflict struct {
	// Line is where the place begins in the base, counted from 1.
	Line int `json:"line"`
	// Base, Mine and Theirs are the three versions of it, byte for byte.
	Base   string `json:"base"`
	Mine   string `json:"mine"`
	Theirs string `json:"theirs"`
	// Start and End are where Mine stands in the merged text, so choosing
	// another version is a [Patch] of these bytes.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Merge joins two changed versions of base, line by line and byte for byte:
// line ends and a missing last one are kept as the side that wrote them has
// them. Where both sides changed the same or neighbouring lines differently,
// merged holds mine and the place is listed; merged is the wish of both only
// when there are no conflicts.
func Merge(base, mine, theirs string) (merged string, conflicts []Conflict) {
	b := splitLines(base)
	m := newSide(b, mine)
	t := newSide(b, theirs)
	var out strings.Builder
	at := 0
	for {
		lo, hi, ok := nextPlace(m, t)
		if !ok {
			break
		}
		for ; at < lo; at++ {
			out.WriteString(b[at])
		}
		vb := strings.Join(b[lo:hi], "")
		vm, vt := m.take(lo, hi), t.take(lo, hi)
		at = hi
		switch {
		case vm == vt, vt == vb:
			out.WriteString(vm)
		case vm == vb:
			out.WriteString(vt)
		default:
			start := out.Len()
			out.WriteString(vm)
			conflicts = append(conflicts, Conflict{
				Line: lo + 1, Base: vb, Mine: vm, Theirs: vt, Start: start, End: out.Len(),
			})
		}
	}
	for ; at < len(b); at++ {
		out.WriteString(b[at])
	}
	return out.String(), conflicts
}

// MarkConflicts writes every conflict of merged with both versions between the
// marks that Git uses. mine and theirs name the sides.
func MarkConflicts(merged string, conflicts []Conflict, mine, theirs string) string {
	var out strings.Builder
	at := 0
	line := func(s string) {
		out.WriteString(s)
		if s != "" && !strings.HasSuffix(s, "\n") {
			out.WriteByte('\n')
		}
	}
	for _, c := range conflicts {
		out.WriteString(merged[at:c.Start])
		line("<<<<<<< " + mine)
		line(c.Mine)
		line("=======")
		line(c.Theirs)
		line(">>>>>>> " + theirs)
		at = c.End
	}
	out.WriteString(merged[at:])
	return out.String()
}

// A side is one changed version and what is left of its changes.
type side struct {
	lines []string
	todo  []region
	shift int // where line i of the base stands in lines: i + shift
}

func newSide(base []string, text string) *side {
	lines := splitLines(text)
	return &side{lines: lines, todo: regions(number(base, lines))}
}

// nextPlace finds the next range of the base that either side changed, grown
// until no change of either side reaches across its ends or touches it: lines
// changed side by side were not seen by the other writer.
func nextPlace(m, t *side) (lo, hi int, ok bool) {
	switch {
	case len(m.todo) == 0 && len(t.todo) == 0:
		return 0, 0, false
	case len(t.todo) == 0 || len(m.todo) > 0 && m.todo[0].a0 <= t.todo[0].a0:
		lo, hi = m.todo[0].a0, m.todo[0].a1
	default:
		lo, hi = t.todo[0].a0, t.todo[0].a1
	}
	for i, j := 0, 0; ; {
		switch {
		case i < len(m.todo) && m.todo[i].a0 <= hi:
			hi = max(hi, m.todo[i].a1)
			i++
		case j < len(t.todo) && t.todo[j].a0 <= hi:
			hi = max(hi, t.todo[j].a1)
			j++
		default:
			return lo, hi, true
		}
	}
}

// take returns this side's version of the lines [lo, hi) of the base and
// forgets the changes in them.
func (s *side) take(lo, hi int) string {
	from := lo + s.shift
	for len(s.todo) > 0 && s.todo[0].a0 <= hi && s.todo[0].a1 <= hi {
		r := s.todo[0]
		s.shift = r.b1 - r.a1
		s.todo = s.todo[1:]
	}
	return strings.Join(s.lines[from:hi+s.shift], "")
}
