package serve_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/db"
	"lore/internal/state"
	"lore/internal/surface/serve"
	"lore/internal/token"
)

// visit asks a server for something, and tells what it answers.
func visit(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// TestOneMoreBrowser: a person who asks for a new address gets in, however many
// browsers were let in before. The oldest session gives way.
func TestOneMoreBrowser(t *testing.T) {
	var seconds atomic.Int64
	s, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Now: func() time.Time { return time.Unix(seconds.Add(1), 0) }})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(route("/x", empty))
	l, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	var cookies []string
	for i := range 101 {
		res, body := visit(t, s.LoginURL(l))
		if res.StatusCode != http.StatusSeeOther {
			t.Fatalf("browser %d: %s %s", i, res.Status, body)
		}
		cookie, _, _ := strings.Cut(res.Header.Get("Set-Cookie"), ";")
		cookies = append(cookies, cookie)
	}
	for i, want := range map[int]int{0: 401, 1: 204, 100: 204} {
		if res, _ := visit(t, s.Address(l)+"/x", "Cookie", cookies[i]); res.StatusCode != want {
			t.Errorf("browser %d: %s", i, res.Status)
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
	for _, path := range []string{"/x", serve.LoginPath + strings.Repeat("a", 52)} {
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
