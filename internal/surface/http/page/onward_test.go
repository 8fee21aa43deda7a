package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"lore/internal/surface/http/page"
	"lore/internal/surface/http/serve"
)

// TestLinksOfOtherSites: who follows one is asked first, and led nowhere else than
// to a place in the application.
func TestLinksOfOtherSites(t *testing.T) {
	pages, err := page.New(page.Options{App: fstest.MapFS{"index.html": {Data: []byte("<html>")}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, dest, to string
		status           int
		want             string // the link; "" is none
	}{
		{"GET", "document", "/share?title=Tea&url=https%3A%2F%2Fexample.org%2F", 403, `href="/share?title=Tea&amp;url=https%3A%2F%2Fexample.org%2F"`},
		{"GET", "document", "/notes/Notes/Sencha.md", 403, `href="/notes/Notes/Sencha.md"`},
		{"GET", "document", "/", 403, `href="/">Open`},
		{"GET", "document", `/share?text=%22%3E%3Cimg%20src=x%3E`, 403, `href="/share?text=%22%3E%3Cimg%20src=x%3E"`},
		{"GET", "document", "/login?code=abc", 403, ""},
		{"GET", "document", "/notes/../login?code=abc", 403, ""},
		{"GET", "document", "//share", 403, `href="/share"`},
		{"GET", "document", "//evil.example/share", 403, ""},
		{"GET", "document", "/api/v1/notes", 403, ""},
		{"GET", "document", "/assets/x.js", 403, ""},
		{"GET", "iframe", "/share", 403, ""},
		{"POST", "document", "/share", 403, ""},
		{"GET", "document", "/share", 421, ""}, // a foreign name of this computer
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1/", nil)
		before, query, _ := strings.Cut(c.to, "?")
		r.URL.Path, r.URL.RawQuery = before, query
		r.Header.Set("Sec-Fetch-Dest", c.dest)
		w := httptest.NewRecorder()
		pages.Refused(w, r, serve.Problem{Status: c.status, Title: "Denied", Detail: "requests from other sites are refused"})
		text := w.Body.String()
		if w.Code != c.status || strings.Contains(text, "Open this page") != (c.want != "") || !strings.Contains(text, c.want) || strings.Contains(text, "<img") {
			t.Errorf("%s %s: %d %s", c.method, c.to, w.Code, text)
		}
	}
	without, err := page.New(page.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/share", nil)
	r.Header.Set("Sec-Fetch-Dest", "document")
	w := httptest.NewRecorder()
	without.Refused(w, r, serve.Problem{Status: 403, Title: "Denied"})
	if strings.Contains(w.Body.String(), "Open this page") {
		t.Error("a program without the application leads to it")
	}
}
