package cli

import (
	"bytes"
	"testing"

	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
)

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
		{"a terminal does not", program{screen: draw.Screen{Terminal: true, Width: 80}}, "␛[2Jtext\n" + list, "mended\n1 of 2\n"},
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

func TestBarFits(t *testing.T) {
	if got := barLine("reading", 50, 100, 90e9, 80); got != "reading ███████████████░░░░░░░░░░░░░░░ 50 of 100, 1m30s left" {
		t.Errorf("%q", got)
	}
	for width := range 120 {
		for _, done := range []int{0, 1, 50, 100, 500} {
			if l := barLine("learning meaning", done, 100, 5e9, width); draw.Cells(l) > max(0, width-1) {
				t.Errorf("%q does not fit into %d columns", l, width)
			}
		}
	}
}
