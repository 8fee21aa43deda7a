package relink_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/graph/relink"
	"lore/internal/note"
)

// load reads a folder as a vault is read: without hidden files.
func load(t testing.TB, dir string) tree {
	t.Helper()
	v := tree{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != "." && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		switch path.Ext(p) {
		case ".md", ".markdown", ".canvas":
			b, err := fs.ReadFile(root, p)
			if err != nil {
				return err
			}
			v[p] = string(b)
		default:
			v[p] = ""
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// realVaults calls f with every vault in the folders that the environment
// variable LORE_VAULTS lists, one below the other.
func realVaults(t *testing.T, f func(t *testing.T, v tree)) {
	dir := os.Getenv("LORE_VAULTS")
	if dir == "" {
		t.Skip("LORE_VAULTS names no folder of vaults")
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		if d.IsDir() {
			t.Run(d.Name(), func(t *testing.T) { f(t, load(t, filepath.Join(dir, d.Name()))) })
		}
	}
}

func notesOf(v tree) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(v)) {
		if path.Ext(p) == ".md" {
			out = append(out, p)
		}
	}
	return out
}

// TestRealVaults renames every twentieth note, and then moves the fullest
// folder, in each vault.
func TestRealVaults(t *testing.T) {
	b := newBench(t)
	realVaults(t, func(t *testing.T, v tree) {
		b.put(t, v)
		var moves []relink.Move
		for i, p := range notesOf(v) {
			if i%20 == 0 {
				moves = append(moves, relink.Move{From: p, To: path.Join(path.Dir(p), fmt.Sprintf("Renamed %d.md", i))})
			}
		}
		survives(t, b, v, moves, "every 20th note")

		counts := map[string]int{}
		for p := range v {
			counts[path.Dir(p)]++
		}
		full := ""
		for _, d := range slices.Sorted(maps.Keys(counts)) {
			if d != "." && counts[d] > counts[full] {
				full = d
			}
		}
		moves = nil
		for _, p := range slices.Sorted(maps.Keys(v)) {
			if strings.HasPrefix(p, full+"/") && full != "" {
				moves = append(moves, relink.Move{From: p, To: "Moved here/deep/" + p[len(full)+1:]})
			}
		}
		survives(t, b, v, moves, "folder "+full)
	})
}

func survives(t *testing.T, b *bench, v tree, moves []relink.Move, what string) {
	t.Helper()
	start := time.Now()
	plan, err := b.planner(v).Moves(t.Context(), moves)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	now := v.apply(t, plan.Set)
	check(t, v, now, moves, plan)
	same := 0
	for p, text := range now {
		if was, ok := v[p]; ok && was == text {
			same++
		}
	}
	if back := now.apply(t, plan.Set.Inverse()); show(back) != show(v) {
		t.Error("the inverse does not restore the vault")
	}
	t.Logf("%s: %d files, %d moved, %d links rewritten in %d files, %d skipped, %d byte-identical, planned in %v",
		what, len(v), len(moves), plan.Links, len(plan.Files), len(plan.Skipped), same, took.Round(time.Millisecond))
	for i, s := range plan.Skipped {
		if i < 3 {
			t.Logf("skipped %+v", s)
		}
	}
}

// TestRealFrontMatter sets a property of every note of real vaults: all other
// bytes stay, and so do notes that have the value already.
func TestRealFrontMatter(t *testing.T) {
	realVaults(t, func(t *testing.T, v tree) {
		changed, refused, same := 0, 0, 0
		for _, p := range notesOf(v) {
			n := note.Parse(p, []byte(v[p]))
			patches, err := note.SetProperty(n, "lore-checked", true)
			if err != nil {
				refused++
				continue
			}
			now, err := change.Splice(v[p], patches...)
			if err != nil {
				t.Fatal(err)
			}
			added := "lore-checked: true" + lineEnd(v[p])
			if n.Front.Span.Len() == 0 {
				added = "---" + lineEnd(v[p]) + added + "---" + lineEnd(v[p])
			}
			if len(now) != len(v[p])+len(added) || strings.Replace(now, added, "", 1) != v[p] {
				t.Fatalf("%s: more than the property changed", p)
			}
			changed++
			again := note.Parse(p, []byte(now))
			if patches, err := note.SetProperty(again, "lore-checked", true); err != nil || len(patches) > 0 {
				t.Fatalf("%s: set twice: %v %v", p, patches, err)
			}
			same++
			if back, err := note.RemoveProperty(again, "lore-checked"); err != nil {
				t.Fatalf("%s: %v", p, err)
			} else if gone, _ := change.Splice(now, back...); n.Front.Span.Len() > 0 && gone != v[p] {
				t.Fatalf("%s: removing it does not restore the note", p)
			}
		}
		t.Logf("%d notes changed by the property alone, %d refused, %d unchanged by the second time", changed, refused, same)
	})
}

// TestRealTags renames the most frequent tag of real vaults: notes without it
// stay as they are, the others change in the bytes of the tag alone.
func TestRealTags(t *testing.T) {
	realVaults(t, func(t *testing.T, v tree) {
		counts := map[string]int{}
		for _, p := range notesOf(v) {
			for _, g := range note.Parse(p, []byte(v[p])).Tags {
				counts[strings.ToLower(g.Name)]++
			}
		}
		tag := ""
		for _, g := range slices.Sorted(maps.Keys(counts)) {
			if counts[g] > counts[tag] {
				tag = g
			}
		}
		if tag == "" {
			t.Skip("it has no tags")
		}
		changed, same, refused := 0, 0, 0
		for _, p := range notesOf(v) {
			n := note.Parse(p, []byte(v[p]))
			patches, _, err := note.RenameTag(n, tag, "lore/renamed-tag")
			if err != nil {
				refused++
				t.Logf("refused: %v", err)
				continue
			}
			has := slices.ContainsFunc(n.Tags, func(g note.Tag) bool {
				l := strings.ToLower(g.Name)
				return l == tag || strings.HasPrefix(l, tag+"/")
			})
			if has != (len(patches) > 0) {
				t.Fatalf("%s has the tag: %v, %d patches", p, has, len(patches))
			}
			for _, c := range patches {
				if old := v[p][c.Start:c.End]; c.Text != "lore/renamed-tag" && c.Text != "" || c.Text != "" && !strings.EqualFold(old, tag) {
					t.Fatalf("%s: %q becomes %q", p, old, c.Text)
				}
			}
			if !has {
				same++
				continue
			}
			changed++
		}
		t.Logf("#%s: %d notes changed, %d byte-identical, %d refused", tag, changed, same, refused)
	})
}

func lineEnd(s string) string {
	if i := strings.IndexByte(s, '\n'); i > 0 && s[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// many is a vault in which n notes link to one.
func many(n int) tree {
	v := tree{"hub/Tea.md": "# Tea\n"}
	for i := range n {
		v[fmt.Sprintf("n/%d/note %d.md", i%100, i)] = fmt.Sprintf("---\ntags: [x]\n---\n# Note %d\n\nSome text about [[Tea]] and [[note %d]].\n\nMore text.\n", i, (i+1)%n)
	}
	return v
}

// TestTenThousandBacklinks plans to rename a note that ten thousand link to.
func TestTenThousandBacklinks(t *testing.T) {
	if testing.Short() {
		t.Skip("it indexes ten thousand notes")
	}
	b := newBench(t)
	v := many(10_000)
	b.put(t, v)
	start := time.Now()
	plan, err := b.planner(v).Moves(t.Context(), []relink.Move{{From: "hub/Tea.md", To: "hub/Green tea.md"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("planned in %v", time.Since(start).Round(time.Millisecond))
	if plan.Links != 10_000 || len(plan.Files) != 10_000 || len(plan.Set) != 10_001 {
		t.Errorf("%d links in %d files, %d edits", plan.Links, len(plan.Files), len(plan.Set))
	}
	var moves []relink.Move
	for _, p := range notesOf(v) {
		if strings.HasPrefix(p, "n/") {
			moves = append(moves, relink.Move{From: p, To: "m/" + p[2:]})
		}
	}
	start = time.Now()
	if plan, err = b.planner(v).Moves(context.Background(), moves); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d moves planned in %v, %d links", len(moves), time.Since(start).Round(time.Millisecond), plan.Links)
	if len(plan.Set) != len(moves) || plan.Links != 0 {
		t.Errorf("%d edits, %d links", len(plan.Set), plan.Links)
	}
}

// FuzzMoves gives the planner a note with any text and looks at the bytes
// outside of its links.
func FuzzMoves(f *testing.F) {
	for _, s := range []string{
		"[[Tea]] [x](Tea.md) ![[Tea#h|t]]", "---\nup: \"[[Tea]]\"\n---\n> [a](<Tea.md>)\n", "[r]: Tea.md\n\n[r] `[[Tea]]`", "|a|\n|-|\n|[[Tea\\|x]]|",
		"[[a/b]] [y](a/b.md) [z](../n/a) [[index]] [[a]]", "\ufeff[[Tea]]\r\n", "[[Tea]] \xff", "---\n{{x}}: [[Tea]]\n---\n", "$[[Tea]]$ %%[[Tea]]%% <b [[Tea]]>",
	} {
		f.Add(s, "Green tea", false)
		f.Add(s, "a/it's \"x\" (1)&%.md", true)
	}
	b := newBench(f)
	f.Fuzz(func(t *testing.T, text, name string, moves bool) {
		to := path.Clean(strings.TrimPrefix(strings.ReplaceAll(name, "\\", "/"), "/"))
		if to == "." || strings.HasPrefix(to, "..") || strings.ContainsRune(to, 0) || len(to) > 200 || !validPath(to) {
			return
		}
		v := tree{"n.md": text, "Tea.md": "[[n]]", "a/b.md": "[[Tea]] [m](../n.md)", "a/index.md": ""}
		to += ".md"
		if _, taken := v[to]; taken {
			return
		}
		b.put(t, v)
		list := []relink.Move{{From: "Tea.md", To: to}}
		if moves {
			list = append(list, relink.Move{From: "n.md", To: "deep/er/n 2.md"})
		}
		if to == "deep/er/n 2.md" {
			return
		}
		plan, err := b.planner(v).Moves(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		check(t, v, v.apply(t, plan.Set), list, plan)
	})
}

// validPath is what a vault takes for a path.
func validPath(p string) bool {
	return strings.ToValidUTF8(p, "") == p && !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) && fs.ValidPath(p)
}
