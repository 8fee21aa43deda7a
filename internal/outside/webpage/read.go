package webpage

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"lore/internal/fault"
	"lore/internal/note/invisible"
)

// maxTitle is how long a title may be, in characters.
const maxTitle = 200

// read makes Markdown of the main part of a web page.
func (p *Page) read(text string, at *url.URL) error {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return fault.New(fault.Invalid, "the page cannot be read: %v", err)
	}
	p.Title = titleOf(doc)
	if d := dateOf(doc); d != "" {
		p.Published = d
	}
	body := mainPart(doc)
	if body == nil {
		return nil
	}
	clean(body, at)
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithHeadingStyle(commonmark.HeadingStyleATX)), strikethrough.NewStrikethroughPlugin(), table.NewTablePlugin()))
	md, err := c.ConvertNode(body)
	if err != nil {
		return fault.New(fault.Invalid, "the page cannot be read: %v", err)
	}
	p.Text = plainMarkdown(string(md))
	return nil
}

var (
	blankLines = regexp.MustCompile(`\n{3,}`)
	brackets   = regexp.MustCompile(`\[{2,}`)
)

// plainMarkdown takes out what means something in a vault and nothing on a web page:
// links to notes, embeds, and what nobody sees.
func plainMarkdown(md string) string {
	md, _ = invisible.Strip(md)
	md = brackets.ReplaceAllStringFunc(md, func(s string) string { return strings.Repeat(`\[`, len(s)) })
	md = blankLines.ReplaceAllString(md, "\n\n")
	return strings.TrimSpace(md) + "\n"
}

// dropped are elements that are no text of a page.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Object: true, atom.Embed: true, atom.Svg: true, atom.Canvas: true,
	atom.Form: true, atom.Button: true, atom.Input: true, atom.Select: true, atom.Textarea: true, atom.Nav: true, atom.Dialog: true, atom.Link: true, atom.Meta: true,
	atom.Video: true, atom.Audio: true, atom.Math: true, atom.Head: true,
}

// aside are elements that stand around the text.
var aside = map[atom.Atom]bool{atom.Header: true, atom.Footer: true, atom.Aside: true}

// mainPart is the element that holds the text of a page.
func mainPart(doc *html.Node) *html.Node {
	var best *html.Node
	most := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || !(n.DataAtom == atom.Main || n.DataAtom == atom.Article || attr(n, "role") == "main") {
			continue
		}
		// A page of many articles is read whole; of one in another, the outer counts.
		if size := textSize(n); size > most {
			best, most = n, size
		}
	}
	body := find(doc, atom.Body)
	if best == nil || body != nil && most*4 < textSize(body) {
		return body
	}
	return best
}

// textSize is how much a person would read in an element.
func textSize(n *html.Node) int {
	size := 0
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			size += len(strings.TrimSpace(n.Data))
		}
		if n.Type == html.ElementNode && (dropped[n.DataAtom] || aside[n.DataAtom] || isHidden(n)) {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return size
}

// clean takes out of an element what is not its text, and what nobody would see.
func clean(root *html.Node, at *url.URL) {
	var remove []*html.Node
	for n := range root.Descendants() {
		switch {
		case n.Type == html.CommentNode:
			remove = append(remove, n)
		case n.Type != html.ElementNode:
		case dropped[n.DataAtom] || isHidden(n) || aside[n.DataAtom] && n.Parent == root || (aside[n.DataAtom] && root.DataAtom == atom.Body):
			remove = append(remove, n)
		case n.DataAtom == atom.Img:
			picture(n, at)
		case n.DataAtom == atom.A:
			link(n, at)
		}
	}
	for _, n := range remove {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

var hides = regexp.MustCompile(`(?i)(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(px|em|%|\s*[;"]|$)|opacity\s*:\s*0\s*(;|$))`)

// isHidden reports whether a browser does not show an element: words that a person
// does not see are not read to a model, either.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return a.Val == "true"
		case "style":
			if hides.MatchString(a.Val) {
				return true
			}
		}
	}
	return false
}

// picture makes a link of a picture: opening a note must fetch nothing.
func picture(n *html.Node, at *url.URL) {
	to, ok := resolve(at, attr(n, "src"))
	words := strings.TrimSpace(attr(n, "alt"))
	if !ok || words == "" {
		n.Type, n.Data, n.DataAtom, n.Attr = html.TextNode, words, 0, nil
		return
	}
	n.Data, n.DataAtom, n.Attr = "a", atom.A, []html.Attribute{{Key: "href", Val: to}}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: words})
}

// link makes an address whole; one that is none of a web page is dropped.
func link(n *html.Node, at *url.URL) {
	to, ok := resolve(at, attr(n, "href"))
	n.Attr = nil
	if ok {
		n.Attr = []html.Attribute{{Key: "href", Val: to}}
		return
	}
	n.Data, n.DataAtom = "span", atom.Span
}

// maxAddress is how long an address may be that is kept.
const maxAddress = 2000

func resolve(at *url.URL, ref string) (string, bool) {
	u, err := at.Parse(strings.TrimSpace(ref))
	if err != nil || ref == "" || strings.HasPrefix(ref, "#") || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", false
	}
	s := u.String()
	return s, len(s) <= maxAddress
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func find(doc *html.Node, what atom.Atom) *html.Node {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == what {
			return n
		}
	}
	return nil
}

// meta is what a page says of itself under one of these names.
func meta(doc *html.Node, names ...string) string {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Meta {
			continue
		}
		name := strings.ToLower(attr(n, "property") + attr(n, "name") + attr(n, "itemprop"))
		if slices.Contains(names, name) {
			return strings.TrimSpace(attr(n, "content"))
		}
	}
	return ""
}

func titleOf(doc *html.Node) string {
	s := meta(doc, "og:title")
	if s == "" {
		if t := find(doc, atom.Title); t != nil && t.FirstChild != nil {
			s = t.FirstChild.Data
		}
	}
	s, _ = invisible.Strip(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > maxTitle {
		s = string(r[:maxTitle-1]) + "…"
	}
	return s
}

// dateOf is the day on which a page says that it was published.
func dateOf(doc *html.Node) string {
	s := meta(doc, "article:published_time", "datepublished", "date", "dc.date", "citation_publication_date")
	if s == "" {
		if t := find(doc, atom.Time); t != nil {
			s = attr(t, "datetime")
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", time.DateOnly, "2006/01/02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}
