package state

import (
	"os"

	"golang.org/x/sys/windows"
)

// Lock waits until no other process holds the file. The system gives it
// back when the file is closed, however the process ends. The locked byte lies
// far behind the end: what is locked here cannot be read by others.
func Lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at)
}
