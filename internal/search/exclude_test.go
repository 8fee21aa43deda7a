package search_test

import (
	"slices"
	"strings"
	"testing"

	"lore/internal/search"
)

var teaVault = map[string]string{
	"Tea.md":       "---\ntags: [x]\n---\n# Tea\n\nGreen tea from a kettle, see [[Coffee]] and [[Teas]].\n",
	"Coffee.md":    "---\ntags: [x]\n---\n# Coffee\n\nA black drink. Not like [[Tea]].\n",
	"Sencha.md":    "# Sencha\n\nSteamed leaves; a Tea of Japan.\n",
	"Kettle.md":    "# Kettle\n\nA kettle boils for every infusion; it belongs to my father.\n",
	"Teas.md":      "# Leaf list\n\nTEAS of the world, one leaf each.\n",
	"Tee.md":       "# Tee\n\nGrüner Tee und süßer Kräutertée am Café.\n",
	"日本/お茶.md":     "# お茶\n\n日本の茶道はとても静かです。\n",
	"old/Brew.md":  "---\ntags: [drinks/x]\n---\n# Brew\n\nHow to brew.\n",
	"new/Brew.md":  "# Brew\n\nHow to brew.\n",
	"Numbered.md":  "# Numbered\n\nFive of 1984.\n",
	"drawn.canvas": `{"nodes":[{"id":"1","type":"text","x":0,"y":0,"width":1,"height":1,"text":"a tea house"}],"edges":[]}`,
}

// TestExcluded: what a query excludes is in no answer, whatever else it asks
// for and however notes are compared, and a query that only excludes lists the
// rest.
func TestExcluded(t *testing.T) {
	s := searcher(t, teaVault)
	for _, c := range []struct{ query, gone, left string }{
		{"-tea", "Tea.md Sencha.md Teas.md Coffee.md drawn.canvas", "Kettle.md Tee.md Numbered.md 日本/お茶.md old/Brew.md new/Brew.md"},
		{"-TEAS", "Tea.md Sencha.md Teas.md Coffee.md drawn.canvas", "Kettle.md Tee.md"},
		{`-"tea of japan"`, "Sencha.md", "Tea.md Teas.md"},
		{"-“tea of japan”", "Sencha.md", "Tea.md Teas.md"},
		{"tag:x -tea", "Tea.md Coffee.md Kettle.md", ""},
		{"tag:x -kettle", "Tea.md Kettle.md", "Coffee.md"},
		{"-tag:x", "Tea.md Coffee.md", "Sencha.md Kettle.md"},
		{"-tag:drinks", "old/Brew.md", "new/Brew.md Tea.md"},
		{"-tag:drinks/", "old/Brew.md", "new/Brew.md Tea.md"},
		{"-#drinks brew", "old/Brew.md", "new/Brew.md"},
		{"-path:old brew", "old/Brew.md", "new/Brew.md"},
		{"-folder:old/ brew", "old/Brew.md", "new/Brew.md"},
		{"folder:old -brew", "old/Brew.md new/Brew.md", ""},
		{"infusion -kettle", "Kettle.md Tea.md", ""},
		{"Tea -tea", "Tea.md Sencha.md Teas.md Coffee.md drawn.canvas", ""},
		{"coffee -green", "Tea.md", "Coffee.md"},
		{"Sencah -steamed", "Sencha.md", ""},
		{"-father's", "Kettle.md", "Tea.md"},
		{"-cafe", "Tee.md", "Tea.md"},
		{"-CAFE\u0301", "Tee.md", "Tea.md"},
		{"-suszer -süßer", "Tee.md", "Tea.md"},
		{"-茶道", "日本/お茶.md", "Tea.md"},
		{"静か -茶", "日本/お茶.md", ""},
		{"tea -kettle -coffee", "Tea.md Coffee.md Kettle.md", "Sencha.md"},
		{"tea -!? -\"…\"", "", "Tea.md Sencha.md"},
	} {
		for _, mode := range []search.Mode{search.Hybrid, search.Lexical, search.Semantic} {
			got := strings.Split(hitPaths(find(t, s, c.query, search.Options{Mode: mode, Limit: 50})), ", ")
			for _, p := range strings.Fields(c.gone) {
				if slices.Contains(got, p) {
					t.Errorf("%s %q has %s: %v", mode, c.query, p, got)
				}
			}
			for _, p := range strings.Fields(c.left) {
				if !slices.Contains(got, p) && mode != search.Semantic {
					t.Errorf("%s %q lacks %s: %v", mode, c.query, p, got)
				}
			}
		}
	}
}

// TestExcludedPages: the pages of a list without a word are whole and disjoint.
func TestExcludedPages(t *testing.T) {
	s := searcher(t, teaVault)
	whole := hitPaths(find(t, s, "-tea", search.Options{Limit: 50}))
	var got []string
	for offset := 0; ; offset += 2 {
		a := find(t, s, "-tea", search.Options{Limit: 2, Offset: offset})
		got = append(got, hitPaths(a))
		if !a.More {
			break
		}
	}
	if strings.Join(got, ", ") != whole {
		t.Errorf("pages are %v, the whole is %s", got, whole)
	}
}
