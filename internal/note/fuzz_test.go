package note

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
)

// seeds are every sample of the test data and some shapes that need care.
func seeds(tb testing.TB) []string {
	out := []string{
		"", "\n", "---\n---\n", "---\na: 1\n---\n", bom + "---\r\na: [x, 'y']\r\n...\r\nbody\r\n",
		"---\na: &x 1\nb: *x\n---\n", "---\na: |\n  x\n\n  y\nb: >-\n z\n---\n", "---\n\"q k\": 'v' # c\n---\n",
		"> - [x] #tag [[a|b]] ^id\n> > `x` [a](<b c>)\n", "| a | b |\n|---|---|\n| [[x\\|y]] | `a` |\n",
		"- supports:: [[X]] [confidence:: 0.8] why ^rel-1\n", "[a]: <x y> 't'\n\n[a] [b][a] ![c][]\n",
		"a\n===\n\nb\n---\n# c #\n", "%% [[x]] %% $a$ [[y]]\n\n%%\n[[z]]\n%%\n", "```\n[[x]]\n", "<div>\n[a](b)\n\n[a](b)\n",
		"((6108a2cd-0b9a-4b66-8d7e-1d8b3a0b8a4e)) #[[a b]] (k:: v)", "a\rb\rc", "a\u2028b", "\xff\xfe#\x00", "x \x00 y",
		"[[a]](b) [[1]][2] ![![a](b)](c) https://x.y/z?a=b)", "中文。句子！" + strings.Repeat("字", 500),
	}
	for _, pattern := range []string{"testdata/oracle/*.md", "testdata/golden/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, string(b))
		}
	}
	return out
}

// check says whatever must be true of every parsed note.
func check(t *testing.T, n *Note) {
	t.Helper()
	in := func(what string, s Span) {
		t.Helper()
		if s.Start < 0 || s.End < s.Start || s.End > len(n.text) {
			t.Fatalf("%s %v leaves the text of %d bytes", what, s, len(n.text))
		}
	}
	within := func(what string, inner, outer Span) {
		t.Helper()
		in(what, inner)
		if inner.Start < outer.Start || inner.End > outer.End {
			t.Fatalf("%s %v is not inside %v", what, inner, outer)
		}
	}
	in("front", n.Front.Span)
	in("yaml", n.Front.YAML)
	for i, p := range n.Front.Props {
		within("property", p.Span, n.Front.YAML.orZero(p.Span))
		within("name", p.Name, p.Span)
		within("value", p.Val, p.Span)
		if i > 0 && p.Span.Len() > 0 && p.Span.Start < n.Front.Props[i-1].Span.End {
			t.Fatalf("properties %d and %d overlap", i-1, i)
		}
	}
	checkLinks(t, n, within)
	last := -1
	for _, h := range n.Headings {
		in("heading", h.Span)
		within("section", Span{h.Span.Start, h.Span.End}, h.Section)
		if h.Span.Start <= last {
			t.Fatalf("headings out of order at %d", h.Span.Start)
		}
		if h.Level < 1 || h.Level > 6 || h.Line != n.line(h.Span.Start) {
			t.Fatalf("heading %+v", h)
		}
		last = h.Span.Start
	}
	for _, b := range n.Blocks {
		within("mark", b.Mark, b.Span)
		if n.text[b.Mark.Start:b.Mark.End] != "^"+b.ID {
			t.Fatalf("mark %q is not ^%s", n.text[b.Mark.Start:b.Mark.End], b.ID)
		}
	}
	for _, f := range n.Fields {
		within("field", f.Val, f.Span)
		if f.Key == "" {
			t.Fatal("field without a key")
		}
	}
	for _, k := range n.Tasks {
		within("box", k.Box, k.Span)
		if !strings.HasPrefix(n.text[k.Box.Start:], string(k.Mark)) && k.Mark != 0xFFFD {
			t.Fatalf("box %v holds no %q", k.Box, k.Mark)
		}
	}
	for _, g := range n.Tags {
		in("tag", g.Span)
		if g.Name == "" || !g.Front && !strings.Contains(n.text[g.Span.Start:g.Span.End], g.Name) {
			t.Fatalf("tag %+v", g)
		}
	}
	checkChunks(t, n)
}

// orZero lets an empty span pass: it says that the part has no place.
func (s Span) orZero(part Span) Span {
	if part == (Span{}) {
		return Span{}
	}
	return s
}

func checkLinks(t *testing.T, n *Note, within func(string, Span, Span)) {
	t.Helper()
	end, dest := 0, map[int]bool{}
	for i, l := range n.Links {
		within("link", l.Span, Span{0, len(n.text)})
		if i > 0 && before(l.Span, n.Links[i-1].Span) {
			t.Fatalf("links out of order: %v after %v", l.Span, n.Links[i-1].Span)
		}
		// A picture may stand in the text of a link; else they do not overlap.
		if l.Span.Start < end && l.Span.End > end {
			t.Fatalf("links %+v and %+v overlap", n.Links[i-1], l)
		}
		end = max(end, l.Span.End)
		if l.Line != n.line(l.Span.Start) {
			t.Fatalf("link %+v is on line %d", l, n.line(l.Span.Start))
		}
		if l.Dest == (Span{}) {
			continue
		}
		within("fragment", l.Frag, l.Span.orZero(l.Frag))
		if (l.Fragment == "") != (l.Frag == Span{}) {
			t.Fatalf("the fragment %q stands at %v", l.Fragment, l.Frag)
		}
		within("dest", l.Dest, l.Span)
		if l.Dest.Len() > 0 && dest[l.Dest.Start] {
			t.Fatalf("two links have the target at %d", l.Dest.Start)
		}
		dest[l.Dest.Start] = true
		raw := n.text[l.Dest.Start:l.Dest.End]
		got := raw
		if l.Kind != InFront && l.Kind != BlockRef && !n.isWiki(l) {
			if got = decodeDest(raw); l.External {
				got = unescape(raw)
			}
		}
		if got != l.Target {
			t.Fatalf("%q at %v does not decode to %q", raw, l.Dest, l.Target)
		}
	}
}

// checkChunks wants the chunks in order, small, and over every byte of the
// body that is not blank.
func checkChunks(t *testing.T, n *Note) {
	t.Helper()
	body := n.Front.Span.End
	if body == 0 && strings.HasPrefix(n.text, bom) {
		body = len(bom)
	}
	at := body
	last := 0
	for _, c := range n.Chunks {
		if c.Span.Start < body || c.Span.End > n.end || c.Span.Len() <= 0 || c.Text != n.text[c.Span.Start:c.Span.End] {
			t.Fatalf("chunk %v of a body from %d to %d", c.Span, body, n.end)
		}
		if c.Span.Start <= last && last > 0 || c.Span.End <= at && at > body {
			t.Fatalf("chunk %v brings nothing new after %d", c.Span, at)
		}
		if c.Span.Start > at && strings.Trim(n.text[at:c.Span.Start], " \t\r\n\v\f") != "" {
			t.Fatalf("no chunk covers %q", n.text[at:c.Span.Start])
		}
		if z := measure(c.Text, 1<<60); z.half > maxChunk {
			t.Fatalf("chunk %v holds %d half words", c.Span, z.half)
		}
		last = c.Span.Start
		at = c.Span.End
	}
	if rest := n.text[min(at, n.end):n.end]; strings.Trim(rest, " \t\r\n\v\f") != "" {
		t.Fatalf("no chunk covers the end %q", rest)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, dendron bool) {
		src := []byte(s)
		n := Options{DendronAlias: dendron}.Parse("dir/a.md", src)
		if string(src) != s {
			t.Fatal("the source was changed")
		}
		check(t, n)
		Plain(s)
		for _, h := range n.Headings {
			if _, err := n.Section(h.Text); err != nil && h.Text != "" && strings.TrimLeft(h.Text, "# ") == h.Text && !strings.HasPrefix(h.Text, "^") && fault.Of(err) != fault.Ambiguous {
				t.Fatalf("heading %q: %v", h.Text, err)
			}
		}
		ParseCanvas("a.canvas", src)
	})
}

// FuzzFrontMatter wants the fast reader and the library to agree wherever the
// fast one dares to answer.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{
		"a: 1", "tags: [a, b]", "tags:\n  - a\n  - b # c\nx: y", "a: 'x' # c", "a: \"\"", "a:\n# c\n- 1\n- 2.5\n\nb:", "date: 2024-01-01",
		"title: a: b", "x: -moz", "p: /", "k k: true", "a.b: 007", "v: 1_000", "t: 12:30", "n: 1e3", "e: 0🌲", "ms:id: 'q'", "a: []", "a: [ 'x', y z ]",
	} {
		f.Add(s)
	}
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := "---\n" + s + "\n---\n"
		fast, slow := frontOf(text, true), frontOf(text, false)
		if fast == nil || slow == nil {
			return
		}
		if slow.Front.Broken != "" {
			t.Fatalf("the library says %q about\n%s", slow.Front.Broken, s)
		}
		if len(fast.Front.Props) != len(slow.Front.Props) {
			t.Fatalf("%d and %d properties in\n%s", len(fast.Front.Props), len(slow.Front.Props), s)
		}
		for i, p := range fast.Front.Props {
			if !reflect.DeepEqual(p, slow.Front.Props[i]) {
				t.Fatalf("in %q\nfast %#v\nslow %#v", s, p, slow.Front.Props[i])
			}
		}
	})
}

// frontOf reads front matter in one of the two ways; nil when it cannot.
func frontOf(text string, fast bool) *Note {
	whole := Parse("a.md", []byte(text))
	if whole.Front.Span.Len() == 0 || whole.ReadOnly {
		return nil
	}
	n := &Note{text: text, end: len(text), starts: whole.starts}
	n.Front.Span, n.Front.YAML = whole.Front.Span, whole.Front.YAML
	var lines []int
	for _, s := range whole.starts {
		if s >= n.Front.YAML.Start && s < n.Front.YAML.End {
			lines = append(lines, s)
		}
	}
	p := &parser{note: n, text: text}
	if !fast {
		p.yamlFront(text[n.Front.YAML.Start:n.Front.YAML.End], lines)
	} else if !p.simpleFront(lines) {
		return nil
	}
	return n
}

// untouched wants every byte outside of the patches kept.
func untouched(t *testing.T, old, now string, patches []change.Patch) {
	t.Helper()
	at, shift := 0, 0
	for _, p := range patches {
		if p.Start < at {
			t.Fatalf("patches out of order: %v", patches)
		}
		if old[at:p.Start] != now[at+shift:p.Start+shift] {
			t.Fatalf("bytes before %v changed", p)
		}
		at, shift = p.End, shift+len(p.Text)-(p.End-p.Start)
	}
	if old[at:] != now[at+shift:] {
		t.Fatal("bytes after the last patch changed")
	}
}

func FuzzSetProperty(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "a", "new value", 0)
		f.Add(s, "tags", "x, y", 1)
		f.Add(s, "b", "12", 2)
	}
	f.Fuzz(func(t *testing.T, s, key, val string, kind int) {
		n := Parse("a.md", []byte(s))
		var v any = val
		switch kind & 7 {
		case 1:
			v = strings.Split(val, ",")
		case 2:
			v = len(val)
		case 3:
			v = nil
		case 4:
			v = map[string]any{val: []any{val, 1.5, true}}
		case 5:
			v = len(val)%2 == 0
		}
		patches, err := SetProperty(n, key, v)
		if err != nil {
			return
		}
		now, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, s, now, patches)
		again := Parse("a.md", []byte(now))
		check(t, again)
		want, _ := canonical(v)
		if got, ok := again.Front.Get(key); !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, not %#v, in\n%s", key, got, want, now)
		}
		if !strings.HasSuffix(s, now[again.Front.Span.End:]) {
			t.Fatal("the body changed")
		}
		if patches, err = RemoveProperty(again, key); err != nil {
			return
		}
		gone, err := change.Splice(now, patches...)
		if err != nil {
			t.Fatal(err)
		}
		last := Parse("a.md", []byte(gone))
		if _, ok := last.Front.Get(key); ok || len(last.Front.Props) != len(again.Front.Props)-1 {
			t.Fatalf("%q is still in\n%s", key, gone)
		}
	})
}

func FuzzReplaceTarget(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "new/Note name", 0)
		f.Add(s, "a (b)#c.md", 1)
	}
	f.Fuzz(func(t *testing.T, s, target string, which int) {
		n := Parse("a.md", []byte(s))
		if len(n.Links) == 0 {
			return
		}
		l := n.Links[int(uint(which)%uint(len(n.Links)))]
		patches, err := ReplaceTarget(n, l, target)
		if err != nil || len(patches) == 0 {
			return
		}
		now, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, s, now, patches)
		again := Parse("a.md", []byte(now))
		check(t, again)
		if len(again.Links) != len(n.Links) {
			t.Fatalf("%d links became %d:\n%q\n%q", len(n.Links), len(again.Links), s, now)
		}
		for i, old := range n.Links {
			got := again.Links[i]
			if old.Dest == l.Dest {
				old.Target = target
			}
			if got.Target != old.Target && old.Dest != (Span{}) || got.Kind != old.Kind || got.Fragment != old.Fragment {
				t.Fatalf("link %d is %+v, not %+v:\n%q\n%q", i, got, old, s, now)
			}
		}
	})
}

func FuzzInsertUnder(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, "new text", 0, false)
		f.Add(s, "- item\n- item", 1, true)
	}
	f.Fuzz(func(t *testing.T, s, text string, which int, start bool) {
		n := Parse("a.md", []byte(s))
		section := ""
		if k := len(n.Headings); k > 0 && which > 0 {
			section = n.Headings[which%k].Text
		}
		where := AtEnd
		if start {
			where = AtStart
		}
		patches, err := InsertUnder(n, section, text, where)
		if err != nil {
			return
		}
		now, err := change.Splice(s, patches...)
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, s, now, patches)
		again := Parse("a.md", []byte(now))
		check(t, again)
		p := patches[0]
		outside := 0
		for _, h := range again.Headings {
			if h.Span.Start < p.Start || h.Span.Start >= p.Start+len(p.Text) {
				outside++
			}
		}
		if outside != len(n.Headings) {
			t.Fatalf("%d headings became %d:\n%q\n%q", len(n.Headings), outside, s, now)
		}
		if again.Front.Span != n.Front.Span {
			t.Fatal("the front matter changed")
		}
	})
}
