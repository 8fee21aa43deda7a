// Package egress is the way out: what Lore's own tools ask of hosts on the
// internet goes through a [Client] of this package and through nothing else.
//
// Addresses come from models, notes and web pages, so none of them is believed.
// What decides is the address that a connection is about to be made to, after
// every name was resolved: a name that answers differently the second time gains
// nothing by it, and a redirect is a connection like any other. What is not on
// the public internet is refused, except for what a person configured.
package egress

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"lore/internal/fault"
)

// Options say what a [Client] may do. The zero value is a good one.
type Options struct {
	// Allow names what may be private because a person configured it, as
	// host:port, as a host with all its ports, or as a range like 10.1.0.0/16.
	// It holds for requests that begin there, never for a redirect from
	// elsewhere. Hosts beyond it are reached at the ports 80 and 443 alone.
	Allow []string
	// Timeout is for the whole of a request, its body too; 0 is 30 seconds.
	Timeout time.Duration
	// MaxBody is how many bytes of a body can be read, counted after it was
	// unpacked; 0 is 20 MB. To read more is an error, unless Cut is set: then
	// the body ends there.
	MaxBody int64
	Cut     bool
	// MaxRedirects is how often a request may be sent elsewhere; 0 is 5, less
	// than 0 is never.
	MaxRedirects int
	// Agent is how Lore introduces itself; "" is "Lore".
	Agent string
	// Resolver finds the addresses of names; nil is the system's.
	Resolver *net.Resolver
}

// Limits of one connection, within Options.Timeout.
const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 20 * time.Second
	maxHeader     = 64 << 10
)

// A Client sends requests to the public internet. It keeps no cookies and no
// connections, and uses no proxy: behind one, nobody here sees the address.
type Client struct {
	o     Options
	allow allowed
	http  *http.Client
}

// New makes a client.
func New(o Options) (*Client, error) {
	allow, err := readAllowed(o.Allow)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxBody == 0 {
		o.MaxBody = 20 << 20
	}
	if o.MaxRedirects == 0 {
		o.MaxRedirects = 5
	}
	if o.Agent == "" {
		o.Agent = "Lore"
	}
	c := &Client{o: o, allow: allow}
	c.http = &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: c.redirect,
		Transport: &guard{c, &http.Transport{
			DialContext:            c.dial,
			TLSHandshakeTimeout:    dialTimeout,
			ResponseHeaderTimeout:  headerTimeout,
			MaxResponseHeaderBytes: maxHeader,
			// A kept connection would be used again without a look at where it
			// leads, by requests that may not go there.
			DisableKeepAlives: true,
		}},
	}
	return c, nil
}

// Do sends a request. Its errors are faults that name the host, never the rest
// of the address, where keys and private words may stand. The body of the
// answer is limited as the options say, and must be closed.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.explain(r.Context(), r.URL, err)
	}
	if answer.ContentLength > c.o.MaxBody && !c.o.Cut {
		answer.Body.Close()
		return nil, c.tooLarge(r.URL)
	}
	answer.Body = &body{c: c, ctx: r.Context(), from: r.URL, rest: c.o.MaxBody, ReadCloser: answer.Body}
	return answer, nil
}

// guard looks at every request before it is sent, those after a redirect too.
type guard struct {
	c    *Client
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := checkURL(r.URL); err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	// What a person allowed is allowed to those who were sent there, not to a
	// page that sends somebody on.
	began := r
	for began.Response != nil && began.Response.Request != nil {
		began = began.Response.Request
	}
	own := ""
	if here := hostPort(r.URL); here == hostPort(began.URL) {
		own = here
	}
	r = r.Clone(context.WithValue(r.Context(), ownKey{}, own))
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", g.c.o.Agent)
	}
	return g.next.RoundTrip(r)
}

// ownKey holds the host and port that Options.Allow may speak for.
type ownKey struct{}

// dial connects to a host after a look at the address that was found for it.
// The system is about to connect to exactly this address: nothing is resolved
// in between.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	own, _ := ctx.Value(ownKey{}).(string)
	mine := own == strings.ToLower(address)
	d := net.Dialer{
		Timeout:  dialTimeout,
		Resolver: c.o.Resolver,
		ControlContext: func(_ context.Context, network, found string, _ syscall.RawConn) error {
			return c.judge(address, mine, network, found)
		},
	}
	return d.DialContext(ctx, network, address)
}

// judge decides about one connection, to a host that resolved to found.
func (c *Client) judge(host string, mine bool, network, found string) error {
	at, err := netip.ParseAddrPort(found)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return fault.New(fault.Denied, "%s is not an address on the internet", plain(host))
	}
	host = strings.ToLower(host)
	why := never(at.Addr())
	if why == "" && mine && (c.allow.hosts[host] || c.allow.hosts[withoutPort(host)] || c.allow.covers(at.Addr())) {
		return nil
	}
	if why == "" {
		why = private(at.Addr())
	}
	if why != "" {
		return fault.Fix(fault.Denied, "only the public internet and addresses that a person configured can be reached",
			"%s resolves to %s: %s", plain(host), at.Addr(), why)
	}
	if p := at.Port(); p != 80 && p != 443 {
		return fault.Fix(fault.Denied, "use port 80 or 443", "%s: port %d is not a web port", plain(host), p)
	}
	return nil
}

// checkURL refuses what could not be meant for a web server.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fault.Fix(fault.Denied, "use an address that begins with https:// or http://", "the scheme %q is not supported", cut(u.Scheme))
	case u.Hostname() == "":
		return fault.New(fault.Invalid, "the address has no host")
	case u.User != nil:
		return fault.Fix(fault.Denied, "remove the part before the @", "%s: addresses with a user name or password are not allowed", plain(u.Host))
	case disguised(u.Hostname()):
		return fault.Fix(fault.Denied, "write it like 93.184.215.14, or use a name", "%s is an IP address in an unusual form", plain(u.Host))
	}
	return nil
}

// disguised are numbers that some systems read as an address and others as a
// name: 127.1, 2130706433, 0x7f000001, 0177.0.0.1.
func disguised(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// hostPort is where a request goes, in the form that the dialer gets.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

func withoutPort(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	return host
}
