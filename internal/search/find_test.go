package search_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/embed"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/search"
	"lore/internal/vault"
)

// topics is a model that knows a few words and what they are about: texts on
// the same topic lie near each other even when they share no word.
type topics struct{}

var topicWords = [][]string{
	{"tea", "kettle", "sencha", "brew", "leaf", "infusion"},
	{"mountain", "hike", "summit", "volcano", "climb"},
	{"debt", "budget", "money", "invoice", "bank"},
	{"garden", "flower", "chrysanthemum", "bulb", "soil"},
}

func (topics) ID() string    { return "topics" }
func (topics) Dim() int      { return len(topicWords) + 1 }
func (topics) MaxWords() int { return 1000 }

func (topics) Embed(_ context.Context, _ embed.Role, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, len(topicWords)+1)
		v[len(topicWords)] = 0.3
		for j, ws := range topicWords {
			for _, w := range ws {
				v[j] += float32(strings.Count(strings.ToLower(t), w))
			}
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		out[i] = v
	}
	return out, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// searcher indexes the files and gives them vectors.
func searcher(t *testing.T, files map[string]string) *search.Searcher {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		full := filepath.Join(dir, p)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(t, os.WriteFile(full, []byte(text), 0o644))
	}
	v, err := vault.Open(dir, vault.Options{})
	must(t, err)
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	_, err = index.New(v, s, index.Options{}).Sync(t.Context())
	must(t, err)
	e := index.Embedder{Store: s, Model: topics{}, Threads: func() int { return 1 }, Now: time.Now}
	_, err = e.Run(t.Context())
	must(t, err)
	return &search.Searcher{Store: s, Model: topics{}, Now: time.Now}
}

var smallVault = map[string]string{
	"drinks/Sencha.md":        "---\ntags: [drinks/green]\ntype: Note\nrating: 5\nstatus: open\ndate: 2026-02-01\n---\n# Sencha\n\nSencha is brewed at seventy degrees. The leaf is steamed in Japan.",
	"drinks/Black tea.md":     "---\ntags: [drinks]\ntype: Claim\nrating: 3\ndate: 2025-06-01\n---\n# Black tea\n\nBlack tea wants boiling water from a kettle. Some take it with cold milk.",
	"drinks/Iced infusion.md": "---\ntags: [drinks]\ndate: 2024-01-01\n---\nA cold infusion stands over night. Cold milk never.",
	"hikes/Etna.md":           "---\naliases: [Mongibello]\n---\n# Etna\n\nThe volcano smoked while we climbed. We had a kettle on the summit.",
	"hikes/Plan.md":           "# Plan\n\nClimb [[Etna]] in May, and the summit of Monte Rosa in June.",
	"work/Plan.md":            "# Plan\n\nPay the invoice. The budget is small.",
	"garden/Chrysanthemum.md": "# Chrysanthemum\n\nA flower that wants soil with sand.",
	"日本/お茶.md":                "# お茶\n\n日本の茶道はとても静かです。",
	"Übung/Größe.md":          "# Größe\n\nDie Größe der Übung zählt.",
	"photo.png":               "x",
}

func find(t *testing.T, s *search.Searcher, q string, o search.Options) search.Answer {
	t.Helper()
	a, err := s.Find(t.Context(), q, o)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return a
}

func hitPaths(a search.Answer) string {
	var out []string
	for _, h := range a.Hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, ", ")
}

func TestFind(t *testing.T) {
	s := searcher(t, smallVault)
	for _, mode := range []search.Mode{search.Hybrid, search.Lexical, search.Semantic} {
		for _, c := range []struct{ query, first string }{
			{"sencha", "drinks/Sencha.md"},
			{"volcano", "hikes/Etna.md"},
			{"Etna volcano", "hikes/Etna.md"},
			{"invoice budget", "work/Plan.md"},
			{`"with cold milk" kettle`, "drinks/Black tea.md"},
			{"kettle tag:drinks type:claim", "drinks/Black tea.md"},
			{"leaf tag:drinks/green", "drinks/Sencha.md"},
			{"tea type:claim", "drinks/Black tea.md"},
			{"cold before:2025", "drinks/Iced infusion.md"},
			{"leaf after:2026", "drinks/Sencha.md"},
			{"leaf [rating>=4]", "drinks/Sencha.md"},
			{"leaf [status:open]", "drinks/Sencha.md"},
			{"summit -volcano", "hikes/Plan.md"},
			{"plan path:work", "work/Plan.md"},
			{"plan folder:hikes -etna", ""},
			{"größe folder:übung", "Übung/Größe.md"},
		} {
			a := find(t, s, c.query, search.Options{Mode: mode})
			first, _, _ := strings.Cut(hitPaths(a), ", ")
			if first != c.first {
				t.Errorf("%s %q: %s; want %q first", mode, c.query, hitPaths(a), c.first)
			}
		}
	}
	if a := find(t, s, "infusion", search.Options{}); !strings.Contains(hitPaths(a), "Sencha") {
		t.Errorf("meaning adds nothing: %s", hitPaths(a))
	}
	if a := find(t, s, "Mongibello", search.Options{Mode: search.Lexical}); len(a.Hits) == 0 || a.Hits[0].Path != "hikes/Etna.md" {
		t.Errorf("an alias is not found: %s", hitPaths(a))
	}
}

// TestConditionsHold: whatever a ranking brings, conditions are conditions, in
// every mode.
func TestConditionsHold(t *testing.T) {
	s := searcher(t, smallVault)
	for _, mode := range []search.Mode{search.Hybrid, search.Lexical, search.Semantic} {
		for _, c := range []struct{ query, all string }{
			{`tea "cold milk"`, "drinks/Black tea.md drinks/Iced infusion.md"},
			{`tea "cold milk" -kettle`, "drinks/Iced infusion.md"},
			{`"cold milk" -infusion`, "drinks/Black tea.md"},
			{"tea kettle sencha -milk -summit", "drinks/Sencha.md hikes/Plan.md work/Plan.md garden/Chrysanthemum.md 日本/お茶.md Übung/Größe.md"},
			{"Etna -Etna", "drinks/Sencha.md drinks/Black tea.md drinks/Iced infusion.md work/Plan.md garden/Chrysanthemum.md 日本/お茶.md Übung/Größe.md"},
			{"tea tag:drinks -tag:drinks/green", "drinks/Black tea.md drinks/Iced infusion.md"},
			{"tea type:Claim", "drinks/Black tea.md"},
			{"tea -type:claim -type:note folder:drinks", "drinks/Iced infusion.md"},
			{"Etna folder:work", "work/Plan.md"},
			{"plan -path:work", "hikes/Plan.md hikes/Etna.md drinks/Sencha.md drinks/Black tea.md drinks/Iced infusion.md garden/Chrysanthemum.md 日本/お茶.md Übung/Größe.md"},
		} {
			allowed := strings.Split(c.all, ".md")
			a := find(t, s, c.query, search.Options{Mode: mode, Limit: 100})
			for _, h := range a.Hits {
				if !slices.Contains(allowed, strings.TrimSuffix(" "+h.Path, ".md")) && !slices.Contains(allowed, strings.TrimSuffix(h.Path, ".md")) {
					t.Errorf("%s %q has %s", mode, c.query, h.Path)
				}
			}
		}
	}
	// The caller's filter and that of the question hold both.
	o := search.Options{Filter: index.Filter{Folders: []string{"drinks"}}}
	if a := find(t, s, "plan folder:hikes", o); len(a.Hits) != 0 {
		t.Errorf("a question led out of the caller's folder: %s", hitPaths(a))
	}
	o.Filter = index.Filter{Types: []string{"note"}}
	if a := find(t, s, "tea type:claim", o); len(a.Hits) != 0 {
		t.Errorf("a question led out of the caller's type: %s", hitPaths(a))
	}
}

func TestForgiven(t *testing.T) {
	s := searcher(t, smallVault)
	for query, want := range map[string]string{"Chrisanthemum": "garden/Chrysanthemum.md", "sennchas": "drinks/Sencha.md", "Mongibelo": "hikes/Etna.md"} {
		a := find(t, s, query, search.Options{Mode: search.Lexical})
		if len(a.Hits) == 0 || a.Hits[0].Path != want || len(a.Notes) == 0 {
			t.Errorf("%s: %s %q", query, hitPaths(a), a.Notes)
		}
	}
}

// TestClosestInMeaning: notes without a word of the question are told apart from
// those that have one.
func TestClosestInMeaning(t *testing.T) {
	s := searcher(t, smallVault)
	const told = "no note contains these words; these notes are the closest in meaning"
	for query, want := range map[string]bool{"bank": true, "kettle": false, "bulb chrysanthemum": false, "Chrisanthemum": false, "tag:drinks": false} {
		a := find(t, s, query, search.Options{})
		if len(a.Hits) == 0 || slices.Contains(a.Notes, told) != want {
			t.Errorf("%s: %s %q, want it told: %t", query, hitPaths(a), a.Notes, want)
		}
	}
}

func TestOddQuestions(t *testing.T) {
	s := searcher(t, smallVault)
	if a := find(t, s, "", search.Options{Limit: 3}); len(a.Hits) != 3 || !a.More {
		t.Errorf("an empty question lists %s", hitPaths(a))
	}
	if a := find(t, s, "what is the", search.Options{Mode: search.Lexical}); len(a.Hits) == 0 {
		t.Error("a question of stop words finds nothing, though notes have them")
	}
	if a := find(t, s, "日本茶道是什么", search.Options{Mode: search.Lexical}); hitPaths(a) != "日本/お茶.md" {
		t.Errorf("a question without spaces: %q", hitPaths(a))
	}
	if a := find(t, s, `"日本茶道"`, search.Options{Mode: search.Lexical}); hitPaths(a) != "" {
		t.Errorf("a phrase that is not there: %q", hitPaths(a))
	}
	if a := find(t, s, "茶道", search.Options{Mode: search.Lexical}); hitPaths(a) != "日本/お茶.md" {
		t.Errorf("CJK: %s", hitPaths(a))
	}
	if a := find(t, s, `"とても静か"`, search.Options{Mode: search.Lexical}); hitPaths(a) != "日本/お茶.md" || len(a.Hits[0].Marks) == 0 {
		t.Errorf("a phrase of CJK: %s", hitPaths(a))
	}
	for name, q := range map[string]string{
		"10,000 words":              wordList(10000) + " sencha",
		"a word of 10,000 parts":    strings.ReplaceAll(wordList(10000), " ", "-"),
		"10,000 CJK characters":     strings.Repeat("茶道", 5000),
		"one word of 100 kB":        strings.Repeat("x", 100<<10),
		"nothing but punctuation":   strings.Repeat("?! ", 1000),
		"not UTF-8":                 "tea \xff\xfe -\xc3",
		"zero bytes":                "tea\x00kettle \x00",
		"what FTS5 would believe":   `NEAR(tea kettle) AND tea* OR {title}: ^x + (`,
		"quotes in words":           `te"a ke'ttle ''`,
		"a very long accented word": strings.Repeat("e\u0301", 3000),
	} {
		for _, mode := range []search.Mode{search.Hybrid, search.Lexical, search.Semantic} {
			a := find(t, s, q, search.Options{Mode: mode})
			if name == "10,000 words" && len(a.Notes) == 0 {
				t.Errorf("%s: nothing says that words were left out", name)
			}
		}
	}
	_, err := s.Find(t.Context(), "tea", search.Options{Mode: "psychic"})
	if fault.Of(err) != fault.Invalid {
		t.Errorf("an unknown mode: %v", err)
	}
	s.Model = nil
	if _, err := s.Find(t.Context(), "tea", search.Options{Mode: search.Semantic}); fault.Of(err) != fault.Unavailable {
		t.Errorf("meaning without a model: %v", err)
	}
	if a := find(t, s, "tea", search.Options{}); a.Mode != search.Lexical || len(a.Hits) == 0 {
		t.Errorf("without a model: %+v", a)
	}
}

func wordList(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return strings.TrimSpace(b.String())
}

// TestPages: pages are disjoint, complete and the same each time; scores fall;
// reasons add up to the score.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	files := map[string]string{"hub.md": "# Hub of tea\n\n"}
	for i := range 260 {
		files[fmt.Sprintf("n%03d.md", i)] = fmt.Sprintf("# Note %d\n\n%s %s\n\n%s", i, strings.Repeat("tea ", 1+i%7), strings.Repeat("kettle ", i%3), strings.Repeat("filler ", i%11))
		files["hub.md"] += fmt.Sprintf("- [[n%03d]]\n", i)
	}
	for i := range 20 {
		files[fmt.Sprintf("same%d.md", i)] = "tea" // equal in every way but their names
	}
	s := searcher(t, files)
	for _, mode := range []search.Mode{search.Hybrid, search.Lexical, search.Semantic} {
		for _, query := range []string{"tea kettle", `"tea kettle" note`, "tea -filler"} {
			seen := map[string]int{}
			last := math.Inf(1)
			var order []string
			for page := 0; ; page++ {
				o := search.Options{Mode: mode, Limit: 17, Offset: page * 17, Explain: true}
				a := find(t, s, query, o)
				if again := find(t, s, query, o); hitPaths(again) != hitPaths(a) {
					t.Fatalf("%s %q page %d differs when it is asked again", mode, query, page)
				}
				for _, h := range a.Hits {
					if before, ok := seen[h.Path]; ok {
						t.Fatalf("%s %q: %s is on page %d and %d", mode, query, h.Path, before, page)
					}
					seen[h.Path] = page
					order = append(order, h.Path)
					if h.Score > last+1e-9 || h.Score < 0 || h.Score > 1 {
						t.Fatalf("%s %q: score %v after %v", mode, query, h.Score, last)
					}
					last = h.Score
					sum := 0.0
					for _, w := range h.Why {
						sum += w.Points
					}
					if math.Abs(sum-h.Score) > 1e-9 || len(h.Why) == 0 {
						t.Fatalf("%s %q: %s has %v, its reasons add up to %v", mode, query, h.Path, h.Score, sum)
					}
				}
				if !a.More {
					break
				}
				if len(a.Hits) != 17 {
					t.Fatalf("%s %q: page %d has %d hits", mode, query, page, len(a.Hits))
				}
			}
			whole := find(t, s, query, search.Options{Mode: mode, Limit: 1000})
			if mode == search.Lexical && len(order) != len(whole.Hits) {
				t.Errorf("%s %q: %d hits on pages, %d at once", mode, query, len(order), len(whole.Hits))
			}
			if got := strings.Join(order[:min(90, len(order))], ", "); !strings.HasPrefix(hitPaths(whole), got) {
				t.Errorf("%s %q: pages and the whole differ", mode, query)
			}
		}
	}
}

// TestHubDoesNotFlood: a note that links to 200 others brings none of them
// before the notes that have what was asked.
func TestHubDoesNotFlood(t *testing.T) {
	files := map[string]string{"Sencha.md": "# Sencha\n\nsencha sencha sencha\n"}
	for i := range 200 {
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("# Other %d\n\nnothing of the kind\n", i)
		files["Sencha.md"] += fmt.Sprintf("[[other%d]]\n", i)
	}
	for i := range 5 {
		files[fmt.Sprintf("about%d.md", i)] = fmt.Sprintf("# About %d\n\nWe drank sencha, %s.", i, strings.Repeat("and talked ", i))
	}
	s := searcher(t, files)
	a := find(t, s, "sencha", search.Options{Mode: search.Lexical})
	for i, h := range a.Hits[:6] {
		if strings.HasPrefix(h.Path, "other") {
			t.Errorf("place %d is %s: %s", i+1, h.Path, hitPaths(a))
		}
	}
}

func TestLocateByName(t *testing.T) {
	s := searcher(t, smallVault)
	for name, want := range map[string]string{
		"drinks/Sencha.md": "drinks/Sencha.md", "drinks/Sencha": "drinks/Sencha.md", "/drinks/sencha/": "drinks/Sencha.md", "Sencha": "drinks/Sencha.md",
		"sencha.MD": "drinks/Sencha.md", "[[Sencha]]": "drinks/Sencha.md", "Mongibello": "hikes/Etna.md", "work/plan": "work/Plan.md", " Etna ": "hikes/Etna.md",
		"größe": "Übung/Größe.md", "Gro\u0308ße": "Übung/Größe.md", "お茶": "日本/お茶.md", "photo.png": "photo.png",
	} {
		row, err := search.Locate(t.Context(), s.Store, name)
		if err != nil || row.File.Path != want {
			t.Errorf("Locate(%q) = %q %v, want %q", name, row.File.Path, err, want)
		}
	}
	for _, c := range []struct {
		name string
		kind fault.Kind
		says []string
	}{
		{"Plan", fault.Ambiguous, []string{"hikes/Plan.md", "work/Plan.md", "full path"}},
		{"Senca", fault.NotFound, []string{"did you mean", "drinks/Sencha.md"}},
		{"drinks/Etna", fault.NotFound, []string{"hikes/Etna.md"}},
		{"zzzzqqqq", fault.NotFound, []string{"zzzzqqqq"}},
		{"", fault.Invalid, []string{"empty"}},
		{" / ", fault.Invalid, []string{"empty"}},
		{"[[]]", fault.Invalid, []string{"empty"}},
		{strings.Repeat("x", 5000), fault.NotFound, nil},
	} {
		_, err := search.Locate(t.Context(), s.Store, c.name)
		if fault.Of(err) != c.kind {
			t.Errorf("Locate(%.20q): %v", c.name, err)
			continue
		}
		for _, w := range c.says {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("Locate(%q): %v does not say %q", c.name, err, w)
			}
		}
	}
}
