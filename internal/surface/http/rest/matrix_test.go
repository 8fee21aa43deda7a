package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// TestEveryRouteForEveryone asks every registered route as every kind of caller.
// What is expected comes from what the route declares, and the routes that
// declare more than reading are written down here once more: a route that loses
// its lock is seen.
func TestEveryRouteForEveryone(t *testing.T) {
	w := open(t)
	persons := []string{
		"GET /api/v1/rules", "GET /api/v1/activity/verify", "GET /api/v1/doctor", "POST /api/v1/approvals/{id}/answer", "POST /api/v1/approvals/{id}/rehearse", "POST /api/v1/rules/{id}/forget", "POST /logout",
	}
	// These answer 4xx or a stream to whoever is let in.
	let := map[string]bool{}
	for _, r := range w.server.Routes() {
		name := r.Method + " " + r.Pattern
		if name == "GET /api/v1/events" {
			continue // it does not end; see its own tests
		}
		if got := slices.Contains(persons, name); got != r.Person {
			t.Errorf("%s: for persons alone: %v, want %v", name, r.Person, got)
		}
		path := strings.NewReplacer("{name}", "read_note", "{id}", "x").Replace(r.Pattern)
		for _, who := range []string{"", "read", "write", "full", "revoked", "cookie", "word", "person"} {
			if name == "POST /logout" && who == "person" {
				continue // the last thing to do
			}
			got := w.do(who, r.Method, path, `{}`).status
			switch {
			case who == "" || who == "revoked" || who == "cookie" || who == "word":
				if got != http.StatusUnauthorized {
					t.Errorf("%s as %q: %d, want 401", name, who, got)
				}
			case r.Person && who != "person":
				if got != http.StatusForbidden {
					t.Errorf("%s as %q: %d, want 403", name, who, got)
				}
			case r.Scope == access.Write && who == "read":
				if got != http.StatusForbidden {
					t.Errorf("%s as %q: %d, want 403", name, who, got)
				}
			case got == http.StatusUnauthorized || got == http.StatusForbidden || got >= 500:
				t.Errorf("%s as %q: %d", name, who, got)
			default:
				let[name] = true
			}
		}
	}
	if len(let) < 10 {
		t.Errorf("only %d routes let anyone in", len(let))
	}
	if got := w.do("person", "POST", "/logout", `{}`); got.status != http.StatusNoContent {
		t.Errorf("logout: %d", got.status)
	}
	if got := w.do("person", "GET", "/api/v1/status", ""); got.status != http.StatusUnauthorized {
		t.Errorf("after logout: %d", got.status)
	}
}

// TestNoTokenApproves: whatever a token may do, answering is not among it.
func TestNoTokenApproves(t *testing.T) {
	w := open(t)
	id := w.do("full", "POST", "/api/v1/tools/write_note", create).str("pending_operation_id")
	for _, who := range []string{"full", "write", "read"} {
		if got := w.do(who, "POST", "/api/v1/approvals/"+id+"/answer", `{"approve":true,"revision":0}`); got.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", who, got.status, got.text)
		}
	}
	if w.file("New.md") != "" {
		t.Error("a token approved")
	}
}

// TestKnocking tries what other sites and other names can send, on a path that
// exists, one that does not, and the stream.
func TestKnocking(t *testing.T) {
	w := open(t)
	host := strings.TrimPrefix(w.base, "http://")
	port := host[strings.LastIndex(host, ":"):]
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	named := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int // 0: let through
	}{
		"another name":         {named("evil.test" + port), 421},
		"a name with a dot":    {named("localhost." + port), 421},
		"our name as a prefix": {named("127.0.0.1" + port + ".evil.test"), 421},
		"another port":         {named("127.0.0.1:1"), 421},
		"no port":              {named("127.0.0.1"), 421},
		"localhost":            {named("LocalHost" + port), 0},
		"six":                  {named("[::1]" + port), 0},
		"own origin":           {header("Origin", w.base), 0},
		"another origin":       {header("Origin", "https://evil.test"), 403},
		"null":                 {header("Origin", "null"), 403},
		"empty origin":         {header("Origin", ""), 403},
		"an extension":         {header("Origin", "chrome-extension://abc"), 403},
		"another local port":   {header("Origin", "http://127.0.0.1:1"), 403},
		"a longer origin":      {header("Origin", w.base+".evil.test"), 403},
		"localhost for 127":    {header("Origin", "http://localhost"+port), 403},
		"cross-site":           {header("Sec-Fetch-Site", "cross-site"), 403},
		"same-site":            {header("Sec-Fetch-Site", "same-site"), 403},
		"same-origin":          {header("Sec-Fetch-Site", "same-origin"), 0},
		"typed":                {header("Sec-Fetch-Site", "none"), 0},
	} {
		for _, who := range []string{"person", "full", ""} {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				for _, path := range []string{"/api/v1/status", "/api/v1/events", "/login?code=x", "/", "/nothing"} {
					if c.status == 0 && path == "/api/v1/events" {
						continue
					}
					got := w.do(who, method, path, `{}`, c.change)
					if refused := got.status == 421 || got.status == 403; c.status != 0 && got.status != c.status || c.status == 0 && refused {
						t.Errorf("%s: %s %s as %q: %d, want %d", name, method, path, who, got.status, c.status)
					}
					if got.header.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("%s: a CORS header", name)
					}
				}
			}
		}
	}
}

func TestWhoIsThere(t *testing.T) {
	w := open(t)
	for name, values := range map[string][]string{
		"empty": {""}, "no scheme": {w.secret["read"]}, "no token": {"Bearer"}, "blank": {"Bearer "}, "null": {"Bearer null"}, "basic": {"Basic " + w.secret["read"]},
		"two": {"Bearer " + w.secret["read"], "Bearer " + w.secret["read"]}, "cut": {"Bearer " + w.secret["read"][:20]},
	} {
		// A person's cookie does not help a wrong token.
		got := w.do("person", "GET", "/api/v1/status", "", func(r *http.Request) { r.Header["Authorization"] = values })
		if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	if got := w.do("", "GET", "/api/v1/status?access_token="+w.secret["read"], ""); got.status != http.StatusUnauthorized {
		t.Errorf("a token in the address: %d", got.status)
	}
	got := w.do("read", "GET", "/api/v1/status", "")
	if got.status != 200 || got.str("kind") != string(access.REST) {
		t.Errorf("a token: %d %s", got.status, got.text)
	}
	if got := w.do("person", "GET", "/api/v1/status", ""); got.str("kind") != string(access.Person) {
		t.Errorf("a person: %d %s", got.status, got.text)
	}
	if _, err := w.tokens.Revoke(t.Context(), "read"); err != nil {
		t.Fatal(err)
	}
	if got := w.do("read", "GET", "/api/v1/status", ""); got.status != http.StatusUnauthorized {
		t.Errorf("revoked a moment ago: %d", got.status)
	}
}

// TestLoginOnce: a sign-in link signs one browser in, when the page sends its
// code; opening it uses nothing up.
func TestLoginOnce(t *testing.T) {
	w := open(t)
	code := strings.TrimPrefix(w.login, w.base+serve.LoginPath)
	for _, body := range []string{`{"code":"` + code + `"}`, `{"code":""}`, `{}`, `{"code":"` + code[:len(code)-1] + `"}`, `{"code":"` + strings.Repeat("x", 300) + `"}`} {
		got := w.do("", "POST", "/login", body)
		if got.status != http.StatusUnauthorized || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, %q", body, got.status, got.header.Get("Set-Cookie"))
		}
	}
	for _, body := range []string{`{"code":1}`, `{"other":"x"}`, `[]`, `x`} {
		if got := w.do("", "POST", "/login", body); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", body, got.status)
		}
	}
	if got := w.do("", "GET", "/login?code="+code, ""); got.status != http.StatusNotFound || got.header.Get("Set-Cookie") != "" {
		t.Errorf("GET without a page: %d", got.status)
	}
}

func TestBodies(t *testing.T) {
	w := open(t)
	kind := func(v ...string) func(*http.Request) { return func(r *http.Request) { r.Header["Content-Type"] = v } }
	deep := `{"path":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	for name, c := range map[string]struct {
		body   string
		change func(*http.Request)
		status int
	}{
		"plain text":       {`{"path":"Tea.md"}`, kind("text/plain"), 415},
		"a form":           {`path=Tea.md`, kind("application/x-www-form-urlencoded"), 415},
		"many parts":       {`{}`, kind("multipart/form-data; boundary=x"), 415},
		"no type":          {`{"path":"Tea.md"}`, kind(), 415},
		"two types":        {`{"path":"Tea.md"}`, kind("application/json", "text/plain"), 415},
		"json and more":    {`{"path":"Tea.md"}`, kind("application/json, text/plain"), 415},
		"another charset":  {`{"path":"Tea.md"}`, kind("application/json; charset=utf-7"), 415},
		"utf-8":            {`{"path":"Tea.md"}`, kind("application/json; charset=UTF-8"), 200},
		"deep":             {deep, kind("application/json"), 400},
		"brackets in text": {`{"path":"Tea.md` + strings.Repeat("[", 200) + `"}`, kind("application/json"), 404},
		"no JSON":          {`{"path"`, kind("application/json"), 400},
		"two values":       {`{"path":"Tea.md"} {}`, kind("application/json"), 400},
		"just fits":        {`{"path":"Tea.md"` + strings.Repeat(" ", 4<<20-18) + `}`, kind("application/json"), 200},
		"too large":        {`{"path":"` + strings.Repeat("x", 4<<20) + `"}`, kind("application/json"), 413},
	} {
		if got := w.do("read", "POST", "/api/v1/tools/read_note", c.body, c.change); got.status != c.status {
			t.Errorf("%s: %d, want %d: %.200s", name, got.status, c.status, got.text)
		}
	}
	// What is deep is stopped at the door, before any parser.
	if got := w.do("read", "POST", "/api/v1/tools/read_note", deep); !strings.Contains(got.text, "nested more than 100 deep") {
		t.Errorf("deep: %s", got.text)
	}
}

func TestHeaders(t *testing.T) {
	w := open(t)
	seen := map[string]bool{}
	for _, path := range []string{"/api/v1/status", "/nothing", "/login", "/"} {
		h := w.do("person", "GET", path, "").header
		for k, v := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
		} {
			if h.Get(k) != v {
				t.Errorf("%s: %s is %q", path, k, h.Get(k))
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy lacks %s", path, part)
			}
		}
		if seen[csp] {
			t.Error("a nonce came twice")
		}
		seen[csp] = true
	}
}
