package vault

import (
	"errors"
	"os"

	"lore/internal/fault"
)

// A linkedError refuses a file that has several names.
type linkedError struct{ error }

func (e linkedError) Unwrap() error { return e.error }

// Linked is the refusal of a file that has several names. The other name can be
// a secret of another folder, or a note that only a person may change, and
// nothing tells which.
func Linked(key string) error {
	return linkedError{fault.Fix(fault.Unsafe, "copy it to make it a separate file, or set files.hard_links to allow",
		"%q is a hard link: its text also exists under another name", key)}
}

// IsLinked reports whether an error is that refusal.
func IsLinked(err error) bool {
	var e linkedError
	return errors.As(err, &e)
}

// ReadsLinked reports whether files with several names are read.
func (v *Vault) ReadsLinked() bool { return v.linked }

// CheckOpen refuses an open file that has several names, unless the settings
// allow them. It asks about the file that is open: the name may mean another one
// by now.
func (v *Vault) CheckOpen(key string, f *os.File) error {
	if v.linked {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if openLinks(f, info) > 1 {
		return Linked(key)
	}
	return nil
}

// HasLinked lists those of the files that have several names.
func (v *Vault) HasLinked(keys []string) []string {
	root, err := v.Handle()
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []string
	for _, key := range keys {
		if v.isLinked(root, key) {
			out = append(out, key)
		}
	}
	return out
}

func (v *Vault) isLinked(root *os.Root, key string) bool {
	f, err := root.OpenFile(v.spelled(key), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && openLinks(f, info) > 1
}
