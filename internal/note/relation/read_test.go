package relation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lore/internal/note"
)

// brief writes relations down as a test reads them best.
func brief(list []Relation) []string {
	var out []string
	for _, r := range list {
		s := r.Type + " " + r.Target
		if r.Fragment != "" {
			s += "#" + r.Fragment
		}
		if r.Confidence != nil {
			s += fmt.Sprintf(" %g", *r.Confidence)
		}
		if r.Notes != "" {
			s += fmt.Sprintf(" %q", r.Notes)
		}
		if r.ID != "" {
			s += " ^" + r.ID
		}
		if r.Problem != "" {
			s += " !"
		}
		out = append(out, s+" "+string(r.Form)+fmt.Sprintf(":%d", r.Line))
	}
	return out
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"canonical", "## Relations\n- supports:: [[Cold brew]] [confidence:: 0.8] pH in three trials ^rel-9x2m\n",
			[]string{`SUPPORTS Cold brew 0.8 "pH in three trials" ^rel-9x2m line:2`}},
		{"no confidence, no notes, no id", "# relations\n* part-of:: [[A]]\n", []string{"PART_OF A line:2"}},
		{"alias, heading and block", "###### RELATIONS\n+ cites:: [[a/B#H|shown]] ^x\n1. causes:: [[C#^blk]]\n",
			[]string{"CITES a/B#H ^x line:2", "CAUSES C#^blk line:3"}},
		{"own type under Relations", "## Relations\n- inspired by:: [[A]]\n\n## Other\n- inspired by:: [[A]]\n", []string{"INSPIRED_BY A line:2"}},
		{"value must begin with the link for own types", "## Relations\n- note:: see [[A]]\n- supports:: see [[A]]\n", []string{`SUPPORTS A "see" line:3`}},
		{"in a body", "Text.\n\nsupports:: [[A]], [[B]] and [[C]]\n", []string{"SUPPORTS A field:3", "SUPPORTS B field:3", "SUPPORTS C field:3"}},
		{"links in the notes", "supports:: [[A]] as [[B]] says\n", []string{`SUPPORTS A "as [[B]] says" field:1`}},
		{"inline", "It [supports:: [[A]]] and (contradicts:: [[B|b]] why) so.\n", []string{"SUPPORTS A field:1", `CONTRADICTS B "why" field:1`}},
		{"nested field", "supports:: [[A]] [cites:: [[B]]] ^id\n", []string{`SUPPORTS A "[cites:: [[B]]]" field:1`, "CITES B field:1"}},
		{"an id of two is of none", "## Relations\n- supports:: [[A]], [[B]] ^id\n", []string{"SUPPORTS A line:2", "SUPPORTS B line:2"}},
		{"front matter", "---\nsupports: [\"[[A]]\", '[[B#H]]']\nderived-from: \"[[C|c]]\"\nCites:\n  - \"[[D]]\"\nother: \"[[E]]\"\n---\n",
			[]string{"SUPPORTS A property:2", "SUPPORTS B#H property:2", "DERIVED_FROM C property:3", "CITES D property:5"}},
		{"basic-memory", "## Relations\n- supports [[A]] (why)\n- pairs well with [[B]]\n- [[C]]\n- relates_to [[D]], [[E]] ^id1\n- cites [[F]] [confidence:: 0.5] (w) ^id2\n",
			[]string{`SUPPORTS A "why" item:2`, "PAIRS_WELL_WITH B item:3", "RELATES_TO D item:5", "RELATES_TO E item:5", `CITES F 0.5 "w" ^id2 item:6`}},
		{"basic-memory elsewhere", "## Else\n- supports [[A]] (why)\n", nil},
		{"Markdown links", "## Relations\n- supports:: [a](notes/a%20b.md#H) x\n- supports:: [a](a.pdf)\n- supports:: [u](https://a.b/c.md)\n- cites [a](<c d.md>)\n",
			[]string{`SUPPORTS notes/a b.md#H "x" line:2`, "CITES c d.md item:5"}},
		{"not in code, comments, math", "## Relations\n```\n- supports:: [[A]]\n# Relations\n```\n`supports:: [[A]]`\n\n%%\nsupports:: [[A]]\n%%\n\n$$\nsupports:: [[A]]\n$$\n\n- supports:: `[[A]]`\n- x %%[supports:: [[A]]]%% $[supports:: [[B]]]$\n\n<!-- supports:: [[A]] -->\n\n\tsupports:: [[A]]\n", nil},
		{"heading in code", "```\n## Relations\n```\n- inspires:: [[A]]\n- supports [[A]]\n", nil},
		{"confidence", "## Relations\n- supports:: [[A]] [confidence:: high] x ^a\n- supports:: [[B]] [confidence:: 1.5]\n- supports:: [[C]] (confidence:: 1)\n- supports:: [[D]] a [confidence:: .25] b\n- supports:: [[E]] [confidence:: NaN]\n- supports:: [[F]] [confidence:: -0]\n",
			[]string{`SUPPORTS A "x" ^a ! line:2`, "SUPPORTS B ! line:3", "SUPPORTS C 1 line:4", `SUPPORTS D 0.25 "a b" line:5`, "SUPPORTS E ! line:6", "SUPPORTS F 0 line:7"}},
		{"self, embeds and URLs", "supports:: [[#H]]\n\nsupports:: ![[A]]\n\nsupports:: https://a.b\n", nil},
		{"CRLF, tabs, BOM", "\ufeff---\r\nsupports: \"[[A]]\"\r\n---\r\n## Relations\r\n-\tsupports:: [[B]]\t[confidence:: 0.1]\tn ^i\r\n",
			[]string{"SUPPORTS A property:2", `SUPPORTS B 0.1 "n" ^i line:5`}},
		{"callout", "> [!note] x\n> ## Relations\n> - supports:: [[A]] ^a\n> - inspires [[B]]\n\n- inspires [[C]]\n- moves:: [[D]]\n",
			[]string{"SUPPORTS A ^a line:3", "INSPIRES B item:4"}},
		{"nested list", "## Relations\n- group\n  - supports:: [[A]] ^a\n\t- supports [[B]]\n  - [ ] cites:: [[C]]\n",
			[]string{"SUPPORTS A ^a line:3", "SUPPORTS B item:4", "CITES C line:5"}},
		{"heading in a list", "- # Relations\n  - moves [[A]]\n- moves [[B]]\n", []string{"MOVES A item:2"}},
		{"emphasis", "## **Relations**\n- **supports**:: [[A]]\n", []string{"SUPPORTS A line:2"}},
		{"setext and colon", "Relations:\n---\n- moves:: [[A]]\n", []string{"MOVES A line:3"}},
		{"subsections count, the next section does not", "# Relations\n## Sub\n- moves:: [[A]]\n# Next\n- moves:: [[B]]\n", []string{"MOVES A line:3"}},
		{"lone CR", "# Relations\r- moves:: [[A]] ^a\r- moves [[B]]\r", []string{"MOVES A ^a line:2", "MOVES B item:3"}},
		{"broken front matter", "---\nsupports: [\"[[A]]\"\n---\nx\n", nil},
		{"reference", "supports:: [a][r]\n\n[r]: b.md\n", []string{"SUPPORTS b.md field:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := brief(Of(note.Parse("n.md", []byte(c.text)))); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

func TestTypesOfTheCaller(t *testing.T) {
	n := note.Parse("n.md", []byte("---\ninspired-by: \"[[A]]\"\n---\nInspired By:: [[B]]\n"))
	if got := Of(n); got != nil {
		t.Errorf("without the type: %v", brief(got))
	}
	want := []string{"INSPIRED_BY A property:2", "INSPIRED_BY B field:4"}
	if got := brief(Types{"inspired_by"}.Of(n)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestSpans(t *testing.T) {
	text := "---\ncites: \"[[P]]\"\n---\na [supports:: [[A#H|x]]] b\n## Relations\r\n  - causes:: [[B]] n ^i\r\n"
	var got []string
	for _, r := range Of(note.Parse("n.md", []byte(text))) {
		got = append(got, text[r.Span.Start:r.Span.End]+"|"+text[r.Dest.Start:r.Dest.End])
	}
	want := []string{"cites: \"[[P]]\"\n|P", "[supports:: [[A#H|x]]]|A", "  - causes:: [[B]] n ^i|B"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"supports": "SUPPORTS", "Derived From": "DERIVED_FROM", "part-of": "PART_OF", "similar__to": "SIMILAR_TO",
		"über": "ÜBER", "": "", "1st": "", "a.b": "", "-": "", strings.Repeat("a", 65): "",
	} {
		if got, ok := Normal(in); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q %t", in, got, ok)
		}
	}
}
