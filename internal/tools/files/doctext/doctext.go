// Package doctext reads the text of documents: PDF, Word, Excel, PowerPoint and
// OpenDocument files.
//
// Documents come from anywhere, so nothing in them is believed: every size,
// count and depth has a limit, offsets are checked, and a document that exceeds a
// limit gives the text up to there. Nothing is run, fetched or written.
package doctext

import (
	"bytes"
	"context"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/fault"
)

// Limits of one document.
const (
	maxText  = 4 << 20   // bytes of text
	maxPages = 5000      // pages, slides or sheets
	maxPart  = 32 << 20  // bytes of one unpacked part
	maxTotal = 128 << 20 // bytes of all unpacked parts
	maxDepth = 200       // values or elements inside each other
)

// A Kind is a format.
type Kind string

// The formats.
const (
	PDF  Kind = "application/pdf"
	Docx Kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	Xlsx Kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	Pptx Kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	Odt  Kind = "application/vnd.oasis.opendocument.text"
	Ods  Kind = "application/vnd.oasis.opendocument.spreadsheet"
	Odp  Kind = "application/vnd.oasis.opendocument.presentation"
)

var kinds = map[string]Kind{".pdf": PDF, ".docx": Docx, ".xlsx": Xlsx, ".pptx": Pptx, ".odt": Odt, ".ods": Ods, ".odp": Odp}

// KindOf tells the format by the name of a file and how its content begins; ""
// when it is none of these.
func KindOf(name string, data []byte) Kind {
	k := kinds[strings.ToLower(path.Ext(name))]
	switch {
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return PDF
	case k == "" || k == PDF || !bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return ""
	}
	return k
}

// IsName reports whether a file has the name of such a document.
func IsName(name string) bool { return kinds[strings.ToLower(path.Ext(name))] != "" }

// A Page is a page, a slide or a sheet. A text document without pages of its own
// is one.
type Page struct {
	Name string // "Page 3", "Slide 2", or the name of a sheet
	Text string
}

// A Document is the text of one file.
type Document struct {
	Pages []Page
	// Cut says that a limit was reached and more text may follow.
	Cut bool
}

// Read reads the text of a document. It ends with ctx.
func Read(ctx context.Context, kind Kind, data []byte) (doc Document, err error) {
	defer func() {
		// The bounds are checked everywhere; should one be missing, one document is
		// not worth the process.
		if r := recover(); r != nil {
			doc, err = Document{}, errDamaged
		}
	}()
	w := &writer{}
	switch kind {
	case PDF:
		err = readPDF(ctx, data, w, maxOperators)
	case Docx, Xlsx, Pptx, Odt, Ods, Odp:
		err = readOffice(ctx, kind, data, w)
	default:
		return Document{}, fault.New(fault.Invalid, "%q is not a document format", kind)
	}
	if ctx.Err() != nil {
		return Document{}, ctx.Err()
	}
	w.endPage()
	if len(w.pages) == 0 && err != nil {
		return Document{}, err
	}
	return Document{Pages: w.pages, Cut: w.full || err != nil}, nil
}

var errDamaged = fault.New(fault.Invalid, "the document is damaged")

// A writer collects pages and enforces the limits of their text.
type writer struct {
	pages []Page
	open  bool
	name  string
	b     strings.Builder
	size  int
	full  bool
}

// page begins a page; false when there is no room for more.
func (w *writer) page(name string) bool {
	w.endPage()
	if len(w.pages) >= maxPages {
		w.full = true
	}
	w.open, w.name = true, name
	return !w.full
}

func (w *writer) endPage() {
	if !w.open {
		return
	}
	w.pages = append(w.pages, Page{Name: w.name, Text: tidy(w.b.String())})
	w.b.Reset()
	w.open = false
}

func (w *writer) text(s string) {
	if w.size+len(s) > maxText {
		w.full = true
	}
	if w.full || s == "" {
		return
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	w.size += len(s)
	w.b.WriteString(s)
}

// last is the last byte of the page so far; 0 when it is empty.
func (w *writer) last() byte {
	s := w.b.String()
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// tidy drops control characters, the space at the ends of lines, and all but one
// of several empty lines.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r == '\u00a0' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	var out []string
	empty := true
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t")
		if line == "" && empty {
			continue
		}
		empty = line == ""
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
