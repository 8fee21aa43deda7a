package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/agent/loop"
	"lore/internal/tool"
)

// mostNudges is how often a run is told that it repeats itself before it asks
// the person.
const mostNudges = 2

// repeats reports whether a call would go round in circles, see [loop.Closes].
func (w *worker) repeats(c *chat.Call) bool {
	var made []loop.Call
	for _, x := range w.calls[max(0, len(w.calls)-loop.LookBack):] {
		if x.State.Over() {
			made = append(made, loop.Call{Key: w.key(&x), Result: x.Result, Changed: x.Operation != "", Skipped: x.Repeats})
		}
	}
	return loop.Closes(made, w.key(c))
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
