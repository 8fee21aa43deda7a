package selection_test

import (
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/change/selection"
	"lore/internal/fault"
)

func TestChoose(t *testing.T) {
	text := "one\n" + strings.Repeat("-\n", 10) + "two\n"
	both := strings.NewReplacer("one", "ONE", "two", "TWO").Replace(text)
	set := change.Set{change.Replace("a.md", text, both), change.Create("b.md", "new"), change.Replace("c.md", "x", "y")}
	moved := change.Set{change.Move("a.md", "z.md"), change.Replace("c.md", "[[a]]", "[[z]]")}
	for name, c := range map[string]struct {
		set   change.Set
		paths []string
		hunks map[string][]int
		want  change.Set // nil with an error
		fails bool
	}{
		"all":              {set: set, want: set},
		"none":             {set: set, paths: []string{}, want: change.Set{}},
		"one file":         {set: set, paths: []string{"b.md"}, want: set[1:2]},
		"one place":        {set: set, paths: []string{"a.md"}, hunks: map[string][]int{"a.md": {2}}, want: change.Set{change.Replace("a.md", text, strings.Replace(text, "two", "TWO", 1))}},
		"no place":         {set: set, paths: []string{"a.md"}, hunks: map[string][]int{"a.md": {}}, want: change.Set{}},
		"unknown file":     {set: set, paths: []string{"q.md"}, fails: true},
		"unknown place":    {set: set, hunks: map[string][]int{"a.md": {3}}, fails: true},
		"place of a new":   {set: set, hunks: map[string][]int{"b.md": {1}}, fails: true},
		"place elsewhere":  {set: set, hunks: map[string][]int{"q.md": {1}}, fails: true},
		"a move alone":     {set: moved, paths: []string{"z.md"}, want: moved[:1]},
		"a move by source": {set: moved, paths: []string{"a.md"}, want: moved[:1]},
		"what follows":     {set: moved, paths: []string{"c.md"}, fails: true},
	} {
		got, err := selection.Choose(c.set, c.paths, c.hunks)
		switch {
		case c.fails && fault.Of(err) != fault.Invalid:
			t.Errorf("%s: %v, %v", name, got, err)
		case !c.fails && (err != nil || got.Hash() != c.want.Hash()):
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
