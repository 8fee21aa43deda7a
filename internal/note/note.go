// Package note understands the text of one Markdown file: CommonMark with
// GFM, Obsidian's additions, and what Logseq and Dendron write.
//
// [Parse] is pure, linear in the size of the text and never fails: whatever
// cannot be understood becomes a [Problem] of the note. Every part knows the
// exact bytes it stands on, so an edit is a patch of those bytes and nothing is
// ever written back from a tree. Nothing here opens a file or knows that an
// index exists.
//
// Where the dialects leave room, this is what is read:
//
//   - Links and tags count in text, headings, tables, callouts and footnotes;
//     not in code, math, HTML blocks, HTML tags and %%comments%%.
//   - "[[a]](b)" is a Markdown link with brackets in its text.
//   - A lone CR ends a line; U+2028 does not.
//   - YAML is read as YAML 1.2: "no" and "on" are texts. A key that is a list or
//     a map, as in {{date}}, makes front matter broken. Aliases are followed
//     within a budget.
//   - A tag follows a blank, an opening mark or punctuation of another script,
//     and is more than a number.
//   - "key:: value" needs a blank or the line's end behind the colons.
//   - Quotes and lists deeper than a hundred levels are read as text.
package note

import "sort"

// A Span is a half-open range of bytes in the source. The zero Span means that
// the part does not stand in the source as such.
type Span struct{ Start, End int }

// Len is the number of bytes in s.
func (s Span) Len() int { return s.End - s.Start }

// A Note is everything that can be known from one file alone. It is immutable.
// Strings in it may share the memory of the source.
type Note struct {
	Path     string // from the vault root, with slashes; gives the title when nothing else does
	Title    string // property "title", else the first heading of level 1, else the file's name
	Aliases  []string
	Type     string // property "type", as written; "" when there is none
	Front    Front
	Tags     []Tag
	Headings []Heading
	Blocks   []Block
	Links    []Link
	Fields   []Field
	Tasks    []Task
	Chunks   []Chunk
	Words    int // words of the body
	Lines    int // lines of the file
	// ReadOnly says that the bytes are not text that may be edited safely
	// (NUL bytes, UTF-16, invalid UTF-8); Problems says why.
	ReadOnly bool
	Problems []Problem

	text   string // the source, or its decoded form when it was UTF-16
	end    int    // how much of text was parsed: less than all only beyond MaxText
	starts []int  // where each parsed line begins
	code   []Span // lines of fenced and indented code
	opt    Options
	over   []string // the kinds of parts of which there are too many
	canvas bool     // the text is JSON: what stands in it is escaped
}

// Text is the text that the spans point into: the source, without changes,
// unless it was UTF-16, which is decoded.
func (n *Note) Text() string { return n.text }

// InCode reports whether the byte at pos stands in fenced or indented code.
func (n *Note) InCode(pos int) bool {
	i := sort.Search(len(n.code), func(i int) bool { return pos < n.code[i].End })
	return i < len(n.code) && pos >= n.code[i].Start
}

// A Front is the YAML block at the top of a note.
type Front struct {
	Span  Span       // the whole block with both fences and the last line end; zero when there is none
	YAML  Span       // what stands between the fences
	Props []Property // the top-level keys, in the order of the file
	// Broken is why the YAML cannot be read, with BrokenLine counted from the
	// top of the file; "" when it can. Props is empty then.
	Broken     string
	BrokenLine int
}

// Get returns the value of the first property called key. Case matters.
func (f *Front) Get(key string) (any, bool) {
	for i := range f.Props {
		if f.Props[i].Key == key {
			return f.Props[i].Value, true
		}
	}
	return nil, false
}

// A Property is one top-level key of the front matter. Its value is nil, bool,
// int64, float64, string, []any or map[string]any; dates stay the text they
// were written as.
type Property struct {
	Key   string
	Value any
	Span  Span // the whole entry: key, value, comments beside it, line ends
	Name  Span // the key as written, with its quotes
	Val   Span // the value as written; empty (Start == End) for a bare key
}

// A Tag is one use of a tag. Name has no '#' and keeps the case it was written
// in; nested tags keep their slashes ("project/lore").
type Tag struct {
	Name  string
	Span  Span // with the '#' where it stands in the body
	Front bool // it comes from the front matter
}

// A Heading is an ATX or setext heading. Section reaches from its first byte to
// the next heading of the same or a higher level.
type Heading struct {
	Level   int
	Text    string // as a reader sees it: without marks, links shown as their text
	Span    Span   // the whole heading, without the last line end
	Section Span
	Content Span // the text as written: without marks, closing marks and a "^id"
	Line    int  // counted from 1, of the file
	// Nested says that it stands inside a list item or a quote. Such a heading
	// ends no section outside of its own list or quote.
	Nested bool
}

// A Block is the target of a "^id" mark.
type Block struct {
	ID   string
	Span Span // the paragraph, list item or table that carries the mark, with the mark
	Mark Span // "^id"
	Line int
}

// A LinkKind says how a link is written.
type LinkKind string

// How links are written.
const (
	Wikilink LinkKind = "wikilink" // [[target#fragment|text]]
	Markdown LinkKind = "markdown" // [text](target), [text][ref], <autolink>
	Embed    LinkKind = "embed"    // ![[target]], ![text](target)
	InFront  LinkKind = "property" // "[[target]]" inside a property
	BlockRef LinkKind = "blockref" // Logseq's ((uuid))
	Canvas   LinkKind = "canvas"   // a file node of a .canvas file
)

// A Link points from this note to a note, an attachment or a URL.
type Link struct {
	Kind LinkKind
	// Target is decoded, without fragment and text; "" for a link into the same
	// note. A URL keeps its fragment and its percent-encoding.
	Target   string
	Fragment string // decoded, without '#': "Heading", "A#B" or "^block"
	Text     string // what a reader sees; "" when the target is shown itself
	External bool   // Target is a URL with a scheme
	Field    string // the property or inline field whose value it stands in, else ""
	// Definition says that it is a "[label]: target" line: no reader sees it, a
	// rename replaces it. The links that use it have no Dest of their own.
	Definition bool
	Span       Span // the whole link as written
	Dest       Span // the target as written, without the fragment: what a rename replaces
	Frag       Span // the fragment as written, without its '#'; zero when there is none or a definition has it
	Line       int
}

// A Field is an inline field: "key:: value" on a line of its own or in a list
// item, or [key:: value] and (key:: value) inside a line.
//
// The value of a field on a line of its own is the rest of that line, with the
// bracketed fields in it and without a "^id" mark at its end.
type Field struct {
	Key   string
	Value string
	Span  Span
	Val   Span
	Line  int
}

// A Task is a list item with a box.
type Task struct {
	Text string
	Mark rune // ' ' open, 'x' or 'X' done, anything else as the user means it
	Span Span // the whole item's first line, without its line end
	Box  Span // the character between the brackets
	Line int
}

// IsOpen reports whether the box is empty.
func (t *Task) IsOpen() bool { return t.Mark == ' ' }

// A Chunk is a passage that is searched and embedded as one. Together the
// chunks cover the body; they overlap only inside sections that are too long.
type Chunk struct {
	Headings []string // the path of headings above it, outermost first
	Text     string   // the source of the passage, with its heading line
	Span     Span
	Line     int
}

// A Problem is something about a note that its owner may want to know.
type Problem struct {
	// Kind is "broken_yaml", "duplicate_key", "invalid_utf8", "nul_byte",
	// "utf16", "too_large", "too_deep", "too_many" or "broken_canvas".
	Kind   string
	Detail string
	Line   int // 0 when it concerns the whole file
}
