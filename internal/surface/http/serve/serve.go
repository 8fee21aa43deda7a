// Package serve is the HTTP server that all HTTP surfaces share: it checks host
// and origin, identifies the caller (a token or the session of a person), checks
// the scope that each route declares, and limits request bodies. It knows no tool
// and no vault.
package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/workspace/process"
)

// Options say how a server is made.
type Options struct {
	// Listen is host:port; port 0 takes a free one. Only the machine itself is
	// let in, unless Expose says otherwise.
	Listen string
	// Expose lets other machines knock. It needs Hosts: the names that they
	// know this one by.
	Expose bool
	// Hosts are further names, as name or name:port, that a request may call
	// this server. Everything else is refused, so that no foreign name can be
	// pointed at this machine.
	Hosts []string
	// Tokens are checked for every request that brings one; nil takes none.
	Tokens *token.Store
	// Anyone is who a request is from that brings nothing; nil turns it away.
	// It is for tests of conformance, which know no tokens, and so for this
	// machine alone.
	Anyone *access.Principal
	Log    *slog.Logger
}

// A Handle answers one request of a known principal. The error that it returns
// becomes a problem, unless it has already written.
type Handle func(w http.ResponseWriter, r *http.Request, who access.Principal) error

// A Route is one method of one path, and who may use it. Every field but Person,
// Anyone, Signed, As and Plain must be there: [Server.Add] panics otherwise, because a route without a
// scope is a door without a lock.
type Route struct {
	Method  string
	Pattern string // as net/http has them
	Scope   access.Scope
	Person  bool // no token reaches it, whatever its scopes
	// Anyone says that the route holds nothing of the vault, and asks nobody who
	// they are: the files of the page, which is how one signs in.
	Anyone bool
	// Signed lets an address that a session signed stand for the session's word,
	// for reading the one thing that {path} names.
	Signed bool
	// As is what the holder of a token is on this route; REST unless it says.
	As     access.Kind
	Handle Handle
	// Plain draws a problem of this route; nil answers it as JSON.
	Plain Plain
}

// A Plain draws a problem for people.
type Plain func(w http.ResponseWriter, r *http.Request, p Problem)

// Front says how a browser is told of what belongs to no route: an address that
// leads nowhere, or a login that was used. Programs get JSON, as ever.
func (s *Server) Front(draw Plain) { s.front = draw }

// A Server is the shell with its routes.
type Server struct {
	log     *slog.Logger
	tokens  *token.Store
	anyone  *access.Principal
	listen  string
	names   []string
	mux     *http.ServeMux
	closing chan struct{}
	front   Plain // nil answers as JSON

	mu     sync.Mutex
	port   string // of the listener
	hosts  map[string]bool
	routes []Route
}

// Limits of every request.
const (
	headerTime  = 10 * time.Second
	bodyTime    = 30 * time.Second
	answerTime  = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
	// BodyBytes is how large a body may be.
	BodyBytes = 4 << 20
	// Depth is how deep JSON may be nested.
	Depth = 100
)

// New makes a server. It listens to nothing yet.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := &Server{
		log: o.Log, tokens: o.Tokens, anyone: o.Anyone, listen: o.Listen, names: o.Hosts, mux: http.NewServeMux(),
		closing: make(chan struct{}),
	}
	s.Add(Route{Method: http.MethodPost, Pattern: "/logout", Scope: access.Read, Person: true, Handle: s.logout})
	return s, nil
}

// Check refuses an address that others can reach, unless that was said.
func (o Options) Check() error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fault.Field("listen", "use 127.0.0.1:7777", "%q is not an address with a port", o.Listen)
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case o.Anyone != nil && (o.Expose || len(o.Hosts) > 0):
		return fault.Field("expose", "leave it out", "a server without tokens can only listen on this computer")
	case host == "localhost", err == nil && addr.IsLoopback():
		return nil
	case !o.Expose:
		return fault.Field("listen", "listen on 127.0.0.1, or add --expose to allow other computers", "%q can be reached from other computers", o.Listen)
	case len(o.Hosts) == 0:
		return fault.Field("host", "pass the host names with --host", "a server that other computers can reach needs its host names")
	}
	return nil
}

// Add registers routes. It panics when one does not say what it needs.
func (s *Server) Add(routes ...Route) {
	for _, r := range routes {
		switch {
		case r.Method == "" || !strings.HasPrefix(r.Pattern, "/") || r.Handle == nil:
			panic("a route needs a method, a path and a handle: " + r.Method + " " + r.Pattern)
		case !known(r.Scope):
			panic("the route " + r.Method + " " + r.Pattern + " declares no scope")
		}
		if r.As == "" {
			r.As = access.REST
		}
		s.mux.Handle(r.Method+" "+r.Pattern, s.guard(r))
		s.mu.Lock()
		s.routes = append(s.routes, r)
		s.mu.Unlock()
	}
}

func known(scope access.Scope) bool {
	for _, s := range access.Scopes() {
		if s == scope {
			return true
		}
	}
	return false
}

// Routes lists what was registered.
func (s *Server) Routes() []Route {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Route(nil), s.routes...)
}

// Closing is closed when the server begins to stop: streams end then, so that
// calls under way have the time that is left.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// Listen takes the address.
func (s *Server) Listen(ctx context.Context) (net.Listener, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", s.listen)
	if err != nil {
		return nil, fault.Fix(fault.Unavailable, "choose another address with --listen", "cannot listen on %s: %v", s.listen, err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	hosts := map[string]bool{}
	for _, name := range append([]string{"127.0.0.1", "localhost", "[::1]"}, s.names...) {
		name = strings.ToLower(name)
		hosts[name+":"+port] = true
		if _, _, err := net.SplitHostPort(name); err == nil || port == "80" {
			hosts[name] = true
		}
	}
	s.mu.Lock()
	s.port, s.hosts = port, hosts
	s.mu.Unlock()
	return l, nil
}

// Address is the URL of a listener, as a browser on this machine writes it.
func (s *Server) Address(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if addr, e := netip.ParseAddr(host); err != nil || e != nil || addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// LoginURL is a link that signs the browser that opens it first in. It works once
// and soon. Line is who makes it: see [token.Store.NewCode].
func (s *Server) LoginURL(ctx context.Context, l net.Listener, line []access.Process) (string, error) {
	if s.tokens == nil {
		return "", fault.New(fault.Unavailable, "sign-in is turned off on this server")
	}
	code, err := s.tokens.NewCode(ctx, line)
	return s.Address(l) + LoginPath + code, err
}

// LoginPath is what a code follows in a sign-in link.
const LoginPath = "/login?code="

// leave is how long calls under way may take when the server stops.
const leave = 3 * time.Second

// Serve answers until ctx ends, then lets calls under way finish for a moment.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &peer{conn: c})
		},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		close(s.closing)
		return err
	case <-ctx.Done():
	}
	close(s.closing)
	last, cancel := context.WithTimeout(base, leave)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		s.log.Warn("requests were interrupted")
		cut()
		return h.Close()
	}
	return nil
}

type connKey struct{}

// A peer is the program at the other end of a connection. It is looked for once,
// when somebody wants to know.
type peer struct {
	conn net.Conn
	once sync.Once
	list []access.Process
}

// Program tells which program of this machine makes a request; nothing where the
// system does not tell.
func Program(ctx context.Context) []access.Process {
	p, ok := ctx.Value(connKey{}).(*peer)
	if !ok {
		return nil
	}
	p.once.Do(func() {
		from, err := netip.ParseAddrPort(p.conn.RemoteAddr().String())
		to, err2 := netip.ParseAddrPort(p.conn.LocalAddr().String())
		if err == nil && err2 == nil {
			p.list = process.Peer(from, to)
		}
	})
	return p.list
}
