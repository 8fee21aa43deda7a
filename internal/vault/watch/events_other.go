//go:build !linux && !windows

package watch

// limitHint has nothing to say: events are not asked for.
const limitHint = ""

// noEvents says why events are not to be asked for: kqueue wants an open
// descriptor for every file, which a vault of thousands of notes exhausts.
func noEvents() string { return "watching would need an open file descriptor for every file" }

// watchLimit is not known here.
func watchLimit() int { return 0 }

// eventsInOrder says that no order can be relied on.
const eventsInOrder = false

// mounts is asked only where events come in order.
func mounts(string) (table string, elsewhere bool) { return "", true }
