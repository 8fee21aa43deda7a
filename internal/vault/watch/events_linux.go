package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// eventsInOrder says that all events of one watcher come in the order in which
// the changes were made.
const eventsInOrder = true

// elsewhere are the file systems that others can change without this system's
// knowledge: servers on the network, and what lies below FUSE.
var elsewhere = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC,
	unix.AFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
	0x786f4256, // VirtualBox's shared folders
	0x01161970, // GFS2
	unix.OCFS2_SUPER_MAGIC,
	0x0bd00bd0, // Lustre
}

// changedElsewhere reports whether a folder can change without an event here.
func changedElsewhere(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) != nil || slices.Contains(elsewhere, uint32(st.Type))
}

// mountsIn lists the file systems that are mounted at a folder or below it.
func mountsIn(dir string) string {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return mountsOf(string(b), dir)
}

// escaped is how mountinfo writes the characters that separate its fields.
var escaped = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)

// mountsOf picks number, device and place of the mounts of a folder out of the
// text of mountinfo.
func mountsOf(text, dir string) string {
	dir = escaped.Replace(dir)
	var out []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 4 && (fields[4] == dir || strings.HasPrefix(fields[4], dir+"/")) {
			out = append(out, strings.Join([]string{fields[0], fields[2], fields[4]}, " "))
		}
	}
	return strings.Join(out, "\n")
}

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
