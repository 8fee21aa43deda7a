package cli

import (
	"bytes"
	"strings"
	"testing"

	"lore/internal/tool"
)

func TestTable(t *testing.T) {
	p := &program{screen: screen{width: 40}}
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
		p.table(&b, c.head, c.rows)
		if b.String() != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, b.String(), c.want)
		}
	}
}

func TestTableWrapsOnATerminal(t *testing.T) {
	p := &program{screen: screen{width: 44, terminal: true}}
	var b strings.Builder
	p.table(&b, []string{"name", "doc"}, [][]string{{"a", "what it does is told in more words than fit"}})
	want := "name  doc\na     what it does is told in more words\n      than fit\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestPairs(t *testing.T) {
	p := &program{}
	var b strings.Builder
	p.pairs(&b, [][2]string{{"名", "x"}, {"long", "one\ntwo"}})
	if want := "名    x\nlong  one\n      two\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestMarks(t *testing.T) {
	it := tool.Item{Text: "a green tea cup", Marks: []tool.Mark{{Start: 2, End: 11}, {Start: 5, End: 8}, {Start: 12, End: 99}, {Start: 13, End: 12}}}
	p := &program{screen: screen{colour: true}}
	if got, want := p.marked(it), "a \x1b[1;33mgreen\x1b[0m \x1b[1;33mtea\x1b[0m cup"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// drawn is a result with every part that can be drawn.
type drawn struct {
	Name string `json:"name"`
}

func (drawn) View() tool.View {
	return tool.View{
		Text:  "\x1b[2Jtext",
		Items: []tool.Item{{Title: "T\x1b\nitle", Path: "a.md", Line: 3, Detail: "head", Text: "found here", Score: 0.5, Notes: []string{"why"}}},
		Foot:  "1 of 2",
	}
}

func TestShow(t *testing.T) {
	r := tool.Result{Success: true, Notices: []string{"mended"}, Value: drawn{"x"}}
	list := "T␛ itle  a.md:3  0.50\n  head\n  found here\n    why\n"
	for _, c := range []struct {
		name      string
		p         program
		out, errs string
	}{
		{"a pipe gets the text as it is", program{}, "\x1b[2Jtext" + list, "mended\n1 of 2\n"},
		{"a terminal does not", program{screen: screen{terminal: true, width: 80}}, "␛[2Jtext\n" + list, "mended\n1 of 2\n"},
		{"JSON holds everything", program{g: Globals{JSON: true}}, "{\n  \"success\": true,\n  \"notices\": [\n    \"mended\"\n  ],\n  \"name\": \"x\"\n}\n", ""},
	} {
		var out, errs bytes.Buffer
		c.p.out, c.p.err = &out, &errs
		if err := c.p.show(r, ""); err != nil || out.String() != c.out || errs.String() != c.errs {
			t.Errorf("%s: %v\nout %q, want\n    %q\nerr %q, want\n    %q", c.name, err, out.String(), c.out, errs.String(), c.errs)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"/home/ann/tea": "/home/ann/tea", "": "''", "my notes": "'my notes'", "it's": `'it'\''s'`, "$HOME;rm": "'$HOME;rm'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}
