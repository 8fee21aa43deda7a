package external

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

// maxStream is how much a server may send over one stream in a window: more than
// anybody reads, and less than fills a memory.
const maxStream = 64 << 20

// remote is the transport to a server that is called by its address.
func remote(s configfile.Server, handler auth.OAuthHandler, o *Options) (sdk.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%q is not an address", configfile.Shown(s.URL))
	}
	client := &http.Client{
		Transport:     &caller{to: u, headers: s.Headers, next: o.HTTP, now: o.Now},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error { return sameServer(u, r.URL) },
	}
	if s.Type == configfile.SSE {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxLine}, nil
	}
	t := &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxLine, MaxRetries: 2}
	if _, own := header(s.Headers, "Authorization"); !own {
		t.OAuthHandler = handler
	}
	return t, nil
}

func header(h map[string]string, name string) (string, bool) {
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return "", false
}

// sameServer refuses to be sent elsewhere: what the entry says is meant for the
// server that it names.
func sameServer(to, next *url.URL) error {
	if next.Scheme != to.Scheme || next.Host != to.Host {
		return fault.New(fault.Denied, "it redirects to %s, which Lore does not follow", next.Host)
	}
	return nil
}

// A caller adds the headers of an entry to requests for its server, to no
// others, and limits what comes back.
type caller struct {
	to      *url.URL
	headers map[string]string
	next    http.RoundTripper
	now     func() time.Time
}

// RoundTrip sends one request.
func (c *caller) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := sameServer(c.to, r.URL); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	most := maxLine
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		most = maxStream
	}
	resp.Body = &limited{ReadCloser: resp.Body, most: most, now: c.now}
	return resp, nil
}

// limited is a body that ends with an error when too much comes at once.
type limited struct {
	io.ReadCloser
	most  int
	now   func() time.Time
	since time.Time
	n     int
}

func (l *limited) Read(p []byte) (int, error) {
	if now := l.now(); l.most == maxStream && now.Sub(l.since) > window {
		l.since, l.n = now, 0
	}
	n, err := l.ReadCloser.Read(p)
	if l.n += n; l.n > l.most {
		return 0, fault.New(fault.TooLarge, "it sent more than %d MB", l.most>>20)
	}
	return n, err
}

// plainTransport is what requests go through when nothing else is given.
func plainTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.ResponseHeaderTimeout = 0 // a call may take as long as its own limit
	t.MaxIdleConnsPerHost = 4
	return t
}
