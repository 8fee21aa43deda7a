//go:build unix

package state

import (
	"errors"
	"os"
	"syscall"
)

// Lock waits until no other process holds the file. The system gives it
// back when the file is closed, however the process ends. File systems without
// locks leave the order to the database, which every writer holds as well.
func Lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
			return nil
		}
		return err
	}
}

// tryLock takes the lock of a file, alone or together with others, or reports
// that it is not free. A lock that is held already is changed.
func tryLock(f *os.File, alone bool) (bool, error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
			return true, nil
		}
		return err == nil, err
	}
}
