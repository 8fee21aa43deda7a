package writer

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
)

// TestOnThisSystem makes every kind of change with what the system of the test
// has, and takes it back. It runs on every system.
func TestOnThisSystem(t *testing.T) {
	before := map[string]string{"a.md": "one", "f/b.md": "two [[a]]", "f/g/c.md": "three", "d.md": "four"}
	for name, c := range map[string]struct {
		set   change.Set
		after map[string]string
	}{
		"edit":     {change.Set{change.Replace("a.md", "one", "new")}, map[string]string{"a.md": "new"}},
		"create":   {change.Set{change.Create("n/m/new.md", "new")}, map[string]string{"n/m/new.md": "new"}},
		"delete":   {change.Set{change.Delete("f/b.md", "two [[a]]")}, map[string]string{"f/b.md": ""}},
		"rename":   {change.Set{change.Move("a.md", "f/z.md"), change.Replace("f/b.md", "two [[a]]", "two [[z]]")}, map[string]string{"a.md": "", "f/z.md": "one", "f/b.md": "two [[z]]"}},
		"case":     {change.Set{change.Move("a.md", "A.md")}, map[string]string{"a.md": "", "A.md": "one"}},
		"folder":   {change.Set{change.Move("f/b.md", "F/b.md"), change.Move("f/g/c.md", "F/g/c.md")}, map[string]string{"f/b.md": "", "f/g/c.md": "", "F/b.md": "two [[a]]", "F/g/c.md": "three"}},
		"all":      {change.Set{change.MoveReplace("f/g/c.md", "c.md", "three", "3"), change.Delete("d.md", "four"), change.Create("e.md", "five")}, map[string]string{"f/g/c.md": "", "c.md": "3", "d.md": "", "e.md": "five"}},
		"the same": {change.Set{change.Replace("a.md", "one", "one more"), change.Replace("d.md", "four", "4")}, map[string]string{"a.md": "one more", "d.md": "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for p, text := range before {
				full := filepath.Join(dir, filepath.FromSlash(p))
				if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			v, err := vault.Open(dir, vault.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w := Open(v, Options{})
			defer w.Close()
			after := maps.Clone(before)
			for p, text := range c.after {
				after[p] = text
				if text == "" {
					delete(after, p)
				}
			}
			if _, err := w.Apply(t.Context(), "op-1", c.set); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, dir, after)
			if _, err := w.Restore(t.Context(), "op-2", c.set.Inverse()); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, dir, before)
			if _, err := w.Apply(t.Context(), "op-3", change.Set{change.Create("A.md", "a twin")}); fault.Of(err) != fault.Conflict {
				t.Errorf("a twin: %v", err)
			}
			if settled, err := w.Recover(t.Context()); err != nil || len(settled) > 0 {
				t.Errorf("%+v, %v", settled, err)
			}
			sameFiles(t, dir, before)
		})
	}
}

// sameFiles compares the visible files with what they should be.
func sameFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	have := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == own:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		have[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil || !maps.Equal(have, want) {
		t.Errorf("the files are %v, want %v (%v)", have, want, err)
	}
}
