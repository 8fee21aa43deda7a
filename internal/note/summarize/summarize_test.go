package summarize

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"lore/internal/note"
)

const brew = `---
type: Observation
confidence: 0.7
---
# Cold brew is less acidic

Cold brew coffee is less acidic than hot coffee because cold water dissolves fewer acids from the beans. We measured the pH of
three cold brews and three hot brews with the same beans. The weather was fine on that day.

## Results

- Cold brew had a pH of 5.6 on average.
- Hot coffee had a pH of 5.1 on average.
- The difference in acidity was the same for light and dark beans.

| brew | pH |
|------|----|
| cold | 5.6 |

My cat sleeps a lot. Drinkers with a sensitive stomach may prefer cold brew coffee.

## Relations
- supports:: [[Cold extraction]] [confidence:: 0.8] ^rel-1
`

func TestOf(t *testing.T) {
	t.Parallel()
	got := Of(brew, Options{Title: "Cold brew is less acidic"})
	want := Digest{
		Summary: "Cold brew coffee is less acidic than hot coffee because cold water dissolves fewer acids from the beans. " +
			"Cold brew had a pH of 5.6 on average. Hot coffee had a pH of 5.1 on average.",
		KeyPoints: []string{
			"We measured the pH of three cold brews and three hot brews with the same beans.",
			"The difference in acidity was the same for light and dark beans.",
			"Drinkers with a sensitive stomach may prefer cold brew coffee.",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestOfSmallTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		o    Options
		want Digest
	}{
		"empty":            {"", Options{}, Digest{}},
		"one sentence":     {"Tea is good.", Options{}, Digest{"Tea is good.", []string{"Tea is good."}}},
		"one word":         {"Tea", Options{}, Digest{"Tea", []string{"Tea"}}},
		"no points wanted": {"Tea is good.", Options{Points: -1}, Digest{"Tea is good.", nil}},
		"too long a word":  {strings.Repeat("x", 300), Options{}, Digest{}},
		"one must be cut":  {"Tea is a drink that many like.", Options{Max: 12}, Digest{"Tea is a…", []string{"Tea is a drink that many like."}}},
		"said twice":       {"Tea is a good drink. Tea is a good drink! Milk spoils it entirely.", Options{}, Digest{"Tea is a good drink. Milk spoils it entirely.", []string{"Tea is a good drink.", "Milk spoils it entirely."}}},
		"table alone":      {"| tea | milk |\n|---|---|\n| 1 | 2 |", Options{}, Digest{"tea milk 1 2", nil}},
		"headings alone":   {"# Tea is good\n## Milk is bad", Options{}, Digest{"Tea is good; Milk is bad", []string{"Tea is good", "Milk is bad"}}},
		"chinese":          {"茶是一种饮料。很多人喜欢喝茶。", Options{Max: 8}, Digest{"茶是一种饮料。", []string{"很多人喜欢喝茶。"}}},
	} {
		if got := Of(c.text, c.o); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestWhatWasSaidIsNotSaidAgain(t *testing.T) {
	t.Parallel()
	text := "Green tea from Japan contains much caffeine and many minerals. Green tea from Japan contains much caffeine, it seems to us. " +
		"Green tea from China costs less. Water should be soft."
	got := Of(text, Options{Max: 100, Points: -1}).Summary
	if want := "Green tea from Japan contains much caffeine and many minerals. Green tea from China costs less."; got != want {
		t.Errorf("got %q", got)
	}
	two := "Cold brew coffee contains few acids and much caffeine. Cold brew coffee contains less bitter oil. Cold brew coffee keeps for days. " +
		"The roof of our house leaks in heavy rain. The roof of our house needs new tiles. The roof of our house is old."
	got = Of(two, Options{Max: 100, Points: -1}).Summary
	if want := "Cold brew coffee contains few acids and much caffeine. The roof of our house leaks in heavy rain."; got != want {
		t.Errorf("got %q", got)
	}
	got = Of(text, Options{Max: 125, Points: -1}).Summary
	if strings.Count(got, "caffeine") > 1 {
		t.Errorf("got %q", got)
	}
}

func TestSeveralLetsEachSpeak(t *testing.T) {
	t.Parallel()
	docs := []Doc{
		{"Cold brew", "Cold brew coffee tastes less acidic than hot coffee. Cold brew coffee takes twelve hours. Cold brew coffee keeps for a week."},
		{"Acids", "Cold water dissolves fewer acids of coffee. Nothing else was found."},
		{"Roast", "Roast level decides how acidic coffee tastes. Dark roast is bitter."},
	}
	got := Several(docs, Options{Max: 150}).Summary
	want := "Cold brew coffee tastes less acidic than hot coffee. Cold water dissolves fewer acids of coffee. Roast level decides how acidic coffee tastes."
	if got != want {
		t.Errorf("got %q", got)
	}
	if got := Several(nil, Options{}); !reflect.DeepEqual(got, Digest{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// prose draws a text of a few words, so that sentences share them.
func prose(r *rand.Rand) string {
	words := strings.Fields("tea milk honey drinkers prefer cold because although river 3.5 Dr. stone's early-morning bright window sings under water 茶水 über")
	var b strings.Builder
	for range r.IntN(40) {
		switch r.IntN(12) {
		case 0:
			b.WriteString("\n\n## ")
		case 1:
			b.WriteString("\n- ")
		case 2:
			b.WriteString("\n\n")
		case 3:
			b.WriteString(strings.Repeat("long", r.IntN(60)) + " ")
		}
		for range 1 + r.IntN(14) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("End. ")
	}
	return b.String()
}

func TestProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		text := prose(r)
		o := Options{Max: 1 + r.IntN(300), Points: r.IntN(6) - 1, Title: "Tea at the window"}
		d := Of(text, o)
		check(t, text, o, d)
		if again := Of(text, o); !reflect.DeepEqual(d, again) {
			t.Fatalf("not the same twice: %+v %+v", d, again)
		}
		all := map[string]bool{}
		for s := range Sentences(note.Plain(text)) {
			for w := range strings.FieldsSeq(s) {
				all[w] = true
			}
		}
		for w := range strings.FieldsSeq(strings.TrimSuffix(d.Summary, "…")) {
			if !all[w] && !all[w+","] && !all[strings.TrimSuffix(w, ";")] && !strings.ContainsFunc(w, unbroken) {
				t.Fatalf("%q of the summary is no word of %q", w, text)
			}
		}
	}
}

// check holds for every text.
func check(t *testing.T, text string, o Options, d Digest) {
	t.Helper()
	limit := o.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if n := utf8.RuneCountInString(d.Summary); n > limit {
		t.Fatalf("%d characters instead of %d: %q of %q", n, limit, d.Summary, text)
	}
	if want := max(o.Points, 0); o.Points != 0 && len(d.KeyPoints) > want || len(d.KeyPoints) > max(want, DefaultPoints) {
		t.Fatalf("%d points of %d", len(d.KeyPoints), o.Points)
	}
	seen := map[string]bool{}
	for _, p := range d.KeyPoints {
		if seen[p] || p == "" || utf8.RuneCountInString(p) > maxPoint || strings.ContainsAny(p, "\n\r") {
			t.Fatalf("point %q of %q", p, text)
		}
		seen[p] = true
	}
	if strings.ContainsAny(d.Summary, "\n\r") || strings.TrimSpace(d.Summary) != d.Summary {
		t.Fatalf("summary %q", d.Summary)
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{brew, "", "---\n", "- a\n- b", "```", "%%\n%%", "a. B. c", "$$\n", "<!--\n", "|\n-|-\n", "# \n#", "\xff\xfe.", "世。界", "1. ", "[!x", "a:: b", strings.Repeat("a. ", 50), "==\n--"} {
		f.Add(s, 40, 2)
	}
	f.Fuzz(func(t *testing.T, text string, limit, points int) {
		limit, points = min(limit, 1<<16), min(points, 50)
		o := Options{Max: limit, Points: points, Title: head(text)[:min(len(head(text)), 20)]}
		check(t, text, o, Of(text, o))
		check(t, text, o, Several([]Doc{{"", text}, {"x", text + " Again."}}, o))
		joined := strings.Join(slices.Collect(Sentences(text)), "")
		if bare(joined) != bare(text) {
			t.Fatalf("sentences lose text: %q of %q", joined, text)
		}
	})
}

func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// hostile are shapes that tempt a reader to look at the same bytes again and
// again.
func hostile(size int) map[string]string {
	out := map[string]string{}
	for _, s := range []string{"a. ", "a", "- a\n", "# a\n", "%%\n", "<!--\n", "[!a] <!--\n", "$$\n", "```\n", "|-\n", "> ", "[", "a::", "A.", "世。", "a.\n\n", "*", "a b ", "e.g. ", "[!", "\"'", ".) ", "---\n"} {
		out[s] = strings.Repeat(s, size/len(s))
	}
	return out
}

func TestHostileTextsEnd(t *testing.T) {
	t.Parallel()
	for _, text := range hostile(1 << 20) {
		o := Options{Points: 5}
		check(t, text[:32], o, Of(text, o))
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile(1 << 20) {
		b.Run(fmt.Sprintf("%q", name), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Of(text, Options{})
			}
		})
	}
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(brew)))
	for b.Loop() {
		Of(brew, Options{Title: "Cold brew is less acidic"})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 5, ""},
		{"  tea  ", 5, "tea"},
		{"green tea is good", 10, "green tea…"},
		{"greenteaisgood", 6, "green…"},
		{"one\ntwo three", 8, "one\ntwo…"},
		{"日本の茶道", 4, "日本の…"},
		{"tea", 0, ""},
	} {
		if got := Cut(c.in, c.limit); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
	if got, want := Clip("one\n  two three", 8), "one two…"; got != want {
		t.Errorf("Clip = %q, want %q", got, want)
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"What did the trial say? Put it into the note.", "What did the trial say? Put it into"},
		{"Short  one", "Short one"},
		{"", ""},
	} {
		if got := Title(c.in, 38); got != c.want {
			t.Errorf("Title(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
