package mcp

import (
	"fmt"
	"net/http"
	"slices"

	"lore/internal/surface/mcp/sessions"
)

// maxOpen is how many requests of one caller may be open over HTTP: streams, calls,
// and calls that wait for a person. The library bounds none of it.
const maxOpen = 256

// enter counts an open request of a caller, or refuses it.
func (e *Endpoint) enter(owner string) (leave func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[owner] >= maxOpen {
		return nil, false
	}
	e.open[owner]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.open[owner]--; e.open[owner] == 0 {
			delete(e.open, owner)
		}
	}, true
}

// refuseMore answers a caller that has too much open.
func refuseMore(w http.ResponseWriter, what string, n int) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, fmt.Sprintf("this client has %d %s open: close some, then try again", n, what), http.StatusTooManyRequests)
}

// serveSession serves a request of the era of sessions.
func (f *clientView) serveSession(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" && r.Method == http.MethodPost {
		old, ok := f.uses.Spare(slices.Collect(f.server.sdk.Sessions()))
		if old != nil {
			go func() { _ = old.Close() }() // it waits for calls that run
		}
		if !ok {
			refuseMore(w, "sessions", 2*sessions.Max)
			return
		}
	} else if r.Method != http.MethodDelete {
		f.uses.Use(id)
	}
	f.sessions.ServeHTTP(w, r)
	if id == "" {
		f.uses.Use(w.Header().Get("Mcp-Session-Id"))
	}
}

// close ends the sessions of a face that nobody can reach any more.
func (f *clientView) close() {
	for s := range f.server.sdk.Sessions() {
		if s.ID() != "" {
			go func() { _ = s.Close() }() // it waits for calls that run
		}
	}
}
