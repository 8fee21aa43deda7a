package confidence

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// number reads a confidence of the examples; "-" is unknown.
func number(t *testing.T, s string) *float64 {
	t.Helper()
	if s == "-" {
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

// TestExamples computes every row of the tables in docs/confidence.md that
// begins with `node` or `edge`.
func TestExamples(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "confidence.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(node|edge) ([^`]*)` \\| ([0-9.]+) \\|").FindAllStringSubmatch(string(doc), -1)
	seen := map[string]int{}
	for _, row := range rows {
		seen[row[1]]++
		prior, rest, _ := strings.Cut(row[2], "; ")
		var r Result
		if row[1] == "node" {
			r = Node(number(t, prior), evidence(t, rest))
		} else {
			r = Edge(number(t, prior), structure(t, rest))
		}
		if got := strconv.FormatFloat(r.New, 'f', 2, 64); got != row[3] {
			t.Errorf("%s: %s, the page says %s", row[2], got, row[3])
		}
	}
	if seen["node"] < 10 || seen["edge"] < 5 {
		t.Errorf("the page shows %v", seen)
	}
}

// evidence reads "3 supports 0.8 0.9 @lab; contradicts - -": how many, the
// relation (an arrow before it: outgoing), both confidences, the source.
func evidence(t *testing.T, s string) []Evidence {
	var out []Evidence
	for part := range strings.SplitSeq(s, "; ") {
		f := strings.Fields(part)
		if len(f) == 0 {
			continue
		}
		n := 1
		if v, err := strconv.Atoi(f[0]); err == nil {
			n, f = v, f[1:]
		}
		name, outgoing := strings.CutPrefix(f[0], ">")
		e := Evidence{Relation: name, Incoming: !outgoing, EdgeConfidence: number(t, f[1]), NodeConfidence: number(t, f[2])}
		if len(f) > 3 {
			e.Source = f[3]
		}
		for range n {
			out = append(out, e)
		}
	}
	return out
}

// structure reads "supports from=0.9 to=0.8 parallel=0.7 cue=1".
func structure(t *testing.T, s string) Structure {
	f := strings.Fields(s)
	out := Structure{Relation: f[0]}
	for _, pair := range f[1:] {
		name, v, _ := strings.Cut(pair, "=")
		n := number(t, v)
		switch name {
		case "from":
			out.From = n
		case "to":
			out.To = n
		case "parallel":
			out.Parallel = append(out.Parallel, n)
		case "opposing":
			out.Opposing = append(out.Opposing, n)
		case "shared":
			out.Shared = int(*n)
		case "similarity":
			out.Similarity = n
		case "cue":
			out.Cue = n
		default:
			t.Fatalf("what is %q?", pair)
		}
	}
	return out
}

func TestRelationsThatCount(t *testing.T) {
	one := 1.0
	for _, c := range []struct {
		relation string
		incoming bool
		want     int
	}{
		{"supports", true, 1}, {"supports", false, 0}, {"SUPPORTS", true, 1},
		{"contradicts", true, -1}, {"contradicts", false, -1},
		{"cites", false, 1}, {"cites", true, 0},
		{"DERIVED_FROM", false, 1}, {"derived from", false, 1}, {"derived-from", true, 0},
		{"relates_to", true, 0}, {"similar_to", true, 0}, {"part_of", true, 0}, {"causes", true, 0}, {"links_to", true, 0}, {"", true, 0},
	} {
		r := Node(nil, []Evidence{{Relation: c.relation, Incoming: c.incoming, EdgeConfidence: &one, NodeConfidence: &one}})
		if got := int(math.Round((r.New - r.Old) * 10)); (got > 0) != (c.want > 0) || (got < 0) != (c.want < 0) {
			t.Errorf("%s, incoming %t: moves by %+.2f", c.relation, c.incoming, r.New-r.Old)
		}
	}
}

func TestWords(t *testing.T) {
	p, high := 0.6, 0.9
	r := Node(&p, []Evidence{
		{Edge: "rel-1", Relation: "supports", Incoming: true, EdgeConfidence: &high, NodeConfidence: &high, Source: "lab", Title: "Three trials"},
		{Edge: "rel-2", Relation: "supports", Incoming: true, EdgeConfidence: &high, NodeConfidence: &high, Source: "lab", Title: "The same trials"},
		{Edge: "rel-3", Relation: "contradicts", Title: "Roast decides"},
		{Edge: "rel-4", Relation: "relates_to", Title: "Coffee"},
	})
	want := "It starts from the stated 0.60. 2 reasons speak for it, 1 against it. 2 of them count less, because they share a source. " +
		"1 relation says nothing about whether it is true. It rises to 0.78."
	if r.Reasoning != want {
		t.Errorf("\n got %s\nwant %s", r.Reasoning, want)
	}
	var lines []string
	for _, f := range r.Factors {
		lines = append(lines, f.Impact+" "+f.Factor+" "+f.Edge)
	}
	if got, want := strings.Join(lines, "\n"), `+0.13 supported by "Three trials" rel-1
+0.13 supported by "The same trials" rel-2
-0.08 contradicts "Roast decides" rel-3`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}

	none := Node(nil, nil)
	if want := "No confidence is stated, so it starts from 0.50. Nothing speaks for or against it. It stays at 0.50."; none.Reasoning != want || none.Known {
		t.Errorf("%+v", none)
	}
	if len(none.Factors) != 1 || none.Factors[0].Factor != "no confidence is stated: starts from 0.5" {
		t.Errorf("%+v", none.Factors)
	}
}

func TestOddNumbers(t *testing.T) {
	nan, far, low, inf := math.NaN(), 7.0, -3.0, math.Inf(1)
	for _, c := range []struct {
		prior *float64
		want  float64
		known bool
	}{{&nan, 0.5, false}, {&far, 0.99, true}, {&low, 0.01, true}, {&inf, 0.99, true}, {nil, 0.5, false}} {
		r := Node(c.prior, []Evidence{{Relation: "supports", Incoming: true, EdgeConfidence: &low, NodeConfidence: &nan}})
		if r.New != c.want || r.Known != c.known {
			t.Errorf("%v: %+v", c.prior, r)
		}
	}
	if r := Edge(nil, Structure{Similarity: &nan, Cue: &nan, Shared: -4}); r.New != 0.5 {
		t.Errorf("%+v", r)
	}
}
