package state

import (
	"errors"
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

// tryLock takes the lock of a file, alone or together with others, or reports
// that it is not free. A lock that is held already is changed.
func tryLock(f *os.File, alone bool) (bool, error) {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at) // it may not be held
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
