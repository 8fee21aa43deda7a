package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lore/internal/fault"
)

// Section finds the part of the note that ref names: "^id" for a block, else a
// heading as its text or as a path ("A#B" or "A > B", where headings between
// may be left out). Case, blanks, emoji, punctuation and inline markup do not
// matter unless they are what tells two headings apart. The range of a heading
// reaches to the next heading of the same or a higher level.
func (n *Note) Section(ref string) (Span, error) {
	ref = strings.TrimSpace(ref)
	if id, ok := strings.CutPrefix(strings.TrimPrefix(ref, "#"), "^"); ok {
		b, err := n.findBlock(id)
		if err != nil {
			return Span{}, err
		}
		return b.Span, nil
	}
	i, err := n.findHeading(ref)
	if err != nil {
		return Span{}, err
	}
	return n.Headings[i].Section, nil
}

func (n *Note) findBlock(id string) (*Block, error) {
	var found []int
	for i := range n.Blocks {
		if strings.EqualFold(n.Blocks[i].ID, id) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return &n.Blocks[found[0]], nil
	case 0:
		var ids []string
		for i := range n.Blocks {
			ids = append(ids, "^"+n.Blocks[i].ID)
		}
		return nil, fault.Fix(fault.NotFound, suggest("the note's blocks are", near(ids, id)), "there is no block ^%s in %s", id, n.Path)
	}
	var lines []string
	for _, i := range found {
		lines = append(lines, fmt.Sprintf("line %d", n.Blocks[i].Line))
	}
	return nil, fault.New(fault.Ambiguous, "block ^%s occurs %d times in %s: %s", id, len(found), n.Path, strings.Join(lines, ", "))
}

// findHeading returns the index of the heading that ref names. The strictest
// way of comparing that finds anything decides.
func (n *Note) findHeading(ref string) (int, error) {
	whole := []string{strings.TrimSpace(strings.TrimLeft(ref, "#"))}
	ways := [][]string{whole}
	if parts := splitRef(whole[0], "#"); len(parts) > 1 {
		ways = append(ways, parts)
	}
	if parts := splitRef(whole[0], ">"); len(parts) > 1 {
		ways = append(ways, parts)
	}
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.EqualFold(squeeze(a), squeeze(b)) },
		func(a, b string) bool { return fold(a) == fold(b) },
	} {
		for _, parts := range ways {
			switch found := n.headingsAt(parts, same); len(found) {
			case 0:
			case 1:
				return found[0], nil
			default:
				return 0, n.ambiguous(ref, found)
			}
		}
	}
	var all []string
	for i := range n.Headings {
		all = append(all, n.Headings[i].Text)
	}
	return 0, fault.Fix(fault.NotFound, suggest("the note's headings are", near(all, whole[0])), "there is no heading %q in %s", ref, n.Path)
}

func splitRef(ref, sep string) []string {
	var parts []string
	for _, s := range strings.Split(ref, sep) {
		if s = strings.TrimSpace(strings.TrimLeft(s, "# ")); s != "" {
			parts = append(parts, s)
		}
	}
	return parts
}

// headingsAt lists the headings whose text is the last of parts and that stand
// below the others, outermost first.
func (n *Note) headingsAt(parts []string, same func(a, b string) bool) []int {
	var found []int
	var open []int // the headings above the one looked at
	for i := range n.Headings {
		h := &n.Headings[i]
		for len(open) > 0 && n.Headings[open[len(open)-1]].Level >= h.Level {
			open = open[:len(open)-1]
		}
		if same(h.Text, parts[len(parts)-1]) {
			want := parts[:len(parts)-1]
			for k := len(open) - 1; k >= 0 && len(want) > 0; k-- {
				if same(n.Headings[open[k]].Text, want[len(want)-1]) {
					want = want[:len(want)-1]
				}
			}
			if len(want) == 0 {
				found = append(found, i)
			}
		}
		open = append(open, i)
	}
	return found
}

func (n *Note) ambiguous(ref string, found []int) error {
	var list []string
	for _, i := range found {
		list = append(list, fmt.Sprintf("%q (line %d)", strings.Join(n.headingPath(i), " > "), n.Headings[i].Line))
		if len(list) == 10 {
			list = append(list, "...")
			break
		}
	}
	return fault.Fix(fault.Ambiguous, "include the headings above it", "heading %q matches %d headings in %s: %s", ref, len(found), n.Path, strings.Join(list, ", "))
}

// headingPath lists the headings above one, outermost first, and itself.
func (n *Note) headingPath(i int) []string {
	path := []string{n.Headings[i].Text}
	level := n.Headings[i].Level
	for j := i - 1; j >= 0; j-- {
		if n.Headings[j].Level < level {
			level = n.Headings[j].Level
			path = append(path, n.Headings[j].Text)
		}
	}
	slices.Reverse(path)
	return path
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// fold keeps the letters and digits of a heading, in lower case; of a heading
// that has none, everything.
func fold(s string) string {
	f := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, plainInline(s))
	if f == "" {
		return strings.ToLower(squeeze(s))
	}
	return f
}

// near picks at most five of names that are most like name, or the first ones.
func near(names []string, name string) []string {
	type scored struct {
		name  string
		score int
	}
	want := fold(name)
	var list []scored
	for _, s := range names {
		have := fold(s)
		score := common(want, have)
		if have != "" && (strings.Contains(have, want) || strings.Contains(want, have)) {
			score += len(want)
		}
		list = append(list, scored{s, score})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.score - a.score })
	var out []string
	for _, s := range list[:min(5, len(list))] {
		out = append(out, fmt.Sprintf("%q", s.name))
	}
	return out
}

// common counts the pairs of letters that two words share.
func common(a, b string) int {
	pairs := make(map[string]bool)
	for i := 0; i+2 <= len(a); i++ {
		pairs[a[i:i+2]] = true
	}
	score := 0
	for i := 0; i+2 <= len(b); i++ {
		if pairs[b[i:i+2]] {
			delete(pairs, b[i:i+2])
			score++
		}
	}
	return score
}

func suggest(intro string, names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return intro + " " + strings.Join(names, ", ")
}
