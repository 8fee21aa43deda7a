package index

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/note"
	"lore/internal/note/relation"
)

// HashOf is the hash of one file's content.
func HashOf(data []byte) Hash {
	sum := sha256.Sum256(data)
	return Hash(sum[:16])
}

// NewDocument turns a parsed note into what the index keeps of it.
func NewDocument(f File, kind Kind, n *note.Note) Document {
	d := Document{
		File: f, Kind: kind,
		Title: valid(n.Title), Type: valid(n.Type), Date: dateOf(&n.Front),
		Words: n.Words, Lines: n.Lines, ReadOnly: n.ReadOnly,
		Props: propsOf(n),
		Body:  n.Text()[n.Front.Span.End:],
	}
	for _, a := range n.Aliases {
		d.Aliases = append(d.Aliases, valid(a))
	}
	if d.Title == "" {
		d.Title = trimNoteExt(f.Path[strings.LastIndexByte(f.Path, '/')+1:])
	}
	for _, t := range n.Tasks {
		if t.IsOpen() {
			d.Tasks++
		} else {
			d.Done++
		}
	}
	d.Tags = tagsOf(n.Tags)
	if kind == KindNote {
		d.node(n)
	}
	for _, h := range n.Headings {
		d.Headings = append(d.Headings, h.Text)
	}
	for _, p := range n.Problems {
		d.Problems = append(d.Problems, Problem(p))
	}
	for _, l := range n.Links {
		if l.External || l.Definition {
			continue // the links that use a definition stand for it
		}
		d.Links = append(d.Links, Link{
			From: f.Path, Kind: string(l.Kind), Target: l.Target, Fragment: l.Fragment, Text: l.Text,
			Field: l.Field, Line: l.Line, Start: l.Span.Start, End: l.Span.End,
		})
	}
	for _, c := range n.Chunks {
		heading := strings.Join(c.Headings, " > ")
		d.Chunks = append(d.Chunks, Chunk{
			Heading: heading, Text: c.Text, Line: c.Line, Hash: passageHash(d.Title, heading, c.Text),
		})
	}
	return d
}

// node adds what a note is in the knowledge graph.
func (d *Document) node(n *note.Note) {
	node := relation.NodeOf(n)
	d.Node, d.Sure = valid(node.ID), node.Confidence
	if len(d.Node) > maxNode {
		d.Node = ""
	}
	for _, r := range relation.Of(n) {
		d.Relations = append(d.Relations, Relation{
			From: d.Path, Type: r.Type, Kind: string(r.Kind), Target: valid(r.Target), Fragment: valid(r.Fragment), Confidence: r.Confidence,
			Notes: valid(r.Notes), ID: valid(r.ID), Form: string(r.Form), Line: r.Line, Start: r.Span.Start, End: r.Span.End,
		})
	}
}

// maxNode is the longest id of a node: more is text that happens to be called id.
const maxNode = 128

// NewAttachment is the document of a file that is known by name only.
func NewAttachment(f File, kind Kind) Document {
	return Document{File: f, Kind: kind, Title: f.Path[strings.LastIndexByte(f.Path, '/')+1:]}
}

// PassageText is what a model embeds for one passage. The title and headings
// stand before the text, because a passage often does not name its subject.
func PassageText(title, heading, text string) string {
	head := title
	if heading != "" && !strings.EqualFold(heading, title) {
		head += " > " + strings.TrimPrefix(heading, title+" > ")
	}
	return head + "\n" + note.Plain(text)
}

// passageHash covers everything [PassageText] is made of, without making it.
func passageHash(title, heading, text string) Hash {
	h := sha256.New()
	var n [8]byte
	binary.LittleEndian.PutUint32(n[:], uint32(len(title)))
	binary.LittleEndian.PutUint32(n[4:], uint32(len(heading)))
	_, _ = h.Write(n[:])
	_, _ = h.Write([]byte(title + heading + text))
	return Hash(h.Sum(nil)[:16])
}

func tagsOf(tags []note.Tag) []string {
	seen := make(map[string]bool, len(tags))
	var out []string
	for _, t := range tags {
		k := strings.ToLower(valid(t.Name))
		if !seen[k] {
			seen[k] = true
			out = append(out, valid(t.Name))
		}
	}
	return out
}

// propsOf are the properties of a note. Of the mark that it is untrusted, however it
// is written, the index keeps one value: whether it is ([note.Note.IsUntrusted]).
func propsOf(n *note.Note) []Prop {
	var out []Prop
	untrusted, told := n.IsUntrusted(), false
	mark := Prop{Key: note.UntrustedKey, Value: strconv.FormatBool(untrusted)}
	for _, p := range n.Front.Props {
		switch {
		case !p.IsMark():
			out = appendProp(out, p.Key, p.Value)
		case !told:
			out, told = append(out, mark), true
		}
	}
	if untrusted && !told { // its front matter cannot be read
		out = append(out, mark)
	}
	return out
}

// appendProp flattens lists and maps: "author.name" is a key of its own.
func appendProp(out []Prop, key string, v any) []Prop {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = appendProp(out, key, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = appendProp(out, key+"."+k, v[k])
		}
	default:
		out = append(out, Prop{Key: valid(key), Value: valid(scalar(v))})
	}
	return out
}

// valid replaces bytes that are no UTF-8: labels are stored as JSON, which
// cannot hold them, and must be found again by what was stored.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// dateKeys are the properties that say when a note is from, best first.
var dateKeys = []string{"date", "created", "created_at", "created-at"}

func dateOf(f *note.Front) int64 {
	for _, k := range dateKeys {
		if v, ok := f.Get(k); ok {
			if t, ok := ParseDate(scalar(v)); ok {
				return t.Unix()
			}
		}
	}
	return 0
}

// dateLayouts are the ways dates are written in notes. Those without an offset
// are local time.
var dateLayouts = []string{
	time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
	"2006-01-02 15:04", "2006/01/02", "02.01.2006", "20060102", "2006-01",
}

// ParseDate reads a date as people write it in properties and queries; a bare
// one is midnight, local time.
func ParseDate(s string) (time.Time, bool) {
	s = strings.Trim(strings.TrimSpace(s), `[]"`)
	if len(s) < 6 || len(s) > 40 || s[0] < '0' || s[0] > '9' {
		return time.Time{}, false
	}
	for _, l := range dateLayouts {
		if t, err := time.ParseInLocation(l, s, time.Local); err == nil {
			return t, true
		}
	}
	// Dendron and JavaScript write milliseconds.
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) == 13 {
		return time.UnixMilli(ms), true
	}
	return time.Time{}, false
}
