package agent

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/tool"
)

// mostNudges is how often a run is told that it repeats itself before it asks
// the person.
const mostNudges = 2

// lookBack is how many calls are looked at: more than the longest block needs.
const lookBack = 24

// repeats reports whether a call would be the third of its kind: the same call
// with the same result, or the beginning of a block of up to four calls that was
// made twice in a row. A change in between makes all calls new.
func (w *worker) repeats(c *chat.Call) bool {
	var made []string // calls with their results
	var bare []string // without
	for _, x := range w.calls[max(0, len(w.calls)-lookBack):] {
		if !x.State.Over() {
			continue
		}
		if x.Operation != "" {
			made, bare = nil, nil
			continue
		}
		key := w.key(&x)
		result := sum(x.Result)
		if x.Repeats { // not made: its result is that of the one before
			if i := slices.Index(bare, key); i >= 0 {
				result = strings.TrimPrefix(made[i], key+"\x00")
			}
		}
		bare = append(bare, key)
		made = append(made, key+"\x00"+result)
	}
	next := w.key(c)
	for block := 1; block <= 4; block++ {
		n := len(made)
		if n < 2*block {
			return false
		}
		if slices.Equal(made[n-block:], made[n-2*block:n-block]) && bare[n-block] == next {
			return true
		}
	}
	return false
}

// key names a call by what it asks. Searches for the same words in another order
// are the same.
func (w *worker) key(c *chat.Call) string {
	args := string(c.Args)
	var m map[string]any
	if json.Unmarshal(c.Args, &m) == nil {
		if t, err := w.Door.Find(c.Tool); err == nil && slices.Contains(t.Roles, tool.SearchesNotes) {
			if q, ok := m["query"].(string); ok {
				words := strings.Fields(strings.ToLower(strings.Trim(q, `"?!. `)))
				slices.Sort(words)
				m["query"] = strings.Join(slices.Compact(words), " ")
			}
		}
		args = encode(m) // keys in order
	}
	return c.Tool + "\x00" + args
}

func sum(s string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return strconv.FormatUint(h.Sum64(), 36)
}
