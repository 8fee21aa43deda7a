package change

import (
	"strings"
	"testing"
)

func TestThen(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, then Set
		want        Set
		wrong       string
	}{
		{"two files", Set{Replace("a.md", "1", "2")}, Set{Create("b.md", "x")}, Set{Replace("a.md", "1", "2"), Create("b.md", "x")}, ""},
		{"one file twice", Set{Replace("a.md", "1", "2")}, Set{Replace("a.md", "2", "3")}, Set{Replace("a.md", "1", "3")}, ""},
		{"there and back", Set{Replace("a.md", "1", "2"), Create("c.md", "")}, Set{Replace("a.md", "2", "1")}, Set{Create("c.md", "")}, ""},
		{"created and changed", Set{Create("a.md", "1")}, Set{Replace("a.md", "1", "2")}, Set{Create("a.md", "2")}, ""},
		{"created and deleted", Set{Create("a.md", "1")}, Set{Delete("a.md", "1")}, Set{}, ""},
		{"changed and deleted", Set{Replace("a.md", "1", "2")}, Set{Delete("a.md", "2")}, Set{Delete("a.md", "1")}, ""},
		{"created and moved", Set{Create("a.md", "1")}, Set{Move("a.md", "b.md")}, Set{Create("b.md", "1")}, ""},
		{"changed and moved", Set{Replace("a.md", "1", "2")}, Set{Move("a.md", "b.md")}, Set{MoveReplace("a.md", "b.md", "1", "2")}, ""},
		{"changed, then moved and changed", Set{Replace("a.md", "1", "2")}, Set{MoveReplace("a.md", "b.md", "2", "3")}, Set{MoveReplace("a.md", "b.md", "1", "3")}, ""},
		{"moved and changed", Set{Move("a.md", "b.md")}, Set{Replace("b.md", "1", "2")}, Set{MoveReplace("a.md", "b.md", "1", "2")}, ""},
		{"moved twice", Set{Move("a.md", "b.md")}, Set{Move("b.md", "c.md")}, Set{Move("a.md", "c.md")}, ""},
		{"moved and deleted", Set{Move("a.md", "b.md")}, Set{Delete("b.md", "1")}, Set{Delete("a.md", "1")}, ""},
		{"moved, changed and changed back", Set{MoveReplace("a.md", "b.md", "1", "2")}, Set{Replace("b.md", "2", "1")}, Set{Move("a.md", "b.md")}, ""},
		{"deleted and created", Set{Delete("a.md", "1")}, Set{Create("a.md", "2")}, nil, "already moved or deleted"},
		{"left and created", Set{Move("a.md", "b.md")}, Set{Create("a.md", "2")}, nil, "already moved or deleted"},
		{"moved onto a new file", Set{Create("b.md", "1")}, Set{Move("a.md", "b.md")}, nil, "nothing can be moved there"},
		{"moved to where another was", Set{Move("b.md", "c.md")}, Set{Move("a.md", "b.md")}, nil, "nothing can be moved there"},
	} {
		got, err := c.first.Then(c.then)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want an error with %q", c.name, err, c.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case got.Hash() != c.want.Hash():
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		case len(got) > 0 && got.Validate() != nil:
			t.Errorf("%s: %v", c.name, got.Validate())
		}
	}
}
