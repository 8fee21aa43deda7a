package home

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/fault"
)

// folders makes files, and with them the folders they lie in, below a new one.
func folders(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// environment is what a test says the environment is.
func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestVaultDir(t *testing.T) {
	dir := folders(t, "obs/.obsidian/app.json", "obs/a/b/n.md", "graph/logseq/config.edn", "graph/pages/n.md",
		"home/logseq/pages/n.md", "home/.obsidian/app.json", "home/plain/n.md", "dendron/dendron.yml", "plain/n.md")
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	for _, c := range []struct {
		name, here, named, env, set string
		want                        string // "" for a refusal
	}{
		{name: "named", here: "plain", named: "x", env: "y", set: "z", want: "x"},
		{name: "environment", here: "obs", env: "y", set: "z", want: "y"},
		{name: "environment with a home", here: "obs", env: "~/plain", want: "home/plain"},
		{name: "here", here: "plain", want: "plain"},
		{name: "the vault itself", here: "obs", set: "z", want: "obs"},
		{name: "inside a vault", here: "obs/a/b", set: "z", want: "obs"},
		{name: "inside a graph", here: "graph/pages", want: "graph"},
		{name: "a folder called logseq is no mark", here: "home/plain", want: "home/plain"},
		{name: "dendron", here: "dendron", want: "dendron"},
		{name: "the default", here: "plain", set: "z", want: "z"},
		{name: "the default at home", here: "home", set: "~", want: "home"},
		{name: "home is refused", here: "home"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, filepath.FromSlash(c.here)))
			a := Home{Env: environment(map[string]string{"LORE_VAULT": c.env})}
			got, err := a.Vault(c.named, c.set)
			if c.want == "" {
				if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "--vault") {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if rel, ok := strings.CutPrefix(got, dir+string(filepath.Separator)); ok {
				got = filepath.ToSlash(rel)
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestVaultData(t *testing.T) {
	dir := folders(t, "one/n.md", "two/n.md")
	a := Home{Env: environment(map[string]string{"XDG_DATA_HOME": filepath.Join(dir, "data")})}
	data := func(name string) string {
		t.Helper()
		got, err := a.VaultData(t.Context(), filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return got.Dir
	}
	one := data("one")
	if data("one") != one || data("two") == one {
		t.Error("every vault has one folder of its own")
	}
	if err := os.Symlink(filepath.Join(dir, "one"), filepath.Join(dir, "link")); err == nil && data("link") != one {
		t.Error("a link is another name of the same vault")
	}
	if err := os.Rename(filepath.Join(dir, "one"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if FileID(dir) != "" && data("moved") != one {
		t.Error("a vault that was moved keeps its index")
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "lore", "vaults.json"), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data("two") == "" {
		t.Error("a damaged list must not matter")
	}
}

func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lock")
	release, ok, err := Lock(file)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, err := Lock(file); ok || err != nil {
		t.Errorf("taken twice: %v, %v", ok, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, ok, err = Lock(file)
	if err != nil || !ok {
		t.Fatal("not given back", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestVaultDataAtOnce(t *testing.T) {
	dir := folders(t, "v/n.md")
	a := Home{Env: environment(map[string]string{"XDG_DATA_HOME": filepath.Join(dir, "data")})}
	got := make(chan string, 8)
	for range cap(got) {
		go func() {
			d, err := a.VaultData(context.Background(), filepath.Join(dir, "v"))
			if err != nil {
				d.Dir = err.Error()
			}
			got <- d.Dir
		}()
	}
	first := <-got
	for range cap(got) - 1 {
		if d := <-got; d != first {
			t.Errorf("%s and %s", first, d)
		}
	}
}

func TestMayHoldNotes(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  bool
	}{
		"empty":            {nil, true},
		"a note":           {[]string{"Tea.md"}, true},
		"other ending":     {[]string{"TEA.MD"}, true},
		"a note below":     {[]string{"x.txt", "a/b/Tea.md"}, true},
		"too deep":         {[]string{"a/b/c/Tea.md"}, false},
		"no notes":         {[]string{"a.txt", "b/c.log"}, false},
		"hidden":           {[]string{".cache/Tea.md"}, false},
		"packages of code": {[]string{"x.js", "node_modules/x/README.md"}, false},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			at := filepath.Join(dir, filepath.FromSlash(f))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := mayHoldNotes(dir); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
