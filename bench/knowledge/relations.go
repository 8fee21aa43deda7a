package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"lore/internal/graph/stance"
)

// A verdict is what is true and what was said of one relation.
type verdict struct {
	topic string
	truth string
	typ   string  // suggested
	lean  float64 // suggested
	sure  float64
}

// forced is the answer when only two are possible. Nothing found counts as the
// answer of the majority.
func (v verdict) forced() string {
	if v.lean < 0 {
		return stance.Contradicts
	}
	return stance.Supports
}

// relations compares what cue suggests for a claim and its topic with what
// people said: both types are given, and the answer must be one of them.
func relations(g *graph, split string) error {
	var all []verdict
	for _, e := range g.Edges {
		claim, topic := g.byID[e.From], g.byID[e.To]
		if topic.Split != split {
			continue
		}
		s := stance.Between(claim.Text, topic.Text, cosine(g.vecs[e.From], g.vecs[e.To]))
		all = append(all, verdict{topic.ID, strings.ToUpper(e.Type), s.Type, s.Lean, s.Confidence})
	}
	if len(all) == 0 {
		return fmt.Errorf("no relations of split %q", split)
	}
	fmt.Printf("\nRelations of the %s split: %d\n\n", split, len(all))
	confusion(all)
	fmt.Println("\n| two answers | accuracy | macro-F1 | accuracy minus the floor (95 % over topics) |")
	fmt.Println("|---|---|---|---|")
	count := map[string]int{}
	for _, v := range all {
		count[v.truth]++
	}
	floor := stance.Supports
	if count[stance.Contradicts] > count[stance.Supports] {
		floor = stance.Contradicts
	}
	always := func(verdict) string { return floor }
	row("always "+floor, all, always, always)
	row("cue, by its lean", all, verdict.forced, always)
	some := slices.DeleteFunc(slices.Clone(all), func(v verdict) bool { return v.lean == 0 })
	row(fmt.Sprintf("cue, the %.0f %% with any lean", 100*float64(len(some))/float64(len(all))), some, verdict.forced, always)
	sure := slices.DeleteFunc(slices.Clone(all), func(v verdict) bool { return v.typ != stance.Supports && v.typ != stance.Contradicts })
	row(fmt.Sprintf("cue, the %.0f %% for which it suggests one of the two", 100*float64(len(sure))/float64(len(all))), sure, func(v verdict) string { return v.typ }, always)
	calibration(all)
	return nil
}

func confusion(all []verdict) {
	types := map[string]int{}
	for _, v := range all {
		types[v.typ]++
	}
	names := slices.Sorted(maps.Keys(types))
	fmt.Println("| truth | " + strings.Join(names, " | ") + " |")
	fmt.Println("|---" + strings.Repeat("|---", len(names)) + "|")
	for _, truth := range []string{stance.Supports, stance.Contradicts} {
		fmt.Print("| " + truth + " |")
		for _, n := range names {
			hits := 0
			for _, v := range all {
				if v.truth == truth && v.typ == n {
					hits++
				}
			}
			fmt.Printf(" %d |", hits)
		}
		fmt.Println()
	}
}

func row(name string, all []verdict, say, floor func(verdict) string) {
	lo, hi := interval(all, say, floor)
	diff := accuracy(all, say) - accuracy(all, floor)
	fmt.Printf("| %s | %.3f | %.3f | %+.3f [%+.3f, %+.3f] |\n", name, accuracy(all, say), macroF1(all, say), diff, lo, hi)
}

func accuracy(all []verdict, say func(verdict) string) float64 {
	hits := 0
	for _, v := range all {
		if say(v) == v.truth {
			hits++
		}
	}
	return float64(hits) / float64(len(all))
}

func macroF1(all []verdict, say func(verdict) string) float64 {
	sum := 0.0
	for _, c := range []string{stance.Supports, stance.Contradicts} {
		var hit, miss, false_ float64
		for _, v := range all {
			switch {
			case say(v) == c && v.truth == c:
				hit++
			case say(v) == c:
				false_++
			case v.truth == c:
				miss++
			}
		}
		if hit > 0 {
			sum += 2 * hit / (2*hit + miss + false_)
		}
	}
	return sum / 2
}

// interval draws the topics again and again: claims of one topic are not
// independent.
func interval(all []verdict, say, floor func(verdict) string) (lo, hi float64) {
	by := map[string][]verdict{}
	for _, v := range all {
		by[v.topic] = append(by[v.topic], v)
	}
	ids := slices.Sorted(maps.Keys(by))
	r := rand.New(rand.NewPCG(1, 2))
	got := make([]float64, 2000)
	for i := range got {
		var drawn []verdict
		for range ids {
			drawn = append(drawn, by[ids[r.IntN(len(ids))]]...)
		}
		got[i] = accuracy(drawn, say) - accuracy(drawn, floor)
	}
	slices.Sort(got)
	return got[len(got)*25/1000], got[len(got)*975/1000]
}

// calibration asks whether the confidence of a suggestion is how often it is
// right.
func calibration(all []verdict) {
	fmt.Println("\n| strength of the lean | share | right | confidence stated |")
	fmt.Println("|---|---|---|---|")
	edges := []float64{0.01, 0.2, 0.4, 0.6, 0.8, 1.01}
	for i := range edges[:len(edges)-1] {
		var in []verdict
		sure := 0.0
		for _, v := range all {
			if s := math.Abs(v.lean); s >= edges[i] && s < edges[i+1] {
				in = append(in, v)
				sure += v.sure
			}
		}
		if len(in) > 0 {
			fmt.Printf("| %.1f to %.1f | %.2f | %.3f | %.2f |\n", edges[i], min(edges[i+1], 1), float64(len(in))/float64(len(all)),
				accuracy(in, verdict.forced), sure/float64(len(in)))
		}
	}
}
