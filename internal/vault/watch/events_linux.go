package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lore/internal/vault"
)

// eventsInOrder says that all events of one watcher come in the order in which
// the changes were made.
const eventsInOrder = true

// mounts reads which file systems are mounted on a folder and in it: the table
// changes when one comes or goes, of which no event tells. elsewhere reports
// whether one of them can change without an event here.
func mounts(dir string) (table string, elsewhere bool) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	elsewhere = err != nil || vault.ChangedElsewhere(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // as the table spells it
	}
	var below strings.Builder
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		at := unescape.Replace(fields[4])
		if at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			below.WriteString(line)
			elsewhere = elsewhere || vault.ChangedElsewhere(at)
		}
	}
	return below.String(), elsewhere
}

// unescape undoes what the system does to names in its table of mounts.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

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
