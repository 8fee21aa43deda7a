// Package keys keeps the keys of providers of models: in the keyring of the
// system, or, where there is none, in a file that only its owner can read. It
// never logs one, and knows no provider.
package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"lore/internal/fault"
	"lore/internal/machine/home"
)

// A Ring is a keyring of a system.
type Ring interface {
	Set(name, key string) error
	Get(name string) (string, error) // an error when it has none
	Delete(name string) error
}

// A Store keeps keys.
type Store struct {
	// Dir is the folder of the file.
	Dir string
	// Ring is the keyring; nil is none.
	Ring Ring
}

// The places of a key.
const (
	InRing = "keyring"
	InFile = "file"
)

// Path is the file.
func (s Store) Path() string { return filepath.Join(s.Dir, "keys.json") }

// Set keeps a key, and returns where. Its former value is gone, wherever it was.
func (s Store) Set(name, key string) (place string, err error) {
	if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, "\r\n") {
		return "", fault.New(fault.Invalid, "invalid key: expected one line")
	}
	if s.Ring != nil && s.Ring.Set(name, key) == nil {
		// The ring may not be there the next time: one key lies in one place.
		return InRing, s.edit(func(all map[string]string) { delete(all, name) })
	}
	return InFile, s.edit(func(all map[string]string) { all[name] = key })
}

// Get returns a key, "" when there is none.
func (s Store) Get(name string) (string, error) {
	all, err := s.read()
	if err != nil || all[name] != "" {
		return all[name], err
	}
	if s.Ring == nil {
		return "", nil
	}
	key, err := s.Ring.Get(name)
	if err != nil {
		return "", nil //nolint:nilerr // no keyring is as good as an empty one: the environment may have the key
	}
	return key, nil
}

// Remove forgets a key, and reports whether there was one.
func (s Store) Remove(name string) (bool, error) {
	had := s.Ring != nil && s.Ring.Delete(name) == nil
	all, err := s.read()
	if err != nil || all[name] == "" {
		return had, err
	}
	return true, s.edit(func(all map[string]string) { delete(all, name) })
}

// Where tells which of the names have a key, and where it lies.
func (s Store) Where(names []string) (map[string]string, error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, n := range slices.Concat(names, slices.Collect(maps.Keys(all))) {
		if all[n] != "" {
			out[n] = InFile
		} else if s.Ring != nil {
			if k, err := s.Ring.Get(n); err == nil && k != "" {
				out[n] = InRing
			}
		}
	}
	return out, nil
}

// read reads the file. One that others can read is refused: the key in it is no
// secret any more.
func (s Store) read() (map[string]string, error) {
	out := map[string]string{}
	info, err := os.Stat(s.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("read the keys: %w", err)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fault.Fix(fault.Denied, "chmod 600 "+s.Path()+", and replace your keys if someone else may have read them", "other users can read the keys in %s", s.Path())
	}
	b, err := os.ReadFile(s.Path())
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fault.Fix(fault.Invalid, "fix or delete it", "%s cannot be read", s.Path()) // not why: the reason may quote a key
	}
	return out, nil
}

// editing lets one change of the file follow another: of two at once, the second
// would write over the first.
var editing sync.Mutex

// edit changes the file, if that changes anything.
func (s Store) edit(f func(map[string]string)) error {
	editing.Lock()
	defer editing.Unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	before := maps.Clone(all)
	f(all)
	if maps.Equal(before, all) {
		return nil
	}
	if len(all) == 0 {
		return os.Remove(s.Path())
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return home.Replace(s.Path(), append(b, '\n'))
}

// System is the keyring of this system.
type System struct{}

var _ Ring = System{}

// service is what our keys are called there.
const service = "lore"

// Set keeps a key. A person may have to unlock the keyring for it.
func (System) Set(name, key string) error {
	return within(time.Minute, func() error { return keyring.Set(service, name, key) })
}

// Get returns a key.
func (System) Get(name string) (string, error) {
	got := make(chan string, 1)
	err := within(5*time.Second, func() error {
		key, err := keyring.Get(service, name)
		got <- key
		return err
	})
	if err != nil {
		return "", err
	}
	return <-got, nil
}

// Delete forgets a key.
func (System) Delete(name string) error {
	return within(time.Minute, func() error { return keyring.Delete(service, name) })
}

// errSlow is a keyring that does not answer: a window that nobody sees may wait
// for a password.
var errSlow = errors.New("the keyring does not answer")

func within(d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return errSlow
	}
}
