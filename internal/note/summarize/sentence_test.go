package summarize

import (
	"slices"
	"testing"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":          {"One is here. Two is there! Is three? Yes", []string{"One is here.", "Two is there!", "Is three?", "Yes"}},
		"decimals":       {"It costs 3.50 dollars. Version 1.2.3 is out.", []string{"It costs 3.50 dollars.", "Version 1.2.3 is out."}},
		"titles":         {"Dr. Smith met Mrs. Jones. They spoke.", []string{"Dr. Smith met Mrs. Jones.", "They spoke."}},
		"latin":          {"Some roots, e.g. Beets, are red. See Fig. 3 for all.", []string{"Some roots, e.g. Beets, are red.", "See Fig. 3 for all."}},
		"initials":       {"J. R. R. Tolkien wrote it. So it is.", []string{"J. R. R. Tolkien wrote it.", "So it is."}},
		"et al":          {"Brown et al. 2019 found it. We did not.", []string{"Brown et al. 2019 found it.", "We did not."}},
		"quotes":         {`"Go away." He left. (It rained.) “Really?” she said.`, []string{`"Go away."`, "He left.", "(It rained.)", "“Really?” she said."}},
		"small letters":  {"Use node.js etc. and so on. Then rest.", []string{"Use node.js etc. and so on.", "Then rest."}},
		"year":           {"It began in 1999. Then it ended.", []string{"It began in 1999.", "Then it ended."}},
		"number of item": {"1. First comes tea.", []string{"1. First comes tea."}},
		"no":             {"The answer is no. Ask again. See no. 5 below.", []string{"The answer is no.", "Ask again.", "See no. 5 below."}},
		"dots":           {"Well... Maybe so. He said … nothing.", []string{"Well...", "Maybe so.", "He said … nothing."}},
		"chinese":        {"你好。世界很大！真的吗？是。", []string{"你好。", "世界很大！", "真的吗？", "是。"}},
		"japanese":       {"彼は「行こう。」と言った。終わり。", []string{"彼は「行こう。」", "と言った。", "終わり。"}},
		"hindi":          {"यह एक है। वह दो है।", []string{"यह एक है।", "वह दो है।"}},
		"address":        {"See https://a.b/c.d?e=f. It works.", []string{"See https://a.b/c.d?e=f.", "It works."}},
		"nothing":        {"  ", nil},
		"marks alone":    {"?! ...", []string{"?!", "..."}},
	} {
		if got := slices.Collect(Sentences(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestSentencesStopWhenAsked(t *testing.T) {
	t.Parallel()
	for s := range Sentences("One. Two. Three.") {
		if s != "One." {
			t.Fatal(s)
		}
		break
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"front matter":    {"---\ntype: Claim\n---\n# T\n\nBody is here.", []string{"Body is here."}},
		"no front matter": {"---\nBody is here.\n", []string{"Body is here."}},
		"wrapped":         {"One line\ngoes on here. Two\nends.", []string{"One line goes on here.", "Two ends."}},
		"list":            {"Buy:\n\n- milk and **eggs**\n- [ ] two loaves\n  of bread\n1. [[Tea|green tea]]", []string{"Buy:", "milk and eggs", "two loaves of bread", "green tea"}},
		"code":            {"Before it.\n\n```go\nx := 1. Then\n```\n\n    indented code.\n\nAfter it.", []string{"Before it.", "After it."}},
		"code left open":  {"Before it.\n~~~\nall of the rest.", []string{"Before it."}},
		"table":           {"Before it.\n\n| a | b |\n|---|---|\n| c | d |\n\nAfter it.\nx | y\n--|--\n1 | 2\n\nEnd.", []string{"Before it.", "After it.", "End."}},
		"comment":         {"A word.\n<!-- hidden\nmore hidden -->\n%%\nsecret\n%%\nB word.", []string{"A word.", "B word."}},
		"comment open":    {"%%\nA word.", []string{"%% A word."}},
		"maths":           {"A word.\n$$\nx = y.\n$$\nB word.", []string{"A word.", "B word."}},
		"headings":        {"# One\nText one.\n\nTwo\n===\nText two.\n\nThree\n---\n", []string{"Text one.", "Text two."}},
		"headings alone":  {"# One\n## Two things", []string{"One", "Two things"}},
		"relations":       {"Text one.\n\n## Relations\n- supports:: [[x]] [confidence:: 0.8] why ^rel-1\n- part of:: [[y]]", []string{"Text one."}},
		"quote":           {"> [!note] A callout\n> says this.\n> - and this", []string{"A callout says this.", "and this"}},
		"tags":            {"#a #b/c\n\nText one.", []string{"Text one."}},
		"footnote":        {"Text one.[^1]\n\n[^1]: Its source.", []string{"Text one."}},
		"address":         {"<https://example.org/a>\n\nText one.", []string{"Text one."}},
		"item goes on":    {"- first\n\n    still first.\n\nThe end.", []string{"first", "still first.", "The end."}},
		"windows":         {"One is.\r\n\r\n- two\r\n", []string{"One is.", "two"}},
		"rule":            {"One is.\n\n---\n\nTwo is.", []string{"One is.", "Two is."}},
	} {
		var got []string
		for _, s := range read(c.text, maxSentences) {
			got = append(got, s.text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two three", 8, "one two…"},
		{"one two three", 7, "one…"},
		{"one two three", 3, ""},
		{"one, two three", 6, "one…"},
		{"incomprehensibilities", 10, ""},
		{"a incomprehensibilities", 10, "a…"},
		{"世界很大很大", 4, "世界很…"},
		{"für öde Äcker", 9, "für öde…"},
		{"", 5, ""},
	} {
		if got := Shorten(c.text, c.max); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
	}
}
