//go:build linux

package writer

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lore/internal/change"
	"lore/internal/vault"
)

// state is every visible file with its mode, and every folder.
func state(t *rapid.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == own {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil || d.IsDir() {
			out[rel+"/"] = ""
			return err
		}
		data, err := os.ReadFile(p)
		out[rel] = fmt.Sprintf("%v %q", info.Mode(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestInverseRestores applies random sets one after another, and then their
// inverses: the folder is byte for byte what it was.
func TestInverseRestores(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := memoryDir(t)
		files := map[string]string{}
		names := []string{"a.md", "b.md", "f/c.md", "f/d.md", "f/g/e.md", "h/ü.md"}
		for i, n := range names {
			if rapid.Bool().Draw(rt, "exists") {
				files[n] = fmt.Sprintf("%d", i)
				p := filepath.Join(dir, n)
				mode := rapid.SampledFrom([]fs.FileMode{0o644, 0o600, 0o640, 0o444}).Draw(rt, "mode")
				if os.MkdirAll(filepath.Dir(p), 0o755) != nil || os.WriteFile(p, []byte(files[n]), 0o600) != nil || os.Chmod(p, mode) != nil {
					rt.Fatal("cannot make files")
				}
			}
		}
		v, err := vault.Open(dir, vault.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		w := Open(v, Options{})
		defer w.Close()
		var states []map[string]string
		var sets []change.Set
		for range rapid.IntRange(1, 4).Draw(rt, "sets") {
			set := drawSet(rt, files, len(sets))
			if len(set) == 0 {
				continue
			}
			states = append(states, state(rt, dir))
			sets = append(sets, set)
			if _, err := w.Apply(t.Context(), fmt.Sprintf("op-%d", len(sets)), set); err != nil {
				rt.Fatalf("%+v: %v", set, err)
			}
		}
		for i, set := range slices.Backward(sets) {
			if _, err := w.Apply(t.Context(), fmt.Sprintf("undo-%d", i), set.Inverse()); err != nil {
				rt.Fatalf("undo of %+v: %v", set, err)
			}
			if have := state(rt, dir); !maps.Equal(have, states[i]) {
				rt.Fatalf("after the undo of %+v:\n%v, was\n%v", set, have, states[i])
			}
		}
	})
}

// drawSet makes a valid set for the files, and makes it on them.
func drawSet(t *rapid.T, files map[string]string, n int) change.Set {
	var set change.Set
	free := slices.Sorted(maps.Keys(files))
	fresh := 0
	name := func() string {
		fresh++
		return fmt.Sprintf("%s/new-%d-%d.md", rapid.SampledFrom([]string{".", "f", "k/l", "h", "f/g"}).Draw(t, "folder"), n, fresh)
	}
	text := rapid.StringMatching(`[a-zé\r\n]{0,20}`)
	for range rapid.IntRange(1, 4).Draw(t, "edits") {
		if rapid.Bool().Draw(t, "create") || len(free) == 0 {
			p := filepath.ToSlash(filepath.Clean(name()))
			s := text.Draw(t, "text")
			set = append(set, change.Create(p, s))
			files[p] = s
			continue
		}
		i := rapid.IntRange(0, len(free)-1).Draw(t, "file")
		p := free[i]
		free = slices.Delete(free, i, i+1)
		old, s := files[p], text.Draw(t, "text")+fmt.Sprint(n, i)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			set = append(set, change.Delete(p, old))
			delete(files, p)
		case 1:
			to := filepath.ToSlash(filepath.Clean(name()))
			set = append(set, change.Move(p, to))
			delete(files, p)
			files[to] = old
		case 2:
			to := filepath.ToSlash(filepath.Clean(name()))
			if s == old {
				continue
			}
			set = append(set, change.MoveReplace(p, to, old, s))
			delete(files, p)
			files[to] = s
		default:
			if s == old {
				continue
			}
			set = append(set, change.Replace(p, old, s))
			files[p] = s
		}
	}
	return set
}
