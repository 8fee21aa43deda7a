package tool

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"lore/internal/index"
	"lore/internal/tool/schema"
)

// showsUntrusted reports whether a value names a note that is marked as untrusted.
// When that cannot be found out, it is taken for true.
func (c *call) showsUntrusted(ctx context.Context, value any) bool {
	known, err := c.untrustedNames(ctx)
	if err != nil {
		return true
	}
	c.mu.Lock()
	saw := newNames(slices.Collect(maps.Keys(c.saw)), nil)
	c.mu.Unlock()
	if known.isEmpty() && saw.isEmpty() {
		return false
	}
	raw, err := schema.Marshal(value)
	return err != nil || known.isIn(raw) || saw.isIn(raw)
}

// untrustedNames are the names of all untrusted notes that the index knows. They are
// made ready once for as long as the index stays the same.
func (r *Registry) untrustedNames(ctx context.Context) (*names, error) {
	if r.deps.Untrusted == nil {
		return nil, nil
	}
	found, err := r.deps.Untrusted(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	r.marked.mu.Lock()
	defer r.marked.mu.Unlock()
	if r.marked.names == nil || r.marked.at != found.At {
		r.marked.names, r.marked.at = newNames(found.Paths, found.Nodes), found.At
	}
	return r.marked.names, nil
}

// markedNames are the names of untrusted notes, and of which state of the index.
type markedNames struct {
	mu    sync.Mutex
	at    index.Stats
	names *names
}

// names finds names of notes in JSON, in time that depends on the length of the JSON
// and not on how many notes there are. A path counts wherever it is written: every
// place where one can end is compared from its end. An id may be a common word, and
// counts where it is a text of its own.
type names struct {
	whole    map[string]bool // as they are written between quotes
	paths    map[string]bool // the paths among them
	hashes   map[uint64]bool // of the paths, from their end
	lengths  map[int]bool    // of the paths, in bytes
	shortest int             // of the paths
	longest  int
}

func newNames(paths, ids []string) *names {
	if len(paths)+len(ids) == 0 {
		return nil
	}
	n := &names{whole: map[string]bool{}, paths: map[string]bool{}, hashes: map[uint64]bool{}, lengths: map[int]bool{}}
	for _, p := range paths {
		p = written(p)
		n.whole[p], n.paths[p], n.lengths[len(p)] = true, true, true
		n.longest = max(n.longest, len(p))
		if n.shortest == 0 || len(p) < n.shortest {
			n.shortest = len(p)
		}
		h := uint64(0)
		for i := len(p) - 1; i >= 0; i-- {
			h = addByte(h, p[i])
		}
		n.hashes[h] = true
	}
	for _, id := range ids {
		n.whole[written(id)] = true
	}
	return n
}

// written is a text as it stands in JSON, without the quotes.
func written(s string) string {
	raw, err := schema.Marshal(s)
	if err != nil || len(raw) < 2 {
		return s // a text always can be written
	}
	return string(raw[1 : len(raw)-1])
}

func addByte(h uint64, c byte) uint64 { return h*0x100000001b3 + uint64(c) + 1 }

func (n *names) isEmpty() bool { return n == nil || len(n.whole) == 0 }

// isIn reports whether JSON holds one of the names.
func (n *names) isIn(raw []byte) bool {
	if n.isEmpty() {
		return false
	}
	start := -1 // of the text that the scan is in
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case start < 0:
			if c == '"' {
				start = i + 1
			}
		case c == '\\':
			i++
		case c == '"':
			if n.whole[string(raw[start:i])] {
				return true
			}
			start = -1
		case c == '.':
			if end := extensionEnd(raw, i); end > 0 && n.endsAt(raw[start:end]) {
				return true
			}
		}
	}
	return false
}

// extensionEnd is where the extension of a note that begins at i ends; 0 when there
// is none.
func extensionEnd(raw []byte, i int) int {
	for _, ext := range []string{".markdown", ".md"} {
		if end := i + len(ext); end <= len(raw) && strings.EqualFold(string(raw[i:end]), ext) {
			return end
		}
	}
	return 0
}

// endsAt reports whether a text ends with one of the paths.
func (n *names) endsAt(text []byte) bool {
	h := uint64(0)
	for i := len(text) - 1; i >= 0 && len(text)-i <= n.longest; i-- {
		h = addByte(h, text[i])
		if k := len(text) - i; k >= n.shortest && n.lengths[k] && n.hashes[h] && n.paths[string(text[i:])] {
			return true
		}
	}
	return false
}
