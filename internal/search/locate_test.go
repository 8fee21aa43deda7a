package search_test

import (
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/note"
	"lore/internal/search"
)

// vault indexes notes that are given as path and text.
func vaultOf(t *testing.T, files ...string) index.Store {
	t.Helper()
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var b index.Batch
	for i := 0; i < len(files); i += 2 {
		path, text := files[i], []byte(files[i+1])
		f := index.File{Path: path, Size: int64(len(text)), Hash: index.HashOf(text)}
		if strings.HasSuffix(path, ".md") {
			b.Put = append(b.Put, index.NewDocument(f, index.KindNote, note.Parse(path, text)))
		} else {
			b.Put = append(b.Put, index.NewAttachment(f, index.KindAttachment))
		}
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLocate(t *testing.T) {
	s := vaultOf(t,
		"tea/Green tea.md", "---\naliases: [ryokucha, 绿茶]\n---\n# All about green\n",
		"a/Twin.md", "1", "b/Twin.md", "2", "c/deep/Twin.md", "3",
		"trips/index.md", "x", "Élan.md", "x", "photo.png", "",
		"ryokucha.md", "a file is stronger than an alias\n",
		"dotted.name.md", "x",
	)
	for name, want := range map[string]string{
		"tea/Green tea.md":       "tea/Green tea.md",
		"tea/Green tea":          "tea/Green tea.md",
		"/tea/Green tea.md":      "tea/Green tea.md",
		" green  TEA ":           "tea/Green tea.md",
		"[[Green tea]]":          "tea/Green tea.md",
		"绿茶":                     "tea/Green tea.md",
		"All about green":        "tea/Green tea.md",
		"ryokucha":               "ryokucha.md",
		"b/Twin":                 "b/Twin.md",
		"deep/twin":              "c/deep/Twin.md",
		"trips":                  "trips/index.md",
		"E\u0301lan":             "Élan.md",
		"photo.png":              "photo.png",
		"dotted.name":            "dotted.name.md",
		"Twin":                   `ambiguous: "Twin" matches several files: "a/Twin.md", "b/Twin.md", "c/deep/Twin.md"; give the full path`,
		"Gren tea":               `not_found: note not found: "Gren tea"; did you mean "tea/Green tea.md"?`,
		"tea/Twin":               `not_found: note not found: "tea/Twin"; did you mean "a/Twin.md", "b/Twin.md", "c/deep/Twin.md"?`,
		"zzzz":                   `not_found: note not found: "zzzz"`,
		"":                       `invalid: path: is empty; name a note`,
		" / ":                    `invalid: path: is empty; name a note`,
		"'; DROP TABLE notes;--": `not_found: note not found: "'; DROP TABLE notes;--"`,
	} {
		row, err := search.Locate(t.Context(), s, name)
		got := row.File.Path
		if err != nil {
			got = string(fault.Of(err)) + ": " + err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	s := vaultOf(t, "tea/Green tea.md", "x", "Oolong.md", "x", "ryokucha.md", "x")
	for name, want := range map[string]string{
		"Olong": "Oolong.md", "folder/Green tae": "tea/Green tea.md", "Matcha": "", "": "",
	} {
		got, err := search.Near(t.Context(), s, name)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, %v", name, got, err)
		}
		all, err := search.LoadSpellings(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.Near(name); strings.Join(got, " ") != want {
			t.Errorf("%q among all: got %v", name, got)
		}
	}
}

func TestAround(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		name, text, find string
		width            int
		want             string
	}{
		{"short", "a line about tea here", "tea", 40, "a line about tea here"},
		{"one line of several", "before\n  the tea line \nafter", "tea", 40, "the tea line"},
		{"middle of a long one", long + "tea " + long, "tea", 30, "… word word tea word word word …"},
		{"beginning", "tea " + long, "tea", 20, "tea word word word …"},
		{"end", long + "tea", "tea", 20, "… word tea"},
		{"unspaced", strings.Repeat("茶", 50) + "水" + strings.Repeat("茶", 50), "水", 30, "… 茶茶茶茶水茶茶茶茶茶 …"},
		{"longer than the width", strings.Repeat("x", 100), strings.Repeat("x", 100), 10, "xxxxxxxxxx …"},
		{"nothing found is the beginning", "some words", "", 40, "some words"},
		{"empty", "", "", 40, ""},
	} {
		at := strings.Index(c.text, c.find)
		got := search.Around(c.text, at, at+len(c.find), c.width)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzAround: any range of any text gives valid text of about the width.
func FuzzAround(f *testing.F) {
	f.Add("a line about tea\nand more", 13, 16, 20)
	f.Add("茶茶茶茶茶茶茶", 2, 5, 7)
	f.Fuzz(func(t *testing.T, text string, start, end, width int) {
		width = min(max(width, 1), 1000)
		text = strings.ToValidUTF8(text, "?")
		got := search.Around(text, start, end, width)
		if strings.Contains(got, "\n") || len(got) > 2*width+60 {
			t.Fatalf("%q %d %d %d: %q", text, start, end, width, got)
		}
	})
}

func TestFitting(t *testing.T) {
	s := vaultOf(t,
		"long.md", "# Tea\n\n## Growing\n\n"+strings.Repeat("plants and soil ", 80)+"\n\n## Brewing\n\nwater of 75 degrees "+strings.Repeat("and time ", 80)+"\n",
		"other.md", "nothing of it\n",
	)
	rows, err := s.Notes(t.Context(), index.Select{})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := (&search.Searcher{Store: s}).Fitting(t.Context(), search.Query{Words: []string{"water", "for", "brewing"}}, []int64{rows[0].ID, rows[1].ID})
	if err != nil {
		t.Fatal(err)
	}
	if f := fits[rows[0].ID]; f.Score < 2 || !strings.Contains(f.Heading, "Brewing") {
		t.Errorf("got %q with %.2f", f.Heading, f.Score)
	}
	if f := fits[rows[1].ID]; f.Score != 0 || f.Path != "other.md" {
		t.Errorf("got %v", f)
	}
}
