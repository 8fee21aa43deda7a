package change_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lore/internal/change"
)

func text(s string) *string { return &s }

func TestSetInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := change.Set{}
		for range rapid.IntRange(0, 8).Draw(t, "edits") {
			e := change.Edit{Path: "p" + rapid.String().Draw(t, "path"), From: rapid.String().Draw(t, "from")}
			if rapid.Bool().Draw(t, "existed") {
				e.Before = text(rapid.String().Draw(t, "before"))
			}
			if rapid.Bool().Draw(t, "stays") {
				e.After = text(rapid.String().Draw(t, "after"))
			}
			s = append(s, e)
		}
		if got := s.Inverse().Inverse(); !reflect.DeepEqual(got, s) {
			t.Fatalf("twice inverted: %v, want %v", got, s)
		}
		if len(s) == 0 {
			return
		}
		last, first := s[len(s)-1], s.Inverse()[0]
		if last.From == "" && first.Path != last.Path || last.From != "" && (first.Path != last.From || first.From != last.Path) {
			t.Fatal("the inverse does not begin with the last edit")
		}
		if s.Hash() == s.Inverse().Hash() && !reflect.DeepEqual(s, s.Inverse()) {
			t.Fatal("two sets have one hash")
		}
	})
}

func TestSetPathsAndDestroys(t *testing.T) {
	t.Parallel()
	s := change.Set{
		{Path: "b.md", Before: text("x"), After: text("y")},
		{Path: "a.md", After: text("new")},
		{Path: "b.md", Before: text("y"), After: text("z")},
	}
	if got := s.Paths(); !slices.Equal(got, []string{"b.md", "a.md"}) {
		t.Errorf("Paths() = %q", got)
	}
	if s.Destroys() {
		t.Error("a set without removals destroys")
	}
	if !s.Inverse().Destroys() {
		t.Error("undoing a creation does not destroy")
	}
}

func TestSetValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set change.Set
		ok  bool
	}{
		"empty":      {nil, true},
		"create":     {change.Set{{Path: "a.md", After: text("")}}, true},
		"no path":    {change.Set{{After: text("")}}, false},
		"no content": {change.Set{{Path: "a.md"}}, false},
		"no change":  {change.Set{{Path: "a.md", Before: text("x"), After: text("x")}}, false},
		"move":       {change.Set{change.Move("a.md", "b.md")}, true},
		"move edit":  {change.Set{change.MoveReplace("a.md", "b.md", "x", "y")}, true},
		"half move":  {change.Set{{Path: "b.md", From: "a.md", After: text("x")}}, false},
		"no move":    {change.Set{change.Move("a.md", "a.md")}, false},
		"move chain": {change.Set{change.Move("a.md", "b.md"), change.Move("b.md", "c.md")}, false},
		"twice": {change.Set{
			{Path: "a.md", Before: text("x"), After: text("y")},
			{Path: "a.md", Before: text("y"), After: text("z")},
		}, false},
	} {
		if err := c.set.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSplice(t *testing.T) {
	t.Parallel()
	p := func(start, end int, s string) change.Patch {
		return change.Patch{Start: start, End: end, Text: s}
	}
	for name, c := range map[string]struct {
		patches []change.Patch
		want    string
		ok      bool
	}{
		"nothing":           {nil, "abcdef", true},
		"any order":         {[]change.Patch{p(4, 5, "E"), p(0, 1, "A")}, "AbcdEf", true},
		"insert twice":      {[]change.Patch{p(3, 3, "1"), p(3, 3, "2")}, "abc12def", true},
		"insert before cut": {[]change.Patch{p(2, 2, "-"), p(2, 4, "")}, "ab-ef", true},
		"at the end":        {[]change.Patch{p(6, 6, "!")}, "abcdef!", true},
		"all":               {[]change.Patch{p(0, 6, "")}, "", true},
		"touching":          {[]change.Patch{p(0, 3, "x"), p(3, 6, "y")}, "xy", true},
		"overlap":           {[]change.Patch{p(0, 3, ""), p(2, 4, "")}, "", false},
		"past the end":      {[]change.Patch{p(5, 7, "")}, "", false},
		"before the start":  {[]change.Patch{p(-1, 2, "")}, "", false},
		"backwards":         {[]change.Patch{p(3, 2, "")}, "", false},
	} {
		got, err := change.Splice("abcdef", c.patches...)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestEditKinds(t *testing.T) {
	t.Parallel()
	for want, e := range map[change.Kind]change.Edit{
		change.Creates: change.Create("a.md", "x"), change.Replaces: change.Replace("a.md", "x", "y"),
		change.Removes: change.Delete("a.md", "x"), change.Moves: change.MoveReplace("a.md", "b.md", "x", "y"),
	} {
		if e.Kind() != want {
			t.Errorf("%v is %s, want %s", e, e.Kind(), want)
		}
	}
	a, b := change.Set{change.Create("ab", "c")}, change.Set{change.Create("a", "bc")}
	if a.Hash() == b.Hash() {
		t.Error("the hash does not see where a path ends")
	}
}

func TestShrinks(t *testing.T) {
	long := strings.Repeat("word ", 50)
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{long, long[:130], false}, {long, long[:100], true}, {"short note", "note", false}, {"short note", "", true}, {"short note", " \n", true}, {"\n", "", false},
	} {
		if got := (change.Set{change.Replace("a.md", c.before, c.after)}).Shrinks(); got != c.want {
			t.Errorf("%d to %d bytes: %v", len(c.before), len(c.after), got)
		}
	}
	if (change.Set{change.Create("a.md", "")}).Shrinks() {
		t.Error("a new file shrinks")
	}
}
