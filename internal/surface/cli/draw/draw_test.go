package draw

import (
	"strings"
	"testing"

	"lore/internal/tool"
)

func TestTable(t *testing.T) {
	s := Screen{Width: 40}
	for _, c := range []struct {
		name string
		head []string
		rows [][]string
		want string
	}{
		{"no rows", []string{"a"}, nil, ""},
		{"no head", nil, [][]string{{"a", "b"}, {"ccc", "d"}}, "a    b\nccc  d\n"},
		{"wide characters", []string{"name", "n"}, [][]string{{"玉露", "1"}, {"tea", "2"}}, "name  n\n玉露  1\ntea   2\n"},
		{"lines in a cell", []string{"a", "b"}, [][]string{{"x\ny", "z\x1b"}}, "a    b\nx y  z␛\n"},
		{"uneven rows", []string{"a"}, [][]string{{"1", "2", "3"}, {"1"}, {}}, "a\n1  2  3\n1\n\n"},
		{"a long cell stands out", []string{"a", "b"}, [][]string{{strings.Repeat("x", 70), "y"}}, "a" + strings.Repeat(" ", 61) + "b\n" + strings.Repeat("x", 70) + "  y\n"},
	} {
		var b strings.Builder
		s.Table(&b, c.head, c.rows)
		if b.String() != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, b.String(), c.want)
		}
	}
}

func TestTableWrapsOnATerminal(t *testing.T) {
	s := Screen{Width: 44, Terminal: true}
	var b strings.Builder
	s.Table(&b, []string{"name", "doc"}, [][]string{{"a", "what it does is told in more words than fit"}})
	want := "name  doc\na     what it does is told in more words\n      than fit\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestPairs(t *testing.T) {
	s := Screen{}
	var b strings.Builder
	s.Pairs(&b, [][2]string{{"名", "x"}, {"long", "one\ntwo"}})
	if want := "名    x\nlong  one\n      two\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestMarks(t *testing.T) {
	it := tool.Item{Text: "a green tea cup", Marks: []tool.Mark{{Start: 2, End: 11}, {Start: 5, End: 8}, {Start: 12, End: 99}, {Start: 13, End: 12}}}
	s := Screen{Colour: true}
	if got, want := s.marked(it), "a \x1b[1;33mgreen\x1b[0m \x1b[1;33mtea\x1b[0m cup"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// drawn is a result with every part that can be drawn.

func TestDiff(t *testing.T) {
	long := strings.Repeat("tea ", 40)
	diff := "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n " + long + "\n-" + long + "green" + long + "\n+" + long + "black" + long + "\n+new\x1b[2J\n\\ No newline at end of file\n"
	var plain, screen strings.Builder
	Screen{Width: 60}.Diff(&plain, diff)
	if want := "  @@ -1,3 +1,3 @@\n   " + long + "\n  -" + long + "green" + long + "\n  +" + long + "black" + long + "\n  +new␛[2J\n  \\ No newline at end of file\n"; plain.String() != want {
		t.Errorf("a pipe gets all of it:\n%q, want\n%q", plain.String(), want)
	}
	Screen{Width: 60, Terminal: true, Colour: true}.Diff(&screen, "@@ -1 +1 @@\n "+long+"\n-"+long+"green 茶"+long+"\n+"+long+"black 茶"+long+"\n")
	for _, want := range []string{"\x1b[7mgreen\x1b[0m", "\x1b[7mblack\x1b[0m", "…tea tea tea tea tea tea ", "…\n"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("no %q in %q", want, screen.String())
		}
	}
	for line := range strings.SplitSeq(screen.String(), "\n") {
		if Cells(line) > 60 {
			t.Errorf("%d columns: %q", Cells(line), line)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		start, end int
	}{
		{"abc", "abc", 3, 0}, {"abc", "axc", 1, 1}, {"", "x", 0, 0}, {"aa", "aaa", 2, 0}, {"é", "è", 0, 0}, {"xé", "xè", 1, 0}, {"éx", "èx", 0, 1},
	} {
		if start, end := shared(c.a, c.b); start != c.start || end != c.end {
			t.Errorf("%q %q: %d %d", c.a, c.b, start, end)
		}
	}
}

// TestTableOnNarrowScreen: a table that does not fit gets lines for every row, and
// a pipe gets the columns all the same.
func TestTableOnNarrowScreen(t *testing.T) {
	head := []string{"path", "title", "words"}
	rows := [][]string{{"Daily/2026-03-02.md", "Monday, 2 March", "89"}, {"Tea.md", "", "3"}}
	for name, c := range map[string]struct {
		s    Screen
		want string
	}{
		"narrow": {Screen{Terminal: true, Width: 30}, "Daily/2026-03-02.md\n  title: Monday, 2 March;\n  words: 89\nTea.md\n  words: 3\n"},
		"wide":   {Screen{Terminal: true, Width: 60}, "path                 title            words\nDaily/2026-03-02.md  Monday, 2 March  89\nTea.md                                3\n"},
		"pipe":   {Screen{Width: 30}, "path                 title            words\nDaily/2026-03-02.md  Monday, 2 March  89\nTea.md                                3\n"},
	} {
		var b strings.Builder
		c.s.Table(&b, head, rows)
		if b.String() != c.want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}
