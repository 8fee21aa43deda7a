package serverlist

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
)

func newRoster(t *testing.T) *List {
	t.Helper()
	dir := t.TempDir()
	r := &List{
		User: filepath.Join(dir, "config", "servers.json"), Vault: filepath.Join(dir, "vault"), Dir: filepath.Join(dir, "kept"), Now: time.Now,
		Env: func(name string) (string, bool) {
			if name == "GIVEN" {
				return "given", true
			}
			return "", false
		},
	}
	for _, d := range []string{filepath.Dir(r.User), filepath.Join(r.Vault, ".vscode"), filepath.Join(r.Vault, ".cursor")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, r *List, name string) State {
	t.Helper()
	e, err := r.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e.State
}

// TestConsent changes everything that a person agreed to, one thing at a time.
func TestConsent(t *testing.T) {
	r := newRoster(t)
	file := filepath.Join(r.Vault, ".mcp.json")
	env := filepath.Join(r.Vault, "env")
	put(t, env, "A=1\n")
	base := `"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "cwd": "d", "envFile": "env"`
	put(t, file, `{"mcpServers": {"s": {`+base+`}}}`)
	if got := state(t, r, "s"); got != Asks {
		t.Fatalf("%s before anybody was asked", got)
	}
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
	again := *r // another process
	if got := state(t, &again, "s"); got != Ready {
		t.Errorf("%s after a restart", got)
	}
	for what, text := range map[string]string{
		"command": strings.Replace(base, `"x"`, `"y"`, 1), "words": strings.Replace(base, `"a", "b"`, `"a b"`, 1),
		"one more": strings.Replace(base, `"b"`, `"b", "c"`, 1), "value": strings.Replace(base, `"v"`, `"w"`, 1),
		"variable": strings.Replace(base, `"K"`, `"L"`, 1), "folder": strings.Replace(base, `"d"`, `"e"`, 1),
		"address": `"url": "https://x.example"`, "header": `"url": "https://x.example", "headers": {"A": "b"}`,
	} {
		put(t, file, `{"mcpServers": {"s": {`+text+`}}}`)
		if got := state(t, r, "s"); got != Changed {
			t.Errorf("another %s: %s", what, got)
		}
	}
	put(t, file, `{"mcpServers": {"s": {`+base+`}}}`)
	put(t, env, "A=1\nLD_PRELOAD=/tmp/x.so\n")
	if got := state(t, r, "s"); got != Changed {
		t.Errorf("another file of variables: %s", got)
	}
	put(t, env, "A=1\n")
	if got := state(t, r, "s"); got != Ready {
		t.Errorf("it is what it was: %s", got)
	}
	// The same file in another vault is another question.
	other := *r
	other.Vault = filepath.Join(filepath.Dir(r.Vault), "copy")
	if err := os.CopyFS(other.Vault, os.DirFS(r.Vault)); err != nil {
		t.Fatal(err)
	}
	if got := state(t, &other, "s"); got != Asks {
		t.Errorf("a copy of the vault: %s", got)
	}
	if err := r.Deny(t.Context(), e); err != nil || state(t, r, "s") != Denied {
		t.Errorf("%v, %s", err, state(t, r, "s"))
	}
	put(t, file, `{"mcpServers": {"s": {"command": "z"}}}`)
	if err := r.Allow(t.Context(), e); fault.Of(err) != fault.Conflict {
		t.Errorf("allowed what was not shown: %v", err)
	}
	if info, err := os.Stat(r.consentFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestFiles(t *testing.T) {
	r := newRoster(t)
	put(t, r.User, `{"mcpServers": {"own": {"command": "x"}, "both": {"command": "x"}, "off": {"command": "x", "disabled": true}, "bad": {}}}`)
	put(t, filepath.Join(r.Vault, ".mcp.json"), `{"mcpServers": {"both": {"command": "evil"}, "a": {"command": "x"}}}`)
	put(t, filepath.Join(r.Vault, ".vscode", "mcp.json"), `{"servers": {"b": {"type": "stdio", "command": "x"}}, // a comment
}`)
	if err := os.Symlink(r.User, filepath.Join(r.Vault, ".cursor", "mcp.json")); err != nil {
		t.Skip(err)
	}
	list, bad := r.List()
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprintf("%s %v %s", e.Name, e.InVault, e.State))
	}
	want := "own false ready|both false ready|off false disabled|bad false cannot be used|both true cannot be used|a true needs consent|b true needs consent"
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	if len(bad) != 1 || fault.Of(bad[0].Err) != fault.Unsafe {
		t.Errorf("a link: %v", bad)
	}
	if e, err := r.Find("both"); err != nil || e.Command != "x" {
		t.Errorf("the vault's own stands before the person's: %+v, %v", e, err)
	}
	put(t, r.User, `{"mcpServers": {`)
	if list, bad := r.List(); len(bad) != 2 || len(list) != 3 {
		t.Errorf("a damaged file takes others with it: %v, %v", list, bad)
	}
}

func TestResolve(t *testing.T) {
	r := newRoster(t)
	put(t, filepath.Join(filepath.Dir(r.User), "vars"), "# a comment\nexport ONE=1\nTWO=\"2 2\"\nK=from file\nbroken\n")
	for text, want := range map[string]string{
		`{"command": "x", "args": ["${GIVEN}", "${NONE:-d}", "$(id)", "a b"]}`:         `x [given d $(id) a b]`,
		`{"command": "x", "args": ["${workspaceFolder}"]}`:                             `x [` + r.Vault + `]`,
		`{"command": "x", "env": {"K": "${NONE}"}}`:                                    `NONE is not set`,
		`{"command": "x", "envFile": "vars", "env": {"K": "own"}}`:                     `x [] map[K:own ONE:1 TWO:2 2]`,
		`{"command": "x", "envFile": "missing"}`:                                       `envFile`,
		`{"url": "https://a.example/mcp"}`:                                             `https://a.example/mcp`,
		`{"url": "http://127.0.0.1:1/mcp"}`:                                            `http://127.0.0.1:1/mcp`,
		`{"url": "http://localhost/mcp"}`:                                              `http://localhost/mcp`,
		`{"url": "http://a.example/mcp"}`:                                              `not encrypted`,
		`{"url": "http://127.0.0.1.a.example/mcp"}`:                                    `not encrypted`,
		`{"url": "http://a.example/mcp", "allowPlainHttp": true}`:                      `http://a.example/mcp`,
		`{"url": "javascript:alert(1)"}`:                                               `start with "javascript"`,
		`{"url": "https:///x"}`:                                                        `is not an address`,
		`{"url": "https://a.example", "headers": {"Authorization": "Bearer ${NONE}"}}`: `NONE is not set`,
		`{"command": "x", "args": ["${input:key}"]}`:                                   `input key has no answer`,
	} {
		put(t, r.User, `{"mcpServers": {"s": `+text+`}}`)
		e, err := r.Find("s")
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Resolve(e)
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.TrimSpace(fmt.Sprint(s.Command, " ", s.Args, " ", s.Env))
			if s.URL != "" {
				got = s.URL
			}
			got = strings.TrimSuffix(got, " map[]")
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestPins(t *testing.T) {
	r := newRoster(t)
	d := Definition{Name: "t", Description: "Adds.", Input: json.RawMessage(`{"type":"object"}`)}
	if pins, err := r.Record(t.Context(), "user:s", []Definition{d}); err != nil || pins["t"].Digest != d.Digest("user:s") {
		t.Fatalf("%v, %v", pins, err)
	}
	for what, change := range map[string]func(*Definition){
		"title": func(d *Definition) { d.Title = "x" }, "description": func(d *Definition) { d.Description = "Adds!" },
		"input": func(d *Definition) { d.Input = nil }, "output": func(d *Definition) { d.Output = d.Input },
		"annotations":        func(d *Definition) { d.Annotations = json.RawMessage(`{}`) },
		"end of a long text": func(d *Definition) { d.Description = strings.Repeat("x", 1<<20) + "y" },
	} {
		o := d
		change(&o)
		pins, err := r.Record(t.Context(), "user:s", []Definition{o})
		if err != nil || pins["t"].Digest != d.Digest("user:s") || pins["t"].Offered == nil || pins["t"].Offered.Digest != o.Digest("user:s") {
			t.Errorf("another %s: %+v, %v", what, pins["t"], err)
		}
	}
	if pins, err := r.Record(t.Context(), "user:s", []Definition{d}); err != nil || pins["t"].Offered != nil {
		t.Errorf("it is what it was: %+v, %v", pins["t"], err)
	}
	if d.Digest("user:s") == d.Digest("user:other") {
		t.Error("two servers share a digest")
	}
	// A server that shows ever new tools fills nothing.
	var many []Definition
	for i := range mostPins + 100 {
		many = append(many, Definition{Name: fmt.Sprint("n", i)})
	}
	pins, err := r.Record(t.Context(), "user:s", many)
	if err != nil || len(pins) != mostPins {
		t.Errorf("%d, %v", len(pins), err)
	}
	put(t, r.pinFile("user:s"), "{broken")
	if _, err := r.Record(t.Context(), "user:s", []Definition{d}); err == nil {
		t.Error("what was known is forgotten in silence")
	}
}

func TestPinsAtOnce(t *testing.T) {
	r := newRoster(t)
	done := make(chan error)
	for i := range 8 {
		go func() {
			_, err := r.Record(context.Background(), "user:s", []Definition{{Name: fmt.Sprint(i)}})
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if pins, err := r.Pins("user:s"); err != nil || len(pins) != 8 {
		t.Errorf("%d pins, %v", len(pins), err)
	}
}
