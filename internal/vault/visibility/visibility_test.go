package visibility_test

import (
	"context"
	"slices"
	"testing"

	"lore/internal/fault"
	"lore/internal/vault/visibility"
)

func TestAllows(t *testing.T) {
	limit := func(only, without []string) visibility.Limit {
		var l visibility.Limit
		var err error
		if only != nil {
			if l, err = l.Only(only); err != nil {
				t.Fatal(err)
			}
		}
		if l, err = l.Without(without); err != nil {
			t.Fatal(err)
		}
		return l
	}
	links := map[string]string{"Work/link.md": "Private/keys.md", "Work/own.md": "Work/a.md"}
	for _, c := range []struct {
		name          string
		only, without []string
		path          string
		want          bool
	}{
		{"no limit", nil, nil, "Private/keys.md", true},
		{"in the folder", []string{"Work/**"}, nil, "Work/deep/a.md", true},
		{"beside the folder", []string{"Work/**"}, nil, "Workshop/a.md", false},
		{"in another", []string{"Work/**"}, nil, "Private/keys.md", false},
		{"in no folder", []string{"Work/**"}, nil, "a.md", false},
		{"the folder in another spelling is not allowed", []string{"Work/**"}, nil, "work/a.md", false},
		{"no folder at all", []string{}, nil, "Work/a.md", false},
		{"everything", []string{"**"}, nil, "a.md", true},
		{"one file", []string{"/a.md"}, nil, "a.md", true},
		{"one file, not its namesake", []string{"/a.md"}, nil, "Work/a.md", false},
		{"hidden", []string{"**"}, []string{"Private/**"}, "Private/keys.md", false},
		{"hidden in any case", nil, []string{"Private/**"}, "PRIVATE/Keys.md", false},
		{"hidden wins", []string{"Work/**"}, []string{"Work/a.md"}, "Work/a.md", false},
		{"a link to what is not allowed", []string{"Work/**"}, nil, "Work/link.md", false},
		{"a link to what is hidden", nil, []string{"Private/**"}, "Work/link.md", false},
		{"a link inside", []string{"Work/**"}, nil, "Work/own.md", true},
	} {
		l := limit(c.only, c.without).Through(func(paths []string) []string {
			out := slices.Clone(paths)
			for i, p := range paths {
				if to := links[p]; to != "" {
					out[i] = to
				}
			}
			return out
		})
		all := []string{"x/y.md", c.path, "Private/keys.md"}
		if kept := visibility.Filter(l, all, func(p string) string { return p }); slices.Contains(kept, c.path) != c.want {
			t.Errorf("%s: Filter kept %q", c.name, kept)
		}
		if got := l.Allows(c.path); got != c.want {
			t.Errorf("%s: Allows(%q) = %v", c.name, c.path, got)
		}
		if err := l.Check(c.path); (err == nil) != c.want || err != nil && fault.Of(err) != fault.Denied {
			t.Errorf("%s: Check(%q) = %v", c.name, c.path, err)
		}
	}
}

func TestNarrowingNeverWidens(t *testing.T) {
	var l visibility.Limit
	for _, only := range [][]string{{"Work/**"}, {"Work/tea/**", "Private/**"}} {
		var err error
		if l, err = l.Only(only); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{"Work/tea/a.md": true, "Work/b.md": false, "Private/c.md": false} {
		if l.Allows(path) != want {
			t.Errorf("Allows(%q) = %v", path, !want)
		}
	}
}

func TestContext(t *testing.T) {
	if !visibility.From(context.Background()).Everything() {
		t.Error("a context without a limit has one")
	}
	l, err := visibility.Limit{}.Only(nil)
	if err != nil {
		t.Fatal(err)
	}
	if visibility.From(visibility.With(context.Background(), l)).Allows("a.md") {
		t.Error("the limit got lost")
	}
}
