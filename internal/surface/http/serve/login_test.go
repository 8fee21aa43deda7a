package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"lore/internal/machine/db"
	"lore/internal/machine/state"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/token"
)

// TestBrowserNames: a person knows a browser again.
func TestBrowserNames(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0": "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36":              "Chrome on Android",
		"Go-http-client/1.1": "A program", "": "A browser", "\x1b[31m<script>": "A browser",
	} {
		if got := serve.BrowserName(agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}

// TestStrangersLearnNoPaths: whoever is not known yet is not told where things
// lie, also when it cannot be found out who they are.
func TestStrangersLearnNoPaths(t *testing.T) {
	dir := t.TempDir()
	file := state.In(dir)
	newer, err := db.Open(file.Path(), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newer.Write.ExecContext(t.Context(), `PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	var log strings.Builder
	get, stop := serving(t, &log, token.New(file, nil), "lore_aaaaaaaa_x", route("/x", empty))
	for _, path := range []string{"/x"} {
		if status, body := get(path); status != http.StatusServiceUnavailable || strings.Contains(body, dir) || !strings.Contains(body, "fix") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), dir) {
		t.Errorf("the log does not say why: %s", log.String())
	}
}
