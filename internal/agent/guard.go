package agent

import (
	"slices"

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

// key names a call by what it asks.
func (w *worker) key(c *chat.Call) string {
	t, err := w.Door.Find(c.Tool)
	return loop.Key(c.Tool, c.Args, err == nil && slices.Contains(t.Roles, tool.SearchesNotes))
}
