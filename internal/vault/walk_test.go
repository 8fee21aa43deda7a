package vault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/syncname"
)

func walk(t testing.TB, v *vault.Vault) *vault.Listing {
	t.Helper()
	l, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func paths(l *vault.Listing) string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.Path)
	}
	return strings.Join(out, " ")
}

// problems writes each problem as "kind path".
func problems(l *vault.Listing) []string {
	var out []string
	for _, p := range l.Problems {
		out = append(out, string(p.Kind)+" "+p.Path)
	}
	return out
}

func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"b.md", "a/x.md", "a-b.md", "a/deep/er/y.MARKDOWN", "board.canvas", "img/cat.png", "README",
		".obsidian/app.json", ".git/config", "a/.hidden.md", ".lore/trash/z.md", "a/.lore-0123.tmp",
		"dl/movie.md.part", "dl/x.crdownload", "dl/~$doc.md", "dl/note.tmp",
		"Private/diary.md", "a/draft.tmp.md", "old/Archive/x.md",
		"tea.sync-conflict-20240102-030405-ABCDEFG.md", "tea (Ann's conflicted copy 2024-01-02).md", "tea.md",
	} {
		write(t, dir, name, "text of some length")
	}
	v := open(t, dir, vault.Options{Exclude: []string{"Private/**", "*.tmp.md", "**/Archive"}})
	l := walk(t, v)
	want := "README a-b.md a/deep/er/y.MARKDOWN a/x.md b.md board.canvas img/cat.png " +
		"tea (Ann's conflicted copy 2024-01-02).md tea.md tea.sync-conflict-20240102-030405-ABCDEFG.md"
	if got := paths(l); got != want {
		t.Errorf("listed\n%s\nwant\n%s", got, want)
	}
	if l.Hidden != 3 || l.Partial != 4 || l.Excluded != 3 || len(l.Problems) != 0 {
		t.Errorf("hidden %d, partial %d, excluded %d, problems %q", l.Hidden, l.Partial, l.Excluded, problems(l))
	}
	kinds := map[vault.Kind]int{}
	for _, e := range l.Entries {
		kinds[e.Kind]++
		if e.Size != 19 || e.ModTime == 0 || e.OnDisk != e.Path {
			t.Errorf("%+v", e)
		}
	}
	if kinds[vault.Note] != 5 || kinds[vault.Canvas] != 1 || kinds[vault.Attachment] != 2 || kinds[vault.Conflict] != 2 {
		t.Errorf("kinds %v", kinds)
	}
	if n := len(slices.Collect(l.Notes())); n != 6 {
		t.Errorf("%d notes", n)
	}
	if n := len(slices.Collect(l.Conflicts())); n != 2 {
		t.Errorf("%d conflicts", n)
	}
}

func TestWalkTwins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"Tea.md", "tea.md", "x/caf\u00e9.md", "x/cafe\u0301.md", "Ideas/a.md", "ideas/b.md"} {
		write(t, dir, name, "x")
	}
	names, _ := os.ReadDir(filepath.Join(dir, "x"))
	if _, err := os.Stat(filepath.Join(dir, "TEA.md")); err == nil || len(names) < 2 {
		t.Skip("this file system keeps no twins")
	}
	l := walk(t, open(t, dir, vault.Options{}))
	want := []string{"case_twin ideas", "case_twin tea.md", "name_twin x/caf\u00e9.md"}
	if got := problems(l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := paths(l); got != "Ideas/a.md Tea.md ideas/b.md tea.md x/caf\u00e9.md" {
		t.Errorf("listed %s", got)
	}
	if e, _ := l.Get("x/caf\u00e9.md"); e.OnDisk != e.Path {
		t.Errorf("of two twins %q is listed, not the one that has the key as its name", e.OnDisk)
	}
}

func TestWalkLinks(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	write(t, out, "secret.md", "CANARY")
	dir := t.TempDir()
	write(t, dir, "notes/tea.md", "tea")
	write(t, dir, ".git/config", "token")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	link("notes/tea.md", "inside.md")
	link("../inside.md", "notes/back.md")
	link("notes", "folder")
	link(".", "self")
	link("..", "up")
	link("l2.md", "l1.md")
	link("l1.md", "l2.md")
	link("none.md", "broken.md")
	link(filepath.Join(out, "secret.md"), "abs.md")
	link(filepath.Join(dir, "notes", "tea.md"), "absin.md")
	rel, _ := filepath.Rel(dir, filepath.Join(out, "secret.md"))
	link(rel, "rel.md")
	link(".git/config", "sneaky.md")
	v := open(t, dir, vault.Options{})
	l := walk(t, v)
	if got := paths(l); got != "inside.md notes/back.md notes/tea.md" {
		t.Errorf("listed %s", got)
	}
	want := []string{
		"escaping_link abs.md", "escaping_link absin.md", "broken_link broken.md", "folder_link folder",
		"broken_link l1.md", "broken_link l2.md", "escaping_link rel.md", "folder_link self",
		"escaping_link sneaky.md", "escaping_link up",
	}
	if got := problems(l); !slices.Equal(got, want) {
		t.Errorf("problems\n%q\nwant\n%q", got, want)
	}
	for _, p := range l.Problems {
		if p.Path == "absin.md" && !strings.Contains(p.Detail, "make it a relative link to notes/tea.md") {
			t.Errorf("%q", p.Detail)
		}
	}
	for p, kind := range map[string]fault.Kind{
		"inside.md": "", "notes/back.md": "", "folder/tea.md": fault.Unsafe, "up/x.md": fault.Unsafe,
		"abs.md": fault.Unsafe, "absin.md": fault.Unsafe, "rel.md": fault.Unsafe, "sneaky.md": fault.Unsafe,
		"l1.md": fault.Unsafe, "broken.md": fault.Unsafe, "self/self/notes/tea.md": fault.Unsafe, "folder": fault.Unsafe,
	} {
		f, err := v.Read(t.Context(), p)
		if fault.Of(err) != kind || strings.Contains(string(f.Data), "CANARY") {
			t.Errorf("Read(%q): %q, %v; want %q", p, f.Data, err, kind)
		}
	}
}

func TestWalkBadNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("such names cannot be made here")
	}
	dir := t.TempDir()
	for _, name := range []string{"good.md", "bad\xff.md", "new\nline.md", `back\slash.md`, "con.md", "dot./a.md"} {
		write(t, dir, name, "x")
	}
	l := walk(t, open(t, dir, vault.Options{}))
	if got := paths(l); got != "con.md dot./a.md good.md" {
		t.Errorf("listed %s", got)
	}
	if len(l.Problems) != 3 {
		t.Errorf("%q", problems(l))
	}
}

func TestWalkPossibleConflicts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "Tea.md", strings.Repeat("x", 100))
	write(t, dir, "Tea 2.md", strings.Repeat("x", 120))
	write(t, dir, "Tea (1).md", strings.Repeat("x", 90))
	write(t, dir, "Chapter.md", strings.Repeat("x", 100))
	write(t, dir, "Chapter 2.md", strings.Repeat("x", 5000)) // another chapter
	write(t, dir, "Lone 2.md", "x")                          // no base beside it
	l := walk(t, open(t, dir, vault.Options{}))
	want := []string{"possible_conflict Tea (1).md", "possible_conflict Tea 2.md"}
	if got := problems(l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(slices.Collect(l.Notes())); n != 6 {
		t.Errorf("%d notes: a possible conflict must stay a note", n)
	}
}

func TestConflictOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"tea.sync-conflict-20240102-030405-ABCDEFG.md":   "tea.md",
		"a.b.sync-conflict-20240102-030405-2345ABC.md":   "a.b.md",
		"tea (conflicted copy 2024-01-02).md":            "tea.md",
		"tea (conflicted copy 2024-01-02 030405).md":     "tea.md",
		"tea (Ann's conflicted copy 2024-01-02).md":      "tea.md",
		"tea (Ann's conflicted copy 2024-01-02 (1)).md":  "tea.md",
		"tea (Conflicted copy my-phone 202401020304).md": "tea.md",
		"tea (Case Conflict).md":                         "tea.md",
		"tea (Case Conflict 1).md":                       "tea.md",
		"tea_conflict-20240102-030405.md":                "tea.md",
		"Conflict resolution.md":                         "",
		"conflicted copy.md":                             "",
		"The conflicted copy of a man.md":                "",
		"sync-conflict-notes.md":                         "",
		"tea 2.md":                                       "",
		"tea (1).md":                                     "",
	} {
		if got := syncname.ConflictOf(name); got != want {
			t.Errorf("ConflictOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestWalkPlaceholders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	write(t, dir, "x/.tea.md.icloud", "bplist")
	l := walk(t, open(t, dir, vault.Options{}))
	if !slices.Equal(problems(l), []string{"not_downloaded x/tea.md"}) || !l.Unknown("x/tea.md") || l.Unknown("x/y.md") {
		t.Errorf("%q", problems(l))
	}
	if gone := l.Gone([]string{"x/tea.md", "x/y.md"}); !slices.Equal(gone, []string{"x/y.md"}) {
		t.Errorf("gone %q: a note that is not downloaded is not gone", gone)
	}
}

func TestWalkDeepFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := root.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		sub, err := root.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		root.Close()
		root = sub
	}
	root.Close()
	write(t, dir, "z.md", "x")
	l := walk(t, open(t, dir, vault.Options{}))
	if len(l.Problems) != 1 || l.Problems[0].Kind != vault.TooDeep || paths(l) != "z.md" {
		t.Errorf("%q %s", problems(l), paths(l))
	}
}

func TestWalkManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 5000 {
		write(t, dir, fmt.Sprintf("f%02d/n%d.md", i%40, i), "x")
	}
	l := walk(t, open(t, dir, vault.Options{}))
	if len(l.Entries) != 5000 || l.Folders != 41 || len(l.Problems) != 0 {
		t.Errorf("%d entries in %d folders, %q", len(l.Entries), l.Folders, problems(l))
	}
	if !slices.IsSortedFunc(l.Entries, func(a, b vault.Entry) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the listing is not sorted")
	}
}

func TestWalkEndsWithContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	v := open(t, dir, vault.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Walk(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if v.State().Mode != vault.Online {
		t.Errorf("a cancelled walk changed the state: %+v", v.State())
	}
}
