package serve_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

func TestWhereItListens(t *testing.T) {
	for listen, want := range map[string]struct{ alone, exposed, named bool }{
		"127.0.0.1:0": {true, true, true}, "[::1]:0": {true, true, true}, "localhost:0": {true, true, true}, "127.9.9.9:0": {true, true, true},
		"0.0.0.0:0": {false, false, true}, ":0": {false, false, true}, "[::]:0": {false, false, true}, "192.0.2.1:0": {false, false, true},
		"example.test:0": {false, false, true}, "localhost.evil.test:0": {false, false, true}, "127.0.0.1": {}, "": {},
	} {
		for _, c := range []struct {
			o    serve.Options
			want bool
		}{
			{serve.Options{Listen: listen}, want.alone},
			{serve.Options{Listen: listen, Expose: true}, want.exposed},
			{serve.Options{Listen: listen, Expose: true, Hosts: []string{"notes.test"}}, want.named},
			{serve.Options{Listen: listen, Anyone: &access.Principal{}}, want.alone},
			{serve.Options{Listen: listen, Anyone: &access.Principal{}, Expose: true, Hosts: []string{"notes.test"}}, false},
			{serve.Options{Listen: listen, Anyone: &access.Principal{}, Hosts: []string{"notes.test"}}, false},
		} {
			_, err := serve.New(c.o)
			if (err == nil) != c.want || err != nil && fault.Of(err) != fault.Invalid {
				t.Errorf("%+v: %v", c.o, err)
			}
		}
	}
}

// TestNoRouteWithoutALock: what says nothing of its scope cannot be added.
func TestNoRouteWithoutALock(t *testing.T) {
	handle := func(http.ResponseWriter, *http.Request, access.Principal) error { return nil }
	whole := serve.Route{Method: "GET", Pattern: "/x", Scope: access.Read, Handle: handle}
	for name, change := range map[string]func(*serve.Route){
		"no scope":       func(r *serve.Route) { r.Scope = "" },
		"unknown scope":  func(r *serve.Route) { r.Scope = "everything" },
		"no method":      func(r *serve.Route) { r.Method = "" },
		"no path":        func(r *serve.Route) { r.Pattern = "" },
		"a host in path": func(r *serve.Route) { r.Pattern = "evil.test/x" },
		"no handle":      func(r *serve.Route) { r.Handle = nil },
	} {
		s, err := serve.New(serve.Options{Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		r := whole
		change(&r)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it was added", name)
				}
			}()
			s.Add(r)
		}()
	}
}

// start serves routes and returns how to ask them, with a token that may read.
func start(t *testing.T, log io.Writer, routes ...serve.Route) (get func(path string) (int, string), stop func() error) {
	t.Helper()
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	tokens := token.New(file, nil)
	_, secret, err := tokens.Create(t.Context(), "test", []access.Scope{access.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return serving(t, log, tokens, secret, routes...)
}

// serving serves routes to whoever has one of the tokens, and asks with a secret.
func serving(t *testing.T, log io.Writer, tokens *token.Store, secret string, routes ...serve.Route) (get func(path string) (int, string), stop func() error) {
	t.Helper()
	s, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Tokens: tokens, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(routes...)
	l, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	get = func(path string) (int, string) {
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.Address(l)+path, nil)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	return get, func() error {
		cancel()
		return <-done
	}
}

func route(path string, h serve.Handle) serve.Route {
	return serve.Route{Method: http.MethodGet, Pattern: path, Scope: access.Read, Handle: h}
}

// TestMistakesStayInside: what a mistake says is in the log alone.
func TestMistakesStayInside(t *testing.T) {
	var log strings.Builder
	get, stop := start(t, &log,
		route("/error", func(http.ResponseWriter, *http.Request, access.Principal) error {
			return errors.New("CANARY of an error")
		}),
		route("/panic", func(http.ResponseWriter, *http.Request, access.Principal) error { panic("CANARY of a panic") }),
		route("/late", func(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
			_, _ = io.WriteString(w, "begun")
			return errors.New("CANARY, too late")
		}),
		route("/write", empty),
	)
	for _, path := range []string{"/error", "/panic"} {
		if status, body := get(path); status != 500 || strings.Contains(body, "CANARY") || !strings.Contains(body, "mistake-") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := get("/late"); status != 200 || body != "begun" {
		t.Errorf("late: %d %s", status, body)
	}
	if status, _ := get("/write"); status != 204 {
		t.Errorf("after a panic it answers no more: %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "CANARY of an error") || strings.Contains(log.String(), "lore_") {
		t.Errorf("log: %s", log.String())
	}
}

func empty(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// TestStopLetsCallsFinish: a call under way gets its answer.
func TestStopLetsCallsFinish(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	get, stop := start(t, io.Discard, route("/slow", func(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
		close(began)
		select {
		case <-finish:
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
		return nil
	}))
	got := make(chan int, 1)
	go func() {
		status, _ := get("/slow")
		got <- status
	}()
	<-began
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	select {
	case err := <-ended:
		t.Fatalf("it stopped with a call under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	if status := <-got; status != http.StatusNoContent {
		t.Errorf("the call got %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
