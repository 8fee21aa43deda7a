package keys_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"lore/internal/fault"
	"lore/internal/machine/keys"
)

// ring is a keyring in memory that can be locked.
type ring struct {
	has    map[string]string
	locked bool
}

var errLocked = errors.New("locked")

func (r *ring) Set(name, key string) error {
	if r.locked {
		return errLocked
	}
	r.has[name] = key
	return nil
}

func (r *ring) Get(name string) (string, error) {
	if r.locked || r.has[name] == "" {
		return "", errLocked
	}
	return r.has[name], nil
}

func (r *ring) Delete(name string) error {
	if r.locked || r.has[name] == "" {
		return errLocked
	}
	delete(r.has, name)
	return nil
}

func TestKeys(t *testing.T) {
	for name, s := range map[string]keys.Store{
		"file": {Dir: filepath.Join(t.TempDir(), "sub")},
		"ring": {Dir: t.TempDir(), Ring: &ring{has: map[string]string{}}},
		"lock": {Dir: t.TempDir(), Ring: &ring{locked: true}},
	} {
		want := keys.InFile
		if name == "ring" {
			want = keys.InRing
		}
		if k, err := s.Get("a"); err != nil || k != "" {
			t.Errorf("%s: %q %v", name, k, err)
		}
		if place, err := s.Set("a", " one\n"); err != nil || place != want {
			t.Errorf("%s: %q %v", name, place, err)
		}
		if _, err := s.Set("a", "two"); err != nil {
			t.Error(err)
		}
		if k, err := s.Get("a"); err != nil || k != "two" {
			t.Errorf("%s: %q %v", name, k, err)
		}
		if where, err := s.Where([]string{"a", "b"}); err != nil || len(where) != 1 || where["a"] != want {
			t.Errorf("%s: %v %v", name, where, err)
		}
		if info, err := os.Stat(s.Path()); want == keys.InFile && (err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v %v", name, info, err)
		}
		if had, err := s.Remove("a"); err != nil || !had {
			t.Errorf("%s: %v %v", name, had, err)
		}
		if had, err := s.Remove("a"); err != nil || had {
			t.Errorf("%s: %v %v", name, had, err)
		}
		if _, err := os.Stat(s.Path()); err == nil {
			t.Errorf("%s: a file without keys is left", name)
		}
		for _, bad := range []string{"", " \n", "one\ntwo"} {
			if _, err := s.Set("a", bad); fault.Of(err) != fault.Invalid {
				t.Errorf("%s: %q: %v", name, bad, err)
			}
		}
	}
}

// TestAKeyLiesInOnePlace: when the keyring is there again, the file forgets.
func TestAKeyLiesInOnePlace(t *testing.T) {
	r := &ring{has: map[string]string{}, locked: true}
	s := keys.Store{Dir: t.TempDir(), Ring: r}
	if place, err := s.Set("a", "old"); err != nil || place != keys.InFile {
		t.Fatal(place, err)
	}
	r.locked = false
	if place, err := s.Set("a", "new"); err != nil || place != keys.InRing {
		t.Fatal(place, err)
	}
	if k, err := s.Get("a"); err != nil || k != "new" {
		t.Error(k, err)
	}
}

// TestAFileThatOthersRead is refused, and no error shows what is in it.
func TestAFileThatOthersRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such rights")
	}
	s := keys.Store{Dir: t.TempDir()}
	if err := os.WriteFile(s.Path(), []byte(`{"a":"secret"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a"); fault.Of(err) != fault.Denied || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if _, err := s.Set("b", "x"); err == nil {
		t.Error("it was written over")
	}
	if err := os.Chmod(s.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := s.Get("a"); err != nil || k != "secret" {
		t.Error(k, err)
	}
	if err := os.WriteFile(s.Path(), []byte(`{"a":"secret`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// TestSystem goes through the library, with its own keyring in memory.
func TestSystem(t *testing.T) {
	keyring.MockInit()
	s := keys.Store{Dir: t.TempDir(), Ring: keys.System{}}
	if place, err := s.Set("a", "one"); err != nil || place != keys.InRing {
		t.Fatal(place, err)
	}
	if k, err := s.Get("a"); err != nil || k != "one" {
		t.Error(k, err)
	}
	if had, err := s.Remove("a"); err != nil || !had {
		t.Error(had, err)
	}
	keyring.MockInitWithError(errLocked)
	if place, err := s.Set("a", "one"); err != nil || place != keys.InFile {
		t.Error(place, err)
	}
}
