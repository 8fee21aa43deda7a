package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/index"
	"lore/internal/note"
)

// kinds are the types of nodes, with the beginning of their ids.
var kinds = [][2]string{
	{"Claim", "clm"}, {"Concept", "con"}, {"Person", "per"}, {"Paper", "pap"},
	{"Question", "que"}, {"Method", "met"}, {"Event", "evt"}, {"Source", "src"},
}

var verbs = []string{"supports", "contradicts", "cites", "part_of", "causes", "derived_from"}

// block is how many nodes live near each other. Blocks lie in turn on two
// continents, between which there is no way.
const block = 250

// A world is a knowledge vault of n nodes: three relations and two plain links
// from each, nearly all to nodes near it, one of twenty to anywhere on its
// continent. Node 0 is a hub with n/100 relations to it, which take the place of
// the third relation of other nodes; three nodes of the other continent are
// hubs a fifth that size. The same n is the same vault.
type world struct {
	n       int
	targets [][3]int // of the relations
	links   [][2]int
	near    [][]int // every node that is one step away, in either direction
	hubs    []int
}

func newWorld(n int) *world {
	w := &world{n: n, targets: make([][3]int, n), links: make([][2]int, n), near: make([][]int, n)}
	w.hubs = []int{0, block, block + 1, block + 2}
	r := rand.New(rand.NewPCG(7, uint64(n)))
	for i := range n {
		for k := range w.targets[i] {
			w.targets[i][k] = w.draw(r, i)
		}
		for k := range w.links[i] {
			w.links[i][k] = w.draw(r, i)
		}
	}
	w.point(w.hubs[0], n/100)
	for _, h := range w.hubs[1:] {
		w.point(h, n/500)
	}
	for i := range n {
		for _, t := range append(w.targets[i][:], w.links[i][:]...) {
			w.near[i] = append(w.near[i], t)
			w.near[t] = append(w.near[t], i)
		}
	}
	for i := range w.near {
		slices.Sort(w.near[i])
		w.near[i] = slices.Compact(w.near[i])
	}
	return w
}

func continent(i int) int { return i / block % 2 }

// draw is a node for an edge from i.
func (w *world) draw(r *rand.Rand, i int) int {
	for {
		at, room := i/block*block, min(block, w.n-i/block*block)
		t := at + (i-at+1+r.IntN(20))%room
		if r.IntN(20) == 0 {
			t = r.IntN(w.n)
		}
		if t != i && continent(t) == continent(i) && !slices.Contains(w.hubs, t) {
			return t
		}
	}
}

// point makes relations of nodes all over its continent lead to a hub.
func (w *world) point(hub, count int) {
	step := max(1, w.n/2/max(count, 1))
	at := 0
	for i := range w.n {
		if continent(i) != continent(hub) {
			continue
		}
		if at++; at%step == hub%7%step && !slices.Contains(w.hubs, i) && !slices.Contains(w.hubs, w.targets[i][2]) && count > 0 {
			w.targets[i][2] = hub
			count--
		}
	}
}

func (w *world) id(i int) string   { return fmt.Sprintf("%s-%06d", kinds[i%len(kinds)][1], i) }
func (w *world) name(i int) string { return fmt.Sprintf("Thought %06d", i) }
func (w *world) path(i int) string {
	return fmt.Sprintf("Nodes/%s/%02d/%s.md", kinds[i%len(kinds)][0], i/1000, w.name(i))
}
func (w *world) edge(i, k int) string { return fmt.Sprintf("rel-%06d-%d", i, k) }

// text is the note of node i.
func (w *world) text(i int) string {
	r := rand.New(rand.NewPCG(11, uint64(i)))
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntype: %s\nid: %s\n", kinds[i%len(kinds)][0], w.id(i))
	if r.IntN(8) > 0 {
		fmt.Fprintf(&b, "confidence: %.2f\n", 0.05+0.94*r.Float64())
	}
	b.WriteString("---\nWhat is thought here")
	for range 20 {
		fmt.Fprintf(&b, " w%d", r.IntN(5000))
	}
	fmt.Fprintf(&b, ", see [[%s]] and [[%s]].\n\n## Relations\n", w.name(w.links[i][0]), w.name(w.links[i][1]))
	for k, t := range w.targets[i] {
		fmt.Fprintf(&b, "- %s:: [[%s]] [confidence:: %.1f] ^%s\n", verbs[r.IntN(len(verbs))], w.name(t), r.Float64(), w.edge(i, k))
	}
	return b.String()
}

// fill puts all nodes into an empty store, without files.
func (w *world) fill(ctx context.Context, s index.Store) error {
	var batch []index.Document
	for i := range w.n {
		text := w.text(i)
		f := index.File{Path: w.path(i), Size: int64(len(text)), ModTime: int64(i) * 1e9, Inode: uint64(i + 1), Hash: index.HashOf([]byte(text)), Seen: 1 << 60}
		batch = append(batch, index.NewDocument(f, index.KindNote, note.Parse(f.Path, []byte(text))))
		if len(batch) == 1000 || i == w.n-1 {
			if err := s.Apply(ctx, index.Batch{Put: batch}); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return s.Optimize(ctx)
}

// write puts the files of some nodes into a folder.
func (w *world) write(dir string, nodes []int) error {
	for _, i := range nodes {
		p := filepath.Join(dir, filepath.FromSlash(w.path(i)))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(w.text(i)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// quiet are nodes from which no hub can be reached in two steps.
func (w *world) quiet(r *rand.Rand, count int) []int {
	var out []int
	for len(out) < count {
		i := r.IntN(w.n)
		if !slices.ContainsFunc(w.hubs, func(h int) bool { d := w.steps(i, h, 2); return d >= 0 }) {
			out = append(out, i)
		}
	}
	return out
}

// steps is how far apart two nodes are, or -1 when that is more than most.
func (w *world) steps(from, to, most int) int {
	seen := map[int]bool{from: true}
	level := []int{from}
	for d := 0; d <= most; d++ {
		if slices.Contains(level, to) {
			return d
		}
		var next []int
		for _, i := range level {
			for _, t := range w.near[i] {
				if !seen[t] {
					seen[t] = true
					next = append(next, t)
				}
			}
		}
		level = next
	}
	return -1
}

// apart are pairs of nodes two to four steps apart.
func (w *world) apart(r *rand.Rand, count int) [][2]int {
	var out [][2]int
	for len(out) < count {
		a := r.IntN(w.n)
		b := a
		for range 2 + r.IntN(3) {
			b = w.near[b][r.IntN(len(w.near[b]))]
		}
		if d := w.steps(a, b, 4); d >= 2 {
			out = append(out, [2]int{a, b})
		}
	}
	return out
}

// severed are pairs of nodes that nothing connects.
func (w *world) severed(r *rand.Rand, count int) [][2]int {
	var out [][2]int
	for len(out) < count {
		if a, b := r.IntN(w.n), r.IntN(w.n); continent(a) != continent(b) {
			out = append(out, [2]int{a, b})
		}
	}
	return out
}
