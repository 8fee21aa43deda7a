package stance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b       string
		similarity float64
		want, why  string // why: a part of the reasoning
	}{
		// A side is taken.
		{"Video games make children violent and cause needless suffering", "The sale of violent video games to minors should be banned", 0.6, Supports, `"needless"`},
		{"Video games are harmless fun", "The sale of violent video games to minors should be banned", 0.6, Contradicts, `"banned"`},
		{"Vouchers improve schools", "We would fund education using a voucher scheme", 0.5, Supports, `"improve"`},
		{"Vouchers waste money", "We would fund education using a voucher scheme", 0.5, Contradicts, `"waste"`},
		{"Tobacco farming is profitable for farmers", "States should not subsidize the growing of tobacco", 0.5, Contradicts, `"not"`},
		{"Advertising misleads children", "Advertising is harmful", 0.6, Supports, `"misleads"`},
		{"Dams reduce poverty", "We should build dams", 0.5, Supports, `"reduce"`},
		{"Dams violate the freedom of farmers", "We should build dams", 0.5, Contradicts, `"violate"`},
		{"Dams are not useful", "We should build dams", 0.5, Contradicts, `"not"`},
		{"Video games are harmless fun", "Ban games. The sale of violent video games to minors should be banned", 0.6, Contradicts, `"banned"`},
		// What describes or asks takes no side.
		{"Flash is obsolete and dangerous", "Chrome is a free browser made by Google", 0.6, RelatesTo, "alike"},
		{"A stuck screw is a terrible problem", "How should I remove a stuck screw?", 0.6, RelatesTo, "both mention"},
		{"The switch does not turn off the ceiling lamp", "Does the switch turn off the ceiling lamp?", 0.9, SimilarTo, ""},
		{"No, it makes no difference to tea", "It makes no difference to tea", 0.95, SimilarTo, ""},
		// Too far from each other for any side.
		{"Vouchers waste money", "We should build dams", 0.1, RelatesTo, "nothing stands out"},
		// Nearly the same words.
		{"Cold brew is not less acidic than hot coffee", "Cold brew is less acidic than hot coffee", 0.95, Contradicts, `only one says "not"`},
		{"Acid in cold brew. Cold brew is not less acidic than hot coffee. We tried it.", "Cold brew. Cold brew is less acidic than hot coffee. So it is.", 0.8, Contradicts, `only one says "not"`},
		{"Roasting increases the acidity of coffee", "Roasting decreases the acidity of coffee", 0.95, Contradicts, `"increases" against "decreases"`},
		{"Roasting doesn't increase the acidity of coffee", "Roasting decreases the acidity of coffee", 0.7, RelatesTo, "both mention"},
		{"Cold brew has less acid than hot coffee", "Cold brew is less acidic than hot coffee", 0.95, SimilarTo, "nearly the same"},
		{"Cold brew has a pH of 5.6", "Cold brew has a pH of 5.1", 0.95, RelatesTo, "both mention"},
		// A phrase names it.
		{"Smoking causes lung cancer in many people", "Lung cancer", 0.6, Causes, `"causes"`},
		{"Smoking does not lead to lung cancer", "Lung cancer", 0.6, RelatesTo, ""},
		{"My cough is due to lung cancer", "Lung cancer", 0.6, RelatesTo, "its cause"},
		{"The piston is a part of the steam engine", "Steam engine", 0.6, PartOf, `"part of"`},
		{"This note is based on the Cranfield experiments", "Cranfield experiments", 0.6, DerivedFrom, `"based on"`},
		{"According to the Stern Review, waiting costs more", "The Stern Review on climate", 0.6, Cites, `"according to"`},
		{"As Brown et al. found, tea helps", "Brown 2019: Tea and sleep", 0.5, Cites, "Brown et al"},
		{"Tea helps (see https://example.org/tea).", "Tea study. https://example.org/tea", 0.5, Cites, "https://example.org/tea"},
		{"Tea helps. https://example.org/ is a site", "Tea study. https://example.org", 0.5, RelatesTo, ""},
		{"Tea helps. https://example.org/a", "Tea links. https://example.org/a and https://example.org/b", 0.5, RelatesTo, ""},
		{"Our trial found no evidence that tea improves sleep", "Tea improves sleep", 0.7, Contradicts, `only one says "no"`},
		{"A large trial in three towns found no evidence for the belief that herbal tea before midnight improves sleep or mood", "Tea improves sleep", 0.7, Contradicts, ""},
		{"The trial confirms that tea improves sleep", "Tea improves sleep", 0.7, Supports, `"confirms"`},
		{"A trial shows that cold brew is mild", "Cold brew is mild", 0.7, Supports, `"shows that"`},
		{"A trial shows that cold brew is not mild", "Cold brew is mild", 0.7, Contradicts, `only one says "not"`},
		{"A study shows that sales of cold brew are rising", "Cold brew is mild", 0.6, RelatesTo, "both mention"},
		// Nothing to go by.
		{"", "", 0, RelatesTo, "nothing stands out"},
		{"Tee hilft beim Schlafen", "Wer Tee trinkt, schläft besser", 0.7, RelatesTo, "both mention"},
		{"茶对睡眠有帮助", "喝茶的人睡得更好", 0.7, RelatesTo, "alike (0.70)"},
	} {
		got := Between(c.a, c.b, c.similarity)
		if got.Type != c.want || !strings.Contains(got.Reasoning, c.why) {
			t.Errorf("%q\nand %q: %s (%.2f, lean %.2f), %s; want %s, %s", c.a, c.b, got.Type, got.Confidence, got.Lean, got.Reasoning, c.want, c.why)
		}
		if got.Type == Supports && got.Lean <= 0 || got.Type == Contradicts && got.Lean >= 0 {
			t.Errorf("%q and %q: %s leans %.2f", c.a, c.b, got.Type, got.Lean)
		}
	}
}

func TestStanceOf(t *testing.T) {
	t.Parallel()
	long := "This page is about many drinks. Milk is white. Our trial found no evidence that tea improves sleep. Coffee is brown. Water is wet."
	for _, c := range []struct {
		claim, text string
		similarity  float64
		want        string
	}{
		{"Advertising is harmful", "Advertising misleads children and wastes money", 0.6, Supporting},
		{"Advertising is harmful", "Advertising helps people to find useful things", 0.6, Contradicting},
		{"Advertising is harmful", "Advertising began in the 19th century", 0.6, Neutral},
		{"Advertising is harmful", "Dogs are wonderful friends", 0.1, Neutral},
		{"Tea improves sleep", long, 0.5, Contradicting},
		{"Tea improves sleep", "The trial confirms that tea improves sleep.", 0.9, Supporting},
		{"Tea improves sleep", "Tea does not improve sleep.", 0.9, Contradicting},
		{"Tea improves sleep", "Sleep improves with tea.", 0.95, Supporting},
	} {
		got := StanceOf(c.claim, c.text, c.similarity)
		if got.Kind != c.want || got.Reasoning == "" {
			t.Errorf("%q of %q: %+v, want %s", c.text, c.claim, got, c.want)
		}
	}
}

func TestDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"Boil it for 5 minutes", "Boil it for 10 minutes", "numbers"},
		{"Boil it for 5 minutes", "Boil it five minutes", ""},
		{"You need not worry", "You need to worry", `only one says "not"`},
		{"It is not mild. It tastes not sour.", "It is mild. It tastes sour.", `only one says "not"`},
		{"You do not need to worry.", "You don't have to worry.", ""},
		{"It is legal here", "It is illegal here", `"legal" versus "illegal"`},
		{"It is not legal here", "It is illegal here", ""},
		{"", "", ""},
	} {
		if got := Differ(c.a, c.b); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	if o := Overlap("Cold brew tastes good", "Good cold brew"); math.Abs(o-0.75) > 1e-9 {
		t.Errorf("overlap %v", o)
	}
	if o := Overlap("", ""); o != 0 {
		t.Errorf("overlap of nothing %v", o)
	}
}

// TestLexicon finds words that say two things of one kind.
func TestLexicon(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, l := range map[string]string{"good": goodWords, "bad": badWords, "lessens": lessening, "hinders": hindering, "solves": solving, "negates": negators} {
		for w := range strings.FieldsSeq(l) {
			if other := seen[w]; other != "" {
				t.Errorf("%q is in %s and in %s", w, name, other)
			}
			seen[w] = name
			if strings.Contains(w, "_") || strings.ToLower(w) != w || strings.HasSuffix(w, "*") && len(w) < 4 {
				t.Errorf("%q can match nothing", w)
			}
		}
	}
	sides := map[string]bool{}
	for w := range strings.FieldsSeq(siding) {
		sides[w] = true
	}
	for w := range strings.FieldsSeq(opposing) {
		if sides[w] {
			t.Errorf("%q takes both sides", w)
		}
	}
}

// valid holds for every pair of texts.
func valid(t *testing.T, a, b string, similarity float64) {
	t.Helper()
	types := map[string]bool{RelatesTo: true, Supports: true, Contradicts: true, Cites: true, DerivedFrom: true, PartOf: true, Causes: true, SimilarTo: true}
	s := Between(a, b, similarity)
	if !types[s.Type] || !(s.Confidence >= 0 && s.Confidence <= 1) || !(s.Lean >= -1 && s.Lean <= 1) || s.Reasoning == "" {
		t.Fatalf("%q and %q: %+v", a, b, s)
	}
	if again := Between(a, b, similarity); again != s {
		t.Fatalf("not the same twice: %+v %+v", s, again)
	}
	st := StanceOf(a, b, similarity)
	if st.Kind != Supporting && st.Kind != Contradicting && st.Kind != Neutral || !(st.Score >= 0 && st.Score <= 1) || st.Reasoning == "" {
		t.Fatalf("%q and %q: %+v", a, b, st)
	}
	Differ(a, b)
	if o := Overlap(a, b); !(o >= 0 && o <= 1) {
		t.Fatalf("overlap %v", o)
	}
}

func TestAnyWords(t *testing.T) {
	t.Parallel()
	words := strings.Fields("not ban should build good bad causes part of according to tea coffee increases decreases 5.6 et al. Brown (2019) https://a.b/c because no evidence 茶 l'été")
	r := rand.New(rand.NewPCG(3, 3))
	draw := func() string {
		var out []string
		for range r.IntN(30) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	for range 3000 {
		valid(t, draw(), draw(), r.Float64()*3-1)
	}
}

func FuzzBetween(f *testing.F) {
	f.Add("Tea is not good", "Tea should be banned", 0.5)
	f.Add("\xff'-.", "1,2.3-'s", math.NaN())
	f.Add("https://a.b/ https://a.b", "10.1000/x et al", math.Inf(1))
	f.Fuzz(valid)
}

func TestHostileTextsEnd(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"more ", "not ", "Brown et al. ", "https://a.b/c ", "a", "part of ", ".", "'", "1", "no evidence that more tea ", "茶"} {
		text := strings.Repeat(s, (1<<20)/len(s))
		valid(t, text, "less tea. "+text, 0.9)
		valid(t, "less tea. "+text, text, 0.1)
	}
}

func BenchmarkBetween(b *testing.B) {
	short := "Video games make children violent and cause needless suffering"
	for name, a := range map[string]string{"claims": short, "note": strings.Repeat("Coffee is a drink that many people like in the morning, and some do not. ", 40) + short} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Between(a, "The sale of violent video games to minors should be banned", 0.6)
			}
		})
	}
}

func ExampleBetween() {
	s := Between("Cold brew is not less acidic", "Cold brew is less acidic", 0.93)
	fmt.Println(s.Type, s.Confidence, s.Reasoning)
	// Output: CONTRADICTS 0.7 nearly the same words, but only one says "not"
}
