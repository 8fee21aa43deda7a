package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTree is a folder of its own, with files in it.
func newTree(t *testing.T, can Capabilities, files map[string]string) *Tree {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	tree := NewTree(System{}, root, can)
	t.Cleanup(tree.Close)
	return tree
}

// text is what a path holds, "-" for nothing.
func (t *Tree) text(p string) string {
	c, err := t.Read(p)
	if err != nil {
		return "-"
	}
	return string(c.Data)
}

// probed asks the disk of the test what it can do.
func probed(t *testing.T) Capabilities {
	t.Helper()
	tree := newTree(t, Capabilities{}, map[string]string{"own/x": ""})
	n := 0
	can, err := tree.Probe("own", func() string { n++; return strings.Repeat("a", n) })
	if err != nil {
		t.Fatal(err)
	}
	if names, err := tree.List("own"); err != nil || len(names) != 1 {
		t.Errorf("the probe left %v, %v", names, err)
	}
	return can
}

func TestProbe(t *testing.T) {
	can := probed(t)
	t.Logf("%+v", can)
	if !can.Sync || can.LoseCase {
		t.Errorf("%+v", can)
	}
}

// ways are the ways to move that the disk of the test has.
func ways(t *testing.T) map[string]Capabilities {
	t.Helper()
	can := probed(t)
	out := map[string]Capabilities{"by a reserved name": {}}
	if can.NoReplace {
		out["by the system"] = Capabilities{NoReplace: true}
	}
	if can.HardLink {
		out["by a link"] = Capabilities{HardLink: true}
	}
	return out
}

func TestMoveNew(t *testing.T) {
	for name, can := range ways(t) {
		t.Run(name, func(t *testing.T) {
			tree := newTree(t, can, map[string]string{"a.md": "one", "f/b.md": "two", "e.md": ""})
			if err := tree.MoveNew("a.md", "f/c.md"); err != nil || tree.text("f/c.md") != "one" || tree.text("a.md") != "-" {
				t.Errorf("to a free name: %v, %q", err, tree.text("f/c.md"))
			}
			if err := tree.MoveNew("f/c.md", "f/b.md"); !errors.Is(err, fs.ErrExist) || tree.text("f/b.md") != "two" || tree.text("f/c.md") != "one" {
				t.Errorf("to a name that is taken: %v", err)
			}
			if err := tree.MoveNew("f/c.md", "e.md"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("to the name of an empty file: %v", err)
			}
			if err := tree.MoveNew("gone.md", "d.md"); !Absent(err) || tree.text("d.md") != "-" {
				t.Errorf("of nothing: %v", err)
			}
		})
	}
}

// TestMoveBreaksOff calls a move again that broke off in the middle.
func TestMoveBreaksOff(t *testing.T) {
	for name, can := range ways(t) {
		t.Run(name, func(t *testing.T) {
			tree := newTree(t, can, map[string]string{"a.md": "one"})
			broken := errors.New("broken")
			last := map[string]string{"by a reserved name": "move over", "by the system": "move", "by a link": "remove"}[name]
			tree.Sys.Before = func(call string) error {
				if call == last || call == "remove" {
					return broken
				}
				return nil
			}
			if err := tree.MoveNew("a.md", "b.md"); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			tree.Sys.Before = nil
			if err := tree.DropReserved("a.md", "b.md"); err != nil || tree.text("a.md") != "one" || tree.text("b.md") != "-" {
				t.Errorf("%v, a %q, b %q", err, tree.text("a.md"), tree.text("b.md"))
			}
			if err := tree.MoveNew("a.md", "b.md"); err != nil || tree.text("b.md") != "one" || tree.text("a.md") != "-" {
				t.Errorf("%v, a %q, b %q", err, tree.text("a.md"), tree.text("b.md"))
			}
		})
	}
}

// TestDropReserved removes nothing that holds a word.
func TestDropReserved(t *testing.T) {
	tree := newTree(t, Capabilities{}, map[string]string{"a.md": "one", "b.md": "a person's"})
	for _, to := range []string{"b.md", "gone.md", "A.md"} {
		if err := tree.DropReserved("a.md", to); err != nil {
			t.Error(err)
		}
	}
	if tree.text("a.md") != "one" || tree.text("b.md") != "a person's" {
		t.Error("a file is gone")
	}
}

func TestMoveFolder(t *testing.T) {
	for name, can := range ways(t) {
		t.Run(name, func(t *testing.T) {
			tree := newTree(t, can, map[string]string{"f/a.md": "one", "g/b.md": "two"})
			if err := tree.MoveFolder("f", "h"); err != nil || tree.text("h/a.md") != "one" || tree.text("f/a.md") != "-" {
				t.Errorf("%v", err)
			}
			if err := tree.MoveFolder("h", "g"); !errors.Is(err, fs.ErrExist) || tree.text("g/b.md") != "two" {
				t.Errorf("to a name that is taken: %v", err)
			}
		})
	}
}

// TestPermanent tells what comes again from what a person can end.
func TestPermanent(t *testing.T) {
	for _, c := range []struct {
		err                    error
		permanent, unsupported bool
	}{
		{errors.ErrUnsupported, true, true},
		{ErrNotRegular, true, false},
		{fs.ErrExist, true, false},
		{fs.ErrPermission, false, false},
		{fs.ErrNotExist, false, false},
		{errors.New("the disk fails"), false, false},
		{nil, false, false},
	} {
		for _, err := range []error{c.err, Explain("a.md", c.err), errors.Join(Explain("a.md", c.err), nil)} {
			if IsPermanent(err) != c.permanent || IsUnsupported(err) != c.unsupported {
				t.Errorf("%v: permanent %v, unsupported %v", err, IsPermanent(err), IsUnsupported(err))
			}
		}
	}
}
