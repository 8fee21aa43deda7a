package note

import (
	"fmt"
	"slices"
	"strconv"
)

// maxParts is how many links, tags, headings, tasks, fields and block ids of a
// note are known, each, unless [Options.Most] says fewer: a note of some
// megabytes can hold a million of them, which would take hundreds of times its
// size.
const maxParts = 200_000

// full reports whether a note has as many parts of one kind as are kept, and
// tells once that it has more. A note of which not everything is known is not
// edited part by part: the end of a section could be missed.
func (n *Note) full(have int, what string) bool {
	most := n.opt.Most
	if most <= 0 {
		most = maxParts
	}
	if have < most {
		return false
	}
	if !slices.Contains(n.over, what) {
		n.over = append(n.over, what)
		n.problem("too_many", fmt.Sprintf("more than %s %s; the rest is ignored", thousands(most), what), 0)
		if n.opt.Most <= 0 {
			n.ReadOnly = true
		}
	}
	return true
}

// thousands writes a number as people do.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func (n *Note) addLink(l Link) {
	if !n.full(len(n.Links), "links") {
		n.Links = append(n.Links, l)
	}
}

func (n *Note) addTag(t Tag) {
	if !n.full(len(n.Tags), "tags") {
		n.Tags = append(n.Tags, t)
	}
}
