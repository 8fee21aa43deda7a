package connect_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/app/mcpadmin"
	"lore/internal/machine/home"
	"lore/internal/machine/keys"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/installer"
	"lore/internal/mcpclient/signin/signintest"
	"lore/internal/surface"
	"lore/internal/surface/http/connect"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// A world is a person's machine behind a real server: a home with files of
// clients, a vault that may name servers, and a folder of keys.
type world struct {
	*servetest.World
	home, vault string
}

const prefix = "/api/v1"

func open(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{home: dir, vault: filepath.Join(dir, "vault")}
	if err := os.MkdirAll(w.vault, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "XDG_DATA_HOME": filepath.Join(dir, "data"), "LORE_NO_BROWSER": "1"}
	get := func(k string) string { return env[k] }
	place := func() (configfile.Place, error) {
		return configfile.Place{OS: "linux", Env: get, Home: dir}, nil
	}
	d := &mcpadmin.Admin{
		Now: time.Now, Home: home.Home{Env: get}, Default: func() (string, error) { return w.vault, nil }, Place: place,
		Log: func(string) (*slog.Logger, error) { return slog.New(slog.DiscardHandler), nil },
	}
	w.World = servetest.Open(t, func(s *serve.Server, at *servetest.World) []serve.Route {
		own := connect.New(connect.Options{
			Vault: w.vault, Tokens: at.Tokens, Closing: s.Closing(),
			Host: surface.Host{
				Now: time.Now, Keys: func() keys.Store { return keys.Store{Dir: filepath.Join(dir, "config", "lore")} },
				Providers: func() ([]string, error) { return []string{"anthropic", "ollama"}, nil }, Servers: d.Servers(),
				Clients: surface.Clients{Place: place, Entry: func(vault string, readOnly bool) (configfile.Entry, error) {
					return installer.Entry("/bin/lore", vault, readOnly), nil
				}},
			},
		})
		api := rest.New(rest.Options{Door: tool.NewRegistry(tool.Deps{}, nil), More: own.Routes(), Types: connect.Types(nil)})
		t.Cleanup(api.Close)
		return api.Routes()
	})
	return w
}

// file reads what lies in the person's home.
func (w *world) file(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.home, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(b)
}

func (w *world) put(name, text string) {
	w.Helper()
	p := filepath.Join(w.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// want makes a request of the person and compares its status.
func (w *world) want(status int, method, path string, in, out any) {
	w.Helper()
	if got := w.Do(method, prefix+path, "", in, out); got != status {
		w.Errorf("%s %s: %d, want %d", method, path, got, status)
	}
}

// TestNoTokenReachesIt: whoever holds a token cannot make another, see where
// keys lie, or let a program be started.
func TestNoTokenReachesIt(t *testing.T) {
	w := open(t)
	for _, r := range connect.New(connect.Options{}).Routes() {
		path := strings.NewReplacer("{id}", "x", "{name}", "x", "{provider}", "x").Replace(r.Pattern)
		if s := w.Do(r.Method, path, w.Token, map[string]any{}, nil); s != http.StatusForbidden {
			t.Errorf("%s %s: %d", r.Method, r.Pattern, s)
		}
	}
}

func TestTokens(t *testing.T) {
	w := open(t)
	var made connect.MadeToken
	w.want(http.StatusOK, "POST", "/tokens", connect.NewToken{Name: "script", Scopes: []access.Scope{access.Read}, Days: 2}, &made)
	if made.Token.Expires.IsZero() || w.Do("GET", prefix+"/status", made.Secret, nil, nil) != http.StatusOK {
		t.Errorf("it opens nothing: %+v", made)
	}
	var p struct{ Field string }
	for field, in := range map[string]connect.NewToken{
		"name": {Scopes: []access.Scope{access.Read}}, "scope": {Name: "all of it", Scopes: []access.Scope{access.Approve}}, "days": {Name: "old", Scopes: []access.Scope{access.Read}, Days: -1},
	} {
		if w.want(http.StatusBadRequest, "POST", "/tokens", in, &p); p.Field != field {
			t.Errorf("%+v: %+v", in, p)
		}
	}
	var all connect.Tokens
	w.want(http.StatusOK, "GET", "/tokens", nil, &all)
	if len(all.Tokens) != 2 || slices.Contains(all.Scopes, access.Approve) {
		t.Errorf("%+v", all)
	}
	w.want(http.StatusOK, "POST", "/tokens/"+made.Token.ID+"/revoke", map[string]any{}, nil)
	if s := w.Do("GET", prefix+"/status", made.Secret, nil, nil); s != http.StatusUnauthorized {
		t.Errorf("it still opens: %d", s)
	}
	w.want(http.StatusNotFound, "POST", "/tokens/"+made.Token.ID+"/revoke", map[string]any{}, nil)
}

func TestKeys(t *testing.T) {
	w := open(t)
	var one connect.Key
	w.want(http.StatusOK, "POST", "/keys", connect.NewKey{Provider: "anthropic", Key: " sk-very-secret "}, &one)
	if one.Place != keys.InFile || !strings.Contains(w.file("config/lore/keys.json"), `"sk-very-secret"`) {
		t.Errorf("%+v %q", one, w.file("config/lore/keys.json"))
	}
	var all struct {
		Keys []map[string]string `json:"keys"`
	}
	w.want(http.StatusOK, "GET", "/keys", nil, &all)
	if len(all.Keys) != 2 || all.Keys[0]["place"] != keys.InFile || len(all.Keys[0]) != 2 || all.Keys[1]["place"] != "" {
		t.Errorf("a key is told, or not that there is one: %v", all)
	}
	w.want(http.StatusBadRequest, "POST", "/keys", connect.NewKey{Provider: "nobody", Key: "x"}, nil)
	w.want(http.StatusBadRequest, "POST", "/keys", connect.NewKey{Provider: "ollama", Key: "two\nlines"}, nil)
	w.want(http.StatusNoContent, "POST", "/keys/anthropic/forget", map[string]any{}, nil)
	w.want(http.StatusNotFound, "POST", "/keys/anthropic/forget", map[string]any{}, nil)
	if got := w.file("config/lore/keys.json"); got != "" {
		t.Errorf("%q", got)
	}
}

// TestServers: a person names a server and takes it out again; one that the vault
// names is used when it was allowed exactly as it was shown, and not before.
func TestServers(t *testing.T) {
	w := open(t)
	const mine = "// mine\n{\"mcpServers\": {\"old\": {\"command\": \"old-program\"}}}\n"
	w.put("config/lore/servers.json", mine)
	w.put("vault/.mcp.json", `{"mcpServers": {"theirs": {"command": "their-program", "env": {"API_TOKEN": "hunter2"}}}}`)
	var added surface.Server
	w.want(http.StatusOK, "POST", "/servers", surface.NewServer{Name: "docs", Command: "docs-program", Args: []string{"--x", "a b"}}, &added)
	if added.State != "ready" || !strings.HasPrefix(w.file("config/lore/servers.json"), "// mine\n") {
		t.Errorf("%+v %q", added, w.file("config/lore/servers.json"))
	}
	for _, bad := range []surface.NewServer{{Name: "docs", Command: "again"}, {Name: "a b", Command: "x"}, {Name: "none"}, {Name: "both", Command: "x", URL: "https://example.com"}, {Name: "odd", URL: "ftp://example.com"}} {
		if s := w.Do("POST", prefix+"/servers", "", bad, nil); s != http.StatusBadRequest && s != http.StatusConflict {
			t.Errorf("%+v: %d", bad, s)
		}
	}
	var all connect.Servers
	w.want(http.StatusOK, "GET", "/servers", nil, &all)
	i := slices.IndexFunc(all.Servers, func(s surface.Server) bool { return s.Name == "theirs" })
	if len(all.Servers) != 3 || i < 0 {
		t.Fatalf("%+v", all)
	}
	theirs := all.Servers[i]
	if theirs.State == "ready" || theirs.Env["API_TOKEN"] == "hunter2" {
		t.Errorf("it is used before it was allowed, or its secret is shown: %+v", theirs)
	}
	w.want(http.StatusConflict, "POST", "/servers/theirs/decide", connect.Trust{Digest: "another", Use: true}, nil)
	w.want(http.StatusOK, "POST", "/servers/theirs/decide", connect.Trust{Digest: theirs.Digest, Use: true}, &theirs)
	if theirs.State != "ready" {
		t.Errorf("%+v", theirs)
	}
	w.want(http.StatusOK, "POST", "/servers/theirs/decide", connect.Trust{Digest: theirs.Digest}, &theirs)
	if theirs.State == "ready" {
		t.Errorf("%+v", theirs)
	}
	w.want(http.StatusBadRequest, "POST", "/servers/theirs/remove", connect.Trust{Digest: theirs.Digest}, nil)
	w.want(http.StatusNoContent, "POST", "/servers/docs/remove", connect.Trust{Digest: added.Digest}, nil)
	if got := w.file("config/lore/servers.json"); got != mine {
		t.Errorf("taken out again to the byte: %q", got)
	}
	w.want(http.StatusNotFound, "GET", "/servers/docs/tools", nil, nil)
	var tools connect.ServerTools
	w.want(http.StatusOK, "GET", "/servers/old/tools", nil, &tools)
	if tools.Server.Name != "old" || tools.Tools == nil {
		t.Errorf("%+v", tools)
	}
}

func TestImport(t *testing.T) {
	w := open(t)
	w.put(".cursor/mcp.json", `{"mcpServers": {"one": {"command": "one-program"}, "lore": {"command": "lore", "args": ["mcp"]}}}`)
	var plan surface.Import
	w.want(http.StatusOK, "POST", "/servers/import", connect.Importing{Client: "cursor"}, &plan)
	if len(plan.Servers) != 1 || len(plan.Skipped) != 1 || plan.Done || w.file("config/lore/servers.json") != "" {
		t.Fatalf("to ask does nothing: %+v", plan)
	}
	w.want(http.StatusConflict, "POST", "/servers/import", connect.Importing{Client: "cursor", Seen: "another"}, nil)
	w.want(http.StatusOK, "POST", "/servers/import", connect.Importing{Client: "cursor", Seen: plan.Digest}, &plan)
	if !plan.Done || !strings.Contains(w.file("config/lore/servers.json"), "one-program") {
		t.Errorf("%+v %q", plan, w.file("config/lore/servers.json"))
	}
}

// TestLogin: the answer is where the person goes; that they were there is seen
// later.
func TestLogin(t *testing.T) {
	place := signintest.New(t)
	w := open(t)
	w.want(http.StatusOK, "POST", "/servers", surface.NewServer{Name: "shut", URL: place.Address()}, nil)
	var where connect.Login
	w.want(http.StatusOK, "POST", "/servers/shut/login", map[string]any{}, &where)
	if where.Address == "" {
		t.Fatal("nowhere to go")
	}
	if err := place.Browse(true)(where.Address); err != nil {
		t.Fatal(err)
	}
	for known := false; !known; time.Sleep(10 * time.Millisecond) {
		var all connect.Servers
		w.want(http.StatusOK, "GET", "/servers", nil, &all)
		if len(all.Servers) != 1 || strings.Contains(all.Servers[0].Why, "did not work") || t.Context().Err() != nil {
			t.Fatalf("%+v", all)
		}
		known = all.Servers[0].LoggedIn
	}
	w.want(http.StatusNoContent, "POST", "/servers/shut/logout", map[string]any{}, nil)
	w.want(http.StatusBadRequest, "POST", "/servers", surface.NewServer{Name: "x", URL: "nonsense"}, nil)
}

// TestClients: what would be written into a client's file is shown first, and
// written if it is still that.
func TestClients(t *testing.T) {
	w := open(t)
	const before = "{\n  // mine\n  \"mcpServers\": {}\n}\n"
	w.put(".cursor/mcp.json", before)
	var all connect.Clients
	w.want(http.StatusOK, "GET", "/clients", nil, &all)
	i := slices.IndexFunc(all.Clients, func(s installer.Status) bool { return s.Client == "cursor" })
	if i < 0 || !all.Clients[i].Found || all.Clients[i].Installed || !strings.Contains(all.Snippet, w.vault) {
		t.Fatalf("%+v", all)
	}
	var plan connect.Joined
	w.want(http.StatusOK, "POST", "/clients/cursor", connect.Joining{ReadOnly: true}, &plan)
	if plan.Done || len(plan.Changes) != 1 || !strings.Contains(plan.Changes[0].Diff, "--read-only") || w.file(".cursor/mcp.json") != before {
		t.Fatalf("to ask does nothing: %+v", plan)
	}
	w.want(http.StatusConflict, "POST", "/clients/cursor", connect.Joining{Seen: plan.Digest}, nil) // it was shown as one that only reads
	w.want(http.StatusOK, "POST", "/clients/cursor", connect.Joining{ReadOnly: true, Seen: plan.Digest}, &plan)
	if !plan.Done || plan.Backup == "" || !strings.Contains(w.file(".cursor/mcp.json"), "--read-only") {
		t.Errorf("%+v %q", plan, w.file(".cursor/mcp.json"))
	}
	w.want(http.StatusOK, "POST", "/clients/cursor", connect.Joining{Remove: true}, &plan)
	w.want(http.StatusOK, "POST", "/clients/cursor", connect.Joining{Remove: true, Seen: plan.Digest}, &plan)
	if got := w.file(".cursor/mcp.json"); !plan.Done || got != before {
		t.Errorf("%+v %q", plan, got)
	}
	w.want(http.StatusNotFound, "POST", "/clients/nobody", connect.Joining{}, nil)
}
