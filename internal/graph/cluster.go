package graph

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lore/internal/index"
)

// A Cluster is a group of notes that link to each other more than to others.
type Cluster struct {
	Center  string   // the note with the most links within the group
	Members []string // with the center, those with the most links first
}

// maxRounds bounds how often labels pass along links. They settle within a few
// rounds; the rest would only move single notes to and fro.
const maxRounds = 30

// Clusters groups the notes by their links, largest group first. Every note takes
// the label that most of its neighbors have, in the order of their paths, until
// nothing changes: the same links always give the same groups. A neighbor counts
// more when the two share others, so that a single link between two groups does
// not make them one. Notes without links are in none.
func (g *Graph) Clusters(ctx context.Context) ([]Cluster, error) {
	near := g.neighbors()
	weights, err := weigh(ctx, near)
	if err != nil {
		return nil, err
	}
	label := make(map[string]string, len(near))
	for p := range near {
		label[p] = p
	}
	for range maxRounds {
		changed := false
		for i, p := range g.Paths {
			if err := index.Interrupted(ctx, i); err != nil {
				return nil, err
			}
			if len(near[p]) == 0 {
				continue
			}
			if best := commonest(near[p], weights[p], label, label[p]); best != label[p] {
				label[p], changed = best, true
			}
		}
		if !changed {
			break
		}
	}
	groups := map[string][]string{}
	for _, p := range g.Paths {
		if len(near[p]) > 0 {
			groups[label[p]] = append(groups[label[p]], p)
		}
	}
	var out []Cluster
	for l, members := range groups {
		within := map[string]int{}
		for _, p := range members {
			for _, q := range near[p] {
				if label[q] == l {
					within[p]++
				}
			}
		}
		slices.SortFunc(members, func(a, b string) int { return cmp.Or(within[b]-within[a], strings.Compare(a, b)) })
		out = append(out, Cluster{Center: members[0], Members: members})
	}
	slices.SortFunc(out, func(a, b Cluster) int {
		return cmp.Or(len(b.Members)-len(a.Members), strings.Compare(a.Center, b.Center))
	})
	return out, nil
}

// neighbors are the notes that are linked with each note, in either direction,
// each once.
func (g *Graph) neighbors() map[string][]string {
	is := make(map[string]bool, len(g.Paths))
	for _, p := range g.Paths {
		is[p] = true
	}
	out := make(map[string][]string, len(g.Paths))
	for _, p := range g.Paths {
		both := slices.Concat(g.Out[p], g.In[p])
		both = slices.DeleteFunc(both, func(q string) bool { return !is[q] }) // attachments are no notes
		slices.Sort(both)
		out[p] = slices.Compact(both)
	}
	return out
}

// maxCompared bounds how many neighbors of a note are compared with another's.
const maxCompared = 500

// weigh tells for every neighbor of a note how much it counts: one, and one more
// for each neighbor that both have.
func weigh(ctx context.Context, near map[string][]string) (map[string][]int, error) {
	out := make(map[string][]int, len(near))
	round := 0
	for p, list := range near {
		for _, q := range list {
			if round++; round%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			a, b := list[:min(len(list), maxCompared)], near[q][:min(len(near[q]), maxCompared)]
			n := 1
			for len(a) > 0 && len(b) > 0 {
				switch strings.Compare(a[0], b[0]) {
				case 0:
					n, a, b = n+1, a[1:], b[1:]
				case -1:
					a = a[1:]
				default:
					b = b[1:]
				}
			}
			out[p] = append(out[p], n)
		}
	}
	return out, nil
}

// commonest is the label that counts most among the notes; of several, own if it is
// among them, else the first.
func commonest(notes []string, weights []int, label map[string]string, own string) string {
	counts := map[string]int{}
	for i, q := range notes {
		counts[label[q]] += weights[i]
	}
	best := ""
	for l, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && best != own && (l == own || l < best) {
			best = l
		}
	}
	return best
}

// DeadEnds returns the notes that link to no other note. Canvases are left out, as
// in [Graph.Orphans].
func (g *Graph) DeadEnds() []string {
	var out []string
	for _, p := range g.Paths {
		if len(g.Out[p]) == 0 && !g.maps[p] {
			out = append(out, p)
		}
	}
	return out
}
