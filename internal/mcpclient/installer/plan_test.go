package installer

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// person is a machine with nothing on it but a home folder.
func person(t *testing.T) (at configfile.Place, cursor string) {
	t.Helper()
	dir := t.TempDir()
	return configfile.Place{OS: runtime.GOOS, Env: func(string) string { return "" }, Home: dir}, filepath.Join(dir, ".cursor", "mcp.json")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func do(t *testing.T, at configfile.Place, o Options) (*Plan, string) {
	t.Helper()
	o.Client, o.Name = "cursor", "lore"
	p, err := Make(at, o)
	if err != nil {
		t.Fatal(err)
	}
	backup, err := p.Write(noon)
	if err != nil {
		t.Fatal(err)
	}
	return p, backup
}

func TestOneCopyWithThePermissions(t *testing.T) {
	at, path := person(t)
	before := "{\n  \"mcpServers\": {\n    \"git\": {}\n  }\n}\n"
	write(t, path, before)
	first, second := Options{Entry: Entry("/bin/lore", "/a", false)}, Options{Entry: Entry("/bin/lore", "/b", true)}
	_, backup := do(t, at, first)
	if backup != path+".lore-backup-20261115T120000Z" || text(t, backup) != before {
		t.Errorf("the copy is %q", backup)
	}
	do(t, at, second)
	do(t, at, first)
	if p, _ := do(t, at, Options{Remove: true}); p.State != Ours || p.Vault != "/a" || text(t, path) != before {
		t.Errorf("removing left %s, %s\n%s", p.State, p.Vault, text(t, path))
	}
	do(t, at, first)
	all, err := filepath.Glob(path + "*")
	if err != nil || len(all) != 2 {
		t.Errorf("%q, %v", all, err)
	}
	// A hand in the entry is worth a copy of its own.
	write(t, path, strings.Replace(text(t, path), `"command"`, `"env": {"A": "b"}, "command"`, 1))
	if _, backup := do(t, at, Options{Remove: true}); !strings.HasSuffix(backup, "-2") || !strings.Contains(text(t, backup), `"A": "b"`) {
		t.Errorf("the copy is %q", backup)
	}
	for _, f := range all {
		if info, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

// TestAFileOfOursGoes: what was made for the entry alone goes with it; a file
// that a person wrote stays, and can be read.
func TestAFileOfOursGoes(t *testing.T) {
	at, path := person(t)
	do(t, at, Options{Entry: Entry("/bin/lore", "/a", false)})
	if p, backup := do(t, at, Options{Remove: true}); !p.Drop || backup != "" || exists(path) {
		t.Errorf("%v, %q", p.Drop, backup)
	}
	write(t, path, "{\n  \"mcpServers\": {\n    \"lore\": {\"command\": \"x\"}\n  }\n}\n")
	if p, backup := do(t, at, Options{Remove: true}); p.State != Other || p.Drop || backup == "" || text(t, path) != "{}\n" {
		t.Errorf("%s, %v, %q", p.State, p.Drop, backup)
	}
}

func TestAChangeMeanwhileIsNoticed(t *testing.T) {
	for _, before := range []string{"{}\n", ""} {
		at, path := person(t)
		if before != "" {
			write(t, path, before)
		}
		p, err := Make(at, Options{Client: "cursor", Name: "lore", Entry: Entry("/bin/lore", "/a", false)})
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, "{\"a\": 1}\n")
		if _, err := p.Write(noon); !errors.Is(err, fault.Conflict) || text(t, path) != "{\"a\": 1}\n" {
			t.Errorf("%v\n%s", err, text(t, path))
		}
	}
}

func TestLinksStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	at, path := person(t)
	real := filepath.Join(t.TempDir(), "mcp.json")
	write(t, real, "{}\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	do(t, at, Options{Entry: Entry("/bin/lore", "/a", false)})
	if to, err := os.Readlink(path); err != nil || to != real || !strings.Contains(text(t, real), `"lore"`) {
		t.Errorf("%s, %v", to, err)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	_, err := Make(at, Options{Client: "cursor", Name: "lore", Entry: Entry("/bin/lore", "/a", false)})
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "is a broken link") {
		t.Errorf("%v", err)
	}
}

func TestList(t *testing.T) {
	at, path := person(t)
	vault := t.TempDir()
	for entry, want := range map[string]string{
		`{"command": "lore", "args": ["mcp", "--vault", "` + filepath.ToSlash(vault) + `"]}`:  "",
		`{"command": "lore", "args": ["mcp", "--vault", "` + filepath.ToSlash(vault) + `x"]}`: "the vault is gone",
		`{"command": "npx", "args": ["lore"]}`:                                                "the entry is not one of Lore's",
		`{"command": }`:                                                                       `line 1: no value begins with "}"`,
	} {
		write(t, path, `{"mcpServers": {"lore": `+entry+`}}`)
		for _, s := range List(at, "lore") {
			if s.Client != "cursor" && (s.Found || s.Installed) {
				t.Errorf("%+v", s)
			}
			if s.Client == "cursor" && (!s.Found || s.Problem != want) {
				t.Errorf("%s: %+v", entry, s)
			}
		}
	}
}
