//go:build !unix

package home

import (
	"errors"
	"os"
)

// Lock takes the lock that a file stands for, or reports that another process
// has it: a file that is open cannot be removed here, so one that can be was
// left by a process that ended.
func Lock(path string) (release func() error, ok bool, err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() error { return errors.Join(f.Close(), os.Remove(path)) }, true, nil
}

// FileID identifies a folder whatever it is called; not known here.
func FileID(string) string { return "" }
