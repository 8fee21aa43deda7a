package watch

// limitHint has nothing to say: there is no such setting here.
const limitHint = ""

// noEvents says why events are not to be asked for, or "".
func noEvents() string { return "" }

// watchLimit is not known here.
func watchLimit() int { return 0 }

// eventsInOrder says that no order can be relied on.
const eventsInOrder = false

// mounts is asked only where events come in order.
func mounts(string) (table string, elsewhere bool) { return "", true }
