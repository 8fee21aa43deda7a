package vault_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/vault"
)

// write makes a file with its folders.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, opt vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "file.md", "x")
	for name, c := range map[string]struct {
		dir  string
		opt  vault.Options
		kind fault.Kind
		says string
	}{
		"nothing":     {"", vault.Options{}, fault.Invalid, "give the folder"},
		"missing":     {filepath.Join(dir, "no"), vault.Options{}, fault.NotFound, "does not exist; create it"},
		"a file":      {filepath.Join(dir, "file.md"), vault.Options{}, fault.Invalid, "is a file, not a folder"},
		"bad pattern": {dir, vault.Options{Exclude: []string{"a["}}, fault.Invalid, `pattern "a["`},
	} {
		_, err := vault.Open(c.dir, c.opt)
		if fault.Of(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s)", name, err, fault.Of(err))
		}
	}
}

func TestOpenWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	before, _ := os.Stat(dir)
	v := open(t, dir, vault.Options{})
	if _, err := v.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(t.Context(), "a.md"); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(dir)
	names, _ := os.ReadDir(dir)
	if len(names) != 1 || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("reading changed the folder: %v", names)
	}
	if v.State().Mode != vault.Online || v.Dir() != dir {
		t.Errorf("state %+v of %q", v.State(), v.Dir())
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "ideas/tea.md", "# Tea\n")
	write(t, dir, "large.md", strings.Repeat("x", 2000))
	write(t, dir, ".obsidian/app.json", "{}")
	write(t, dir, ".lore/journal/x", "own")
	write(t, dir, "private/diary.md", "secret")
	v := open(t, dir, vault.Options{MaxRead: 1000, MaxNote: 10, Exclude: []string{"private/**"}})

	f, err := v.Read(t.Context(), "./ideas//tea.md")
	if err != nil || f.Path != "ideas/tea.md" || string(f.Data) != "# Tea\n" {
		t.Fatalf("%+v, %v", f, err)
	}
	if f.Hash != vault.Sum([]byte("# Tea\n")) || f.Info.Size != 6 || f.Info.Links == 0 || f.Truncated {
		t.Errorf("%+v", f)
	}
	for p, kind := range map[string]fault.Kind{
		"large.md":           fault.TooLarge,
		"ideas":              fault.Invalid,
		"no.md":              fault.NotFound,
		"ideas/tea.md/x":     fault.NotFound,
		".obsidian/app.json": fault.Denied,
		".lore/journal/x":    fault.Unsafe,
		".LORE/journal/x":    fault.Unsafe,
		".lore-12.tmp":       fault.Unsafe,
		"private/diary.md":   fault.Denied,
		"../x":               fault.Unsafe,
	} {
		if _, err := v.Read(t.Context(), p); fault.Of(err) != kind {
			t.Errorf("Read(%q): %v, want %s", p, err, kind)
		}
		if _, err := v.Stat(t.Context(), p); p != "large.md" && fault.Of(err) != kind {
			t.Errorf("Stat(%q): %v, want %s", p, err, kind)
		}
	}
	if f, err := v.ReadHidden(t.Context(), ".obsidian/app.json"); err != nil || string(f.Data) != "{}" {
		t.Errorf("settings: %v", err)
	}
	if _, err := v.ReadHidden(t.Context(), ".lore/journal/x"); fault.Of(err) != fault.Unsafe {
		t.Errorf("own folder: %v", err)
	}
	head, err := v.Head(t.Context(), "large.md")
	if err != nil || len(head.Data) != 10 || !head.Truncated || head.Info.Size != 2000 {
		t.Errorf("head of %d bytes, truncated %v, %v", len(head.Data), head.Truncated, err)
	}
}

func TestReadAfterClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "x")
	v := open(t, dir, vault.Options{})
	v.Close()
	if _, err := v.Read(t.Context(), "a.md"); fault.Of(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}

func TestReadNameOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// "é" as two characters, as macOS writes it into archives.
	write(t, dir, "caf\u0065\u0301/th\u0065\u0301.md", "x")
	v := open(t, dir, vault.Options{})
	check := func(when string) {
		t.Helper()
		f, err := v.Read(t.Context(), "caf\u00e9/th\u00e9.md")
		if err != nil || f.Path != "caf\u00e9/th\u00e9.md" || string(f.Data) != "x" {
			t.Errorf("%s: %+v, %v", when, f, err)
		}
	}
	check("before a walk")
	l, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check("after a walk")
	e, ok := l.Get("caf\u00e9/th\u00e9.md")
	if !ok || e.OnDisk == e.Path && os.PathSeparator == '/' && !foldsNames(t) {
		t.Errorf("%+v", l.Entries)
	}
}

// foldsNames reports whether the file system takes NFC and NFD for the same.
func foldsNames(t *testing.T) bool {
	dir := t.TempDir()
	write(t, dir, "\u00e9", "")
	_, err := os.Stat(filepath.Join(dir, "e\u0301"))
	return err == nil
}

func TestHashText(t *testing.T) {
	t.Parallel()
	h := vault.Sum([]byte("x"))
	b, err := json.Marshal(map[string]vault.Hash{"hash": h})
	if err != nil || !strings.Contains(string(b), h.String()) {
		t.Fatalf("%s, %v", b, err)
	}
	var back map[string]vault.Hash
	if err := json.Unmarshal(b, &back); err != nil || back["hash"] != h {
		t.Errorf("%v, %v", back, err)
	}
	for _, s := range []string{"", "12", h.String() + "00", strings.Repeat("g", 64)} {
		if _, err := vault.ParseHash(s); fault.Of(err) != fault.Invalid {
			t.Errorf("ParseHash(%q): %v", s, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "open.md", "x")
	write(t, dir, "shut.md", "x")
	write(t, dir, "shut/in.md", "x")
	write(t, dir, "z.md", "x")
	os.Chmod(filepath.Join(dir, "shut.md"), 0)
	os.Chmod(filepath.Join(dir, "shut"), 0)
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "shut"), 0o755) })
	if _, err := os.ReadFile(filepath.Join(dir, "shut.md")); err == nil {
		t.Skip("this user may read everything")
	}
	v := open(t, dir, vault.Options{})
	l, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(l); got != "open.md shut.md z.md" {
		t.Errorf("listed %s", got)
	}
	if len(l.Problems) != 1 || l.Problems[0].Kind != vault.Unreadable || !l.Unknown("shut/in.md") {
		t.Errorf("%+v", l.Problems)
	}
	if gone := l.Gone([]string{"shut/in.md", "was.md"}); len(gone) != 1 || gone[0] != "was.md" {
		t.Errorf("gone %q", gone)
	}
	if _, err := v.Read(t.Context(), "shut.md"); fault.Of(err) != fault.Denied {
		t.Errorf("%v", err)
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "hello")
	at := time.Date(2024, 1, 2, 3, 4, 5, 6000, time.UTC)
	os.Chtimes(filepath.Join(dir, "a.md"), at, at)
	v := open(t, dir, vault.Options{})
	e, err := v.Stat(t.Context(), "a.md")
	if err != nil || e.Size != 5 || e.ModTime != at.UnixNano() || e.Kind != vault.Note {
		t.Errorf("%+v, %v", e, err)
	}
	l, _ := v.Walk(t.Context())
	if w, _ := l.Get("a.md"); w != e {
		t.Errorf("a walk says %+v, Stat says %+v", w, e)
	}
}
