package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// dust is what rounding of sums may cost.
const dust = 1e-9

func aConfidence() *rapid.Generator[*float64] {
	return rapid.OneOf(
		rapid.Just[*float64](nil),
		rapid.Ptr(rapid.SampledFrom([]float64{0, 0.3, 0.5, 0.8, 1}), false), // ties happen
		rapid.Ptr(rapid.Float64Range(0, 1), false),
	)
}

func anEvidence() *rapid.Generator[Evidence] {
	return rapid.Custom(func(t *rapid.T) Evidence {
		return Evidence{
			Edge:           rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "edge"),
			Relation:       rapid.SampledFrom([]string{"supports", "contradicts", "cites", "derived_from", "relates_to"}).Draw(t, "relation"),
			Incoming:       rapid.Bool().Draw(t, "incoming"),
			EdgeConfidence: aConfidence().Draw(t, "of edge"),
			NodeConfidence: aConfidence().Draw(t, "of node"),
			Source:         rapid.SampledFrom([]string{"", "lab", "book"}).Draw(t, "source"),
			Title:          rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "title"),
		}
	})
}

func someEvidence(t *rapid.T) []Evidence {
	return rapid.SliceOfN(anEvidence(), 0, 40).Draw(t, "evidence")
}

func aStructure(t *rapid.T) Structure {
	list := rapid.SliceOfN(aConfidence(), 0, 6)
	return Structure{
		Relation:   rapid.SampledFrom([]string{"supports", "contradicts", "relates_to"}).Draw(t, "relation"),
		From:       aConfidence().Draw(t, "from"),
		To:         aConfidence().Draw(t, "to"),
		Parallel:   list.Draw(t, "parallel"),
		Opposing:   list.Draw(t, "opposing"),
		Shared:     rapid.IntRange(0, 1000).Draw(t, "shared"),
		Similarity: aConfidence().Draw(t, "similarity"),
		Cue:        rapid.Ptr(rapid.Float64Range(-1, 1), true).Draw(t, "cue"),
	}
}

// sound is what holds for every result.
func sound(t *rapid.T, r Result) {
	if !(r.New >= Floor && r.New <= Ceil) {
		t.Fatalf("%v is out of bounds", r.New)
	}
	var sum float64
	for _, f := range r.Factors {
		sum += f.Delta
		if want := fmt.Sprintf("%+.2f", f.Delta); f.Impact != want {
			t.Fatalf("impact %s of %v", f.Impact, f.Delta)
		}
	}
	if math.Abs(sum-(r.New-r.Old)) > dust {
		t.Fatalf("factors add up to %v, the change is %v", sum, r.New-r.Old)
	}
}

func TestSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sound(t, Node(aConfidence().Draw(t, "prior"), someEvidence(t)))
		sound(t, Edge(aConfidence().Draw(t, "old"), aStructure(t)))
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prior, all := aConfidence().Draw(t, "prior"), someEvidence(t)
		one := Node(prior, all)
		mixed := slices.Clone(all)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if two := Node(prior, mixed); !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v\n%+v", one, two)
		}
	})
}

// TestMoreEvidence adds one piece, then makes it stronger: support never lowers,
// contradiction never raises, a factor has the sign of its relation.
func TestMoreEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prior, all := aConfidence().Draw(t, "prior"), someEvidence(t)
		e := anEvidence().Draw(t, "more")
		_, sign, _ := bearing(e.Relation, e.Incoming)
		before := Node(prior, all)
		after := Node(prior, append(slices.Clone(all), e))
		if sign*(after.New-before.New) < -dust || sign == 0 && after.New != before.New {
			t.Fatalf("one more: %v to %v", before.New, after.New)
		}
		stronger := e
		more := func(c *float64, name string) *float64 {
			v := value(c) + (1-value(c))*rapid.Float64Range(0, 1).Draw(t, name)
			return &v
		}
		stronger.EdgeConfidence = more(e.EdgeConfidence, "surer edge")
		stronger.NodeConfidence = more(e.NodeConfidence, "surer node")
		strong := Node(prior, append(slices.Clone(all), stronger))
		if sign*(strong.New-after.New) < -dust {
			t.Fatalf("stronger: %v to %v", after.New, strong.New)
		}
	})
}

func TestHigherPriorIsHigher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		all, s := someEvidence(t), aStructure(t)
		low, high := min(a, b), max(a, b)
		if Node(&low, all).New > Node(&high, all).New+dust || Edge(&low, s).New > Edge(&high, s).New+dust {
			t.Fatal("a higher prior gives less")
		}
	})
}

// TestOneSourceSaturates repeats one piece: from one source any number of them
// weighs less than two of independent ones, which do add up.
func TestOneSourceSaturates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anEvidence().Draw(t, "piece")
		e.Relation, e.Incoming, e.Edge = rapid.SampledFrom([]string{"supports", "contradicts"}).Draw(t, "side"), true, ""
		times := func(n int, source string) float64 {
			e.Source = source
			return math.Abs(Node(nil, slices.Repeat([]Evidence{e}, n)).New - Prior)
		}
		n := rapid.IntRange(2, 200).Draw(t, "n")
		if one, two := times(n, "lab"), times(2, ""); one > two+dust {
			t.Fatalf("%d times one source moves by %v, two sources by %v", n, one, two)
		}
		if times(n, "") < times(n, "lab")-dust {
			t.Fatal("independent evidence counts less")
		}
		e.Edge = "rel-1" // one relation, given again and again
		if times(n, "") != times(n, "lab") {
			t.Fatal("one relation is not one source")
		}
	})
}

// TestEdgeIsMonotone strengthens one thing at a time.
func TestEdgeIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, s := aConfidence().Draw(t, "old"), aStructure(t)
		before := Edge(old, s)
		up := func(name string, change func(*Structure)) {
			c := s
			change(&c)
			if after := Edge(old, c); after.New < before.New-dust {
				t.Fatalf("more %s: %v to %v", name, before.New, after.New)
			}
		}
		one, part := 1.0, rapid.Float64Range(0, 1).Draw(t, "part")
		up("parallel", func(c *Structure) { c.Parallel = append(slices.Clone(c.Parallel), &part) })
		up("shared", func(c *Structure) { c.Shared += rapid.IntRange(0, 50).Draw(t, "more") })
		up("similarity", func(c *Structure) { v := value(c.Similarity) + (1-value(c.Similarity))*part; c.Similarity = &v })
		up("cue", func(c *Structure) { c.Cue = &one })
		if len(s.Opposing) > 0 {
			up("silence of the other side", func(c *Structure) { c.Opposing = c.Opposing[1:] })
		}
		from, to := aConfidence().Draw(t, "other from"), aConfidence().Draw(t, "other to")
		if Agreement(s.Relation, from, to) >= Agreement(s.Relation, s.From, s.To) {
			up("agreement", func(c *Structure) { c.From, c.To = from, to })
		}
	})
}

func TestEdgeOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := aStructure(t)
		c := s
		c.Parallel, c.Opposing = slices.Clone(s.Parallel), slices.Clone(s.Opposing)
		slices.Reverse(c.Parallel)
		slices.Reverse(c.Opposing)
		if a, b := Edge(nil, s), Edge(nil, c); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}
