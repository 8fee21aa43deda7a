package citation

import (
	"strings"
	"testing"
)

const (
	senchaText = "---\ntype: Tea\n---\n# Sencha\n\nSteamed leaves that taste of grass and sea.\n\n## Water\n\nTake water of 70 °C, and wait\ntwo minutes. The **well-known** rule: never boil it; it makes [[Bitter|the leaves bitter]]. ^rule\n\n" +
		"- warm the pot first\n- pour it out again\n\n## Storage\n\nKeep it dark… and cool — always. Don’t freeze an open tin. A cafe\u0301 in Uji does zero\u200bwaste brew-\ning of “old” leaves.\n"
	matchaText = "# Matcha\n\nGround leaves, whisked until a fine foam stands on the bowl.\n"
	chaText    = "# 抹茶\n\n抹茶は茶葉を石臼で挽いたものです。\n"
)

// TestQuotes: a quote is true when the note that it is cited for says it, word
// for word. How it is printed does not matter.
func TestQuotes(t *testing.T) {
	sources := []Source{{"tea/Sencha.md", senchaText}, {"tea/Matcha.md", matchaText}, {"抹茶.md", chaText}}
	const sencha, matcha = "tea/Sencha.md", "tea/Matcha.md"
	for _, c := range []struct{ name, text, want string }{
		// True quotes.
		{"as written", `It says "Steamed leaves that taste of grass and sea." [[Sencha]]`, sencha},
		{"a small first letter", `The note says that "steamed leaves that taste of grass and sea" are best [[Sencha]].`, sencha},
		{"a large first letter", `"Wait two minutes. The well-known rule" [[Sencha#Water]]`, sencha},
		{"a first letter in brackets", `"[W]ait two minutes. The well-known rule" [[Sencha]]`, sencha},
		{"a small letter after a gap", `"Take water of 70 °C … the well-known rule: never boil it" [[Sencha]]`, sencha},
		{"three dots", `"Take water of 70 °C ... never boil it" ([[Sencha]])`, sencha},
		{"a gap in brackets", `"Take water of 70 °C [...] never boil it" ([[Sencha]])`, sencha},
		{"dots at both ends", `"…that taste of grass and sea…" ([[Sencha]])`, sencha},
		{"an ellipsis of the note", `"Keep it dark... and cool – always" ([[Sencha]])`, sencha},
		{"a dash without spaces", `"Keep it dark… and cool—always" ([[Sencha]])`, sencha},
		{"typographic marks", `“Don't freeze an open tin” [[Sencha]]`, sencha},
		{"quotes inside quotes", `"brewing of 'old' leaves" and “zerowaste brewing of "old" leaves” [[Sencha]]`, sencha},
		{"guillemets", `«never boil it; it makes the leaves bitter» [[Sencha]]`, sencha},
		{"Markdown of the note", `"The **well-known** rule: never boil it; it makes [[Bitter|the leaves bitter]]" [[Sencha]]`, sencha},
		{"without its Markdown", `"The well-known rule: never boil it; it makes the leaves bitter" [[Sencha]]`, sencha},
		{"items of a list", `"warm the pot first pour it out again" [[Sencha]]`, sencha},
		{"items of a list, as a list", "> - warm the pot first\n> - pour it out again\n\n[[Sencha]]", sencha},
		{"composed letters", `"A café in Uji does zerowaste" [[Sencha]]`, sencha},
		{"a word across two lines", `"zerowaste brewing of “old” leaves" [[Sencha]]`, sencha},
		{"a hyphen across two lines of the answer", "> The well-\n> known rule: never boil it\n\n[[Sencha]]", sencha},
		{"a script without spaces", "> 茶葉を石臼で挽いた\n\n[[抹茶]]", "抹茶.md"},
		{"cited below", "> Steamed leaves that taste of grass and sea.\n\n[[tea/Sencha.md]] and more.", sencha},
		{"cited above", "From [[Sencha]]:\n\n> Steamed leaves that taste of grass and sea.\n\n[[Matcha]] is another.", sencha},
		{"cited inside", "> Steamed leaves that taste of grass and sea.\n> — [[Sencha]]\n\n[[Matcha]] is another.", sencha},
		{"cited at the end of the line", "> Steamed leaves that taste of grass and sea. ([[Sencha]])", sencha},
		{"cited before", `[[Sencha]] says "steamed leaves that taste of grass", and [[Matcha]] says "a fine foam stands on the bowl".`, sencha + " " + matcha},
		{"cited behind", `It is "steamed leaves that taste of grass" [[Sencha]], but "a fine foam stands on the bowl" [[Matcha]].`, sencha + " " + matcha},
		{"cited once for both", `"warm the pot first" is easy, "take water of 70 °C, and wait" too [[Sencha]].`, sencha},
		{"cited nowhere", `Somebody wrote "steamed leaves that taste of grass".`, sencha},
		{"under its heading", `"Keep it dark… and cool" [[Sencha#Storage]]`, sencha},
		{"under the heading above", `"Keep it dark… and cool" [[Sencha#Sencha]]`, sencha},
		{"with a block", `"The well-known rule: never boil it" [[Sencha#^rule]]`, sencha},
		{"a term is none", `The "taste of grass" of “Sencha” [[Matcha]].`, ""},
		{"code is none", "Write:\n\n```\nsay \"these words are in no note\"\n> nor are these words here\n```\n\n[[Sencha]]", ""},
		{"a title of a link is none", `[Sencha](tea/Sencha.md "these words are in no note")`, ""},

		// False ones.
		{"another word", `"Steamed leaves that taste of hay and sea." [[Sencha]]`, "?"},
		{"a word more", `"Steamed green leaves that taste of grass" [[Sencha]]`, "?"},
		{"a word less", `"Steamed leaves taste of grass and sea" [[Sencha]]`, "?"},
		{"a negation lost", `"The well-known rule: boil it; it makes the leaves bitter" [[Sencha]]`, "?"},
		{"a part of a word", `"eaves that taste of grass and sea" [[Sencha]]`, "?"},
		{"another number", `"Take water of 7 °C, and wait" [[Sencha]]`, "?"},
		{"a letter inside", `"Take Water of 70 °C, and wait" [[Sencha]]`, "?"},
		{"the gap turned round", `"never boil it … Take water of 70 °C" [[Sencha]]`, "?"},
		{"of another note", `"Steamed leaves that taste of grass and sea." [[Matcha]]`, "?"},
		{"of another note, apart", "> Steamed leaves that taste of grass and sea.\n\n[[Matcha]]", "?"},
		{"of another note, above", "[[Sencha]] is good. [[Matcha]] says:\n\n> Steamed leaves that taste of grass and sea.", "?"},
		{"of another note, inside", "Sencha is good [[Sencha]].\n\n> Steamed leaves that taste of grass and sea.\n> — [[Matcha]]", "?"},
		{"of another note, before", `[[Sencha]] is good. [[Matcha]] says "steamed leaves that taste of grass".`, "?"},
		{"of another note, behind", `[[Sencha]] is good. "Steamed leaves that taste of grass" ([[Matcha]]).`, "?"},
		{"of another note, both", `"Steamed leaves that taste of grass" [[Matcha]] and "a fine foam stands on the bowl" [[Sencha]].`, "? ?"},
		{"of another note, in a list", "- Sencha: \"a fine foam stands on the bowl\" [[Sencha]]\n- Matcha: \"steamed leaves that taste of grass\" [[Matcha]]", "? ?"},
		{"of another heading", `"Keep it dark… and cool" [[Sencha#Water]]`, "?"},
		{"of two notes", `"Steamed leaves … whisked until a fine foam" [[Sencha]] [[Matcha]]`, "?"},
		{"of a note that was not read", `"Steamed leaves that taste of grass and sea." [[Gyokuro]]`, "?"},
	} {
		var got []string
		for _, q := range Check([]string{c.text}, sources).Quotes {
			if !q.Found {
				q.Path = "?"
			}
			got = append(got, q.Path)
		}
		if c.name == "cited once for both" || c.name == "quotes inside quotes" {
			got = got[:min(1, len(got))]
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q is %s, want %s", c.name, c.text, s, c.want)
		}
	}
}

// FuzzCheck: no answer stops the check, and no quote is found in nothing.
func FuzzCheck(f *testing.F) {
	f.Add("> a quote of words\n> — [[Sencha]]\n\n[[Sencha]]: \"one two three four five\" [[Matcha#x]]", senchaText)
	f.Add("---\na: [[b]]\n---\n“one two three four five”. 「茶葉を」", "…'- [[")
	f.Fuzz(func(t *testing.T, answer, text string) {
		Check([]string{answer, answer}, []Source{{"Sencha.md", text}, {"", text}})
		for _, q := range Check([]string{answer}, nil).Quotes {
			if q.Found {
				t.Errorf("%q was found in nothing", q.Text)
			}
		}
	})
}
