// Package servetest is a real server for tests of what is served: a browser that
// was let in before it, and a token that may do all that a token may.
package servetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"lore/internal/machine/state"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/token"
)

// A World is a server and who comes to it.
type World struct {
	*testing.T
	Base   string       // its address
	Token  string       // of a program
	Person *http.Client // a browser that was let in
	Tokens *token.Store
}

// Open starts a server with routes, until the test ends.
func Open(t *testing.T, routes func(*serve.Server, *World) []serve.Route) *World {
	t.Helper()
	db := state.In(t.TempDir())
	w := &World{T: t, Tokens: token.New(db, nil)}
	var err error
	if _, w.Token, err = w.Tokens.Create(t.Context(), "all", token.Scopes(), 0); err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Tokens: w.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	server.Add(routes(server, w)...)
	l, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		for _, err := range []error{<-done, db.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	w.Base = server.Address(l)
	link, err := server.LoginURL(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Person = SignIn(t, link)
	return w
}

// A Browser is what a browser that was signed in sends with every request: its
// cookie, and the word that the page keeps for its origin.
type Browser struct {
	serve.SignedIn
	base http.RoundTripper
}

// RoundTrip adds the word, unless the request says what it wants to send.
func (b *Browser) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, said := r.Header[serve.SessionHeader]; !said && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.Header.Set(serve.SessionHeader, b.Session)
	}
	return b.base.RoundTrip(r)
}

// SignIn opens a sign-in link as the page does, and returns the browser. It
// follows no redirection.
func SignIn(t testing.TB, link string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{base: http.DefaultTransport}
	c := &http.Client{Jar: jar, Transport: b, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	at, code, _ := strings.Cut(link, serve.LoginPath)
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/login", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", at)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&b.SignedIn); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("sign in: %s, %v", res.Status, err)
	}
	return c
}

// Do makes a request as the person, or with a token, and reads the answer into
// out, which may be nil.
func (w *World) Do(method, path, bearer string, in, out any) int {
	w.Helper()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			w.Fatal(err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(w.Context(), method, w.Base+path, body)
	if err != nil {
		w.Fatal(err)
	}
	client := w.Person
	if bearer != "" {
		client = &http.Client{}
		req.Header.Set("Authorization", "Bearer "+bearer)
	} else {
		req.Header.Set("Origin", w.Base)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			w.Fatalf("%s: %s", res.Status, b)
		}
	}
	return res.StatusCode
}
