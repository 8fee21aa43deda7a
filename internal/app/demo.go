package app

import (
	"path/filepath"

	"lore/internal/fault"
	"lore/internal/sample"
)

// demo copies the sample vault to dir, or finds the copy that is there.
func (a *app) demo(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.New(fault.Invalid, "folder %q: %v", dir, err)
	}
	empty, err := sample.Empty(abs)
	switch {
	case err != nil:
		return "", fault.New(fault.Invalid, "folder %q: %v", dir, err)
	case empty:
		return abs, sample.Copy(abs)
	case sample.Is(abs):
		return abs, nil
	}
	return "", fault.Fix(fault.Invalid, "name a folder that does not exist yet", "%q has other files in it", dir)
}
