package relink_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lore/internal/graph/relink"
)

var (
	someFolders = []string{"", "a", "a/b", "c", "A b"}
	someNames   = []string{"Tea.md", "tea time.md", "Größe.md", "index.md", "README.md", "v1.2.md", "it's.md", "x (1).md", "100%.md", "n&m.md", "p.png", "q q.png", "b.canvas", "Tea.markdown"}
	someAliases = []string{"Cha", "Tea", "tea time", "other"}
)

func drawPath(t *rapid.T, label string) string {
	return path.Join(rapid.SampledFrom(someFolders).Draw(t, label+" folder"), rapid.SampledFrom(someNames).Draw(t, label+" name"))
}

// drawTarget is one of the ways to name a file from another one.
func drawTarget(t *rapid.T, from, to string) string {
	ext := path.Ext(to)
	if ext == ".md" && rapid.Bool().Draw(t, "without extension") {
		to = strings.TrimSuffix(to, ext)
	}
	if rapid.IntRange(0, 4).Draw(t, "case") == 0 {
		to = strings.ToLower(to)
	}
	up := strings.Repeat("../", strings.Count(from, "/"))
	switch rapid.IntRange(0, 6).Draw(t, "form") {
	case 0:
		return to
	case 1:
		return "/" + to
	case 2:
		return up + to
	case 3:
		return "./" + up + to
	case 4:
		if d := path.Dir(to); d != "." && strings.HasPrefix(strings.ToLower(path.Base(to)), "index") {
			return d + rapid.SampledFrom([]string{"", "/"}).Draw(t, "slash")
		}
		return path.Base(to)
	case 5:
		if i := strings.IndexByte(to, '/'); i >= 0 {
			return to[i+1:]
		}
	}
	return path.Base(to)
}

func encoded(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "ö", "%C3%B6", "ß", "%C3%9F").Replace(s)
}

// drawLine is a line of a note with a link to target in one of its forms.
func drawLine(t *rapid.T, target string, i int) string {
	switch rapid.IntRange(0, 13).Draw(t, "syntax") {
	case 0:
		return "[[" + target + "]]"
	case 1:
		return "see [[" + target + "|text]] and [[" + target + "#Head]]"
	case 2:
		return "![[" + target + "#^id]] %% [[" + target + "]] %%"
	case 3:
		return "[x](" + strings.ReplaceAll(strings.ReplaceAll(target, "%", "%25"), " ", "%20") + ")"
	case 4:
		return "[x](<" + strings.ReplaceAll(target, "%", "%25") + "#Head> \"T\")"
	case 5:
		return "![x](" + encoded(target) + "#h)"
	case 6:
		return fmt.Sprintf("[x][r%d] and [r%d]\n\n[r%d]: %s 'T'\n", i, i, i, encoded(target))
	case 7:
		return "\n| a | b |\n|---|---|\n| [[" + target + "\\|x]] | ![[" + target + "\\|9]] |\n"
	case 8:
		return "`[[" + target + "]]` [[" + target + "]]\n\n```\n[[" + target + "]]\n```\n"
	case 9:
		return "> - rel:: [[" + target + "]] [c:: 1] ^r" + fmt.Sprint(i)
	case 10:
		return "[[" + target + "]](" + encoded(target) + ")"
	case 11:
		return "[![x](" + encoded(target) + ")](" + encoded(target) + ")"
	case 12:
		return "- [ ] [[ " + target + " | x ]] #tag"
	}
	return "text " + target + " https://x.y/" + encoded(target)
}

func drawText(t *rapid.T, p string, all []string) string {
	to := func() string {
		return drawTarget(t, p, rapid.SampledFrom(all).Draw(t, "to"))
	}
	n := rapid.IntRange(0, 5).Draw(t, "links")
	switch path.Ext(p) {
	case ".png":
		return "\x89PNG"
	case ".canvas":
		nodes := []map[string]any{}
		for i := range n {
			if rapid.Bool().Draw(t, "file node") {
				nodes = append(nodes, map[string]any{"type": "file", "file": rapid.SampledFrom(all).Draw(t, "file"), "subpath": "#Head"})
			} else {
				nodes = append(nodes, map[string]any{"type": "text", "text": drawLine(t, to(), i)})
			}
		}
		b, _ := json.MarshalIndent(map[string]any{"nodes": nodes}, "", "\t")
		return string(b)
	}
	var b strings.Builder
	switch rapid.IntRange(0, 3).Draw(t, "front") {
	case 0:
		fmt.Fprintf(&b, "---\naliases: [%s]\nup: \"[[%s]]\"\nall:\n  - \"[[%s|x]]\" # c\n---\n", rapid.SampledFrom(someAliases).Draw(t, "alias"), to(), to())
	case 1:
		b.WriteString("\ufeff---\r\ntags: [x]\r\n---\r\n")
	}
	for i := range n {
		b.WriteString(drawLine(t, to(), i) + rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " "}).Draw(t, "end"))
	}
	return b.String()
}

func drawTree(t *rapid.T) tree {
	v := tree{}
	for range rapid.IntRange(1, 7).Draw(t, "files") {
		v[drawPath(t, "file")] = ""
	}
	all := slices.Sorted(maps.Keys(v))
	for _, p := range all {
		v[p] = drawText(t, p, all)
	}
	return v
}

func drawMoves(t *rapid.T, v tree) []relink.Move {
	var moves []relink.Move
	taken := map[string]bool{}
	for p := range v {
		taken[p] = true
	}
	for _, p := range slices.Sorted(maps.Keys(v)) {
		if !rapid.Bool().Draw(t, "moves") {
			continue
		}
		to := drawPath(t, "new")
		if rapid.IntRange(0, 3).Draw(t, "keeps its name") == 0 {
			to = path.Join(path.Dir(to), path.Base(p))
		}
		if path.Ext(to) != path.Ext(p) || taken[to] {
			continue
		}
		taken[to] = true
		moves = append(moves, relink.Move{From: p, To: to})
	}
	return moves
}

// TestMeaningSurvives draws small vaults with all forms of links and moves some
// of their files.
func TestMeaningSurvives(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		v := drawTree(t)
		moves := drawMoves(t, v)
		b.put(t, v)
		plan, err := b.planner(v).Moves(t.Context(), moves)
		if err != nil {
			t.Fatal(err)
		}
		now := v.apply(t, plan.Set)
		check(t, v, now, moves, plan)
		for _, m := range moves {
			if _, ok := now[m.To]; !ok {
				t.Fatalf("%s did not move to %s", m.From, m.To)
			}
		}
		if len(moves) == 0 && len(plan.Set) > 0 {
			t.Fatalf("nothing moves, and %v changes", plan.Set.Paths())
		}
		if back := now.apply(t, plan.Set.Inverse()); show(back) != show(v) {
			t.Fatal("the inverse does not restore the vault")
		}
		// Where every link has its right text a second plan finds nothing to do.
		for _, f := range plan.Files {
			if len(f.Lines) == 0 {
				t.Fatalf("%s without lines", f.Path)
			}
		}
	})
}

// TestHeadingsSurvive renames headings of notes that have twins and paths: every
// link to a heading leads to the same one afterwards, or is told about.
func TestHeadingsSurvive(t *testing.T) {
	b := newBench(t)
	texts := []string{"A", "B b", "a", "C#", "D: e", "A-1", "Über", "*F* g", "H ^id", "b b"}
	rapid.Check(t, func(t *rapid.T) {
		var n, m strings.Builder
		fragments := []string{"A", "b-b", "B b", "a-1", "A#B b", "C", "D e", "über", "F g", "nope", "^id", "H", "A#a", "d-e"}
		for range rapid.IntRange(1, 6).Draw(t, "headings") {
			n.WriteString(strings.Repeat("#", rapid.IntRange(1, 3).Draw(t, "level")) + " " + rapid.SampledFrom(texts).Draw(t, "text") + "\n\n")
		}
		for range rapid.IntRange(0, 5).Draw(t, "links") {
			f := rapid.SampledFrom(fragments).Draw(t, "fragment")
			switch rapid.IntRange(0, 3).Draw(t, "syntax") {
			case 0:
				m.WriteString("[[n#" + f + "]]\n")
			case 1:
				m.WriteString("[x](n.md#" + strings.ReplaceAll(f, " ", "%20") + ")\n")
			case 2:
				m.WriteString("![[n#" + f + "|x]]\n")
			case 3:
				n.WriteString("[[#" + f + "]] [x](<#" + f + ">)\n")
			}
		}
		v := tree{"n.md": n.String(), "m.md": m.String()}
		b.put(t, v)
		old := parse("n.md", v["n.md"])
		i := rapid.IntRange(0, len(old.Headings)-1).Draw(t, "which")
		plan, err := b.planner(v).Heading(t.Context(), "n.md", old.Headings[i].Text, rapid.SampledFrom(texts).Draw(t, "new"))
		if err != nil {
			return // two headings fit, or nothing changes
		}
		now := v.apply(t, plan.Set)
		if back := now.apply(t, plan.Set.Inverse()); show(back) != show(v) {
			t.Fatal("the inverse does not restore the notes")
		}
		after := parse("n.md", now["n.md"])
		told := 0
		for _, s := range plan.Skipped {
			told += s.Links
		}
		for _, p := range []string{"n.md", "m.md"} {
			was, is := parse(p, v[p]), parse(p, now[p])
			if len(was.Links) != len(is.Links) {
				t.Fatalf("%s: %d links became %d", p, len(was.Links), len(is.Links))
			}
			for k, l := range was.Links {
				from, to := old.Trail(l.Fragment), after.Trail(is.Links[k].Fragment)
				if len(from) == 0 {
					continue
				}
				if len(to) == 0 || to[len(to)-1].Heading != from[len(from)-1].Heading {
					if told--; told < 0 {
						t.Fatalf("%s: %q led to heading %d, %q leads to %v\n%s\n---\n%s", p, l.Fragment, from[len(from)-1].Heading, is.Links[k].Fragment, to, v["n.md"], now["n.md"])
					}
				}
			}
		}
	})
}
