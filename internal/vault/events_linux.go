package vault

import (
	"os"
	"strconv"
	"strings"
)

// limitHint tells how to get more watches.
const limitHint = "raise fs.inotify.max_user_watches to get events"

// noEvents says why events are not to be asked for, or "".
func noEvents() string { return "" }

// watchLimit reads how many folders one user may watch.
func watchLimit() int {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}
