package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/mcpclient/configfile"
)

// finish decides what becomes of a file with nothing left in it: the one that
// Lore made goes, any other stays, as empty as its reader allows.
func (p *Plan) finish(name string) {
	p.Drop = p.bare != nil
	if p.Drop {
		return
	}
	// An object without a server is read by every client, an empty text is not.
	const probe = "{}\n"
	if _, _, err := p.Client.Find(probe, name); err == nil {
		p.After = probe
	}
}

// readFile returns the text of a file, nil when there is none.
func readFile(path string) (*string, error) {
	text, err := configfile.ReadText(path)
	switch {
	case err == nil:
		return &text, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case exists(path):
		// Writing would put a file in the place of the link.
		return nil, fault.Fix(fault.Invalid, "create the file it points to, or remove the link", "%s is a broken link", path)
	}
	return nil, nil
}

// Write puts the new text in place, when the file is still the one that was
// planned for, and returns where a copy of the old one is; empty when none was
// needed.
func (p *Plan) Write(now time.Time) (backup string, err error) {
	before, err := readFile(p.Path)
	if err != nil {
		return "", err
	}
	if (before == nil) != (p.Before == nil) || deref(before) != deref(p.Before) {
		return "", fault.Fix(fault.Conflict, "run the command again", "%s changed in the meantime", p.Path)
	}
	if before == nil {
		// Only the person may read what clients keep here: it often holds keys.
		if err := os.MkdirAll(filepath.Dir(p.Path), 0o700); err != nil {
			return "", unwritable(p.Path, err)
		}
	} else if backup, err = p.keep(now); err != nil {
		return "", unwritable(p.Path, err)
	}
	info, err := os.Lstat(p.Path)
	if p.Drop && err == nil && info.Mode().IsRegular() {
		return backup, unwritable(p.Path, os.Remove(p.Path))
	}
	return backup, unwritable(p.Path, home.Replace(p.Path, []byte(p.After)))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", path, fault.ReadOnly)
	}
	return err
}

// keep copies the file beside itself before the first change. It makes no second
// copy of the same text, and none of a text that differs from a copy, or from no
// file at all, by what Lore wrote. The copy has the permissions of the file.
func (p *Plan) keep(now time.Time) (string, error) {
	const mark = ".lore-backup-"
	dir, name := filepath.Split(p.Path)
	if p.bare != nil && strings.TrimSpace(*p.bare) == "" {
		return "", nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, d := range entries {
		if !strings.HasPrefix(d.Name(), name+mark) {
			continue
		}
		text, err := configfile.ReadText(filepath.Join(dir, d.Name()))
		switch {
		case err != nil:
		case text == *p.Before:
			return filepath.Join(dir, d.Name()), nil
		case p.bare != nil && text == *p.bare:
			return "", nil
		}
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return "", err
	}
	stem := p.Path + mark + now.UTC().Format("20060102T150405Z")
	path := stem
	for n := 2; exists(path); n++ {
		path = fmt.Sprintf("%s-%d", stem, n)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(*p.Before)
	return path, errors.Join(err, f.Sync(), f.Close())
}
