package serverlist

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"lore/internal/fault"
)

// A Definition is everything that a server says about one of its tools.
type Definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema,omitempty"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// Digest identifies the definition as that of a tool of one server.
func (d Definition) Digest(server string) string {
	h := sha256.New()
	for _, part := range []string{"lore tool 1", server, d.Name, d.Title, d.Description, string(d.Input), string(d.Output), string(d.Annotations)} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// kept is how much of a description is kept for people to compare. The digest
// covers all of it.
const kept = 8 << 10

// short is the definition as it is kept.
func (d Definition) short() Definition {
	if len(d.Description) > kept {
		n := kept
		for n > 0 && !utf8.RuneStart(d.Description[n]) {
			n--
		}
		d.Description = fmt.Sprintf("%s\n[cut: %d of %d bytes]", d.Description[:n], n, len(d.Description))
	}
	return d
}

// A Pin is a tool as a person came to trust it: as it was first seen, or as it
// was accepted later.
type Pin struct {
	Digest     string     `json:"digest"`
	Definition Definition `json:"definition"`
	Since      time.Time  `json:"since"`
	// Offered is what the server says now, when that is something else.
	Offered *Offer `json:"offered,omitempty"`
}

// An Offer is a definition that waits for a person.
type Offer struct {
	Digest     string     `json:"digest"`
	Definition Definition `json:"definition"`
	Since      time.Time  `json:"since"`
}

// pinned is the file of one server.
type pinned struct {
	Server string         `json:"server"`
	Tools  map[string]Pin `json:"tools"`
}

func (r *List) pinFile(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(r.Dir, "pins", hex.EncodeToString(sum[:10])+".json")
}

// Pins returns what is known of a server's tools, by their names.
func (r *List) Pins(key string) (map[string]Pin, error) {
	p := pinned{}
	err := readJSON(r.pinFile(key), &p)
	return p.Tools, err
}

// mostPins is how many tools of one server are remembered. A server that shows
// others again and again would else make its file grow for ever.
const mostPins = 1024

// Record compares what a server says now with what is known, and remembers it:
// a tool that was never seen is pinned, one that differs is offered and its pin
// stays. It returns the pins; a tool without one was one too many.
func (r *List) Record(ctx context.Context, key string, seen []Definition) (map[string]Pin, error) {
	known, err := r.Pins(key)
	if err != nil || !differs(key, known, seen) {
		return known, err
	}
	err = r.locked(ctx, func() error {
		if known, err = r.Pins(key); err != nil {
			return err
		}
		if known == nil {
			known = map[string]Pin{}
		}
		for _, d := range seen {
			r.record(key, known, d)
		}
		return writeJSON(r.pinFile(key), pinned{key, known})
	})
	return known, err
}

// differs reports whether there is anything to remember.
func differs(key string, known map[string]Pin, seen []Definition) bool {
	return slices.ContainsFunc(seen, func(d Definition) bool {
		p, ok := known[d.Name]
		digest := d.Digest(key)
		switch {
		case !ok:
			return len(known) < mostPins
		case p.Digest == digest:
			return p.Offered != nil
		}
		return p.Offered == nil || p.Offered.Digest != digest
	})
}

func (r *List) record(key string, known map[string]Pin, d Definition) {
	p, ok := known[d.Name]
	digest := d.Digest(key)
	switch {
	case !ok && len(known) >= mostPins:
		return
	case !ok:
		p = Pin{Digest: digest, Definition: d.short(), Since: r.Now()}
	case p.Digest == digest:
		p.Offered = nil
	case p.Offered == nil || p.Offered.Digest != digest:
		p.Offered = &Offer{Digest: digest, Definition: d.short(), Since: r.Now()}
	}
	known[d.Name] = p
}

// Accept makes the offered definition of a tool the pinned one. The digest is
// that of what the person saw.
func (r *List) Accept(ctx context.Context, key, tool, digest string) error {
	return r.locked(ctx, func() error {
		known, err := r.Pins(key)
		if err != nil {
			return err
		}
		p, ok := known[tool]
		switch {
		case !ok || p.Offered == nil:
			return fault.New(fault.NotFound, "the tool %q has no change to accept", tool)
		case p.Offered.Digest != digest:
			return fault.Fix(fault.Conflict, "review it again", "the tool %q changed again", tool)
		}
		known[tool] = Pin{Digest: p.Offered.Digest, Definition: p.Offered.Definition, Since: r.Now()}
		return writeJSON(r.pinFile(key), pinned{key, known})
	})
}

// Offers lists the tools that wait for a person, by name.
func Offers(pins map[string]Pin) []Pin {
	var out []Pin
	for _, p := range pins {
		if p.Offered != nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Pin) int { return cmp.Compare(a.Definition.Name, b.Definition.Name) })
	return out
}
