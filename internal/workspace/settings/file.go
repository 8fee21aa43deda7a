package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/tool/schema"

	"github.com/pelletier/go-toml/v2"
)

// Path is where the configuration file lies.
func (p Place) Path() (string, error) {
	dir, err := p.Home().Config()
	return filepath.Join(dir, "config.toml"), err
}

// Mark is another one when the file is: it was written, replaced or removed.
func (p Place) Mark() string {
	path, err := p.Path()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), home.FileID(path))
}

// Read reads the file. A missing one is an empty one; a key that does not
// exist is an error, because a mistyped setting is worse than none.
func (p Place) Read() (File, error) {
	var c File
	path, err := p.Path()
	if err != nil {
		return c, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the settings: %w", err)
	}
	return parse(path, b)
}

// parse reads the text of the file at path.
func parse(path string, text []byte) (File, error) {
	var c File
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			return c, unknownSetting(path, strict.Errors[0])
		}
		return c, badSyntax(path, err)
	}
	tool.MoveFormerSets(c.Tools)
	return c, nil
}

func unknownSetting(path string, e toml.DecodeError) error {
	row, _ := e.Position()
	key := strings.Join(e.Key(), ".")
	var keys []string
	for _, v := range values() {
		keys = append(keys, v.key)
	}
	fix := "the settings are " + strings.Join(keys, ", ") + ` and exclude and protected in [vaults."/path"]`
	if near := schema.Nearest(key, keys, 1); len(near) > 0 {
		fix = "did you mean " + near[0] + "?"
	}
	return fault.Fix(fault.Invalid, fix, "%s:%d: unknown setting %s", path, row, key)
}

func badSyntax(path string, err error) error {
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, _ := bad.Position()
		return fault.Fix(fault.Invalid, "fix the line", "%s:%d: %s", path, row, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	return fault.New(fault.Invalid, "%s: %v", path, err)
}

// editing lets one change of a file follow another in this process, without
// waiting for the lock that is for the others.
var editing sync.Mutex

// edit changes the file as f does, which gets it as it is, and keeps everything
// else of it. A file that cannot be read is not written over, and none is written
// that could not be read. One process changes it at a time: of two at once, the
// second would write over the first.
func (p Place) edit(what string, f func(c *File, old []byte) ([]byte, error)) (err error) {
	editing.Lock()
	defer editing.Unlock()
	path, err := p.Path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	release, err := home.AwaitLock(context.Background(), path+".lock", func() bool { return true })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the settings: %w", err)
	}
	c, err := parse(path, old)
	if err != nil {
		return err
	}
	text, err := f(&c, old)
	if err == nil {
		_, err = parse(path, text)
	}
	if err != nil {
		return fault.Fix(fault.Invalid, "edit "+path+" by hand", "%s cannot be changed without rewriting the file", what)
	}
	if bytes.Equal(text, old) {
		return nil
	}
	return home.Replace(path, text)
}
