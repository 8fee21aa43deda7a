package stance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// clash reports whether two statements with nearly the same words deny each
// other: one has a denial that the other has not, or a word stands where the
// other has its opposite. Both at once are none.
func (p *pair) clash() (string, bool) {
	a, shared, small, large := p.nearest()
	if isQuestion(a) || isQuestion(p.head) || small < overlap || shared < 3 && large < overlap { // two words may be a title
		return "", false
	}
	mine, yours := denials(a), denials(p.head)
	one, two, opposed := opposite(a, p.head)
	odd := (len(mine)+len(yours))%2 == 1
	if odd == opposed {
		return "", false
	}
	if opposed {
		return fmt.Sprintf("nearly the same words, but %q against %q", one, two), true
	}
	return fmt.Sprintf("nearly the same words, but only one says %s", quoted(append(mine, yours...))), true
}

func denials(s sentence) []string {
	var out []string
	for i, t := range s {
		if t.feel == negates && (i > 0 || t.text != "no" || len(s) > 1 && s[1].root != "") { // "No, it is" answers
			out = append(out, t.text)
		}
	}
	return out
}

// opposite finds a word of a whose opposite stands in b, neither of them in both.
func opposite(a, b sentence) (one, two string, ok bool) {
	for _, t := range a {
		for _, o := range opposites {
			for i := range o {
				if !fits(t.text, o[i]) || has(b, o[i]) || has(a, o[1-i]) {
					continue
				}
				for _, u := range b {
					if fits(u.text, o[1-i]) {
						return t.text, u.text, true
					}
				}
			}
		}
	}
	return "", "", false
}

func has(s sentence, entry string) bool {
	return slices.ContainsFunc(s, func(t token) bool { return fits(t.text, entry) })
}

func fits(w, entry string) bool {
	if start, ok := strings.CutSuffix(entry, "*"); ok {
		return strings.HasPrefix(w, start)
	}
	return w == entry
}

// A phrase names a relation to what follows it.
type phrase struct {
	words []string
	typ   string
	sure  float64
}

// phrases are all phrases by their first word, the longest first.
var phrases = func() map[string][]phrase {
	out := map[string][]phrase{}
	for _, l := range []struct {
		list [][]string
		typ  string
		sure float64
	}{
		{clashing, Contradicts, 0.65}, {backing, Supports, 0.65}, {citing, Cites, 0.6}, {deriving, DerivedFrom, 0.6},
		{holding, PartOf, 0.6}, {causing, Causes, 0.55}, {caused, RelatesTo, 0.55},
	} {
		for _, words := range l.list {
			out[words[0]] = append(out[words[0]], phrase{words, l.typ, l.sure})
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.words) - len(a.words) })
	}
	return out
}()

// after is how far behind a phrase its object is looked for.
const after = 8

// named looks for a phrase in a whose object is b: two words of what b says
// must follow it, or all where it says less; three for what bears it out or
// denies it, since those must meet the statement and not only its subject. A
// denial before the phrase takes it back. The same address or work in both is a citation.
func (p *pair) named() (Suggestion, bool) {
	if s, ok := p.cited(); ok {
		return s, true
	}
	if len(p.roots) == 0 {
		return Suggestion{}, false
	}
	for _, s := range p.a {
		for i := range s {
			for _, ph := range phrases[s[i].text] {
				if !matches(s[i:], ph.words) {
					continue
				}
				if i > 0 && s[i-1].feel == negates || i > 1 && s[i-2].feel == negates {
					break
				}
				need := 2
				if ph.typ == Supports || ph.typ == Contradicts {
					need = 3
				}
				if got := p.object(s[i+len(ph.words):]); len(got) >= min(need, len(p.roots)) {
					words := strings.Join(ph.words, " ")
					why := fmt.Sprintf("says %q about %s", words, quoted(got))
					if ph.typ == RelatesTo {
						why += ": it may be its cause"
					}
					return Suggestion{Type: ph.typ, Confidence: ph.sure, Reasoning: why}, true
				}
				break
			}
		}
	}
	return Suggestion{}, false
}

func matches(s sentence, words []string) bool {
	if len(s) < len(words) {
		return false
	}
	for i, w := range words {
		if s[i].text != w {
			return false
		}
	}
	return true
}

// object are the words of b among those that follow.
func (p *pair) object(rest sentence) []string {
	var out []string
	var seen []string
	for _, t := range rest[:min(after, len(rest))] {
		if p.roots[t.root] && !slices.Contains(seen, t.root) {
			seen, out = append(seen, t.root), append(out, t.text)
		}
	}
	return out
}

var (
	address = regexp.MustCompile(`https?://[^\s<>()\[\]"']+|\b10\.\d{4,9}/[^\s<>()\[\]"']+`)
	authors = regexp.MustCompile(`\b(\p{Lu}[\p{L}'-]+)(?: et al\.?|,? \(?\d{4}[a-z]?\)| and \p{Lu}[\p{L}'-]+,? \(\d{4}\))`)
)

// addresses are the different addresses in a text that name more than a site.
func addresses(text string, most int) []string {
	if !strings.Contains(text, "://") && !strings.Contains(text, "10.") {
		return nil
	}
	var out []string
	for _, u := range address.FindAllString(text, 50) {
		u = strings.TrimRight(u, ".,;:!?/")
		_, rest, web := strings.Cut(u, "://")
		if (!web || strings.Contains(rest, "/")) && !slices.Contains(out, u) && len(out) < most {
			out = append(out, u)
		}
	}
	return out
}

// cited reports whether a names the work that b is: by its address (a
// source has one), or by an author in the manner of papers ("Brown et al.", "Brown (2019)").
func (p *pair) cited() (Suggestion, bool) {
	a, b := p.text[0], p.text[1]
	if own := addresses(b, 2); len(own) == 1 && slices.Contains(addresses(a, 20), own[0]) {
		return Suggestion{Type: Cites, Confidence: 0.8, Reasoning: fmt.Sprintf("names %s, the one address that the other has", own[0])}, true
	}
	if !strings.ContainsAny(a, "0123456789") && !strings.Contains(a, " et al") {
		return Suggestion{}, false
	}
	for _, m := range authors.FindAllStringSubmatch(a, 20) {
		if p.roots[root(strings.ToLower(m[1]))] {
			return Suggestion{Type: Cites, Confidence: 0.6, Reasoning: fmt.Sprintf("refers to %q, which the other is about", m[0])}, true
		}
	}
	return Suggestion{}, false
}
