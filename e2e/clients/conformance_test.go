//go:build clients

package clients

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The two versions of the suite: the one that is released, and the one that
// knows 2026-07-28.
var (
	released = filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	alpha    = filepath.Join(modules, "conformance-alpha", "dist", "index.js")
)

// A run is one run of a suite.
type run struct {
	name  string
	suite string
	args  []string
	least int // how many checks must pass: a suite that finds nothing to do is no proof
}

var total = regexp.MustCompile(`(?m)^Total: (\d+) passed, (\d+) failed`)

// judge runs a suite and wants it to be content. What it does not score, it
// does not count; what we know and accept is in a file of its own.
func (r run) judge(t *testing.T, w *world, args ...string) {
	t.Run(r.name, func(t *testing.T) {
		w := *w
		w.t = t
		o := w.script(r.suite, append(append(args, r.args...), "-o", t.TempDir())...)
		_, summary, ok := strings.Cut(o.out, "SUMMARY ===")
		m := total.FindStringSubmatch(summary)
		if !ok || m == nil {
			t.Fatalf("no summary: %s", o)
		}
		passed, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s passed, %s failed, exit code %d", t.Name(), m[1], m[2], o.code)
		if o.code != 0 || passed < r.least {
			t.Errorf("want exit code 0 and at least %d passed: %s", r.least, summary)
		}
	})
}

// TestServerSuites judges the server with everything that the suites ask for.
func TestServerSuites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lore = w.judged
	s := w.serve("--conformance-fixtures")
	for _, r := range []run{
		{"0.1.16 all", released, []string{"--suite", "all"}, 44},
		{"2025-11-25", alpha, []string{"--requirements", "2025-11-25"}, 84},
		{"2026-07-28", alpha, []string{"--requirements", "2026-07-28"}, 195},
	} {
		r.judge(t, w, "server", "--url", s.Fixtures)
	}
	if note := w.read("Conformance test.md"); note != "" {
		t.Errorf("a suite that confirms nothing wrote a note: %q", note)
	}
}

// TestShippedTools judges the server as it is, with the tools that everyone
// gets. expected-shipped.yml lists what needs the suites' own tools; whatever
// is not in it must pass, and what is in it must not.
func TestShippedTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve()
	open := withToken(t, s.Address, w.token("read,write"))
	for _, r := range []run{
		{"0.1.16 all", released, []string{"--suite", "all", "--expected-failures", "expected-shipped.yml"}, 8},
		{"2025-11-25", alpha, []string{"--requirements", "2025-11-25", "--expected-failures", "expected-shipped.yml"}, 20},
		{"2026-07-28", alpha, []string{"--requirements", "2026-07-28", "--expected-failures", "expected-shipped.yml"}, 60},
	} {
		r.judge(t, w, "server", "--url", open+"/mcp")
	}
}

// TestClientSuites judges the client. It runs alone: one scenario measures when
// the client comes back, and that is no test of how busy a machine is.
func TestClientSuites(t *testing.T) {
	w := newWorld(t)
	for _, r := range []run{
		{"0.1.16 core", released, []string{"--suite", "core"}, 239},
		{"0.1.16 all", released, []string{"--suite", "all", "--expected-failures", "expected-client.yml"}, 332},
		{"2025-11-25", alpha, []string{"--requirements", "2025-11-25"}, 340},
		{"2026-07-28", alpha, []string{"--requirements", "2026-07-28"}, 515},
	} {
		r.judge(t, w, "client", "--command", w.judged+" mcp-conformance-client")
	}
}

// withToken stands before a server and adds the token that the suites cannot
// send. It says of itself what the server is called and hands on everything
// else as it comes, so that the server's own locks are judged.
func withToken(t *testing.T, address, token string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var own string
	rename := func(name string) string {
		_, port, _ := strings.Cut(own, ":")
		return strings.Replace(name, ":"+port, ":"+target.Port(), 1)
	}
	s := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = rename(r.In.Host)
			if o := r.In.Header.Get("Origin"); o != "" {
				r.Out.Header.Set("Origin", rename(o))
			}
			r.Out.Header.Set("Authorization", "Bearer "+token)
			// The body is read before anything is answered: net/http closes it
			// with the first byte of the answer, while it may still be sent on.
			b, err := io.ReadAll(r.In.Body)
			if err != nil {
				t.Errorf("the body of a request: %v", err)
			}
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(s.Close)
	own = s.Listener.Addr().String()
	return s.URL
}

// TestNobodyElseIsLetIn: what needs no token is for this machine alone.
func TestNobodyElseIsLetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, flags := range [][]string{
		{"--listen", "0.0.0.0:0"},
		{"--listen", "0.0.0.0:0", "--expose", "--host", "notes.example"},
		{"--listen", "127.0.0.1:0", "--expose"},
		{"--listen", "127.0.0.1:0", "--host", "notes.example"},
	} {
		if o := w.try(w.judged, append([]string{"serve", w.vault, "--conformance-fixtures"}, flags...)...); o.code != 2 {
			t.Errorf("%q: %s", flags, o)
		}
	}
	for _, page := range []string{"serve", ""} {
		if o := w.try(w.judged, page, "--help"); strings.Contains(o.out, "conformance") {
			t.Errorf("lore %s --help tells of it: %s", page, o.out)
		}
	}
	if _, err := os.Stat(filepath.Join(w.vault, ".lore")); err == nil {
		t.Error("the vault was written to")
	}
}
