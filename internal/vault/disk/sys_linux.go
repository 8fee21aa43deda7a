package disk

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const xattrPrefix = "user."

func exchangeAt(a int, x string, b int, y string) error {
	return unix.Renameat2(a, x, b, y, unix.RENAME_EXCHANGE)
}

func moveNewAt(a int, x string, b int, y string) error {
	return unix.Renameat2(a, x, b, y, unix.RENAME_NOREPLACE)
}

func syncAllAt(fd int) error { return unix.Syncfs(fd) }

// BootID names the time since the machine was started: what was written in it
// and not synced is still there.
func BootID() string { return bootID() }

// bootID is read once: it cannot change under a process.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})
