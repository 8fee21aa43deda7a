package sample_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/vault/sample"
)

// broken is the one link that leads nowhere, in the note that says so.
const broken = "Rooibos"

// copied copies the vault to a folder and parses its notes, by path.
func copied(t *testing.T) (dir string, notes map[string]*note.Note) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "vault")
	if err := sample.Copy(dir); err != nil {
		t.Fatal(err)
	}
	notes = map[string]*note.Note{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".md" && path.Ext(p) != ".canvas" {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
		if path.Ext(p) == ".canvas" {
			notes[p] = note.ParseCanvas(p, b)
		} else {
			notes[p] = note.Parse(p, b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, notes
}

func TestLinksResolve(t *testing.T) {
	_, notes := copied(t)
	var names []index.Name
	for p, n := range notes {
		names = append(names, index.NamesOf(p, index.KindNote, n.Title, "", n.Aliases)...)
	}
	found := 0
	for p, n := range notes {
		for _, l := range n.Links {
			if l.External || l.Target == broken {
				continue
			}
			to, ok := index.Resolve(p, string(l.Kind), l.Target, names)
			if !ok {
				t.Errorf("%s:%d: [[%s]] leads nowhere", p, l.Line, l.Target)
				continue
			}
			found++
			if l.Fragment == "" {
				continue
			}
			if _, err := notes[to].Section(l.Fragment); err != nil {
				t.Errorf("%s:%d: %s#%s: %v", p, l.Line, to, l.Fragment, err)
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d links: the vault should show how notes hang together", found)
	}
}

// TestOneBrokenLink keeps the example for everything that looks for them.
func TestOneBrokenLink(t *testing.T) {
	_, notes := copied(t)
	var at []string
	for p, n := range notes {
		for _, l := range n.Links {
			if l.Target == broken {
				at = append(at, p)
			}
		}
	}
	if !slices.Equal(at, []string{"Notes/Herbal tea.md"}) {
		t.Errorf("the broken link stands in %q", at)
	}
}

func TestNotes(t *testing.T) {
	_, notes := copied(t)
	for _, name := range []string{
		"Start here.md", "Notes/Green tea.md", "Notes/Matcha.md", "Notes/Oolong.md", "Notes/Water temperature.md",
		"Notes/Caffeine.md", "Notes/Gongfu brewing.md", "Notes/Tea ceremony.md",
	} {
		if notes[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	blocks := map[string]string{}
	for p, n := range notes {
		if len(n.Problems) > 0 {
			t.Errorf("%s: %+v", p, n.Problems)
		}
		if path.Ext(p) == ".md" && (n.Words < 60 || n.Words > 280) {
			t.Errorf("%s has %d words", p, n.Words)
		}
		if folder := path.Base(path.Dir(p)); strings.HasPrefix(p, "Nodes/") && n.Type != folder {
			t.Errorf("%s has the type %q", p, n.Type)
		}
		for _, b := range n.Blocks {
			if other := blocks[b.ID]; strings.HasPrefix(b.ID, "rel-") && other != "" {
				t.Errorf("%s and %s both have the relation %s", p, other, b.ID)
			}
			blocks[b.ID] = p
		}
	}
}

func TestCopyIsExact(t *testing.T) {
	dir, notes := copied(t)
	n := 0
	err := filepath.WalkDir("vault", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		want, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("vault", p)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, rel))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from its source", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < len(notes) {
		t.Errorf("%d files for %d notes", n, len(notes))
	}
}

func TestCopyRefusesToOverwrite(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, sample.Marker)
	if err := os.WriteFile(mine, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sample.Copy(dir); err == nil {
		t.Error("copied into a folder that was not empty")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "mine\n" || len(entries) != 1 {
		t.Errorf("the folder was changed: %q, %v, %d files", b, err, len(entries))
	}
}

func TestKnowsItself(t *testing.T) {
	dir, _ := copied(t)
	other := t.TempDir()
	for _, c := range []struct {
		dir       string
		empty, is bool
	}{{dir, false, true}, {other, true, false}, {filepath.Join(other, "new"), true, false}} {
		empty, err := sample.Empty(c.dir)
		if err != nil || empty != c.empty || sample.Is(c.dir) != c.is {
			t.Errorf("%s: empty %v, sample %v, error %v", c.dir, empty, sample.Is(c.dir), err)
		}
	}
	if _, err := sample.Empty(filepath.Join(dir, sample.Marker)); err == nil {
		t.Error("a file was taken for a folder")
	}
}
