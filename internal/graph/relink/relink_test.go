package relink_test

import (
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/note"
)

// TestForms has one row for each way in which a link can be written: the note
// it stands in, its text before and after "Tea.md" or another file moves. The
// vault has the notes that the moves need, and nothing else.
func TestForms(t *testing.T) {
	files := tree{
		"Tea.md": "---\naliases: [Cha]\n---\n# Tea\n", "Mint.md": "", "food/Rice.md": "", "food/Pie.md": "", "sweets/Pie.md": "",
		"docs/guide/index.md": "", "docs/start.md": "", "img/cup.png": "", "b.canvas": "{}",
	}
	m := func(pairs ...string) (out []relink.Move) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, relink.Move{From: pairs[i], To: pairs[i+1]})
		}
		return out
	}
	rename := m("Tea.md", "Green tea.md")
	tests := []struct {
		name, in string
		moves    []relink.Move
		was, now string
	}{
		{"name", "n.md", rename, "[[Tea]]", "[[Green tea]]"},
		{"name, case", "n.md", rename, "[[tea]]", "[[Green tea]]"},
		{"name with extension", "n.md", rename, "[[Tea.md]]", "[[Green tea.md]]"},
		{"alias text", "n.md", rename, "[[Tea|my Tea]]", "[[Green tea|my Tea]]"},
		{"heading and block", "n.md", rename, "[[Tea#Tea]] [[Tea#^b1|x]]", "[[Green tea#Tea]] [[Green tea#^b1|x]]"},
		{"embed", "n.md", rename, "![[Tea#Tea]]", "![[Green tea#Tea]]"},
		{"table", "n.md", rename, "|a|\n|-|\n|[[Tea\\|x]]|", "|a|\n|-|\n|[[Green tea\\|x]]|"},
		{"property", "n.md", rename, "---\nup: \"[[Tea]]\"\nall:\n  - '[[Tea|x]]'\n---\n", "---\nup: \"[[Green tea]]\"\nall:\n  - '[[Green tea|x]]'\n---\n"},
		{"inline field", "n.md", rename, "- supports:: [[Tea]] ^r1", "- supports:: [[Green tea]] ^r1"},
		{"markdown", "n.md", rename, "[x](Tea.md)", "[x](Green%20tea.md)"},
		{"markdown without extension", "n.md", rename, "[x](Tea)", "[x](Green%20tea)"},
		{"markdown in angle brackets", "n.md", rename, "[x](<Tea.md#Tea> \"T\")", "[x](<Green tea.md#Tea> \"T\")"},
		{"markdown, text is the name", "n.md", rename, "[Tea](Tea.md)", "[Tea](Green%20tea.md)"},
		{"reference", "n.md", rename, "[x][r] [r]\n\n[r]: Tea.md 'T'\n", "[x][r] [r]\n\n[r]: Green%20tea.md 'T'\n"},
		{"code is no link", "n.md", rename, "`[[Tea]]` [[Tea]]\n\n```\n[[Tea]]\n```\n", "`[[Tea]]` [[Green tea]]\n\n```\n[[Tea]]\n```\n"},
		{"comment is no link", "n.md", rename, "%% [[Tea]] %% <!-- [[Tea]] -->", "%% [[Tea]] %% <!-- [[Tea]] -->"},
		{"URL is no link", "n.md", rename, "https://x.y/Tea.md [a](https://x.y/Tea.md)", "https://x.y/Tea.md [a](https://x.y/Tea.md)"},
		{"alias of the note", "n.md", rename, "[[Cha]] [[cha|x]]", "[[Cha]] [[cha|x]]"},
		{"canvas file", "m.canvas", rename, `{"nodes":[{"id":"1","type":"file","file":"Tea.md","subpath":"#Tea"}]}`, `{"nodes":[{"id":"1","type":"file","file":"Green tea.md","subpath":"#Tea"}]}`},
		{"canvas text", "m.canvas", rename, `{"nodes":[{"id":"1","type":"text","text":"\u00e9\n[[Tea]] [x](Tea.md)"}]}`, `{"nodes":[{"id":"1","type":"text","text":"\u00e9\n[[Green tea]] [x](Green%20tea.md)"}]}`},

		{"bare name follows into a folder", "n.md", m("Tea.md", "food/Tea.md"), "[[Tea]] ![[Tea]]", "[[Tea]] ![[Tea]]"},
		{"markdown follows into a folder", "n.md", m("Tea.md", "food/Tea.md"), "[x](Tea.md) [y](./Tea.md) [z](/Tea.md)", "[x](food/Tea.md) [y](./food/Tea.md) [z](/food/Tea.md)"},
		{"relative up", "food/n.md", m("Tea.md", "sweets/Tea.md"), "[x](../Tea.md#Tea)", "[x](../sweets/Tea.md#Tea)"},
		{"relative from up to beside", "food/n.md", m("Tea.md", "food/Tea.md"), "[x](../Tea.md)", "[x](Tea.md)"},
		{"relative wikilink", "food/n.md", m("Tea.md", "sweets/Tea.md"), "[[../Tea]] [[./Rice]]", "[[../sweets/Tea]] [[./Rice]]"},
		{"path stays a path", "n.md", m("food/Rice.md", "food/Dal.md"), "[[food/Rice]] [[food/Rice.md|r]]", "[[food/Dal]] [[food/Dal.md|r]]"},
		{"path to the root", "n.md", m("food/Rice.md", "Rice.md"), "[[food/Rice]] [x](food/Rice.md)", "[[Rice]] [x](Rice.md)"},
		{"path keeps the case of the name", "n.md", m("food/Rice.md", "sweets/Rice.md"), "[[food/rice]]", "[[sweets/rice]]"},
		{"rooted wikilink", "n.md", m("food/Rice.md", "sweets/Dal.md"), "[[/food/Rice]]", "[[/sweets/Dal]]"},
		{"markdown path from the root", "docs/n.md", m("food/Rice.md", "sweets/Dal.md"), "[x](food/Rice.md)", "[x](sweets/Dal.md)"},
		{"new name is taken elsewhere", "n.md", m("Mint.md", "Pie.md"), "[[Mint]]", "[[Pie]]"},
		{"new name is taken, far", "food/n.md", m("Mint.md", "docs/Pie.md"), "[[Mint]]", "[[docs/Pie]]"},
		{"new name shadows", "docs/n.md", m("Mint.md", "docs/Pie.md"), "[[Pie]]", "[[food/Pie]]"},
		{"new name shadows in the root", "x/n.md", m("Tea.md", "x/Mint.md"), "[[Mint]] [[Tea]]", "[[/Mint]] [[x/Mint]]"},
		{"new name shadows an alias", "n.md", m("Mint.md", "Cha.md"), "[[Cha]] [[Mint]]", "[[Tea]] [[Cha]]"},
		{"attachment", "n.md", m("img/cup.png", "img/big cup.png"), "![[cup.png|100]] ![c](img/cup.png) ![](cup.png)", "![[big cup.png|100]] ![c](img/big%20cup.png) ![](big%20cup.png)"},
		{"canvas as target", "n.md", m("b.canvas", "docs/c.canvas"), "[[b.canvas]] [x](b.canvas)", "[[c.canvas]] [x](docs/c.canvas)"},
		{"folder", "n.md", m("docs/guide/index.md", "docs/manual/index.md"), "[[guide]] [[docs/guide]] [x](docs/guide/) [y](docs/guide/index.md)",
			"[[manual]] [[docs/manual]] [x](docs/manual/) [y](docs/manual/index.md)"},
		{"folder that has no index any more", "n.md", m("docs/guide/index.md", "docs/manual.md"), "[[docs/guide]] [x](docs/guide/)", "[[docs/manual]] [x](docs/manual)"},
		{"the same move for many", "n.md", m("Tea.md", "Mate.md", "food/Rice.md", "food/Dal.md"), "[[Tea]] [[Rice]]", "[[Mate]] [[Dal]]"},
		{"a name in quotes", "n.md", m("Tea.md", "Bob's tea & \"more\".md"), "[[Tea]] [x](Tea.md)", "[[Bob's tea & \"more\"]] [x](Bob's%20tea%20&%20%22more%22.md)"},
		{"no link at all", "n.md", rename, "Tea and tea.md", "Tea and tea.md"},
	}
	b := newBench(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := tree{tt.in: tt.was}
			for p, text := range files {
				v[p] = text
			}
			b.put(t, v)
			plan, err := b.planner(v).Moves(t.Context(), tt.moves)
			if err != nil {
				t.Fatal(err)
			}
			now := v.apply(t, plan.Set)
			if now[tt.in] != tt.now {
				t.Errorf("got  %s\nwant %s", now[tt.in], tt.now)
			}
			check(t, v, now, tt.moves, plan)
			if back := now.apply(t, plan.Set.Inverse()); show(back) != show(v) {
				t.Errorf("undone it is\n%s", show(back))
			}
			if len(plan.Skipped) > 0 {
				t.Errorf("skipped %v", plan.Skipped)
			}
		})
	}
}

// TestMovedNote: the links of a note that moves are those that stand in another
// place afterwards.
func TestMovedNote(t *testing.T) {
	v := tree{
		"a/n.md":    "[[Near]] [[far]] [x](Near.md) [y](../b/far.md) [z](/b/far.md) ![](p.png) [s](#here) [[#here]] [me](n.md#here) [[n]]\n\n[d]: ./Near.md\n\n[d] [gone](lost.md)\n",
		"a/Near.md": "", "b/Near.md": "", "b/far.md": "", "a/p.png": "", "p.png": "",
	}
	b := newBench(t)
	b.put(t, v)
	moves := []relink.Move{{From: "a/n.md", To: "b/c/m.md"}}
	plan, err := b.planner(v).Moves(t.Context(), moves)
	if err != nil {
		t.Fatal(err)
	}
	now := v.apply(t, plan.Set)
	want := "[[a/Near]] [[far]] [x](../../a/Near.md) [y](../far.md) [z](/b/far.md) ![](../../a/p.png) [s](#here) [[#here]] [me](m.md#here) [[m]]\n\n[d]: ../../a/Near.md\n\n[d] [gone](lost.md)\n"
	if now["b/c/m.md"] != want {
		t.Errorf("got  %s\nwant %s", now["b/c/m.md"], want)
	}
	check(t, v, now, moves, plan)
	if plan.Links != 7 || len(plan.Files) != 1 || plan.Files[0].Path != "b/c/m.md" {
		t.Errorf("%d links in %v", plan.Links, plan.Files)
	}
}

// TestSkipped: what cannot be rewritten is told, and the rest is done.
func TestSkipped(t *testing.T) {
	v := tree{
		"Tea.md": "", "ok.md": "[[Tea]]\n\n[[Tea]]\n", "bytes.md": "[[Tea]] \xff", "yaml.md": "---\nup: \"[[Tea]]\"\ndate: {{date}}\n---\n[[Tea]]\n",
		"yaml2.md": "---\nup: [[Other]]\ndate: {{date}}\n---\n",
		"quote.md": "---\nup: '[[Tea]]'\n---\n[[Tea]]\n",
		"b.canvas": `{"nodes":[{"type":"file","file":"x.md"},{"type":"file","x":,"file":"Tea.md"}`,
	}
	b := newBench(t)
	b.put(t, v)
	v["late.md"], v["ok.md"] = "[[Tea]]", "new\n\n[[Tea]]\n" // since the index looked
	delete(v, "gone.md")
	plan, err := b.planner(v).Moves(t.Context(), []relink.Move{{From: "Tea.md", To: "Bob's.md"}})
	if err != nil {
		t.Fatal(err)
	}
	now := v.apply(t, plan.Set)
	if now["ok.md"] != "new\n\n[[Bob's]]\n" || now["quote.md"] != "---\nup: '[[Tea]]'\n---\n[[Bob's]]\n" || now["yaml.md"] != "---\nup: \"[[Tea]]\"\ndate: {{date}}\n---\n[[Bob's]]\n" {
		t.Error(show(now))
	}
	var got []string
	for _, s := range plan.Skipped {
		got = append(got, s.Path)
		if s.Links != 1 || s.Reason == "" {
			t.Errorf("%+v", s)
		}
	}
	if strings.Join(got, " ") != "b.canvas bytes.md quote.md yaml.md" {
		t.Error(plan.Skipped)
	}
	plan, err = b.planner(v).Moves(t.Context(), []relink.Move{{From: "Tea.md", To: "C#.md"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Set) != 1 || len(plan.Skipped) != 5 {
		t.Errorf("%v\n%v", plan.Set, plan.Skipped)
	}
}

// TestDendron: there the target stands behind the text.
func TestDendron(t *testing.T) {
	v := tree{"old.name.md": "# Old\n", "n.md": "[[text|old.name]] [[old.name]] [[t|old.name#Old]]"}
	b := newBench(t)
	o := note.Options{DendronAlias: true}
	f := index.File{Path: "n.md"}
	if err := b.store.Apply(t.Context(), index.Batch{Put: []index.Document{
		document("old.name.md", v["old.name.md"]), index.NewDocument(f, index.KindNote, o.Parse("n.md", []byte(v["n.md"]))),
	}}); err != nil {
		t.Fatal(err)
	}
	p := b.planner(v)
	p.Parse = o
	plan, err := p.Moves(t.Context(), []relink.Move{{From: "old.name.md", To: "new.name.md"}})
	if err != nil {
		t.Fatal(err)
	}
	if now := v.apply(t, plan.Set)["n.md"]; now != "[[text|new.name]] [[new.name]] [[t|new.name#Old]]" {
		t.Error(now)
	}
	if plan, err = p.Heading(t.Context(), "old.name.md", "Old", "New"); err != nil {
		t.Fatal(err)
	}
	if now := v.apply(t, plan.Set)["n.md"]; now != "[[text|old.name]] [[old.name]] [[t|old.name#New]]" {
		t.Error(now)
	}
}

func TestMovesThatMakeNoSense(t *testing.T) {
	b := newBench(t)
	v := tree{"a.md": "[[b]]", "b.md": "[[a]]"}
	b.put(t, v)
	for _, moves := range [][]relink.Move{
		{{From: "a.md", To: "b.md"}, {From: "b.md", To: "a.md"}},
		{{From: "a.md", To: "c.md"}, {From: "b.md", To: "c.md"}},
		{{From: "a.md", To: "c.md"}, {From: "c.md", To: "d.md"}},
	} {
		if _, err := b.planner(v).Moves(t.Context(), moves); fault.Of(err) != fault.Conflict {
			t.Errorf("%v: %v", moves, err)
		}
	}
	if _, err := b.planner(v).Moves(t.Context(), []relink.Move{{From: "a.md"}}); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	plan, err := b.planner(v).Moves(t.Context(), []relink.Move{{From: "a.md", To: "a.md"}})
	if err != nil || len(plan.Set) != 0 {
		t.Errorf("%v %v", plan, err)
	}
}

func TestPointAndSpell(t *testing.T) {
	v := tree{"a/n.md": "[[Te]] [x](Te.md) [[Te|t]] [[Other]]", "b/Tea.md": "", "b/Pie.md": "", "a/Pie.md": ""}
	b := newBench(t)
	b.put(t, v)
	p := b.planner(v)
	plan, err := p.Point(t.Context(), []string{"a/n.md"}, func(_ string, l note.Link) string {
		if l.Target == "Other" {
			return ""
		}
		return "b/Tea.md"
	})
	if err != nil {
		t.Fatal(err)
	}
	if now := v.apply(t, plan.Set)["a/n.md"]; now != "[[Tea]] [x](Tea.md) [[Tea|t]] [[Other]]" || plan.Links != 3 {
		t.Error(now, plan.Links)
	}
	for to, want := range map[string]string{"b/Tea.md": "Tea", "b/Pie.md": "b/Pie", "a/Pie.md": "a/Pie"} {
		if got, err := p.Spell(t.Context(), "a/n.md", to); got != want || err != nil {
			t.Errorf("%s: %q %v", to, got, err)
		}
	}
}

func TestMerge(t *testing.T) {
	v := tree{
		"a/Kept.md": "[[Other]] [[sub/Other#H]]\n", "sub/Other.md": "[x](pic.png) [[Kept]] [[Other#H]] [y](../n.md)\n", "sub/pic.png": "", "n.md": "[[Other|o]] [z](sub/Other.md#H) [[Kept]]",
	}
	b := newBench(t)
	b.put(t, v)
	m, err := b.planner(v).Merge(t.Context(), "a/Kept.md", "sub/Other.md", []string{"Other"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Kept != "[[Kept|Other]] [[a/Kept#H|sub/Other > H]]\n" || m.Other != "[x](../sub/pic.png) [[Kept]] [[Kept#H|Other > H]] [y](../n.md)\n" {
		t.Errorf("%q %q", m.Kept, m.Other)
	}
	if len(m.Set) != 1 || *m.Set[0].After != "[[Kept|o]] [z](a/Kept.md#H) [[Kept]]" {
		t.Error(m.Set)
	}
}

// TestMergeKeepsWords: a reader of the other notes sees the words that were
// there, and a link by a name that the kept note takes over is left alone.
func TestMergeKeepsWords(t *testing.T) {
	for _, c := range []struct{ name, path, was, want string }{
		{"name", "n.md", "see [[Gyokuro]].", "see [[Sencha|Gyokuro]]."},
		{"as written", "n.md", "[[gyokuro]] [[Gyokuro.md]] [[old/Gyokuro]]", "[[Sencha|gyokuro]] [[Sencha.md|Gyokuro.md]] [[tea/Sencha|old/Gyokuro]]"},
		{"own words", "n.md", "[[Gyokuro|the best]] [[Sencha|Gyokuro]]", "[[Sencha|the best]] [[Sencha|Gyokuro]]"},
		{"no words", "n.md", "[[Gyokuro|]]", "[[Sencha|]]"},
		{"heading", "n.md", "[[Gyokuro#Brewing]] [[Gyokuro#A#B|x]]", "[[Sencha#Brewing|Gyokuro > Brewing]] [[Sencha#A#B|x]]"},
		{"block", "n.md", "[[Gyokuro#^b1]]", "[[Sencha#^b1|Gyokuro]]"},
		{"alias that is taken over", "n.md", "[[Jade dew]] [[jade dew#H]] [[Jade dew|x]] ![[Jade dew]]", "[[Jade dew]] [[jade dew#H]] [[Jade dew|x]] ![[Jade dew]]"},
		{"title that is taken over", "n.md", "[[Gyokuro of Uji]]", "[[Gyokuro of Uji]]"},
		{"alias that is not", "n.md", "[[Secret]]", "[[Sencha|Secret]]"},
		{"embed", "n.md", "![[Gyokuro]] ![[Gyokuro#H]]", "![[Sencha]] ![[Sencha#H]]"},
		{"Markdown", "n.md", "[tea](old/Gyokuro.md) [g][1]\n\n[1]: old/Gyokuro.md\n", "[tea](tea/Sencha.md) [g][1]\n\n[1]: tea/Sencha.md\n"},
		{"property", "n.md", "---\nup: \"[[Gyokuro]]\"\n---\n", "---\nup: \"[[Sencha]]\"\n---\n"},
		{"relation", "n.md", "supports:: [[Gyokuro]]\n", "supports:: [[Sencha]]\n"},
		{"table", "n.md", "| a | b |\n|---|---|\n| [[Gyokuro]] | [[Gyokuro\\|x]] |\n\n[[Gyokuro]] | no table\n", "| a | b |\n|---|---|\n| [[Sencha\\|Gyokuro]] | [[Sencha\\|x]] |\n\n[[Sencha|Gyokuro]] | no table\n"},
		{"head of a table", "n.md", "Text\n\n[[Gyokuro]] | b\n:-- | --:\n1 | 2\n", "Text\n\n[[Sencha\\|Gyokuro]] | b\n:-- | --:\n1 | 2\n"},
		{"table in a quote", "n.md", "> | [[Gyokuro]] |\n> |---|\n", "> | [[Sencha\\|Gyokuro]] |\n> |---|\n"},
		{"code", "n.md", "`[[Gyokuro]]` and [[Gyokuro]]", "`[[Gyokuro]]` and [[Sencha|Gyokuro]]"},
		{"canvas", "b.canvas", `{"nodes":[{"type":"text","text":"[[Gyokuro]]"},{"type":"file","file":"old/Gyokuro.md"}]}`, `{"nodes":[{"type":"text","text":"[[Sencha|Gyokuro]]"},{"type":"file","file":"tea/Sencha.md"}]}`},
		{"same name", "n.md", "[[Twin]] [[a/Twin]] [[b/Twin]]", "[[Twin]] [[a/Twin]] [[b/Twin]]"},
	} {
		v := tree{
			"tea/Sencha.md": "---\naliases: [Steamed]\n---\n", "old/Gyokuro.md": "---\naliases: [Jade dew, Secret]\ntitle: Gyokuro of Uji\n---\n", "a/Twin.md": "", "b/Twin.md": "", c.path: c.was,
		}
		if c.name == "title that is taken over" {
			v["old/Gyokuro.md"] = "---\naliases: [Jade dew, Gyokuro of Uji]\n---\n" // only aliases are names for links
		}
		b := newBench(t)
		b.put(t, v)
		m, err := b.planner(v).Merge(t.Context(), "tea/Sencha.md", "old/Gyokuro.md", []string{"Steamed", "Jade dew", "Gyokuro of Uji"})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.apply(t, m.Set)[c.path]; got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.was, got, c.want)
		}
		if len(m.Skipped) > 0 {
			t.Errorf("%s: skipped %v", c.name, m.Skipped)
		}
	}
}

func TestHeading(t *testing.T) {
	v := tree{
		"n.md":      "# Top\n\n## Old *name* ^x\n\n[[#Old name]] [[#Top#Old name]] [s](#old-name) [t](#Old%20name)\n\n### Sub\n\n## Twin\n\n## Twin\n",
		"m.md":      "---\nup: \"[[n#Old name]]\"\n---\n[[n#Old name|x]] ![[n#old NAME]] [[n#Old name#Sub]] [[n#Top]] [[n#^x]]\n[a](n.md#old-name) [b](<n.md#Old name>) [c](n.md#twin-1) [d][r] [[Old name]] `[[n#Old name]]`\n\n[r]: n.md#Old%20name\n",
		"b.canvas":  `{"nodes":[{"type":"file","file":"n.md","subpath":"#Old name"},{"type":"text","text":"[[n#Old name]]"}]}`,
		"o/n2.md":   "[[#Old name]]",
		"o/note.md": "# Old name\n",
	}
	v["broken.md"] = "---\nup: \"[[n#Old name]]\"\nx: {{date}}\n---\n"
	b := newBench(t)
	b.put(t, v)
	plan, err := b.planner(v).Heading(t.Context(), "n.md", "Old name", "New: one")
	if err != nil {
		t.Fatal(err)
	}
	now := v.apply(t, plan.Set)
	want := tree{
		"n.md":      "# Top\n\n## New: one ^x\n\n[[#New one]] [[#Top#New one]] [s](#new-one) [t](#New%20one)\n\n### Sub\n\n## Twin\n\n## Twin\n",
		"m.md":      "---\nup: \"[[n#New one]]\"\n---\n[[n#New one|x]] ![[n#New one]] [[n#New one#Sub]] [[n#Top]] [[n#^x]]\n[a](n.md#new-one) [b](<n.md#New one>) [c](n.md#twin-1) [d][r] [[Old name]] `[[n#Old name]]`\n\n[r]: n.md#New%20one\n",
		"b.canvas":  `{"nodes":[{"type":"file","file":"n.md","subpath":"#New one"},{"type":"text","text":"[[n#New one]]"}]}`,
		"o/n2.md":   "[[#Old name]]",
		"o/note.md": "# Old name\n",
	}
	want["broken.md"] = v["broken.md"]
	if show(now) != show(want) {
		t.Errorf("got\n%s\nwant\n%s", show(now), show(want))
	}
	if plan.Links != 13 || len(plan.Skipped) != 1 || plan.Skipped[0].Path != "broken.md" {
		t.Errorf("%d links, skipped %v", plan.Links, plan.Skipped)
	}
	if back := now.apply(t, plan.Set.Inverse()); show(back) != show(v) {
		t.Error("not undone")
	}
}

// TestHeadingTwins: links lead to the same heading afterwards, also those to a
// heading that now has the name of another one.
func TestHeadingTwins(t *testing.T) {
	v := tree{"n.md": "# A\n## X\n# B\n## Y\n## X\n", "m.md": "[[n#Y]] [[n#X]] [[n#B#X]] [a](n.md#x) [b](n.md#x-1)"}
	b := newBench(t)
	for _, c := range []struct{ old, now, want string }{
		{"Y", "X", "[[n#B#X]] [[n#X]] [[n#B#X]] [a](n.md#x) [b](n.md#x-2)"},
		{"A#X", "Z", "[[n#Y]] [[n#Z]] [[n#B#X]] [a](n.md#z) [b](n.md#x)"},
		{"A", "Y", "[[n#B#Y]] [[n#X]] [[n#B#X]] [a](n.md#x) [b](n.md#x-1)"},
	} {
		b.put(t, v)
		plan, err := b.planner(v).Heading(t.Context(), "n.md", c.old, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if now := v.apply(t, plan.Set)["m.md"]; now != c.want {
			t.Errorf("%s to %s: got %s, want %s; skipped %v", c.old, c.now, now, c.want, plan.Skipped)
		}
	}
	for _, c := range []struct {
		path, old, now string
		kind           fault.Kind
	}{{"n.md", "X", "Z", fault.Ambiguous}, {"n.md", "Q", "Z", fault.NotFound}, {"q.md", "Q", "Z", fault.NotFound}, {"n.md", "A", "a\nb", fault.Invalid}} {
		if _, err := b.planner(v).Heading(t.Context(), c.path, c.old, c.now); fault.Of(err) != c.kind {
			t.Errorf("%v: %v", c, err)
		}
	}
}
