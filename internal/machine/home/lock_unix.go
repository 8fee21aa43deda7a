//go:build unix

package home

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock takes the lock that a file stands for, or reports that another process
// has it. The system gives it back when the process ends, however.
func Lock(path string) (release func() error, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, f.Close()
	}
	if err != nil && !errors.Is(err, syscall.ENOLCK) && !errors.Is(err, syscall.ENOTSUP) {
		return nil, false, errors.Join(err, f.Close())
	}
	return f.Close, true, nil
}

// FileID identifies a folder whatever it is called.
func FileID(path string) string {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
