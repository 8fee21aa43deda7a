package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A name that a shell would run, print as a command to the terminal or take for
// something else is not offered, nor what lies outside the vault.
func TestPeekOffersHarmlessNames(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"Tea time.md", "Café.md", "茶.md", "In/Mint.md", "In/$(touch pwned)1.md", "In/$(touch pwned)2.md", "In/`id`.md", "In/a;b.md", "In/a\x1b]52;c;x\a.md",
		"In/_activeHelp_ x.md", "In/-rf.md", "In/a\nb.md", "In/a\u202eb.md", "In/'q.md", ".hidden/x.md", "In/a:b.md",
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x\n"), 0o644); err != nil {
			t.Skip("this system has no such names")
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "Secret.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "Out")); err != nil {
		t.Fatal(err)
	}
	p := &Peek{dir: dir}
	for typed, want := range map[string][]string{
		"":      {"Café.md", "In/", "Tea time.md", "茶.md"},
		"In/":   {"In/Mint.md"},
		"mi":    {"Mint"},
		"Out/":  nil,
		"../":   nil,
		"sec":   nil,
		"In/$(": nil,
	} {
		if got := p.Notes(typed); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
