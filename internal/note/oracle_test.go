package note

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// goldmark (CommonMark and GFM) is the judge of headings, code and links on
// ordinary Markdown. It is given the body without front matter. The two differ
// on purpose, and the comparison knows it, in these:
//
//   - comment: nothing between %% is Markdown for us, as in Obsidian; a text
//     with %% is not compared;
//   - math: nothing between $ or $$ is Markdown for us; the real vaults agree
//     nevertheless, so such texts are compared;
//   - wikilink: what goldmark sees inside of [[ ]] is not compared;
//   - field: [key:: value] is a field and never a link;
//   - bare URL: goldmark runs without Linkify, ours are left out;
//   - empty: a link with an empty destination leads nowhere and is not reported;
//   - mail: <a@b.c> is no link to a note or a URL;
//   - lone CR: it ends a line, as CommonMark says and goldmark does not do; a
//     text with one is not compared;
//   - definition: ours is reported as a link of its own, for renames;
//   - depth: quotes and lists deeper than maxDepth are text.

// facts is what both sides say about a text, as lines that can be compared.
type facts struct{ headings, code, links []string }

func lineOf(s string, pos int) int { return 1 + strings.Count(s[:pos], "\n") }

func goldmarkFacts(src string) facts {
	var f facts
	b := []byte(src)
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote))
	doc := md.Parser().Parse(text.NewReader(b))
	code := func(n ast.Node) {
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			if strings.TrimSpace(src[s.Start:s.Stop]) != "" {
				f.code = append(f.code, fmt.Sprint(lineOf(src, s.Start)))
			}
		}
	}
	link := func(n ast.Node, dest []byte) {
		if len(dest) > 0 {
			f.links = append(f.links, fmt.Sprintf("%d %s", n.Pos(), decodeDest(string(dest))))
		}
	}
	ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			line := 0
			if n.Lines().Len() > 0 {
				line = lineOf(src, n.Lines().At(0).Start)
			}
			f.headings = append(f.headings, fmt.Sprintf("%d %d", line, n.Level))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			code(n)
		case *ast.Link:
			link(n, n.Destination)
		case *ast.Image:
			link(n, n.Destination)
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL {
				link(n, n.URL(b))
			}
		}
		return ast.WalkContinue, nil
	})
	return f
}

func ourFacts(n *Note, body int) facts {
	var f facts
	src := n.text[body:]
	for _, h := range n.Headings {
		if h.Text == "" && strings.Trim(n.text[h.Span.Start:h.Span.End], "# \t") == "" {
			f.headings = append(f.headings, fmt.Sprintf("0 %d", h.Level))
			continue
		}
		f.headings = append(f.headings, fmt.Sprintf("%d %d", lineOf(src, h.Span.Start-body), h.Level))
	}
	for _, c := range n.code {
		lines := strings.Split(n.text[c.Start:c.End], "\n")
		first := lineOf(src, c.Start-body)
		fence, size := fenceRun(lines[0])
		quote := quoteDepth(n.text, c.Start)
		for i, l := range lines {
			for range quote {
				l = strings.TrimPrefix(strings.TrimLeft(l, " \t"), ">")
			}
			if strings.TrimSpace(l) == "" || fence != 0 && i == 0 {
				continue
			}
			if g, k := fenceRun(strings.TrimLeft(l, " \t>")); fence != 0 && i == len(lines)-1 && g == fence && k >= size {
				continue
			}
			f.code = append(f.code, fmt.Sprint(first+i))
		}
	}
	for _, l := range n.Links {
		if l.Definition || l.Kind == InFront || l.Kind == BlockRef || n.isWiki(l) || l.External && l.Span == l.Dest {
			continue
		}
		dest := l.Target
		if l.Fragment != "" {
			dest += "#" + l.Fragment
		} else if l.Dest.End < len(n.text) && l.Dest.Len() == 0 && l.Dest.Start > 0 && n.text[l.Dest.Start] == '#' {
			dest += "#"
		}
		f.links = append(f.links, fmt.Sprintf("%d %s", l.Span.Start-body, percentDecode(dest)))
	}
	return f
}

func quoteDepth(s string, pos int) int {
	start := strings.LastIndexByte(s[:pos], '\n') + 1
	return strings.Count(s[start:pos], ">")
}

// differ lists what only one side has.
func differ(a, b []string) []string {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	var out []string
	for s, n := range count {
		if n > 0 {
			out = append(out, "goldmark: "+s)
		} else if n < 0 {
			out = append(out, "lore: "+s)
		}
	}
	sort.Strings(out)
	return out
}

// overlapsOurs drops goldmark's links that begin inside a wikilink or a field.
func overlapsOurs(n *Note, body int, links []string) []string {
	var keep []string
	for _, s := range links {
		var pos int
		fmt.Sscan(s, &pos)
		pos += body
		drop := false
		for _, l := range n.Links {
			drop = drop || n.isWiki(l) && pos >= l.Span.Start-1 && pos < l.Span.End
		}
		for _, f := range n.Fields {
			drop = drop || pos == f.Span.Start
		}
		if !drop {
			keep = append(keep, s)
		}
	}
	return keep
}

type score struct{ notes, same, headings, code, links, skipped int }

func compare(t *testing.T, path string, src []byte, sc *score, loud bool) {
	n := Parse(path, src)
	body := n.Front.Span.End
	if body == 0 && strings.HasPrefix(n.text, bom) {
		body = len(bom)
	}
	s := n.text[body:]
	if strings.Contains(s, "%%") || hasLoneCR(s) || len(s) > 1<<20 {
		sc.skipped++
		return
	}
	gold, ours := goldmarkFacts(s), ourFacts(n, body)
	gold.links = overlapsOurs(n, body, gold.links)
	var all []string
	for name, pair := range map[string][2][]string{
		"heading": {gold.headings, ours.headings}, "code": {gold.code, ours.code}, "link": {gold.links, ours.links},
	} {
		for _, d := range differ(pair[0], pair[1]) {
			all = append(all, name+" "+d)
		}
	}
	sc.notes++
	sc.headings += len(gold.headings)
	sc.code += len(gold.code)
	sc.links += len(gold.links)
	if len(all) == 0 {
		sc.same++
	} else if loud {
		sort.Strings(all)
		t.Errorf("%s (body at %d):\n\t%s", path, body, strings.Join(all[:min(len(all), 6)], "\n\t"))
	}
}

func TestAgreesWithGoldmark(t *testing.T) {
	files, err := filepath.Glob("testdata/oracle/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var sc score
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f, src, &sc, true)
	}
}

// TestVaultsAgreeWithGoldmark runs over every note below LORE_VAULTS and wants
// at least 98 of 100 notes to agree in everything: the rest are the differences
// that cannot be told apart from the text alone.
func TestVaultsAgreeWithGoldmark(t *testing.T) {
	root := os.Getenv("LORE_VAULTS")
	if root == "" {
		t.Skip("LORE_VAULTS is not set")
	}
	scores := make(map[string]*score)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		vault, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if scores[vault] == nil {
			scores[vault] = &score{}
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		compare(t, p, src, scores[vault], os.Getenv("LORE_LOUD") != "")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for v, s := range scores {
		t.Logf("%s: %d of %d notes agree (%d headings, %d code lines, %d links; %d skipped)", v, s.same, s.notes, s.headings, s.code, s.links, s.skipped)
		if s.same*100 < s.notes*98 {
			t.Errorf("%s: too many differences", v)
		}
	}
}

// TestVaultsHold checks on every real note what must be true of any, and that
// an edit of its front matter is refused or changes nothing else.
func TestVaultsHold(t *testing.T) {
	for vault, notes := range readVaults(t) {
		broken, front, refused := 0, 0, 0
		for _, src := range notes {
			n := Parse("dir/a.md", src)
			check(t, n)
			if n.Front.Span.Len() > 0 {
				front++
			}
			if n.Front.Broken != "" {
				broken++
				continue
			}
			for _, p := range n.Front.Props {
				if _, err := SetProperty(n, p.Key, "some new: value"); err != nil {
					refused++
					t.Logf("%s: %v", vault, err)
				}
			}
		}
		t.Logf("%s: %d of %d notes have front matter, %d broken; %d edits refused", vault, front, len(notes), broken, refused)
	}
}
