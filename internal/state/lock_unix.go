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
