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

// syncAllAt makes a whole file system durable. A file system in user space is
// not asked by the kernel, which says yes for it.
func syncAllAt(fd int) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return err
	}
	if uint32(st.Type) == unix.FUSE_SUPER_MAGIC {
		return unix.ENOTSUP
	}
	return unix.Syncfs(fd)
}

// mountOf tells apart the mounts of one disk: nothing can be renamed from one to
// the other. It is 0 where the kernel does not tell.
func mountOf(fd int) uint64 {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return st.Mnt_id
}

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
