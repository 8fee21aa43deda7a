package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/mcp/sessions"
	"lore/internal/surface/mcp/stdio"
	"lore/internal/surface/mcp/tasks"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// modern is the first version of the protocol that has no sessions.
const modern = "2026-07-28"

// idle is how long a session of an older client is kept without a request.
const idle = 30 * time.Minute

// maxFaces is how many faces there are at once, and maxEach how many of them are
// of one principal that chooses its tools in several ways. The one that was heard
// of longest ago is let go for a new one.
const (
	maxFaces = 64
	maxEach  = 8
)

// An Endpoint serves many clients over HTTP. Every principal has a server and
// sessions of its own, so that nobody can use the session of another, whatever
// id it knows.
type Endpoint struct {
	door func() tool.Door
	opts Options

	mu    sync.Mutex
	faces map[string]*clientView
	order []string       // of faces, heard of longest ago first
	open  map[string]int // requests, by caller
}

// A clientView is what one principal sees. The library serves the modern protocol
// from a handler without sessions only, and asks older clients from one with
// sessions only, so there are both.
type clientView struct {
	owner    string // the principal
	server   *Server
	sessions http.Handler
	uses     sessions.Uses
	requests http.Handler
	answers  http.Handler // the same, without streams
}

// Handler serves both eras of the protocol at one path, to be mounted behind
// whatever checks Host, Origin and the token. Options.From tells who asks. A
// path that ends in /readonly or /x/SET[,SET], or the header X-MCP-Toolsets,
// narrows or chooses the tools.
// The caller must Close it.
func Handler(door func() tool.Door, o Options) *Endpoint {
	o = o.withDefaults()
	o.tasks = tasks.New(tasks.Options{Now: o.Now, After: o.After})
	return &Endpoint{door: door, opts: o, faces: map[string]*clientView{}, open: map[string]int{}}
}

// Close ends the tasks that still run, and waits for them.
func (e *Endpoint) Close() { e.opts.tasks.Close() }

// Follow tells the clients what changes, until ctx ends.
func (e *Endpoint) Follow(ctx context.Context) {
	follow(ctx, e.opts.Bus, e.opts.After, func(f func(*Server)) {
		e.mu.Lock()
		var all []*clientView
		for _, f := range e.faces {
			all = append(all, f)
		}
		e.mu.Unlock()
		for _, one := range all {
			f(one.server)
		}
	})
}

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.opts.From == nil {
		http.Error(w, "access is not configured here", http.StatusForbidden)
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
	o, err := chosen(e.opts, r)
	if err == nil && len(r.Header.Values(toolsetsHeader)) > 0 {
		err = o.Check(e.door().On())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if why := vetBody(r); why != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(append(stdio.Refuse(why), '\n')) // whoever asked may be gone
		return
	}
	leave, ok := e.enter(who.Key())
	if !ok {
		refuseMore(w, "requests", maxOpen)
		return
	}
	defer leave()
	o.Who = who
	f := e.viewFor(o)
	r, done := e.untilClosing(r)
	defer done()
	f.serve(w, r)
}

// vetBody says why the messages of a request are not taken. The body was read
// once, and is bounded.
func vetBody(r *http.Request) string {
	if r.Method != http.MethodPost {
		return ""
	}
	b, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	if err != nil || !json.Valid(b) {
		return "" // the library says what is wrong
	}
	if version := r.Header.Get("Mcp-Protocol-Version"); bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) && !stdio.HasBatches(version) {
		return "batches are not supported in version " + version + " of the protocol: send one message"
	}
	return stdio.Vet(b)
}

func (f *clientView) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Mcp-Protocol-Version") < modern:
		f.serveSession(w, r)
	case answersOnce(r):
		f.answers.ServeHTTP(w, r)
	default:
		f.requests.ServeHTTP(w, r)
	}
}

// answersOnce reports whether nothing but one answer can come of a request: it
// does not listen, and does not want to hear how far it is. Then no stream has to
// be opened for it.
func answersOnce(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Header.Get("Mcp-Method") == "subscriptions/listen" || !strings.Contains(r.Header.Get("Accept"), "application/json") {
		return false
	}
	b, err := io.ReadAll(r.Body) // it was read once, and is bounded
	r.Body = io.NopCloser(bytes.NewReader(b))
	var msg struct {
		Method string `json:"method"`
		Params struct {
			Meta struct {
				Progress any `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	return err == nil && json.Unmarshal(b, &msg) == nil && msg.Params.Meta.Progress == nil && msg.Method != "subscriptions/listen"
}

// untilClosing lets a request that only listens end when the server does, so
// that calls under way have the time that is left.
func (e *Endpoint) untilClosing(r *http.Request) (*http.Request, func()) {
	listens := r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen"
	if !listens || e.opts.Closing == nil {
		return r, func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-e.opts.Closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return r.WithContext(ctx), cancel
}

// The headers by which a client chooses tools, as other servers have them.
const (
	toolsetsHeader = "X-MCP-Toolsets"
	readonlyHeader = "X-MCP-Readonly"
)

// chosen takes the choice of tools from the end of a path, else from a header.
// Read only always stays, whoever says it, and what a token may not do is not
// offered whatever is chosen.
func chosen(o Options, r *http.Request) (Options, error) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if rest, ok := strings.CutSuffix(path, "/readonly"); ok {
		o.ReadOnly, path = true, rest
	}
	if word := r.Header.Get(readonlyHeader); word != "" {
		on, err := strconv.ParseBool(word)
		if err != nil {
			return o, fault.Field(readonlyHeader, "write true or false", "%q is not valid", word)
		}
		o.ReadOnly = o.ReadOnly || on
	}
	sets := strings.Join(r.Header.Values(toolsetsHeader), ",")
	if _, named, ok := strings.Cut(path, "/x/"); ok && named != "" {
		sets = named
	}
	if sets != "" {
		o.Toolsets, o.Tools = nil, nil
		for w := range strings.SplitSeq(sets, ",") {
			if w = strings.TrimSpace(w); w != "" {
				o.Toolsets = append(o.Toolsets, w)
			}
		}
		slices.Sort(o.Toolsets)
		o.Toolsets = slices.Compact(o.Toolsets)
	}
	return o, nil
}

// viewFor finds or makes what a principal sees.
func (e *Endpoint) viewFor(o Options) *clientView {
	b, err := json.Marshal([]any{o.Who, o.Toolsets, o.ReadOnly})
	if err != nil {
		panic("a caller that cannot be encoded: " + err.Error())
	}
	key := string(b)
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.order, key); i >= 0 {
		e.order = append(slices.Delete(e.order, i, i+1), key)
		return e.faces[key]
	}
	owner := o.Who.Key()
	e.makeRoom(owner)
	s := New(e.door, o)
	get := func(*http.Request) *sdk.Server { return s.sdk }
	f := &clientView{
		owner: owner, server: s,
		sessions: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			Logger: quiet(o.Log), SessionTimeout: idle, EventStore: sdk.NewMemoryEventStore(nil),
		}),
		requests: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			Logger: quiet(o.Log), Stateless: true, PropagateRequestCancellation: true,
		}),
		answers: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			Logger: quiet(o.Log), Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		}),
	}
	e.faces[key], e.order = f, append(e.order, key)
	return f
}

// makeRoom lets a face go when there are too many, one of the principal's own
// first. The caller holds the lock.
func (e *Endpoint) makeRoom(owner string) {
	own := func(key string) bool { return e.faces[key].owner == owner }
	count := 0
	for _, key := range e.order {
		if own(key) {
			count++
		}
	}
	at := 0
	switch {
	case count >= maxEach:
		at = slices.IndexFunc(e.order, own)
	case len(e.order) < maxFaces:
		return
	}
	e.faces[e.order[at]].close()
	delete(e.faces, e.order[at])
	e.order = slices.Delete(e.order, at, at+1)
}
