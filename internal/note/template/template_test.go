package template

import (
	"strings"
	"testing"
	"time"
)

func TestFill(t *testing.T) {
	f := Fields{
		Title: "Tea", Folder: "Notes/Drinks", Now: time.Date(2026, 1, 31, 4, 5, 6, 0, time.UTC),
		Values: map[string]string{"author": "Ada {{title}}", "due date": "soon"},
	}
	tests := []struct{ text, want, warns string }{
		{"# {{title}} {{date:YY}} {{ time }} {{date}} {{Title}}", "# Tea 26 04:05 2026-01-31 Tea", ""},
		{"{{date:dddd, [the] Do}} {{time:HH}}", "Saturday, the 31st 04", ""},
		{"{{author}}, {{ due date }}", "Ada {{title}}, soon", ""},
		{"{{other}} {{}} {{1}}", "{{other}} {{}} {{1}}", "{{other}} has no value"},
		{"<% tp.file.title %>|<%tp.file.folder()%>|<% tp.file.folder(true) %>", "Tea|Drinks|Notes/Drinks", ""},
		{`<% tp.date.now() %> <% tp.date.now("YYYY", -31) %> <% tp.date.now('MM-DD', "P1M") %> <% tp.date.now("DD", "P-1W") %>`, "2026-01-31 2025 02-28 24", ""},
		{`<% tp.date.today() %> <% tp.date.tomorrow("DD") %> <% tp.date.yesterday("DD") %>`, "2026-01-31 01 30", ""},
		{`<% tp.file.creation_date() %> <% tp.file.creation_date("HH") %>`, "2026-01-31 04:05 04", ""},
		{"a <%* if (x) { %>b<%* } -%>\nc", "a bc", "left out <%* if (x) { %>"},
		{"<% tp.system.prompt(\"Name?\") %>x", "x", "left out <% tp.system.prompt(\"Name?\") %>"},
		{"<% tp.date.now(\"YYYY\" + 1) %><% tp.date.weekday(\"YYYY\", 0) %>", "", "left out <% tp.date.now("},
		{"<% tp.file.title", "<% tp.file.title", ""},
		{"a  <%_ tp.file.title _%>  b", "aTeab", ""},
	}
	for _, tt := range tests {
		got := Fill(tt.text, f)
		if warns := strings.Join(got.Warnings, "\n"); got.Text != tt.want || (tt.warns == "") != (warns == "") || !strings.Contains(warns, tt.warns) {
			t.Errorf("%q\ngot  %q %q\nwant %q %q", tt.text, got.Text, warns, tt.want, tt.warns)
		}
	}
	if got := Fill("<% tp.file.folder() %>.", Fields{}); got.Text != "." {
		t.Errorf("a note at the top: %q", got.Text)
	}
}

func FuzzFill(f *testing.F) {
	for _, s := range []string{"{{title}} {{date:YYYY}}", "<% tp.date.now(\"YYYY\", 1) %>", "<%* a -%>\n{{x}}", "<% tp.file.folder(true) _%>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Fill(s, Fields{Title: "T", Now: time.Unix(0, 0).UTC()})
		if !strings.Contains(s, "{{") && !strings.Contains(s, "<%") && got.Text != s {
			t.Fatalf("%q became %q", s, got.Text)
		}
		if strings.Contains(s, "<%*") && strings.Contains(got.Text, "<%*") && len(got.Warnings) == 0 && strings.Contains(s[strings.Index(s, "<%*"):], "%>") {
			t.Fatalf("code of %q stays without a warning: %q", s, got.Text)
		}
	})
}
