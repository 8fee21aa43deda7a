package mcpadmin

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/mcpclient/signin/signintest"
	"lore/internal/surface"
	"lore/internal/tools/external"
)

func newDesk(t *testing.T, text string) *Admin {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "lore"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lore", "servers.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": dir, "XDG_DATA_HOME": dir, "LORE_VAULT": t.TempDir(), "LORE_NO_BROWSER": "1"}
	return &Admin{
		Now: time.Now, Home: home.Home{Env: func(name string) string { return env[name] }}, Default: func() (string, error) { return "", nil },
		Log: func(string) (*slog.Logger, error) { return slog.New(slog.DiscardHandler), nil },
	}
}

// TestLogin is a person at a server that wants to know who calls.
func TestLogin(t *testing.T) {
	p := signintest.New(t)
	open := httpServer(t)
	d := newDesk(t, fmt.Sprintf(`{"mcpServers": {"shut": {"url": %q}, "open": {"url": %q}, "program": {"command": "x"}}}`, p.Address(), open))
	h := d.Servers()
	term := surface.Scope{}
	state := func(name string) surface.Server {
		t.Helper()
		all, _, err := h.List(t.Context(), term, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.Name == name {
				return s
			}
		}
		t.Fatalf("%s is not listed", name)
		return surface.Server{}
	}
	if s := state("shut"); s.State != string(external.NeedsLogin) || s.LoggedIn {
		t.Errorf("%+v", s)
	}
	var shown string
	refuse := func(address string) { shown = address; _ = p.Browse(false)(address) }
	if _, err := h.Login(t.Context(), term, "shut", refuse); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("%v", err)
	}
	s, err := h.Login(t.Context(), term, "shut", func(address string) { shown = address; _ = p.Browse(true)(address) })
	if err != nil || s.Tools != 1 || !s.LoggedIn || !strings.HasPrefix(shown, p.Issuer()) {
		t.Fatalf("%+v, %v, sent to %s", s, err, shown)
	}
	if s := state("shut"); s.State != string(external.Connected) || !s.LoggedIn {
		t.Errorf("%+v", s)
	}
	tools, err := d.Tools("")
	if err != nil || len(tools) != 1 || tools[0].Name != "mcp__shut__hello" {
		t.Errorf("%v, %v", tools, err)
	}
	if found, err := h.Logout(t.Context(), term, "shut"); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if s := state("shut"); s.State != string(external.NeedsLogin) {
		t.Errorf("%+v", s)
	}
	for name, want := range map[string]fault.Kind{"program": fault.Invalid, "nobody": fault.NotFound, "open": fault.Unavailable} {
		if _, err := h.Login(t.Context(), term, name, func(string) { t.Error("somebody was sent away") }); fault.Of(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// httpServer is something that is no MCP server.
func httpServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }))
	t.Cleanup(s.Close)
	return s.URL
}
