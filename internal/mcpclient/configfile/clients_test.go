package configfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/fault"
)

func places() map[string]Place {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	return map[string]Place{
		"linux":     {OS: "linux", Home: "/home/ann", Env: env(nil)},
		"linux-xdg": {OS: "linux", Home: "/home/ann", Env: env(map[string]string{"XDG_CONFIG_HOME": "/cfg", "CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/cc"})},
		"darwin":    {OS: "darwin", Home: "/Users/ann", Env: env(nil)},
		"windows": {OS: "windows", Home: `C:\Users\ann`, Env: env(map[string]string{
			"APPDATA": `C:\Users\ann\AppData\Roaming`, "LOCALAPPDATA": `C:\Users\ann\AppData\Local`,
		})},
	}
}

// TestPaths compares every place of every client with testdata/paths.txt.
func TestPaths(t *testing.T) {
	var b strings.Builder
	for _, c := range Clients() {
		for _, name := range []string{"linux", "linux-xdg", "darwin", "windows"} {
			for _, path := range c.paths(places()[name]) {
				fmt.Fprintf(&b, "%-12s %-10s %s\n", c.ID, name, path)
			}
		}
	}
	file := filepath.Join("testdata", "paths.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s", b.String())
	}
}

func TestPathPrefersWhatIsThere(t *testing.T) {
	win := places()["windows"]
	claude, err := ByID("claude")
	if err != nil {
		t.Fatal(err)
	}
	plain, store := claudePaths(win)[0], claudePaths(win)[1]
	for _, tc := range []struct {
		there []string
		want  string
		found bool
	}{
		{nil, plain, false},
		{[]string{win.dir(plain)}, plain, true},
		{[]string{win.dir(store)}, store, true},
		{[]string{win.dir(plain), win.dir(store), store}, store, true},
	} {
		got, found := claude.Path(win, func(p string) bool {
			for _, have := range tc.there {
				if have == p {
					return true
				}
			}
			return false
		})
		if got != tc.want || found != tc.found {
			t.Errorf("%q: %s, %v", tc.there, got, found)
		}
	}
	// The home folder is always there and says nothing about a program.
	code, err := ByID("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	if _, found := code.Path(places()["linux"], func(p string) bool { return p == "/home/ann" }); found {
		t.Error("a home folder is taken for Claude Code")
	}
}

func TestByID(t *testing.T) {
	if _, err := ByID("emacs"); !errors.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "claude, claude-code, cursor") {
		t.Errorf("%v", err)
	}
}

// TestSnippets compares what a person is told to paste with testdata/snippets.txt.
func TestSnippets(t *testing.T) {
	var b strings.Builder
	for _, c := range Clients() {
		fmt.Fprintf(&b, "== %s\n%s", c.ID, c.Snippet("lore", ann))
	}
	fmt.Fprintf(&b, "== any other\n%s", Snippet("lore", Entry{Command: `C:\Program Files\lore.exe`, Args: []string{"mcp", "a\"<b>"}}))
	file := filepath.Join("testdata", "snippets.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s", b.String())
	}
}
