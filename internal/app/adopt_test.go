package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/machine/home"
)

// TestAnotherFolderWithTheSameIdentity makes a new vault whose folder got the
// identity of one that was deleted, as file systems do: it must not be taken
// for that one having lost its notes.
func TestAnotherFolderWithTheSameIdentity(t *testing.T) {
	dir := t.TempDir()
	for name, sub := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	t.Setenv("LORE_EMBED_MODEL", "none")
	t.Setenv("LORE_LIMITS_WAIT", "60")
	write := func(vault, word string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, vault), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			if err := os.WriteFile(filepath.Join(dir, vault, fmt.Sprintf("%s%d.md", word, i)), []byte(word+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(vault, word string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Run(t.Context(), []string{"search", word, "--mode", "lexical", "--json", "--vault", filepath.Join(dir, vault)}, nil, &out, &errs); code != 0 {
			t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
		}
		return out.String()
	}
	write("old", "black")
	ask("old", "black")
	if home.FileID(dir) == "" {
		t.Skip("folders have no identity here")
	}
	// The same inode under another name, with other notes in it.
	if err := os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(dir, "new", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	write("new", "green")
	if got := ask("new", "green"); !strings.Contains(got, `"fresh": true`) || !strings.Contains(got, "green1") {
		t.Errorf("the new vault: %s", got)
	}
	if got := ask("new", "black"); strings.Contains(got, "black1") {
		t.Errorf("notes of the old vault: %s", got)
	}
}
