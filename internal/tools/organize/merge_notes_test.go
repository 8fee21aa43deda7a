package organize_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/note"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/organize"
)

// TestMergeLosesNothing merges notes of many shapes with each other, in both
// ways: every line of both bodies is in the one that remains, and every value of
// the front matter is in its properties or its text.
func TestMergeLosesNothing(t *testing.T) {
	shapes := []string{
		"", "plain text", "# Head\n\ntext\n\n", "---\na: 1\nb: [x, y]\ntags: [t]\n---\n# H\nbody  \nbreak\n",
		"---\r\na: 2\r\nb:\r\n  - y\r\n  - z\r\n---\r\nbody\r\n\r\n- item\r\n", "\ufeff# With a mark\ntext\n",
		"---\na: {{date}}\nkey: \"[[x]]\"\n---\nbroken\n", "---\na: 1 # why\nlong: |\n  two\n  lines\nalias: Other name\n---\n\n\ntext ^id\n",
		"---\n---\n", "---\naliases:\ntags: one, two\n---\nSetext\n===\n", "mixed\r\nline\nends\r\n",
	}
	dir := t.TempDir()
	for i, s := range shapes {
		if err := os.WriteFile(filepath.Join(dir, name(i)), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, dir, nil)
	env := organize.Env{Vault: p.Vault, Store: p.Store}
	for i, kept := range shapes {
		for k, other := range shapes {
			for _, how := range []string{"append", "prepend"} {
				if i == k {
					continue
				}
				_, set, err := organize.MergeNotes{Path: name(i), Other: name(k), Strategy: how}.Plan(t.Context(), env)
				if err != nil {
					t.Errorf("%d and %d: %v", i, k, err)
					continue
				}
				now := *set[0].After
				if set[0].Path != name(i) || set[1].After != nil || set[1].Path != name(k) {
					t.Errorf("%d and %d: %v", i, k, set.Paths())
				}
				for _, s := range []string{kept, other} {
					missing(t, s, now)
				}
				if n := note.Parse("a.md", []byte(now)); n.Front.Broken != "" && !strings.Contains(kept, "{{") {
					t.Errorf("%d and %d: %s\n%s", i, k, n.Front.Broken, now)
				}
			}
		}
	}
}

func name(i int) string { return string(rune('a'+i)) + ".md" }

// missing looks for what a note said in the one that it went into.
func missing(t *testing.T, was, now string) {
	t.Helper()
	was, now = strings.ReplaceAll(was, "\r\n", "\n"), strings.ReplaceAll(now, "\r\n", "\n")
	n, m := note.Parse("a.md", []byte(was)), note.Parse("a.md", []byte(now))
	for line := range strings.Lines(was[n.Front.Span.End:]) {
		if line = strings.TrimRight(strings.TrimPrefix(line, "\ufeff"), "\r\n"); !strings.Contains(now, line) {
			t.Errorf("the line %q is lost in\n%s", line, now)
		}
	}
	for _, p := range n.Front.Props {
		v, has := m.Front.Get(p.Key)
		list, isList := p.Value.([]any)
		if !isList {
			list = []any{p.Value}
		}
		for _, e := range list {
			if s, ok := e.(string); ok && !strings.Contains(now, strings.TrimSpace(strings.Split(s, "\n")[0])) {
				t.Errorf("%s: %v (now %v, %v) is lost in\n%s", p.Key, e, v, has, now)
			}
		}
		if !has && !strings.Contains(now, p.Key) && !strings.HasPrefix(p.Key, "alias") {
			t.Errorf("the property %s is lost in\n%s", p.Key, now)
		}
	}
	if n.Front.Broken != "" && !strings.Contains(now, strings.TrimSpace(was[n.Front.YAML.Start:n.Front.YAML.End])) {
		t.Errorf("broken front matter is lost in\n%s", now)
	}
}
