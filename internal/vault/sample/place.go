package sample

import (
	"path/filepath"

	"lore/internal/fault"
)

// Place copies the sample vault to dir, or finds the copy that is there.
func Place(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.New(fault.Invalid, "folder %q cannot be used: %v", dir, err)
	}
	empty, err := Empty(abs)
	switch {
	case err != nil:
		return "", fault.New(fault.Invalid, "folder %q cannot be used: %v", dir, err)
	case empty:
		return abs, Copy(abs)
	case Is(abs):
		return abs, nil
	}
	return "", fault.Fix(fault.Invalid, "name a folder that does not exist yet", "%q contains other files", dir)
}
