package relation

import (
	"slices"
	"strings"
	"testing"

	"lore/internal/note"
)

// shapes are texts in which relations are easily misread.
func shapes() []string {
	return []string{
		"", "\n", "\ufeff", "a", "a\r\n", "a\rb\r", "a\n\r", "a\r\n\r", "# Relations\n# Next", "Relations\n-\n", "## Relations\n\n\n\n## N\n",
		"## Relations\n- supports:: [[x]] [confidence:: 0.8] notes ^rel-9x2m\n- a\n", "## Relations\r\n* cites [[x]] (why) ^i\r\n\r\n* x\r\n",
		"> ## Relations\n> - supports:: [[A]] ^a\n\nx\n", "- # Relations\n  - moves [[A]]\n- b\n", "## Relations\n```\n- a\n", "## Relations\n    - code\n",
		"---\nsupports: [\"[[A]]\"]\n---\n(cites:: [[B]]) [causes:: [[C]] (confidence:: 2)]\n", "## Relations\n9. supports:: [[A]]\n", "## Relations\nwords\n9. x",
		"## Relations\n- a\n\n- supports:: [[A]] ^b\n  - c\n", "## Relations\n- supports:: [[a]](b.md) [a [b]](c.md)\n", "## Relations\n%%\nx", "<div>\n## Relations\n- cites [[x]]",
		"a\n\n## Relations\n- cites:: [[x]] ^b", "## Relations\n- cites:: [[x]] ^b\n", "## Relations\n| a |\n|---|\n| [cites:: [[x]]] |\n", "## Relations\n\t- cites [[x]]\n   -\tcites:: [[y]]\n",
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range shapes() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := note.Parse("n.md", []byte(text))
		for _, r := range (Types{"moves"}).Of(n) {
			all := n.Text()
			if r.Type == "" || r.Target == "" || r.Line < 1 || r.Span.Len() <= 0 || r.Span.End > len(all) || r.Dest.End > len(all) ||
				r.Dest.Len() > 0 && (r.Dest.Start < r.Span.Start || r.Dest.End > r.Span.End) {
				t.Fatalf("%+v in %q", r, text)
			}
			if typ, ok := Normal(r.Type); !ok || typ != r.Type {
				t.Fatalf("type %q", r.Type)
			}
			if r.Confidence != nil && !(*r.Confidence >= 0 && *r.Confidence <= 1) {
				t.Fatalf("confidence %v", *r.Confidence)
			}
			if strings.ContainsAny(r.Notes, "\r\n") || r.Form == FormLine && strings.ContainsAny(all[r.Span.Start:r.Span.End], "\r\n") {
				t.Fatalf("%+v has several lines in %q", r, text)
			}
		}
		NodeOf(n)
	})
}

func FuzzAddRemove(f *testing.F) {
	for _, s := range shapes() {
		f.Add(s, "SUPPORTS", "Target", "H", 0.5, "why [[x]] so")
		f.Add(s, "part of", "a/b.md", "", -1.0, "")
	}
	f.Fuzz(func(t *testing.T, text, typ, target, fragment string, conf float64, notes string) {
		n := note.Parse("n.md", []byte(text))
		r := Relation{Type: typ, Target: target, Fragment: fragment, Notes: notes, ID: "rel-zzzz9"}
		if conf >= 0 {
			r.Confidence = &conf
		}
		patches, err := Add(n, r)
		if err != nil {
			return
		}
		now := spliced(t, text, patches)
		again := note.Parse("n.md", []byte(now))
		var was, is, own []string
		for _, r := range Of(n) {
			was = append(was, gist(&r))
		}
		for _, r := range Of(again) {
			if r.ID == "rel-zzzz9" {
				own = append(own, gist(&r))
			} else {
				is = append(is, gist(&r))
			}
		}
		want, err := checked(n, r)
		if err != nil || !slices.Equal(was, is) || len(own) != 1 || own[0] != gist(&want) {
			t.Fatalf("%q\nbecame %q\nwas %q\nis  %q\nown %q", text, now, was, is, own)
		}
		back, err := Remove(again, "rel-zzzz9")
		if err != nil {
			t.Fatalf("%q: %v", now, err)
		}
		if got := spliced(t, now, back); got != text {
			t.Fatalf("%q\nbecame %q\nthen   %q", text, now, got)
		}
		half := 0.5
		for _, change := range [][]string{{"CITES"}, {}} {
			if len(change) > 0 {
				patches, err = Retype(again, r.ID, change[0], false)
			} else {
				if patches, err = Reprior(again, r.ID, &half); err == nil {
					again, now = note.Parse("n.md", []byte(spliced(t, now, patches))), spliced(t, now, patches)
				}
				patches, err = Reconfide(again, r.ID, &half)
			}
			if err == nil && !strings.Contains(spliced(t, now, patches), " ^rel-zzzz9") {
				t.Fatalf("%q lost its id", now)
			}
		}
	})
}
