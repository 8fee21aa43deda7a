package rest

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"lore/internal/fault"
)

// folded is one letter for all that the decoder takes for the same: K and the
// Kelvin sign, s and the long one.
func folded(r rune) rune {
	least := r
	for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
		least = min(least, n)
	}
	return least
}

// once refuses JSON in which an object has one key twice, in whatever case: a
// person saw one of them, and the decoder would take the other.
func once(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // the next token is a value, not a key
	}
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			return nil // the end, or what the decoder will tell better
		}
		top := len(open) - 1
		if key, ok := t.(string); ok && top >= 0 && open[top].keys != nil && !open[top].value {
			if key = strings.Map(folded, key); open[top].keys[key] {
				return fault.New(fault.Invalid, "the request body has %q twice", key)
			}
			open[top].keys[key], open[top].value = true, true
			continue
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
			top--
		}
		if top >= 0 {
			open[top].value = false
		}
	}
}
