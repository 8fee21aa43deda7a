package relation

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

func parsed(text string) *note.Note { return note.Parse("n.md", []byte(text)) }

func spliced(t *testing.T, text string, patches []change.Patch) string {
	t.Helper()
	out, err := change.Splice(text, patches...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func num(f float64) *float64 { return &f }

func TestAdd(t *testing.T) {
	const line = "supports:: [[X#H]] [confidence:: 0.8] why so ^rel-1"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "## Relations\n- L\n"},
		{"only a BOM", "\ufeff", "\ufeff## Relations\n- L\n"},
		{"no line end", "a", "a\n\n## Relations\n- L"},
		{"line end", "a\n", "a\n\n## Relations\n- L\n"},
		{"CRLF", "a\r\nb\r\n", "a\r\nb\r\n\r\n## Relations\r\n- L\r\n"},
		{"front matter alone", "---\na: 1\n---\n", "---\na: 1\n---\n\n## Relations\n- L\n"},
		{"empty section", "## Relations\n\n## Next\n", "## Relations\n\n- L\n\n## Next\n"},
		{"section without a line end", "# relations", "# relations\n\n- L"},
		{"indented heading", "  ## Relations\n", "  ## Relations\n\n- L\n"},
		{"list", "## Relations\n- moves:: [[A]] ^a\n\n## Next\n", "## Relations\n- moves:: [[A]] ^a\n- L\n\n## Next\n"},
		{"stars", "## Relations\r\n* moves [[A]]\r\n", "## Relations\r\n* moves [[A]]\r\n* L\r\n"},
		{"tab behind the mark", "## Relations\n-\tmoves [[A]]", "## Relations\n-\tmoves [[A]]\n-\tL"},
		{"indented, numbered", "## Relations\n 1) a\n 2) moves [[A]]\n", "## Relations\n 1) a\n 2) moves [[A]]\n 3) L\n"},
		{"nested list", "## Relations\n+ moves [[A]]\n  + child\n", "## Relations\n+ moves [[A]]\n  + child\n+ L\n"},
		{"paragraph", "## Relations\nwords\n\nx\n=\n", "## Relations\nwords\n\n- L\n\nx\n=\n"},
		{"before subsections", "# Relations\n- moves [[A]]\n## Sub\n- b\n", "# Relations\n- moves [[A]]\n- L\n## Sub\n- b\n"},
		{"heading in code", "```\n## Relations\n```\n", "```\n## Relations\n```\n\n## Relations\n- L\n"},
		{"heading in a callout", "> ## Relations\n> - moves [[A]]\n", "> ## Relations\n> - moves [[A]]\n\n## Relations\n- L\n"},
		{"nothing can follow", "## Relations\nx\n===\n", "## Relations\nx\n===\n\n## Relations\n- L\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Relation{Type: "supports", Target: "X", Fragment: "H", Confidence: num(0.8), Notes: " why\n so ", ID: "rel-1"}
			patches, err := Add(parsed(c.text), r)
			if err != nil {
				t.Fatal(err)
			}
			got := spliced(t, c.text, patches)
			if want := strings.Replace(c.want, "L", line, 1); got != want {
				t.Fatalf("got  %q\nwant %q", got, want)
			}
			back, err := Remove(parsed(got), "rel-1")
			if err != nil {
				t.Fatal(err)
			}
			if again := spliced(t, got, back); again != c.text {
				t.Errorf("removed gives %q", again)
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	good := Relation{Type: "SUPPORTS", Target: "X", ID: "rel-1"}
	with := func(f func(*Relation)) Relation {
		r := good
		f(&r)
		return r
	}
	for _, c := range []struct {
		name, text, field string
		r                 Relation
		kind              fault.Kind
	}{
		{"no type", "", "type", with(func(r *Relation) { r.Type = "a:b" }), fault.Invalid},
		{"confidence as type", "", "type", with(func(r *Relation) { r.Type = "Confidence" }), fault.Invalid},
		{"no target", "", "target", with(func(r *Relation) { r.Target = " " }), fault.Invalid},
		{"brackets in the target", "", "target", with(func(r *Relation) { r.Target = "a]]b" }), fault.Invalid},
		{"fragment", "", "fragment", with(func(r *Relation) { r.Fragment = "a|b" }), fault.Invalid},
		{"bytes in the notes", "", "notes", with(func(r *Relation) { r.Notes = "a\xc8" }), fault.Invalid},
		{"no id", "", "id", with(func(r *Relation) { r.ID = "" }), fault.Invalid},
		{"id taken", "x ^REL-1\n", "id", good, fault.Invalid},
		{"confidence", "", "confidence", with(func(r *Relation) { r.Confidence = num(1.1) }), fault.Invalid},
		{"open code", "```\nx", "", good, fault.Invalid},
		{"notes that begin with a link", "", "", with(func(r *Relation) { r.Notes = "[[Y]] says so" }), fault.Invalid},
		{"notes with a confidence", "", "", with(func(r *Relation) { r.Notes = "[confidence:: 1]" }), fault.Invalid},
		{"a URL", "", "", with(func(r *Relation) { r.Target = "https://a.b" }), fault.Invalid},
		{"bytes", "a\x00b", "", good, fault.ReadOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Add(parsed(c.text), c.r)
			rep, ok := err.(*fault.Report)
			if !ok || rep.Kind != c.kind || rep.Field != c.field {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	const text = "## Relations\r\n* supports:: [[A]] [confidence:: 0.8] why [[B]] ^a\r\n* **part of**:: [[C]]  ^b\r\n* causes:: [[D]] x [confidence:: low] y ^c\r\n* causes:: [[E]] [prior:: 0.3] why ^d\r\n"
	retype := func(id, typ string, keep bool) func(*note.Note) ([]change.Patch, error) {
		return func(n *note.Note) ([]change.Patch, error) { return Retype(n, id, typ, keep) }
	}
	reconfide := func(id string, f *float64) func(*note.Note) ([]change.Patch, error) {
		return func(n *note.Note) ([]change.Patch, error) { return Reconfide(n, id, f) }
	}
	reprior := func(id string, f *float64) func(*note.Note) ([]change.Patch, error) {
		return func(n *note.Note) ([]change.Patch, error) { return Reprior(n, id, f) }
	}
	for _, c := range []struct {
		name     string
		do       func(*note.Note) ([]change.Patch, error)
		old, new string
	}{
		{"retype", retype("^A", "Derived From", true), "supports", "derived_from"},
		{"retype without notes", retype("a", "cites", false), "supports:: [[A]] [confidence:: 0.8] why [[B]] ^a", "cites:: [[A]] [confidence:: 0.8] ^a"},
		{"retype keeps emphasis", retype("b", "CAUSES", true), "part of", "causes"},
		{"notes on both sides", retype("c", "CAUSES", false), "[[D]] x [confidence:: low] y ^c", "[[D]] [confidence:: low] ^c"},
		{"same type", retype("b", "PART_OF", true), "", ""},
		{"reconfide", reconfide("a", num(0.25)), "0.8", "0.25"},
		{"reconfide the same", reconfide("a", num(0.8)), "", ""},
		{"take the confidence away", reconfide("a", nil), " [confidence:: 0.8]", ""},
		{"a first confidence", reconfide("b", num(1)), "[[C]]", "[[C]] [confidence:: 1]"},
		{"mend a confidence", reconfide("c", num(0)), "low", "0"},
		{"a first prior", reprior("a", num(0.5)), "0.8]", "0.8] [prior:: 0.5]"},
		{"a prior without a confidence", reprior("b", num(0.5)), "[[C]]", "[[C]] [prior:: 0.5]"},
		{"another prior", reprior("d", num(1)), "0.3", "1"},
		{"the same prior", reprior("d", num(0.3)), "", ""},
		{"take the prior away", reprior("d", nil), " [prior:: 0.3]", ""},
		{"a type keeps the prior", retype("d", "cites", false), "causes:: [[E]] [prior:: 0.3] why", "cites:: [[E]] [prior:: 0.3]"},
		{"remove", func(n *note.Note) ([]change.Patch, error) { return Remove(n, "b") }, "\r\n* **part of**:: [[C]]  ^b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			patches, err := c.do(parsed(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := spliced(t, text, patches), strings.Replace(text, c.old, c.new, 1); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestOnlyCanonicalLinesAreRewritten(t *testing.T) {
	const text = "---\ncites: \"[[P]]\"\n---\nsupports:: [[A]] ^f\n\n## Relations\n- supports [[B]] ^i\n- causes:: [[C]], [[D]] ^two\n- causes:: [[E]] ^dup\n- causes:: [[F]] ^dup\n- causes:: [[G]] ^deep\n  - child\n- causes:: [[H]] ^ok\n"
	for id, want := range map[string]fault.Kind{
		"f": fault.Invalid, "i": fault.Invalid, "two": fault.Invalid, "dup": fault.Ambiguous, "deep": fault.Invalid, "none": fault.NotFound, "": fault.NotFound,
	} {
		if _, err := Remove(parsed(text), id); fault.Of(err) != want || err.(*fault.Report).Fix == "" {
			t.Errorf("^%s: %v", id, err)
		}
	}
	if _, err := Retype(parsed(text), "deep", "cites", true); err != nil {
		t.Errorf("a type above a child: %v", err)
	}
	// Without the line, the words above the rule would become a heading.
	if _, err := Remove(parsed("## Relations\nwords\n- causes:: [[A]] ^a\n---\n"), "a"); fault.Of(err) != fault.Invalid {
		t.Errorf("a removal that makes a heading: %v", err)
	}
}

func TestRemoveFromALooseList(t *testing.T) {
	text := "## Relations\n\n- causes:: [[A]] ^a\n\n- causes:: [[B]] ^b\n\n- causes:: [[C]] ^c\n"
	patches, err := Remove(parsed(text), "b")
	if err != nil {
		t.Fatal(err)
	}
	if got := spliced(t, text, patches); got != strings.Replace(text, "\n\n- causes:: [[B]] ^b", "", 1) {
		t.Errorf("got %q", got)
	}
}

// A heading that stands right below text is not one that Add made.
func TestRemoveKeepsAHeadingOfTheUser(t *testing.T) {
	text := "words\n## Relations\n- causes:: [[A]] ^a\n"
	patches, err := Remove(parsed(text), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got := spliced(t, text, patches); got != "words\n## Relations\n" {
		t.Errorf("got %q", got)
	}
}

func TestNewID(t *testing.T) {
	random := bytes.NewReader(bytes.Repeat([]byte{0, 1, 255, 35, 36, 251}, 100))
	if got := NewID(random, nil); got != "rel-ab9a" {
		t.Errorf("got %q", got)
	}
	seen := 0
	got := NewNodeID("Observation", bytes.NewReader(make([]byte, 4096)), func(id string) bool { seen++; return len(id) < len("obs-aaaaaa") })
	if got != "obs-aaaaaa" || seen != 2*tries+1 {
		t.Errorf("got %q after %d", got, seen)
	}
	if got := NewID(bytes.NewReader(nil), nil); got != "" {
		t.Errorf("no randomness: %q", got)
	}
	if got := NewID(bytes.NewReader(make([]byte, 1<<16)), func(string) bool { return true }); got != "" {
		t.Errorf("everything taken: %q", got)
	}
}

func TestNode(t *testing.T) {
	got := NodeOf(parsed("---\nid: obs-7k3f\ntype: Observation\nconfidence: 0.7\n---\n# Title\n"))
	if want := (Node{ID: "obs-7k3f", Type: "Observation", Title: "Title", Path: "n.md", Confidence: num(0.7)}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	got = NodeOf(parsed("---\nid: 007\nconfidence: high\n---\n"))
	if got.ID != "007" || got.Confidence != nil || got.Problem == "" {
		t.Errorf("got %+v", got)
	}
	if got := NodeOf(parsed("---\nconfidence:\n---\n")); got.Problem != "" || got.Confidence != nil {
		t.Errorf("got %+v", got)
	}
	for typ, want := range map[string]string{"Observation": "obs", "hypothesis": "hyp", "Source": "src", "Claim": "clm", "Recipe": "rec", "": "note", "人": "node"} {
		if got := Prefix(typ); got != want {
			t.Errorf("%q: %q", typ, got)
		}
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"- supports:: [[x]] ^r":                                true,
		"* supports:: [[x#Part]] why [confidence:: 0.80] ^r":   true,
		"- supports:: [[x]] [confidence:: 0.8] see [[y|z]] ^r": true,
		"- supports:: [[x|shown]] ^r":                          false,
		"- supports:: [[x#Part|shown]] ^r":                     false,
		"- supports:: [shown](x.md) ^r":                        false,
		"- supports:: [[x]] [confidence:: high] ^r":            false,
		"- [ ] supports:: [[x]] ^r":                            false,
		"- supports:: [[x]] and [[y]] ^r":                      false,
		"- supports:: [[x]]":                                   false,
	} {
		if got := Whole(note.Parse("n.md", []byte("## Relations\n"+line+"\n")), "r"); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
