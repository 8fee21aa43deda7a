package egress

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/fault"
)

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks for an address and reads the answer.
func get(t *testing.T, c *Client, address string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return string(b), err
}

func server(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// place is the host:port of a server, port its port.
func place(t *testing.T, s *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return Place(u)
}

func port(t *testing.T, s *httptest.Server) string {
	t.Helper()
	_, p, err := net.SplitHostPort(place(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refused checks the kind of an error and what it says.
func refused(t *testing.T, what string, err error, kind fault.Kind, words string) {
	t.Helper()
	if err == nil || fault.Of(err) != kind || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v (%s), want %s: %q", what, err, fault.Of(err), kind, words)
	}
}

func TestThisMachineIsRefused(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	s := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	p := port(t, s)
	r, _ := resolver(t, map[string][]string{
		"private.test": {"127.0.0.1"}, "office.test": {"10.0.0.7"}, "keys.test": {"169.254.169.254"}, "six.test": {"::1"}, "mapped.test": {"64:ff9b::7f00:1"}, "nobody.test": {"0.0.0.0"},
	})
	c := client(t, Options{Resolver: r})
	for address, words := range map[string]string{
		"http://127.0.0.1:" + p + "/":          "it is this computer",
		"http://localhost:" + p + "/":          "resolves to",
		"http://[::1]:" + p + "/":              "it is this computer",
		"http://[::ffff:127.0.0.1]:" + p + "/": "it is this computer",
		"http://[64:ff9b::7f00:1]:" + p + "/":  "it is this computer",
		"http://[fe80::1%25lo]/":               "it is a link-local address",
		"http://127.1:" + p + "/":              "an IP address in an unusual form",
		"http://2130706433:" + p + "/":         "an IP address in an unusual form",
		"http://0x7f000001:" + p + "/":         "an IP address in an unusual form",
		"http://0177.0.0.1:" + p + "/":         "an IP address in an unusual form",
		"http://0:" + p + "/":                  "an IP address in an unusual form",
		"http://0.0.0.0:" + p + "/":            "it is an unspecified address",
		"http://169.254.169.254/latest/":       "it is a cloud metadata service",
		"http://private.test:" + p + "/":       "private.test:" + p + " resolves to 127.0.0.1: it is this computer",
		"http://office.test/":                  "it is on a private network",
		"http://keys.test/":                    "it is a cloud metadata service",
		"http://six.test:" + p + "/":           "it is this computer",
		"http://mapped.test:" + p + "/":        "it is this computer",
		"http://nobody.test:" + p + "/":        "it is an unspecified address",
		"https://me:pw@private.test/":          "a user name or password",
		"ftp://private.test/":                  "is not supported",
		"file:///etc/passwd":                   "is not supported",
		"gopher://private.test/":               "is not supported",
		"unix:///run/docker.sock":              "is not supported",
		"javascript:alert(1)":                  "is not supported",
		"http://93.184.215.14:6379/":           "port 6379",
	} {
		_, err := get(t, c, address)
		refused(t, address, err, fault.Denied, words)
	}
	_, err := get(t, c, "http://missing.test/")
	refused(t, "a name that nobody has", err, fault.Unavailable, "there is no host missing.test")
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestWhatAPersonConfiguredIsReached(t *testing.T) {
	t.Parallel()
	s := server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello "+r.UserAgent()) })
	other := server(t, say("other"))
	r, _ := resolver(t, map[string][]string{"search.test": {"127.0.0.1"}, "turned.test": {"169.254.169.254"}})
	named := "search.test:" + port(t, s)
	for _, c := range []struct{ allow, address, want string }{
		{place(t, s), s.URL, "hello Lore"},
		{"127.0.0.1", s.URL, "hello Lore"},
		{"127.0.0.0/8", s.URL, "hello Lore"},
		{strings.ToUpper(named), "http://" + named, "hello Lore"},
		{named, "http://SEARCH.test:" + port(t, s), "hello Lore"},
		{"search.test", "http://" + named, "hello Lore"},
		{place(t, s), other.URL, ""},
		{place(t, s), "http://" + named, ""},
		{named, s.URL, ""},
		{named, "http://search.test:" + port(t, other), ""},
		{"10.0.0.0/8", s.URL, ""},
		{"turned.test", "http://turned.test/", ""},
		{"169.254.0.0/16", "http://169.254.169.254/", ""},
	} {
		got, err := get(t, client(t, Options{Allow: []string{c.allow}, Resolver: r}), c.address)
		if c.want == "" {
			refused(t, c.allow+" and "+c.address, err, fault.Denied, "resolves to")
		} else if err != nil || got != c.want {
			t.Errorf("%s and %s: %q, %v", c.allow, c.address, got, err)
		}
	}
	if _, err := New(Options{Allow: []string{"http://x"}}); fault.Of(err) != fault.Invalid {
		t.Errorf("a wrong word: %v", err)
	}
}

// TestRebinding has a name that is public when it is first looked up, and then
// the machine itself. 127.0.0.2 stands for the public internet.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	inside := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	listener, err := net.Listen("tcp", "127.0.0.2:"+port(t, inside))
	if err != nil {
		t.Skip("127.0.0.2 cannot be listened on here")
	}
	outside := httptest.NewUnstartedServer(say("public"))
	outside.Listener.Close()
	outside.Listener = listener
	outside.Start()
	t.Cleanup(outside.Close)
	r, z := resolver(t, map[string][]string{"rebind.test": {"127.0.0.2", "127.0.0.1"}})
	c := client(t, Options{Allow: []string{"127.0.0.2/32"}, Resolver: r})
	address := "http://rebind.test:" + port(t, inside)
	if got, err := get(t, c, address); err != nil || got != "public" {
		t.Fatalf("%q, %v", got, err)
	}
	if n := z.count("rebind.test"); n != 1 {
		t.Errorf("the name was looked up %d times for one connection", n)
	}
	_, err = get(t, c, address)
	refused(t, "the second time", err, fault.Denied, "resolves to 127.0.0.1")
	if hits.Load() != 0 {
		t.Error("the machine itself was reached")
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	inside := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	for path, to := range map[string]string{
		"/own": "/end", "/absolute": s.URL + "/own", "/inside": inside.URL, "/far": "/inside", "/keys": "http://169.254.169.254/latest/", "/file": "file:///etc/passwd",
		"/loop": "/loop", "/named": "http://localhost:" + port(t, inside), "/user": strings.Replace(s.URL, "//", "//me:pw@", 1),
		"/configured": "http://second.test:" + port(t, inside), "/6": "/5", "/5": "/4", "/4": "/3", "/3": "/2", "/2": "/1", "/1": "/end",
	} {
		mux.Handle(path, http.RedirectHandler(to, http.StatusFound))
	}
	mux.Handle("/end", say("arrived"))
	r, _ := resolver(t, map[string][]string{"second.test": {"127.0.0.1"}})
	// Another host is configured too: it may be asked, and nobody may send there.
	c := client(t, Options{Allow: []string{place(t, s), "second.test:" + port(t, inside)}, Resolver: r})
	if _, err := get(t, c, "http://second.test:"+port(t, inside)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/own": "", "/absolute": "", "/5": "",
		"/inside": "resolves to 127.0.0.1: it is this computer", "/far": "it is this computer", "/keys": "it is a cloud metadata service", "/file": "is not supported",
		"/loop": "redirects more than 5 times", "/6": "more than 5 times", "/named": "it is this computer", "/user": "a user name or password", "/configured": "it is this computer",
	} {
		got, err := get(t, c, s.URL+path)
		if want == "" && (err != nil || got != "arrived") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if want != "" {
			refused(t, path, err, fault.Denied, want)
		}
	}
	if hits.Load() != 1 {
		t.Error("a redirect reached the machine itself")
	}
	_, err := get(t, client(t, Options{Allow: []string{place(t, s)}, MaxRedirects: -1}), s.URL+"/own")
	refused(t, "none allowed", err, fault.Denied, "more than 0 times")
}

// hop is a request that was sent on, without a network between.
func hop(t *testing.T, from, to string, header http.Header, body io.Reader) *http.Request {
	t.Helper()
	first := httptest.NewRequest(http.MethodGet, from, nil)
	first.Header = header.Clone()
	next := httptest.NewRequest(http.MethodPost, to, body)
	next.Header = header.Clone()
	next.Header.Set("Referer", from)
	if err := client(t, Options{}).redirect(next, []*http.Request{first}); err != nil {
		next.Header = nil
	}
	return next
}

func TestKeysStayWithTheirHost(t *testing.T) {
	t.Parallel()
	header := http.Header{
		"Authorization": {"Bearer sesame-sesame"}, "X-Subscription-Token": {"sesame-sesame"}, "X-Anything": {"sesame-sesame"}, "Cookie": {"a=b"}, "Accept": {"text/html"},
	}
	for _, c := range []struct {
		from, to  string
		body      io.Reader
		refuse, k bool
	}{
		{from: "https://a.test/x?q=1", to: "https://a.test/y", k: true},
		{from: "https://a.test/", to: "https://a.test:443/y", k: true},
		{from: "https://a.test/", to: "https://a.test/y", body: strings.NewReader("words"), k: true},
		{from: "http://a.test/", to: "https://a.test/"},
		{from: "https://a.test/", to: "https://a.test:444/"},
		{from: "https://a.test/", to: "https://sub.a.test/"},
		{from: "https://a.test/", to: "https://b.test/"},
		{from: "https://a.test/", to: "https://b.test/", body: strings.NewReader("words"), refuse: true},
		{from: "https://a.test/", to: "http://a.test/", refuse: true},
		{from: "https://a.test/", to: "https://b.test/?x=sesame-sesame", refuse: true},
		{from: "https://a.test/?api_key=abc%2Bdefgh", to: "https://b.test/?x=abc%2Bdefgh", refuse: true},
		{from: "https://a.test/?q=abcdefgh", to: "https://b.test/?q=abcdefgh"},
	} {
		next := hop(t, c.from, c.to, header, c.body)
		name := c.from + " to " + c.to
		if c.refuse != (next.Header == nil) {
			t.Errorf("%s: refused %v", name, !c.refuse)
			continue
		}
		if c.refuse {
			continue
		}
		if got := next.Header.Get("X-Anything") != ""; got != c.k {
			t.Errorf("%s: the key went along: %v", name, got)
		}
		if !c.k && len(next.Header) != 1 || next.Header.Get("Accept") == "" || next.Header.Get("Referer") != "" {
			t.Errorf("%s: %v", name, next.Header)
		}
	}
}

// wire answers requests in the place of the network.
type wire func(*http.Request) *http.Response

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r), nil }

// TestKeysDoNotComeBack sends a request on within its host, away, and back
// again: what was left behind once is not sent a second time.
func TestKeysDoNotComeBack(t *testing.T) {
	t.Parallel()
	next := map[string]string{"https://a.test/1": "/2", "https://a.test/2": "https://b.test/3", "https://b.test/3": "https://a.test/4"}
	var seen []string
	c := client(t, Options{})
	c.http.Transport = &guard{c, wire(func(r *http.Request) *http.Response {
		seen = append(seen, strings.TrimSpace(r.URL.String()+" "+r.Header.Get("X-Key")+r.Header.Get("Authorization")+r.Header.Get("Referer")))
		answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
		if to := next[r.URL.String()]; to != "" {
			answer.StatusCode = http.StatusFound
			answer.Header.Set("Location", to)
		}
		return answer
	})}
	r := httptest.NewRequest(http.MethodGet, "https://a.test/1", nil)
	r.RequestURI = ""
	r.Header.Set("X-Key", "one")
	r.Header.Set("Authorization", "two")
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if want := "https://a.test/1 onetwo, https://a.test/2 onetwo, https://b.test/3, https://a.test/4"; strings.Join(seen, ", ") != want {
		t.Errorf("%q", seen)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.Handle("/exact", say(strings.Repeat("x", 1000)))
	mux.Handle("/more", say(strings.Repeat("x", 1001)))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 1 << 9 {
			if _, err := z.Write(make([]byte, 1<<12)); err != nil {
				return
			}
		}
		_ = z.Close() // nobody reads that far
	})
	mux.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "unpacked")
		_ = z.Close()
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeader))
	})
	c := client(t, Options{Allow: []string{place(t, s)}, MaxBody: 1000})
	for path, want := range map[string]string{"/exact": strings.Repeat("x", 1000), "/packed": "unpacked"} {
		if got, err := get(t, c, s.URL+path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]fault.Kind{
		"/more": fault.TooLarge, "/endless": fault.TooLarge, "/bomb": fault.TooLarge, "/broken": fault.Unavailable, "/headers": fault.Unavailable,
	} {
		got, err := get(t, c, s.URL+path)
		refused(t, path, err, want, place(t, s))
		if len(got) > 1000 {
			t.Errorf("%s: %d bytes", path, len(got))
		}
	}
	// A length that is too large is an error before anything is read.
	r := httptest.NewRequest(http.MethodGet, s.URL+"/more", nil)
	r.RequestURI = ""
	_, err := c.Do(r)
	refused(t, "a length of 1001", err, fault.TooLarge, "larger than 1000 bytes")
	short := client(t, Options{Allow: []string{place(t, s)}, MaxBody: 1000, Cut: true})
	for _, path := range []string{"/exact", "/more", "/endless", "/bomb"} {
		if got, err := get(t, short, s.URL+path); err != nil || len(got) != 1000 {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
	}
}

func TestSlowServers(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	begun := make(chan struct{})
	mux.HandleFunc("/wait", func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a drop")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := client(t, Options{Allow: []string{place(t, s)}, Timeout: 300 * time.Millisecond})
	for _, path := range []string{"/never", "/drip"} {
		_, err := get(t, c, s.URL+path)
		refused(t, path, err, fault.Unavailable, "did not respond within 300ms")
	}

	// A caller who goes away is no fault of the server.
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/wait?key=sesame", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-begun; cancel() }()
	_, err = client(t, Options{Allow: []string{place(t, s)}}).Do(r)
	if fault.Of(err) != fault.Cancelled || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
}

func TestErrorsKeepTheAddressBack(t *testing.T) {
	t.Parallel()
	s := server(t, say(""))
	gone := place(t, s)
	s.Close()
	_, err := get(t, client(t, Options{Allow: []string{gone}}), "http://"+gone+"/path?key=sesame&q=my+words")
	refused(t, "nobody there", err, fault.Unavailable, gone)
	if strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "words") {
		t.Errorf("%v", err)
	}

	untrusted := httptest.NewUnstartedServer(say("secret"))
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	_, err = get(t, client(t, Options{Allow: []string{place(t, untrusted)}}), untrusted.URL)
	refused(t, "a certificate of its own", err, fault.Unavailable, "its certificate cannot be trusted")
}

// TestNoProxyFromTheEnvironment would be sent to the proxy if it were looked at.
func TestNoProxyFromTheEnvironment(t *testing.T) {
	var hits atomic.Int32
	proxy := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	s := server(t, say("direct"))
	r, _ := resolver(t, map[string][]string{"direct.test": {"127.0.0.1"}})
	named := "direct.test:" + port(t, s)
	got, err := get(t, client(t, Options{Allow: []string{named, "127.0.0.0/8"}, Resolver: r}), "http://"+named)
	if err != nil || got != "direct" || hits.Load() != 0 {
		t.Errorf("%q, %v, %d at the proxy", got, err, hits.Load())
	}
}

func TestNoCookies(t *testing.T) {
	t.Parallel()
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		fmt.Fprint(w, len(r.Cookies()))
	})
	c := client(t, Options{Allow: []string{place(t, s)}})
	for range 2 {
		if got, err := get(t, c, s.URL); err != nil || got != "0" {
			t.Errorf("%q, %v", got, err)
		}
	}
}
