package prompts_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"lore/internal/surface/mcp/prompts"
)

func TestParseAndFill(t *testing.T) {
	for _, c := range []struct {
		name, text string
		title      string
		about      string
		args       []prompts.Argument
		values     map[string]string
		want       string // "" when it cannot be filled
	}{
		{"plain", "# Ask\n\nAbout {{topic}}.", "File", "Ask", []prompts.Argument{{Name: "topic", Required: true}}, map[string]string{"topic": "tea"}, "# Ask\n\nAbout tea."},
		{"missing", "{{topic}}", "File", "{{topic}}", []prompts.Argument{{Name: "topic", Required: true}}, nil, ""},
		{"may be empty", "a{{ x? }}b", "File", "a{{ x? }}b", []prompts.Argument{{Name: "x"}}, nil, "ab"},
		{"both", "{{x?}}{{x}}", "File", "{{x?}}{{x}}", []prompts.Argument{{Name: "x", Required: true}}, nil, ""},
		{"not again", "{{a}} {{b}}", "File", "{{a}} {{b}}", []prompts.Argument{{Name: "a", Required: true}, {Name: "b", Required: true}},
			map[string]string{"a": "{{b}} $1 ${b}", "b": "{{a}}"}, "{{b}} $1 ${b} {{a}}"},
		{"left alone", "{{date:YYYY}} {{ }} {{a b}} {{x", "File", "{{date:YYYY}} {{ }} {{a b}} {{x", nil, nil, "{{date:YYYY}} {{ }} {{a b}} {{x"},
		{"front matter", "---\ntitle: A title\ndescription: |\n  Two\n  lines\narguments:\n  who: Whom to write to\n---\nDear {{who}}\n", "A title", "Two lines",
			[]prompts.Argument{{Name: "who", Description: "Whom to write to", Required: true}}, map[string]string{"who": "you"}, "Dear you"},
		{"a list", "---\narguments:\n- name: who\n  description: Whom\n- name: unused\n---\n{{who?}}!", "File", "{{who?}}!", []prompts.Argument{{Name: "who", Description: "Whom"}}, nil, "!"},
		{"broken front matter", "---\ntitle: [\n---\ntext", "File", "text", nil, nil, "text"},
		{"strange arguments", "---\ntitle: T\narguments: 5\n---\n{{x?}}y", "T", "{{x?}}y", []prompts.Argument{{Name: "x"}}, nil, "y"},
		{"windows", "\ufeff---\r\ndescription: d\r\n---\r\nx\r\n", "File", "d", nil, nil, "x"},
		{"hidden", "---\ndescription: a\u200bb\u202ec\n---\nx", "File", "abc", nil, nil, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := prompts.Parse("File", c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Title != c.title || got.Description != c.about || !reflect.DeepEqual(got.Arguments, c.args) {
				t.Errorf("%+v", got)
			}
			text, err := got.Fill(c.values)
			if text != c.want || (err == nil) != (c.want != "") {
				t.Errorf("filled %q, %v", text, err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	if _, err := prompts.Parse("x", strings.Repeat("x", prompts.MaxBytes+1)); err == nil {
		t.Error("a book is a prompt")
	}
	if _, err := prompts.Parse("x", "{{a}}{{b}}{{c}}{{d}}{{e}}{{f}}{{g}}{{h}}{{i}}{{j}}{{k}}{{l}}{{m}}{{n}}{{o}}{{p}}{{q}}{{r}}{{s}}{{t}}{{u}}"); err == nil {
		t.Error("21 arguments")
	}
	p, err := prompts.Parse("x", strings.Repeat("{{a}}", 100))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{prompts.MaxValue + 1, prompts.MaxValue} {
		if text, err := p.Fill(map[string]string{"a": strings.Repeat("x", n)}); err == nil {
			t.Errorf("%d bytes a hundred times: %d", n, len(text))
		}
	}
	p, err = prompts.Parse("", "")
	if err != nil || p.Description == "" {
		t.Errorf("an empty note: %+v %v", p, err)
	}
}

func TestNames(t *testing.T) {
	got := prompts.Names([]string{"P/Review.md", "P/Sub/My Größe.md", "P/a b.md", "P/a_b.md", "P/taken.md", "P/茶.md", "P/" + strings.Repeat("x", 100) + ".md", "p/same.md", "P/same.md"}, "taken")
	for p, want := range map[string]string{
		"P/Review.md": `^review$`, "P/Sub/My Größe.md": `^sub-my_gro_e$`, "P/a b.md": `^a_b-[0-9a-f]{8}$`, "P/a_b.md": `^a_b-[0-9a-f]{8}$`,
		"P/taken.md": `^taken-[0-9a-f]{8}$`, "P/茶.md": `^[0-9a-f]{8}$`, "P/" + strings.Repeat("x", 100) + ".md": `^x{64}$`,
	} {
		if !regexp.MustCompile(want).MatchString(got[p]) {
			t.Errorf("%s: %q, want %s", p, got[p], want)
		}
	}
	if got["P/a b.md"] == got["P/a_b.md"] || got["P/same.md"] == got["p/same.md"] {
		t.Error("twins")
	}
}

func FuzzFill(f *testing.F) {
	f.Add("---\ndescription: d\narguments: {a: b}\n---\n{{a}} {{b?}}", "{{b}}")
	f.Add("{{a}}{{{a}}}", "{")
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := prompts.Parse("name", text)
		if err != nil {
			return
		}
		if p.Description == "" || utf8.RuneCountInString(p.Description) > 200 || strings.ContainsAny(p.Description, "\n\r\x00") {
			t.Errorf("description %q", p.Description)
		}
		values := map[string]string{}
		for _, a := range p.Arguments {
			values[a.Name] = value
		}
		filled, err := p.Fill(values)
		if err == nil && len(filled) > prompts.MaxFilled {
			t.Errorf("%d bytes", len(filled))
		}
		for n := range prompts.Names([]string{text, value}) {
			if name := prompts.Names([]string{text, value})[n]; !regexp.MustCompile(`^[a-z0-9_-]{1,64}$`).MatchString(name) {
				t.Errorf("%q is called %q", n, name)
			}
		}
	})
}
