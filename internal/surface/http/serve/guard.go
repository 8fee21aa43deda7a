package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// ServeHTTP checks what holds for every request, known path or not, before
// anything else looks at it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &answer{ResponseWriter: w, gzip: AcceptsGzip(r)}
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p == http.ErrAbortHandler: //nolint:errorlint // net/http compares it so
			panic(p)
		default:
			// The stack tells where, never with which values.
			s.log.Error("a request panicked", "stack", string(debug.Stack()))
			s.problem(out, r, fault.New(fault.Internal, "internal error"))
		}
	}()
	nonce := rand.Text()
	headers(w.Header(), nonce)
	r = r.WithContext(context.WithValue(r.Context(), nonceKey{}, nonce))
	if s.front != nil && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		out.plain = func(p Problem) { s.front(out, r, p) }
	}
	if err := s.checkHost(r); err != nil {
		s.refuse(out, http.StatusMisdirectedRequest, err)
		return
	}
	if err := checkOrigin(r); err != nil {
		s.refuse(out, http.StatusForbidden, err)
		return
	}
	if err := checkSizes(r); err != nil {
		s.refuse(out, http.StatusBadRequest, err)
		return
	}
	if r.URL.Path == "/login" && r.Method == http.MethodPost {
		s.signIn(out, r)
		return
	}
	if h, pattern := s.mux.Handler(r); pattern == "" {
		h.ServeHTTP(&unknown{answer: out, s: s}, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

type nonceKey struct{}

// Nonce is the word that lets a style element of this answer pass.
func Nonce(r *http.Request) string {
	n, _ := r.Context().Value(nonceKey{}).(string)
	return n
}

// headers are on every answer. There is no CORS header anywhere: no other site
// has any business here.
func headers(h http.Header, nonce string) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src-elem 'self' 'nonce-"+nonce+"'; "+
		"style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; worker-src 'self' blob:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// checkHost lets in only requests to a name of our own: a foreign name that was
// pointed at this machine would make a foreign page one of ours.
func (s *Server) checkHost(r *http.Request) error {
	s.mu.Lock()
	ok := s.hosts[strings.ToLower(r.Host)]
	s.mu.Unlock()
	if !ok {
		return fault.Fix(fault.Denied, "open the address that lore serve printed", "unknown host name")
	}
	return nil
}

// checkOrigin refuses what a browser sends for a page of another origin, for
// every method. Programs send neither header.
func checkOrigin(r *http.Request) error {
	foreign := fault.New(fault.Denied, "requests from other sites are refused")
	for _, o := range r.Header.Values("Origin") {
		if o != "http://"+r.Host && o != "https://"+r.Host {
			return foreign
		}
	}
	for _, v := range r.Header.Values("Sec-Fetch-Site") {
		if v != "same-origin" && v != "none" {
			return foreign
		}
	}
	return nil
}

// maxAddress is how long the path and the query of a request may be, in bytes.
const maxAddress = 16 << 10

// headerSizes are the headers that are looked up, compared or kept, and how long
// each may be. What is longer is no key, id or version of anybody.
var headerSizes = map[string]int{
	"Mcp-Session-Id": 200, "Last-Event-Id": 200, "Idempotency-Key": 200, "Mcp-Protocol-Version": 64, "Mcp-Method": 200, "Mcp-Name": 4_000,
	"X-Mcp-Toolsets": 4_000, "X-Mcp-Readonly": 64, "Authorization": 4_000,
}

// checkSizes refuses addresses and headers that are too long.
func checkSizes(r *http.Request) error {
	if n := len(r.URL.Path) + len(r.URL.RawQuery); n > maxAddress {
		return fault.New(fault.TooLarge, "the address has %d bytes, the limit is %d", n, maxAddress)
	}
	for name, most := range headerSizes {
		for _, v := range r.Header[name] {
			if len(v) > most {
				return fault.New(fault.TooLarge, "the header %s has %d bytes, the limit is %d", name, len(v), most)
			}
		}
	}
	return nil
}

// guard lets through to a route who may use it, with a body that can be read.
func (s *Server) guard(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, ok := w.(*answer)
		if !ok {
			out = &answer{ResponseWriter: w}
		}
		out.plain = nil
		if route.Plain != nil {
			out.plain = func(p Problem) { route.Plain(out, r, p) }
		}
		if route.Anyone { // nothing of the vault is there
			if err := route.Handle(out, r, access.Principal{}); err != nil {
				s.problem(out, r, err)
			}
			return
		}
		who, err := s.who(r, route)
		if err != nil {
			if fault.Of(err) != fault.Denied {
				s.unsure(out, r, err)
				return
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="lore"`)
			s.refuse(out, http.StatusUnauthorized, err)
			return
		}
		if err := permit(route, who); err != nil {
			s.problem(out, r, err)
			return
		}
		if status, err := body(out, r); err != nil {
			s.refuse(out, status, err)
			return
		}
		// A stream may last; whoever reads the body has done so.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not every writer has one
		ctx, stop := s.whileKnown(r, route)
		defer stop()
		if err := route.Handle(out, r.WithContext(ctx), who); err != nil {
			s.problem(out, r, err)
		}
	})
}

// who is behind a request. A request that brings a token is judged by it alone.
func (s *Server) who(r *http.Request, route Route) (access.Principal, error) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 && s.anyone != nil {
		return *s.anyone, nil
	}
	if len(given) == 0 {
		return s.session(r, route)
	}
	scheme, secret, _ := strings.Cut(given[0], " ")
	if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") || s.tokens == nil {
		return access.Principal{}, fault.New(fault.Denied, "send exactly one bearer token")
	}
	t, err := s.tokens.Check(r.Context(), secret)
	if err != nil {
		return access.Principal{}, err
	}
	return t.Principal(route.As), nil
}

func permit(route Route, who access.Principal) error {
	switch {
	case route.Person && who.Kind != access.Person:
		return fault.Fix(fault.Denied, "do it on the web page or in a terminal", "only a person can do this, not an app")
	case !who.May(route.Scope):
		return fault.New(fault.Denied, "this token does not have the %s scope", route.Scope)
	}
	return nil
}

// lookEvery is how often a request that lasts is asked again who it is from.
const lookEvery = time.Second

// whileKnown is the context of a request: it ends when the token is revoked or
// the session is over, even in the middle of a stream.
func (s *Server) whileKnown(r *http.Request, route Route) (context.Context, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	look := make(chan *time.Timer, 1)
	timer := time.AfterFunc(lookEvery, func() {
		t := <-look
		if _, err := s.who(r.WithContext(ctx), route); fault.Of(err) == fault.Denied {
			cancel()
		} else if ctx.Err() == nil {
			t.Reset(lookEvery)
		}
		look <- t
	})
	look <- timer
	return ctx, func() {
		cancel()
		timer.Stop()
	}
}

// body reads what a state change brings: JSON, of bounded size and depth. A
// form of another site can send neither the type nor anything like it, nor ask
// for a DELETE, which may come without.
func body(w http.ResponseWriter, r *http.Request) (int, error) {
	switch empty := r.ContentLength == 0 && len(r.TransferEncoding) == 0; {
	case r.Method == http.MethodGet, r.Method == http.MethodHead, r.Method == http.MethodDelete && empty:
		r.Body = http.NoBody
		return 0, nil
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || kind != "application/json" || charset != "" && charset != "utf-8" || len(r.Header.Values("Content-Type")) != 1 {
		return http.StatusUnsupportedMediaType, fault.Fix(fault.Invalid, "send Content-Type: application/json", "the request body must be JSON")
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, BodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fault.New(fault.TooLarge, "the request body has more than %d bytes", BodyBytes)
	case err != nil:
		return http.StatusBadRequest, fault.New(fault.Invalid, "the request body is incomplete")
	case len(bytes.TrimSpace(b)) > 0 && schema.IsDeeper(b, Depth):
		return http.StatusBadRequest, fault.New(fault.Invalid, "the request body is nested more than %d deep", Depth)
	case len(bytes.TrimSpace(b)) > 0 && !json.Valid(b):
		return http.StatusBadRequest, fault.New(fault.Invalid, "the request body is not valid JSON")
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return 0, nil
}
