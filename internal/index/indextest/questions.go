package indextest

import (
	"strings"
	"testing"

	"lore/internal/index"
)

func testFilters(t *testing.T, s index.Store) {
	a, b, c := Note("work/a.md", "A", "x"), Note("work/deep/b.md", "B", "x"), Note("Home/c.md", "C", "x")
	a.Tags, b.Tags, c.Tags = []string{"project/lore", "x"}, []string{"Project"}, []string{"projector"}
	a.Type, b.Type = "Task", "source"
	a.Date, b.ModTime, c.ModTime = 100, 200e9, 300e9
	a.Props = []index.Prop{{Key: "Status", Value: "Open"}, {Key: "rating", Value: "4"}, {Key: "due", Value: "2026-01-31T10:00"}}
	b.Props = []index.Prop{{Key: "status", Value: "done"}, {Key: "rating", Value: "10"}, {Key: "due", Value: "2026-02-01"}}
	c.Props = []index.Prop{{Key: "author", Value: "[[Ada]]"}, {Key: "rating", Value: "high"}, {Key: "due", Value: "soon"}}
	c.Problems = []index.Problem{{Kind: "nul_byte"}}
	c.Tasks = 2
	put(t, s, a, b, c,
		index.Document{File: index.File{Path: "work/i.png"}, Kind: index.KindAttachment, Title: "i.png"},
		index.Document{File: index.File{Path: "work/a.sync-conflict-1.md"}, Kind: index.KindConflict, Title: "a"})
	for _, x := range []struct {
		name string
		f    index.Filter
		want string
	}{
		{"all notes", index.Filter{}, "Home/c.md work/a.md work/deep/b.md"},
		{"attachments", index.Filter{Kinds: []index.Kind{index.KindAttachment}}, "work/i.png"},
		{"conflicts", index.Filter{Kinds: []index.Kind{index.KindConflict}}, "work/a.sync-conflict-1.md"},
		{"a tag with its nested ones, not its namesakes", index.Filter{Tags: []string{"project"}}, "work/a.md work/deep/b.md"},
		{"a nested tag", index.Filter{Tags: []string{"#Project/Lore"}}, "work/a.md"},
		{"all tags", index.Filter{Tags: []string{"project", "x"}}, "work/a.md"},
		{"any tag", index.Filter{Tags: []string{"x", "projector"}, AnyTag: true}, "Home/c.md work/a.md"},
		{"without a tag", index.Filter{NoTags: []string{"project"}}, "Home/c.md"},
		{"a folder, at any depth and in any case", index.Filter{Folders: []string{"/WORK/"}}, "work/a.md work/deep/b.md"},
		{"the root", index.Filter{Folders: []string{""}}, "Home/c.md work/a.md work/deep/b.md"},
		{"a part of a path", index.Filter{Globs: []string{"deep"}}, "work/deep/b.md"},
		{"a pattern", index.Filter{Globs: []string{"work/*"}}, "work/a.md work/deep/b.md"},
		{"a pattern with brackets is no class", index.Filter{Globs: []string{"wor[k]"}}, ""},
		{"not a pattern", index.Filter{NoGlobs: []string{"work/*"}}, "Home/c.md"},
		{"a type", index.Filter{Types: []string{"SOURCE", "task"}}, "work/a.md work/deep/b.md"},
		{"not a type", index.Filter{NoTypes: []string{"task"}}, "Home/c.md work/deep/b.md"},
		{"after, by its own date or the file's", index.Filter{After: 200}, "Home/c.md work/deep/b.md"},
		{"before", index.Filter{Before: 200}, "work/a.md"},
		{"a property", index.Filter{Props: []index.PropFilter{{Key: "STATUS"}}}, "work/a.md work/deep/b.md"},
		{"a value", index.Filter{Props: []index.PropFilter{{Key: "status", Value: "open"}}}, "work/a.md"},
		{"a link as a value", index.Filter{Props: []index.PropFilter{{Key: "author", Value: "Ada"}}}, "Home/c.md"},
		{"not a value", index.Filter{Props: []index.PropFilter{{Key: "status", Value: "open", Not: true}}}, "Home/c.md work/deep/b.md"},
		{"a number, as a number", index.Filter{Props: []index.PropFilter{{Key: "rating", Op: ">", Value: "5"}}}, "work/deep/b.md"},
		{"a number at most", index.Filter{Props: []index.PropFilter{{Key: "rating", Op: "<=", Value: "4"}}}, "work/a.md"},
		{"a text in a value", index.Filter{Props: []index.PropFilter{{Key: "status", Op: index.OpContains, Value: "PE"}}}, "work/a.md"},
		{"without a property", index.Filter{Props: []index.PropFilter{{Key: "status", Not: true}}}, "Home/c.md"},
		{"a date is no number", index.Filter{Props: []index.PropFilter{{Key: "due", Op: ">", Value: "5"}}}, ""},
		{"a day and all its times", index.Filter{Props: []index.PropFilter{{Key: "due", Op: "<=", Value: "2026-01-31"}}}, "work/a.md"},
		{"after a day", index.Filter{Props: []index.PropFilter{{Key: "due", Op: ">", Value: "2026-01-31"}}}, "work/deep/b.md"},
		{"problems", index.Filter{Problems: true}, "Home/c.md"},
		{"open tasks", index.Filter{Tasks: true}, "Home/c.md"},
		{"quotes in values", index.Filter{Tags: []string{`'"; --`}}, ""},
	} {
		equal(t, x.name, strings.Join(paths(t, s, index.Select{Filter: x.f}), " "), x.want)
	}
	m := words("x")
	m.Filter = index.Filter{Tags: []string{"project"}, Types: []string{"task"}}
	equal(t, "words with a filter", matched(t, s, m), []string{"work/a.md"})
}

func testWords(t *testing.T, s index.Store) {
	title := Note("t.md", "Volcano", "nothing here")
	body := Note("b.md", "Other", "a volcano and much more text about many other things that make this note long")
	tag := Note("g.md", "Tagged", "nothing")
	tag.Tags = []string{"volcano/active"}
	alias := Note("folder of lava/l.md", "Aliased", "nothing")
	alias.Aliases = []string{"Fire mountain"}
	head := Note("h.md", "Headed", "nothing")
	head.Headings = []string{"On volcanoes"}
	put(t, s, title, body, tag, alias, head)
	m := words("volcano")
	m.Weights = [index.Columns]float64{10, 5, 3, 2, 1}
	got := matched(t, s, m)
	if len(got) != 4 || got[0] != "t.md" {
		t.Errorf("volcano: %v; want four notes, the title first", got)
	}
	equal(t, "stemming", matched(t, s, words("mountains")), []string{alias.Path})
	equal(t, "a folder is a word", matched(t, s, words("lava")), []string{alias.Path})
	equal(t, "no such word", matched(t, s, words("glacier")), []string{})
	phrase := index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{"much", "more", "text"}}}}
	equal(t, "a phrase", matched(t, s, phrase), []string{"b.md"})
	phrase.All[0].Words = []string{"more", "much"}
	equal(t, "a phrase in another order", matched(t, s, phrase), []string{})
	both := index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{"volcano"}}, {Words: []string{"long"}}}}
	equal(t, "all", matched(t, s, both), []string{"b.md"})
	not := words("nothing")
	not.Filter.Without = []index.Term{{Words: []string{"volcano"}}}
	equal(t, "none", matched(t, s, not), []string{alias.Path})
	without := index.Filter{Without: []index.Term{{Words: []string{"volcanoes"}}, {Words: []string{"fire", "mountain"}}}}
	equal(t, "rows without words", paths(t, s, index.Select{Filter: without}), []string{})
	without.Without = without.Without[:1]
	equal(t, "rows without a word", paths(t, s, index.Select{Filter: index.Filter{And: &without}}), []string{alias.Path})
	has := index.Filter{Has: []index.Term{{Words: []string{"volcano"}}, {Words: []string{"more", "text"}}}}
	equal(t, "rows with words", paths(t, s, index.Select{Filter: has}), []string{"b.md"})
	facets, err := s.Facets(t.Context(), index.FacetTag, without)
	must(t, err)
	equal(t, "tags of rows without a word", len(facets), 0)
	prefix := index.Match{Weights: even, Limit: 10, Any: []index.Term{{Words: []string{"volc"}, Prefix: true}}}
	equal(t, "a prefix", len(matched(t, s, prefix)), 4)
	optional := index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{"volcano"}}}, Any: []index.Term{{Words: []string{"long"}}}}
	if got := matched(t, s, optional); len(got) != 4 || got[0] != "b.md" {
		t.Errorf("required and optional: %v; want four notes, b.md first", got)
	}
	limited := words("volcano")
	limited.Limit = 2
	equal(t, "a limit", len(matched(t, s, limited)), 2)
	unranked := words("volcano")
	unranked.Weights = [index.Columns]float64{}
	equal(t, "without ranking", len(matched(t, s, unranked)), 4)
	put(t, s, Note("z2.md", "Same", "twin"), Note("z1.md", "Same", "twin"))
	equal(t, "equal scores go by path", matched(t, s, words("twin")), []string{"z1.md", "z2.md"})
}

func testHostileWords(t *testing.T, s index.Store) {
	put(t, s, Note("a.md", "A", `say "hello" OR world NEAR(x) col:on c++ don't 50% a*b`))
	for _, w := range []string{`"`, `""`, `*`, `OR`, `AND NOT`, `NEAR(`, `col:`, `^a`, `{a b}:c`, `-x`, `'`, "\x00", "a\x00b", "\xff\xfe", `hello" OR "x`, "(", "[", "😀", strings.Repeat("x ", 2000)} {
		if _, err := s.Match(t.Context(), words(w)); err != nil {
			t.Errorf("%q: %v", w, err)
		}
		if _, err := s.Names(t.Context(), index.NameQuery{Like: w}); err != nil {
			t.Errorf("names like %q: %v", w, err)
		}
	}
	for w, want := range map[string]string{"hello": "a.md", `"hello"`: "a.md", "OR": "a.md", "near": "a.md", "don't": "a.md", "hello-world": ""} {
		equal(t, w, strings.Join(matched(t, s, words(w)), " "), want)
	}
}

func testUnspaced(t *testing.T, s index.Store) {
	put(t, s, Note("zh.md", "茶道", "日本的茶道文化很有趣。他用iPhone15手机拍照，\n喝了三\n杯茶"), Note("ko.md", "차", "한국의 녹차를 마신다"),
		Note("th.md", "ชา", "ฉันชอบดื่มชาเขียว"), Note("ja.md", "お茶", "煎茶をいれる。コーヒーは飲まない"))
	for w, want := range map[string]string{
		"茶道": "zh.md", "文化": "zh.md", "道茶": "", "녹차": "ko.md", "ชาเขียว": "th.md", "煎茶": "ja.md",
		// One character, at the beginning, within and at the end of a run.
		"日": "zh.md", "趣": "zh.md", "杯": "zh.md", "茶": "zh.md ja.md", "차": "ko.md", "国": "",
		// A word is an exact run: neither other characters between its own nor other signs.
		"茶文": "", "趣他": "", "道文化很": "zh.md", "茶道文化很有趣": "zh.md", "茶道文化真有趣": "",
		"녹차를": "ko.md", "녹를": "", "コーヒー": "ja.md", "コヒー": "", "ดื่มชา": "th.md", "เขียว": "th.md", "ขาว": "", "ชา": "th.md",
		// Beside words with spaces, and across the end of a line.
		"iphone15": "zh.md", "iphone15手机": "zh.md", "手机15": "", "三杯茶": "zh.md",
	} {
		equal(t, w, strings.Join(matched(t, s, words(w)), " "), want)
		equal(t, "all of "+w, strings.Join(matched(t, s, index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{w}}}}), " "), want)
		typed := index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{w}, Prefix: true}}}
		if got := strings.Join(matched(t, s, typed), " "); want != "" && got != want {
			t.Errorf("%q while typing: %q; want %q", w, got, want)
		}
	}
	// A question is ranked by its grams: the note with more of them comes first.
	put(t, s, Note("other.md", "X", "文化有很多"))
	question := index.Match{Weights: even, Limit: 10}
	for _, g := range index.Grams("日本茶道的文化") {
		question.Any = append(question.Any, index.Term{Words: []string{g}})
	}
	equal(t, "a question", strings.Join(matched(t, s, question), " "), "zh.md other.md")
	not := index.Match{Weights: even, Limit: 10, All: []index.Term{{Words: []string{"文化"}}}}
	not.Filter.Without = []index.Term{{Words: []string{"茶道"}}}
	equal(t, "without a word", strings.Join(matched(t, s, not), " "), "other.md")
}

func testLinks(t *testing.T, s index.Store) {
	a := Note("a.md", "A", "x")
	a.Links = []index.Link{
		{From: "a.md", Kind: "wikilink", Target: "Folder/Tea.md", Line: 1, Start: 0, End: 5},
		{From: "a.md", Kind: "embed", Target: "pic.PNG", Line: 2, Start: 9, End: 12},
		{From: "a.md", Kind: "wikilink", Target: "", Fragment: "here", Line: 3, Start: 20, End: 25},
	}
	for i := range 20 {
		a.Links = append(a.Links, index.Link{From: "a.md", Kind: "wikilink", Target: "many", Line: 4 + i, Start: 100 + i, End: 101 + i})
	}
	put(t, s, a)
	to, err := s.Links(t.Context(), index.LinkQuery{To: []string{"tea"}})
	must(t, err)
	equal(t, "to a key", to, a.Links[:1])
	to, err = s.Links(t.Context(), index.LinkQuery{To: []string{"pic.png"}})
	must(t, err)
	equal(t, "to an attachment", to, a.Links[1:2])
	from, err := s.Links(t.Context(), index.LinkQuery{From: []string{"a.md"}})
	must(t, err)
	equal(t, "from a note", from, a.Links)
	some, err := s.Links(t.Context(), index.LinkQuery{From: []string{"a.md"}, Limit: 2})
	must(t, err)
	equal(t, "some", some, a.Links[:2])
	none, err := s.Links(t.Context(), index.LinkQuery{From: []string{}})
	must(t, err)
	equal(t, "of no notes", len(none), 0)
}

func testNames(t *testing.T, s index.Store) {
	d := full()
	idx := Note("guides/index.md", "All guides", "x")
	att := index.Document{File: index.File{Path: "img/Cup.png"}, Kind: index.KindAttachment, Title: "Cup.png"}
	put(t, s, d, idx, att)
	for key, want := range map[string][]index.Name{
		"green tea":  {{Key: "green tea", Kind: index.NameFile, Path: d.Path}},
		"sencha":     {{Key: "sencha", Kind: index.NameAlias, Path: d.Path}},
		"緑茶":         {{Key: "緑茶", Kind: index.NameAlias, Path: d.Path}},
		"guides":     {{Key: "guides", Kind: index.NameFolder, Path: idx.Path}},
		"all guides": {{Key: "all guides", Kind: index.NameTitle, Path: idx.Path}},
		"con-1x":     {{Key: "con-1x", Kind: index.NameNode, Path: d.Path}},
		"cup.png":    {{Key: "cup.png", Kind: index.NameFile, Path: att.Path}},
		"nobody":     nil,
	} {
		got, err := s.Names(t.Context(), index.NameQuery{Keys: []string{key}})
		must(t, err)
		equal(t, key, got, want)
	}
}

func testSimilarNames(t *testing.T, s index.Store) {
	d := full()
	put(t, s, d, Note("x.md", "Chrysanthemum", "x"), Note("y.md", "Something else", "x"))
	for typed, want := range map[string]string{"chrisanthemum": "x.md", "gren tea": d.Path, "Senhca": d.Path, "ab": ""} {
		got, err := s.Names(t.Context(), index.NameQuery{Like: typed, Limit: 1})
		must(t, err)
		first := ""
		if len(got) > 0 {
			first = got[0].Path
		}
		equal(t, typed, first, want)
	}
}

func testFacets(t *testing.T, s index.Store) {
	a, b := full(), Note("drinks/b.md", "B", "x")
	b.Tags, b.Type = []string{"TEA"}, "Concept"
	put(t, s, a, b, Note("root.md", "R", "x"))
	for f, want := range map[index.Facet][]index.Count{
		index.FacetTag:    {{Value: "tea", Notes: 2}, {Value: "drink/hot", Notes: 1}},
		index.FacetType:   {{Value: "Concept", Notes: 2}},
		index.FacetFolder: {{Value: "drinks", Notes: 2}, {Value: "", Notes: 1}},
		index.FacetProp:   {{Value: "origin", Notes: 1}, {Value: "rating", Notes: 1}},
	} {
		got, err := s.Facets(t.Context(), f, index.Filter{})
		must(t, err)
		equal(t, string(f), got, want)
	}
	got, err := s.Facets(t.Context(), index.FacetTag, index.Filter{Tags: []string{"drink"}})
	must(t, err)
	equal(t, "with a filter", got, []index.Count{{Value: "drink/hot", Notes: 1}, {Value: "tea", Notes: 1}})
}
