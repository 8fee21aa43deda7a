package page_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"lore/internal/surface/http/page"
	"lore/web"
)

// TestTheApplication: who is let in gets the page that was built, wherever the
// address leads in it, under a policy that lets nothing else run.
func TestTheApplication(t *testing.T) {
	if web.Files() == nil {
		t.Skip("this program has no page of its own")
	}
	w := openWith(t, web.Files())
	id := w.ask("write_note", `{"path":"New.md","content":"<script>alert(1)</script>\n"}`)
	nonces := map[string]bool{}
	for _, path := range []string{"/", page.Path(id), "/approvals", "/notes/Deep/Tea%20%26%20more.md", "/activity?tool=x", "/settings", "/chat/abc"} {
		status, text, h := w.do("browser", "GET", path, "")
		if status != 200 || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, status, h)
		}
		csp := h.Get("Content-Security-Policy")
		m := regexp.MustCompile(`script-src 'self' 'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(csp)
		if m == nil || nonces[m[1]] || !strings.Contains(text, `nonce="`+m[1]+`"`) {
			t.Fatalf("%s: policy %q, page %s", path, csp, text)
		}
		nonces[m[1]] = true
		for _, want := range []string{"default-src 'none'", "; media-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types lore"} {
			if !strings.Contains(csp, want) {
				t.Errorf("the policy lacks %q", want)
			}
		}
		for name, bad := range map[string]string{
			"unsafe": `unsafe`, "a place for the nonce": `%NONCE%`, "another address": `(src|href)="[^/]`, "inline style": `<style| style=`, "inline script": `<script[^>]*>[^<]`,
			"handlers": ` on[a-z]+=`, "what a program wrote": `alert`,
		} {
			if found := regexp.MustCompile(bad).FindString(csp + text); found != "" {
				t.Errorf("%s: %s: %q", path, name, found)
			}
		}
	}
	if status, _, _ := w.do("browser", "POST", page.Path(id), `{"approve":true}`); status != http.StatusMethodNotAllowed {
		t.Errorf("POST to the page: %d", status)
	}
	if status, _, _ := w.do("browser", "GET", "/nowhere", ""); status != http.StatusNotFound {
		t.Errorf("an unknown place: %d", status)
	}
}

// TestEverybodyGetsTheFiles: they hold nothing of the vault, and are how one signs
// in. Whether a question exists, nobody is told by them.
func TestEverybodyGetsTheFiles(t *testing.T) {
	w := openWith(t, small())
	id := w.ask("write_note", `{"path":"New.md","content":"secret words\n"}`)
	_, want, _ := w.do("browser", "GET", "/assets/app-abcdefgh.js", "")
	if _, got, _ := w.do("", "GET", "/assets/app-abcdefgh.js", ""); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, path := range []string{"/", "/login?code=x", page.Path(id), page.Path("none"), "/notes/Tea.md"} {
		status, text, h := w.do("", "GET", path, "")
		if status != http.StatusOK || strings.Contains(text, "secret words") || h.Get("Set-Cookie") != "" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// small is an application of three files.
func small() fstest.MapFS {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("// the script"))
	_ = z.Close()
	return fstest.MapFS{
		"index.html":                {Data: []byte(`<script src="/assets/app-abcdefgh.js" nonce="%NONCE%"></script>`)},
		"assets/app-abcdefgh.js":    {Data: []byte("// the script")},
		"assets/app-abcdefgh.js.gz": {Data: packed.Bytes()},
		"assets/words.txt":          {Data: []byte("words")},
		"assets/secret.go":          {Data: []byte("not of the page")},
		"sw.js":                     {Data: []byte("// the worker")},
	}
}

// TestFilesOfTheApplication: what has a hashed name is kept, with its twin for
// those who take it; nothing else is there.
func TestFilesOfTheApplication(t *testing.T) {
	w := openWith(t, small())
	get := func(path, coding, tag string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", coding)
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		res, err := w.browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	const script = "/assets/app-abcdefgh.js"
	for coding, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", "br": "", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "gzip; q=0.000": "", "GZIP": "gzip", "x-gzip": ""} {
		res := get(script, coding, "")
		if res.StatusCode != 200 || res.Header.Get("Content-Encoding") != want || res.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%q: %s %v", coding, res.Status, res.Header)
		}
		from := io.Reader(res.Body)
		if want == "gzip" {
			z, err := gzip.NewReader(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			from = z
		}
		if b, err := io.ReadAll(from); err != nil || string(b) != "// the script" {
			t.Errorf("%q: %q, %v", coding, b, err)
		}
		if c := res.Header.Get("Cache-Control"); c != "private, max-age=31536000, immutable" || !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%q: %v", coding, res.Header)
		}
	}
	tag := get(script, "", "").Header.Get("ETag")
	if res := get(script, "gzip", `"other", `+tag); tag == "" || res.StatusCode != http.StatusNotModified {
		t.Errorf("the same again: %s, tag %q", res.Status, tag)
	}
	if res := get("/assets/words.txt", "", ""); res.StatusCode != 200 || res.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a name without a hash: %s %v", res.Status, res.Header)
	}
	for _, path := range []string{"/assets/secret.go", "/assets/app-abcdefgh.js.gz", "/assets/..%2findex.html", "/assets/", "/index.html"} {
		if res := get(path, "", ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// TestTheServiceWorker: its address is the root, so that it can answer for every page;
// a browser asks for it each time, and it may fetch nothing.
func TestTheServiceWorker(t *testing.T) {
	w := openWith(t, small())
	for _, who := range []string{"browser", ""} {
		status, text, h := w.do(who, "GET", "/sw.js", "")
		if status != http.StatusOK || text != "// the worker" || h.Get("Cache-Control") != "private, no-cache" || h.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("as %q: %d %q %v", who, status, text, h)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "connect-src") || strings.Contains(csp, "script-src") {
			t.Errorf("as %q: policy %q", who, csp)
		}
	}
	if status, _, _ := w.do("browser", "GET", "/manifest.webmanifest", ""); status != http.StatusNotFound {
		t.Errorf("a file that this page does not have: %d", status)
	}
	if status, _, _ := w.do("browser", "POST", "/share", "text=x"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST to the share target: %d", status)
	}
}

// TestAnApplicationThatIsNone is told when it starts.
func TestAnApplicationThatIsNone(t *testing.T) {
	if _, err := page.New(page.Options{App: fstest.MapFS{}}); err == nil {
		t.Error("an application without an index")
	}
}

// TestTheFrame: the code of others that draws diagrams runs without an origin, fetches
// nothing, and only the application may hold it.
func TestTheFrame(t *testing.T) {
	if web.Files() == nil {
		t.Skip("this program has no page of its own")
	}
	w := openWith(t, web.Files())
	status, text, h := w.do("", "GET", "/frame/diagram.html", "")
	if status != http.StatusOK || !strings.HasPrefix(text, "<!doctype html>") || h.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Fatalf("%d %v", status, h)
	}
	_, script, _ := strings.Cut(text, "<script>")
	script, _, _ = strings.Cut(script, "</script>")
	sum := sha256.Sum256([]byte(script))
	want := "sandbox allow-scripts; default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
	if csp := h.Get("Content-Security-Policy"); csp != want {
		t.Errorf("the policy is %q, want %q", csp, want)
	}
	if _, _, h := w.do("browser", "GET", "/", ""); !strings.Contains(h.Get("Content-Security-Policy"), "; frame-src 'self';") {
		t.Error("the application may hold other frames")
	}
}
