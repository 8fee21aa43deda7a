package serverlist

import (
	"os"
	"path/filepath"
	"testing"
)

// TestConsentReachesEverything changes what a person agreed to in places that
// the entry only refers to.
func TestConsentReachesEverything(t *testing.T) {
	r := newRoster(t)
	file, env := filepath.Join(r.Vault, ".mcp.json"), filepath.Join(r.Vault, ".env")
	allow := func() Entry {
		t.Helper()
		e, err := r.Find("s")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Allow(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if got := state(t, r, "s"); got != Ready {
			t.Fatalf("%s after it was allowed", got)
		}
		e.State = Ready
		return e
	}
	for _, c := range []struct{ name, file, before, after string }{
		{"the answer of an input", file,
			`{"servers": {"s": {"command": "${input:c}"}}, "inputs": [{"id": "c", "default": "echo"}]}`,
			`{"servers": {"s": {"command": "${input:c}"}}, "inputs": [{"id": "c", "default": "evil"}]}`},
		{"a file of variables in a folder that is a variable", env, "A=1\n", "A=1\nLD_PRELOAD=/tmp/x.so\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.file == env {
				put(t, file, `{"mcpServers": {"s": {"command": "x", "envFile": "${workspaceFolder}/.env"}}}`)
			}
			put(t, c.file, c.before)
			e := allow()
			put(t, c.file, c.after)
			if got := state(t, r, "s"); got != Changed {
				s, err := r.Resolve(e)
				t.Errorf("%s; what is started: %s %v %v", got, s.Command, s.Env, err)
			}
		})
	}
	t.Run("a server that is started again", func(t *testing.T) {
		put(t, file, `{"mcpServers": {"s": {"command": "x", "envFile": ".env"}}}`)
		put(t, env, "A=1\n")
		e := allow()
		if _, err := r.Resolve(e); err != nil {
			t.Fatal(err)
		}
		put(t, env, "A=1\nLD_PRELOAD=/tmp/x.so\n")
		if s, err := r.Resolve(e); err == nil {
			t.Errorf("started with %v", s.Env)
		}
	})
}

// TestRunnersStartElsewhere: a runner takes what lies in the folder that it is
// started in for the package it was told to fetch.
func TestRunnersStartElsewhere(t *testing.T) {
	r := newRoster(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	for entry, want := range map[string]string{
		`"command": "npx", "args": ["-y", "x"]`:    home,
		`"command": "/usr/bin/uvx"`:                home,
		`"command": "NPX.cmd"`:                     home,
		`"command": "npx", "cwd": "."`:             r.Vault, // the person saw it
		`"command": "node", "args": ["server.js"]`: r.Vault,
	} {
		put(t, filepath.Join(r.Vault, ".mcp.json"), `{"mcpServers": {"s": {`+entry+`}}}`)
		e, err := r.Find("s")
		if err != nil {
			t.Fatal(err)
		}
		if s, err := r.Resolve(e); err != nil || s.Dir != want {
			t.Errorf("%s starts in %s, %v", entry, s.Dir, err)
		}
	}
}

// TestLinkedFolder: the file is one of its own, and the folder around it is not.
func TestLinkedFolder(t *testing.T) {
	r := newRoster(t)
	other := t.TempDir()
	put(t, filepath.Join(other, "mcp.json"), `{"mcpServers": {"s": {"command": "x"}}}`)
	if err := os.Remove(filepath.Join(r.Vault, ".cursor")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(r.Vault, ".cursor")); err != nil {
		t.Skip(err)
	}
	if list, bad := r.List(); len(list) != 0 || len(bad) != 1 {
		t.Errorf("%v, %v", list, bad)
	}
}
