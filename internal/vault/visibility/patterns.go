package visibility

import (
	"slices"
	"strings"
)

// Patterns are a limit as text: to keep with what was read under it, and to
// compare with a later one. The zero value allows everything.
type Patterns struct {
	Only   [][]string `json:"only,omitempty"`
	Hidden []string   `json:"hidden,omitempty"`
}

// Patterns are those that make the limit.
func (l Limit) Patterns() Patterns { return l.text }

// Lost tells what of an earlier limit is no longer allowed: the files that these
// patterns hide, or, with all, nobody can say which. It compares patterns as they
// are written, so what only looks different counts as lost.
func (p Patterns) Lost(earlier Patterns) (hidden []string, all bool) {
	if slices.ContainsFunc(earlier.Only, func(list []string) bool { return len(list) == 0 }) {
		return nil, false // it allowed nothing
	}
	for _, need := range p.Only {
		if !slices.ContainsFunc(earlier.Only, func(had []string) bool { return isSubset(had, need) }) {
			return nil, true
		}
	}
	for _, h := range p.Hidden {
		if !slices.Contains(earlier.Hidden, h) {
			hidden = append(hidden, h)
		}
	}
	return hidden, false
}

// covers reports whether nothing of an earlier limit is lost.
func (p Patterns) covers(earlier Patterns) bool {
	hidden, all := p.Lost(earlier)
	return !all && len(hidden) == 0
}

// Widest allows at least what either of two limits allows.
func Widest(a, b Patterns) Patterns {
	switch {
	case b.covers(a):
		return b
	case a.covers(b):
		return a
	}
	return Patterns{}
}

func isSubset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// lowered are patterns in lower case.
func lowered(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = strings.ToLower(p)
	}
	return out
}
