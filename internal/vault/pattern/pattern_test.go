package pattern

import "testing"

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"Private", "Private/a.md", true},
		{"Private", "x/Private/y/a.md", true},
		{"/Private", "x/Private/a.md", false},
		{"/Private", "Private/a.md", true},
		{"Private/**", "Private/deep/a.md", true},
		{"Private/**", "Privates/a.md", false},
		{"a/b", "a/b/c.md", true},
		{"a/b", "x/a/b/c.md", false},
		{"**/b", "x/a/b/c.md", true},
		{"**/b", "b/c.md", true},
		{"a/**/z.md", "a/z.md", true},
		{"a/**/z.md", "a/b/c/z.md", true},
		{"a/**/z.md", "a/b/c/y.md", false},
		{"*.tmp.md", "x/y.tmp.md", true},
		{"*.tmp.md", "x/y.md", false},
		{"a/*", "a/b/c.md", true},
		{"*/b.md", "a/c/b.md", false},
		{"[ab].md", "x/b.md", true},
		{"caf\u0065\u0301", "caf\u00e9/a.md", true},
		{"Private/", "x/Private/a.md", false},
		{"**", "a.md", true},
		{"a\\*b", "x/a*b", true},
		{"a\\*b", "x/axb", false},
		{"*", "a.md", true},
		{"private", "Private/a.md", false},
	} {
		ps, err := Compile([]string{"unrelated/**", c.pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := ps.Covers(c.key); got != c.want {
			t.Errorf("%q and %q: %v", c.pattern, c.key, got)
		}
	}
	for _, bad := range []string{"", "/", "a/["} {
		if _, err := Compile([]string{bad}); err == nil {
			t.Errorf("pattern %q is taken", bad)
		}
	}
}
