//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keeps an open from waiting for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK

// oddNamesDiffer says that the system gives device names and trailing dots
// another meaning.
const oddNamesDiffer = false

// identity reads the inode and the number of hard links of a file.
func identity(info fs.FileInfo) (inode, links uint64) {
	switch st := info.Sys().(type) {
	case *unix.Stat_t:
		return uint64(st.Ino), uint64(st.Nlink)
	case *syscall.Stat_t:
		return uint64(st.Ino), uint64(st.Nlink)
	}
	return 0, 1
}

// openLinks is how many names an open file has.
func openLinks(_ *os.File, info fs.FileInfo) uint64 {
	_, links := identity(info)
	return links
}

// changeTime reads when anything about a file was last changed, in nanoseconds
// since 1970. Unlike its modification time, no program can set it.
func changeTime(info fs.FileInfo) int64 {
	switch st := info.Sys().(type) {
	case *unix.Stat_t:
		return st.Ctim.Nano()
	case *syscall.Stat_t:
		return statChangeTime(st)
	}
	return 0
}

// writable reports whether this process could make a file in the folder,
// without making one.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// isNotFolder reports that a file stands where the path names a folder.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
