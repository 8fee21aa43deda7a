package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/access"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// modern is the first version of the protocol that has no sessions.
const modern = "2026-07-28"

// idle is how long a session of an older client is kept without a request.
const idle = 30 * time.Minute

// maxFaces is how many principals are served at once; the one that was heard of
// longest ago is let go for a new one.
const maxFaces = 64

// An Endpoint serves many clients over HTTP. Every principal has a server and
// sessions of its own, so that nobody can use the session of another, whatever
// id it knows.
type Endpoint struct {
	door func() tool.Door
	opts Options

	mu    sync.Mutex
	faces map[string]*face
	order []string // of faces, heard of longest ago first
}

// A face is what one principal sees. The library serves the modern protocol
// from a handler without sessions only, and asks older clients from one with
// sessions only, so there are both.
type face struct {
	server   *Server
	sessions http.Handler
	requests http.Handler
}

// Handler serves both eras of the protocol at one path, to be mounted behind
// whatever checks Host, Origin and the token. Options.From tells who asks. A
// path that ends in /readonly or /x/SET[,SET] narrows or chooses the tools.
func Handler(door func() tool.Door, o Options) *Endpoint {
	return &Endpoint{door: door, opts: o.withDefaults(), faces: map[string]*face{}}
}

// Follow tells the clients when the list of tools changes, until ctx ends.
func (e *Endpoint) Follow(ctx context.Context) {
	follow(ctx, e.opts.Bus, func() {
		e.mu.Lock()
		var all []*face
		for _, f := range e.faces {
			all = append(all, f)
		}
		e.mu.Unlock()
		for _, f := range all {
			f.server.refresh()
		}
	})
}

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.opts.From == nil {
		http.Error(w, "nobody may come in here", http.StatusForbidden)
		return
	}
	who, ok := e.opts.From(r.Context())
	if !ok {
		http.Error(w, "not allowed", http.StatusForbidden)
		return
	}
	e.serveTo(w, r, who)
}

// Routes mounts the endpoint in the HTTP shell, which finds out who calls: /mcp,
// /mcp/readonly and /mcp/x/SET.
func (e *Endpoint) Routes() []serve.Route {
	var out []serve.Route
	for _, pattern := range []string{"/mcp", "/mcp/{rest...}"} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			out = append(out, serve.Route{
				Method: method, Pattern: pattern, Scope: access.Read, As: access.MCP,
				Handle: func(w http.ResponseWriter, r *http.Request, who access.Principal) error {
					e.serveTo(w, r, who)
					return nil
				},
			})
		}
	}
	return out
}

// serveTo answers one request of a known principal.
func (e *Endpoint) serveTo(w http.ResponseWriter, r *http.Request, who access.Principal) {
	if !who.May(access.Read) {
		http.Error(w, "not allowed", http.StatusForbidden)
		return
	}
	o := chosen(e.opts, r.URL.Path)
	o.Who = who
	f := e.face(o)
	if r.Header.Get("Mcp-Protocol-Version") >= modern {
		f.requests.ServeHTTP(w, r)
		return
	}
	f.sessions.ServeHTTP(w, r)
}

// chosen takes the choice of tools from the end of a path. Read only always
// stays.
func chosen(o Options, path string) Options {
	path = strings.TrimSuffix(path, "/")
	if rest, ok := strings.CutSuffix(path, "/readonly"); ok {
		o.ReadOnly, path = true, rest
	}
	if _, sets, ok := strings.Cut(path, "/x/"); ok && sets != "" {
		o.Toolsets, o.Tools = strings.Split(sets, ","), nil
	}
	return o
}

// face finds or makes what a principal sees.
func (e *Endpoint) face(o Options) *face {
	b, err := json.Marshal([]any{o.Who, o.Toolsets, o.ReadOnly})
	if err != nil {
		panic("a principal that cannot be written down: " + err.Error())
	}
	key := string(b)
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.order, key); i >= 0 {
		e.order = append(slices.Delete(e.order, i, i+1), key)
		return e.faces[key]
	}
	if len(e.order) >= maxFaces {
		delete(e.faces, e.order[0])
		e.order = e.order[1:]
	}
	s := New(e.door, o)
	get := func(*http.Request) *sdk.Server { return s.sdk }
	f := &face{
		server: s,
		sessions: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			Logger: o.Log, SessionTimeout: idle, EventStore: sdk.NewMemoryEventStore(nil),
		}),
		requests: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			Logger: o.Log, Stateless: true, PropagateRequestCancellation: true,
		}),
	}
	e.faces[key], e.order = f, append(e.order, key)
	return f
}
