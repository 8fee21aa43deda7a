package vaultcheck

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	before := map[string]string{"a.md": "one", "b.md": "two"}
	after := map[string]string{"a.md": "new one", "b.md": "new two"}
	tests := map[string]struct {
		files map[string]string
		ack   bool
		edits map[string][]string
		want  []Rule
	}{
		"all old":          {files: before},
		"all new and kept": {files: map[string]string{"a.md": "new one", "b.md": "new two", ".lore/displaced/x/0": "one", ".lore/displaced/x/1": "two"}},
		"all new, lost":    {files: after, want: []Rule{UserLost, UserLost}},
		"half":             {files: map[string]string{"a.md": "new one", "b.md": "two", ".lore/trash/x/a.md": "one"}, want: []Rule{Half}},
		"torn":             {files: map[string]string{"a.md": "new", "b.md": "two", ".lore/trash/x/a.md": "one"}, want: []Rule{Torn, Half}},
		"not done":         {files: before, ack: true, want: []Rule{Lost}},
		"temp":             {files: map[string]string{"a.md": "one", "b.md": "two", "f/.lore-x.tmp": "one"}, want: []Rule{Stray}},
		"journal":          {files: map[string]string{"a.md": "one", "b.md": "two", ".lore/journal/x/manifest": "{}"}, want: []Rule{Stray}},
		"edit kept":        {files: map[string]string{"a.md": "mine", "b.md": "two", ".lore/trash/x/a.md": "one"}, edits: map[string][]string{"a.md": {"mine"}}},
		"edit lost":        {files: before, edits: map[string][]string{"a.md": {"mine"}}, want: []Rule{UserLost}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			around := t.TempDir()
			dir := filepath.Join(around, "vault")
			for p, s := range tt.files {
				at := filepath.Join(dir, p)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(s), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := Case{Before: before, After: after, Acknowledged: tt.ack, Edited: tt.edits, Around: around, Untouched: map[string]string{}}
			check(t, dir, c, tt.want)
			if err := os.WriteFile(filepath.Join(around, "x"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			check(t, dir, c, append(tt.want, Outside))
		})
	}
}

func check(t *testing.T, dir string, c Case, want []Rule) {
	t.Helper()
	var have []Rule
	for _, v := range Check(dir, c) {
		have = append(have, v.Rule)
	}
	have, want = slices.Compact(slices.Sorted(slices.Values(have))), slices.Compact(slices.Sorted(slices.Values(want)))
	if !slices.Equal(have, want) {
		t.Errorf("%v, want %v", have, want)
	}
}
