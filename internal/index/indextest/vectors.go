package indextest

import (
	"fmt"
	"math"
	"testing"

	"lore/internal/index"
)

func testPassages(t *testing.T, s index.Store) {
	put(t, s, Note("b.md", "B", "one\n\ntwo"), Note("a.md", "A", "three"))
	rows, err := s.Notes(t.Context(), index.Select{})
	must(t, err)
	var ids []int64
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	ps, err := s.Passages(t.Context(), index.PassageQuery{IDs: ids})
	must(t, err)
	var got []string
	for _, p := range ps {
		got = append(got, fmt.Sprintf("%s#%d %s/%s:%d %s", p.Path, p.Seq, p.Title, p.Heading, p.Line, p.Text))
	}
	equal(t, "passages", got, []string{"a.md#0 A/A:1 three", "b.md#0 B/B:1 one", "b.md#1 B/B:2 two"})
	none, err := s.Passages(t.Context(), index.PassageQuery{})
	must(t, err)
	equal(t, "of nothing", len(none), 0)
}

// at is a unit vector in the plane of the first two axes.
func at(degrees float64) []float32 {
	v := make([]float32, 64)
	v[0], v[1] = float32(math.Cos(degrees*math.Pi/180)), float32(math.Sin(degrees*math.Pi/180))
	return v
}

func embedAll(t *testing.T, s index.Store, model string, degrees map[string]float64) {
	t.Helper()
	ps, err := s.Passages(t.Context(), index.PassageQuery{Model: model})
	must(t, err)
	var vs []index.Vector
	for _, p := range ps {
		if d, ok := degrees[p.Text]; ok {
			vs = append(vs, index.Vector{Hash: p.Hash, Vector: at(d)})
		}
	}
	must(t, s.Apply(t.Context(), index.Batch{Model: model, Vectors: vs}))
}

func nearest(t *testing.T, s index.Store, n index.Near) []string {
	t.Helper()
	got, err := s.Nearest(t.Context(), n)
	must(t, err)
	out := []string{}
	for _, p := range got {
		out = append(out, fmt.Sprintf("%s#%d", p.Path, p.Seq))
	}
	return out
}

func testVectors(t *testing.T, s index.Store) {
	a, b := Note("a.md", "A", "east\n\nnorth"), Note("b.md", "B", "west\n\nnorth-east")
	a.Tags = []string{"x"}
	old := Note("old.md", "Old", "later")
	old.ModTime = 1
	put(t, s, a, b, old)
	missing, err := s.Passages(t.Context(), index.PassageQuery{Model: "m", Limit: 4})
	must(t, err)
	for _, p := range missing {
		if p.Path == "old.md" {
			t.Error("the passages of older notes come before those of newer ones")
		}
	}
	embedAll(t, s, "m", map[string]float64{"east": 0, "north": 90, "west": 180, "north-east": 45})
	missing, err = s.Passages(t.Context(), index.PassageQuery{Model: "m"})
	must(t, err)
	if len(missing) != 1 || missing[0].Path != "old.md" {
		t.Errorf("without a vector: %v; want only old.md", missing)
	}
	equal(t, "nearest", nearest(t, s, index.Near{Model: "m", Vector: at(10), Limit: 3}), []string{"a.md#0", "b.md#1", "a.md#1"})
	got, err := s.Nearest(t.Context(), index.Near{Model: "m", Vector: at(45), Limit: 1})
	must(t, err)
	if len(got) != 1 || math.Abs(float64(got[0].Cosine)-1) > 0.01 {
		t.Errorf("the cosine of the same direction: %+v", got)
	}
	equal(t, "with a filter", nearest(t, s, index.Near{Model: "m", Vector: at(180), Limit: 3, Filter: index.Filter{Tags: []string{"x"}}}), []string{"a.md#1", "a.md#0"})
	equal(t, "like passages", nearest(t, s, index.Near{Model: "m", Of: []index.Hash{a.Chunks[0].Hash, a.Chunks[1].Hash, {9}}, Limit: 1}), []string{"b.md#1"})
	equal(t, "among some", nearest(t, s, index.Near{Model: "m", Vector: at(0), Among: []index.Hash{b.Chunks[0].Hash, a.Chunks[1].Hash}, Limit: 5}), []string{"a.md#1", "b.md#0"})
	equal(t, "among none", nearest(t, s, index.Near{Model: "m", Vector: at(0), Among: []index.Hash{}, Limit: 5}), []string{})
	equal(t, "among some with a filter", nearest(t, s, index.Near{Model: "m", Vector: at(0), Among: []index.Hash{b.Chunks[0].Hash, a.Chunks[1].Hash}, Limit: 5, Filter: index.Filter{Tags: []string{"x"}}}), []string{"a.md#1"})
	equal(t, "like nothing", nearest(t, s, index.Near{Model: "m", Of: []index.Hash{{9}}, Limit: 1}), []string{})
	equal(t, "none asked for", nearest(t, s, index.Near{Model: "m", Vector: at(0)}), []string{})
	st, err := s.Stats(t.Context(), "m")
	must(t, err)
	equal(t, "embedded", []int{st.Embedded, st.Passages}, []int{4, 5})
	// Notes that share a text share its vector; a filter tells them apart.
	twin := Note("twin.md", "A", "east\n\nnorth")
	put(t, s, twin)
	equal(t, "a shared text", nearest(t, s, index.Near{Model: "m", Vector: at(0), Limit: 2}), []string{"a.md#0", "twin.md#0"})
	equal(t, "a shared text with a filter", nearest(t, s, index.Near{Model: "m", Vector: at(0), Limit: 2, Filter: index.Filter{NoTags: []string{"x"}}}), []string{"twin.md#0", "b.md#1"})
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{"twin.md"}}))
	// A note that goes takes its passages along; its text coming back finds the
	// vectors still there.
	must(t, s.Apply(t.Context(), index.Batch{Drop: []string{"a.md"}}))
	equal(t, "after a drop", nearest(t, s, index.Near{Model: "m", Vector: at(0), Limit: 9}), []string{"b.md#1", "b.md#0"})
	moved := a
	moved.Path = "elsewhere/a.md"
	put(t, s, moved)
	equal(t, "after a move", nearest(t, s, index.Near{Model: "m", Vector: at(0), Limit: 1}), []string{"elsewhere/a.md#0"})
	must(t, s.Optimize(t.Context()))
	equal(t, "after settling", nearest(t, s, index.Near{Model: "m", Vector: at(0), Limit: 1}), []string{"elsewhere/a.md#0"})
}

func testModels(t *testing.T, s index.Store) {
	put(t, s, Note("a.md", "A", "east"), Note("b.md", "B", "west"))
	embedAll(t, s, "one", map[string]float64{"east": 0, "west": 180})
	embedAll(t, s, "two", map[string]float64{"east": 180})
	equal(t, "one", nearest(t, s, index.Near{Model: "one", Vector: at(0), Limit: 2}), []string{"a.md#0", "b.md#0"})
	equal(t, "two", nearest(t, s, index.Near{Model: "two", Vector: at(0), Limit: 2}), []string{"a.md#0"})
	equal(t, "three", nearest(t, s, index.Near{Model: "three", Vector: at(0), Limit: 2}), []string{})
	if _, err := s.Nearest(t.Context(), index.Near{Model: "one", Vector: make([]float32, 7), Limit: 2}); err == nil {
		t.Error("a query of another dimension was accepted")
	}
	bad := index.Batch{Model: "one", Vectors: []index.Vector{{Hash: index.Hash{1}, Vector: make([]float32, 7)}}}
	if err := s.Apply(t.Context(), bad); err == nil {
		t.Error("a vector of another dimension was accepted")
	}
}
