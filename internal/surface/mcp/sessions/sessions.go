// Package sessions keeps the number of open MCP sessions small: the one that was
// unused longest makes room for a new one. The library bounds them not at all.
package sessions

import (
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Max is how many sessions are kept for one choice of tools. Clients that crash
// leave theirs behind.
const Max = 64

// Uses remembers which sessions of a server were used last. The zero value
// remembers none.
type Uses struct {
	mu      sync.Mutex
	count   int
	last    map[string]int // number of the last request, by session
	closing map[string]bool
}

// Use notes a request of a session.
func (u *Uses) Use(id string) {
	if id == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
	if u.last == nil {
		u.last, u.closing = map[string]int{}, map[string]bool{}
	}
	u.last[id] = u.count
}

// Spare picks the session that was unused longest, or nil when there is room. It
// reports whether another session may begin: sessions that are being closed still
// count, because a call of theirs may run.
func (u *Uses) Spare(all []*sdk.ServerSession) (*sdk.ServerSession, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	there := map[string]*sdk.ServerSession{}
	for _, s := range all {
		if id := s.ID(); id != "" { // the others end with their request
			there[id] = s
		}
	}
	oldest := ""
	for id, n := range u.last {
		switch {
		case there[id] == nil:
			delete(u.last, id)
			delete(u.closing, id)
		case !u.closing[id] && (oldest == "" || n < u.last[oldest]):
			oldest = id
		}
	}
	ok := len(there) < 2*Max
	if len(there)-len(u.closing) < Max || oldest == "" {
		return nil, ok
	}
	u.closing[oldest] = true
	return there[oldest], ok
}
