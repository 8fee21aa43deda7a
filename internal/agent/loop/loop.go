// Package loop recognizes calls that go round in circles.
package loop

import (
	"encoding/json"
	"slices"
	"strings"
)

// LookBack is how many calls are looked at: more than the longest block needs.
const LookBack = 24

// A Call is one that is over.
type Call struct {
	Key     string // what it asked
	Result  string
	Changed bool // it changed something, which makes all calls new
	Skipped bool // it was not made: its result is that of the one before
}

// Closes reports whether the next call would be the third of its kind: the same call
// with the same result, or the beginning of a block of up to four calls that was
// made twice in a row.
func Closes(made []Call, next string) bool {
	var list []Call
	for _, c := range made {
		if c.Changed {
			list = nil
			continue
		}
		if c.Skipped {
			if i := slices.IndexFunc(list, func(x Call) bool { return x.Key == c.Key }); i >= 0 {
				c.Result = list[i].Result
			}
			c.Skipped = false
		}
		list = append(list, c)
	}
	for block := 1; block <= 4; block++ {
		n := len(list)
		if n < 2*block {
			return false
		}
		if list[n-block].Key == next && slices.Equal(list[n-block:], list[n-2*block:n-block]) {
			return true
		}
	}
	return false
}

// Key names a call by what it asks. Searches for the same words in another order are
// the same.
func Key(tool string, args json.RawMessage, searches bool) string {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return tool + "\x00" + string(args)
	}
	if q, ok := m["query"].(string); ok && searches {
		words := strings.Fields(strings.ToLower(strings.Trim(q, `"?!. `)))
		slices.Sort(words)
		m["query"] = strings.Join(slices.Compact(words), " ")
	}
	inOrder, err := json.Marshal(m) // of its keys
	if err != nil {
		inOrder = args
	}
	return tool + "\x00" + string(inOrder)
}
