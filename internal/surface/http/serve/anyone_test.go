package serve_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// TestAnyone: where nobody needs a token, everything else is checked as ever,
// and nobody is more than was said.
func TestAnyone(t *testing.T) {
	anyone := access.Principal{Kind: access.MCP, ID: "anyone", Scopes: []access.Scope{access.Read}}
	s, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Anyone: &anyone})
	if err != nil {
		t.Fatal(err)
	}
	handle := func(w http.ResponseWriter, _ *http.Request, who access.Principal) error {
		_, err := w.Write([]byte(who.ID))
		return err
	}
	s.Add(
		serve.Route{Method: "POST", Pattern: "/read", Scope: access.Read, Handle: handle},
		serve.Route{Method: "DELETE", Pattern: "/read", Scope: access.Read, Handle: handle},
		serve.Route{Method: "POST", Pattern: "/write", Scope: access.Write, Handle: handle},
		serve.Route{Method: "POST", Pattern: "/person", Scope: access.Read, Person: true, Handle: handle},
	)
	l, err := s.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
	}{
		{"anyone", "POST", "/read", "{}", nil, 200},
		{"a right that anyone has not", "POST", "/write", "{}", nil, 403},
		{"for a person", "POST", "/person", "{}", nil, 403},
		{"a token that is none", "POST", "/read", "{}", map[string]string{"Authorization": "Bearer x"}, 401},
		{"another site", "POST", "/read", "{}", map[string]string{"Origin": "http://evil.test"}, 403},
		{"another name", "POST", "/read", "{}", map[string]string{"Host": "evil.test"}, 421},
		{"a form", "POST", "/read", "a=b", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"nothing to send, but a type", "POST", "/read", "", map[string]string{"Content-Type": ""}, 415},
		{"to take away, with nothing to send", "DELETE", "/read", "", map[string]string{"Content-Type": ""}, 200},
		{"to take away, with a form", "DELETE", "/read", "a=b", map[string]string{"Content-Type": "text/plain"}, 415},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, s.Address(l)+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for k, v := range c.header {
			req.Header.Set(k, v)
			if v == "" {
				req.Header.Del(k)
			}
		}
		req.Host = c.header["Host"]
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != c.status {
			t.Errorf("%s: %s, %v", c.name, res.Status, err)
		}
	}
}
