package doctext

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"lore/internal/fault"
)

const (
	maxEntries = 20_000  // files in one archive
	maxColumn  = 500     // cells of one row
	maxShared  = 500_000 // texts that cells share
)

// An archive is an office document: a zip file with XML parts.
type archive struct {
	ctx   context.Context
	files map[string]*zip.File
	room  int64 // bytes that may still be unpacked
}

func readOffice(ctx context.Context, kind Kind, data []byte, w *writer) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) > maxEntries {
		return errDamaged
	}
	a := &archive{ctx: ctx, files: make(map[string]*zip.File, len(z.File)), room: maxTotal}
	for _, f := range z.File {
		a.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	switch kind {
	case Docx:
		return a.word(w)
	case Xlsx:
		return a.sheets(w)
	case Pptx:
		return a.slides(w)
	}
	return a.openDocument(kind, w)
}

// errTooLarge says that a part exceeds what is unpacked.
var errTooLarge = fault.New(fault.TooLarge, "the document is too large when it is unpacked")

// bounded reads a part and fails when it is too large, whatever its header says.
type bounded struct {
	r    io.Reader
	a    *archive
	part int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.a.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	b.part -= int64(n)
	if b.a.room -= int64(n); b.a.room < 0 || b.part < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// walk reads the XML of one part: start and end of elements by their local names,
// and text.
func (a *archive) walk(name string, start func(xml.StartElement), end func(string), text func(string)) error {
	f := a.files[name]
	if f == nil {
		return errDamaged
	}
	r, err := f.Open()
	if err != nil {
		return errDamaged
	}
	defer r.Close()
	d := xml.NewDecoder(&bounded{r: r, a: a, part: maxPart})
	d.Strict = false
	for depth := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errDamaged
			}
			start(t)
		case xml.EndElement:
			depth--
			end(t.Name.Local)
		case xml.CharData:
			text(string(t))
		}
	}
}

func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// word reads a Word document. It has no pages of its own except where one begins
// by force.
func (a *archive) word(w *writer) error {
	w.page("")
	inText, cell := false, 0
	return a.walk("word/document.xml", func(e xml.StartElement) {
		switch e.Name.Local {
		case "t":
			inText = true
		case "tab":
			w.text("\t")
		case "br", "cr":
			w.text("\n")
		case "tc":
			cell++
		case "pStyle":
			if n, ok := strings.CutPrefix(attr(e, "val"), "Heading"); ok {
				if level, err := strconv.Atoi(n); err == nil && level > 0 && level <= 6 {
					w.text(strings.Repeat("#", level) + " ")
				}
			}
		}
	}, func(name string) {
		switch name {
		case "t":
			inText = false
		case "p":
			w.text(separator(cell))
		case "tc":
			cell--
			w.text("\t")
		case "tr":
			w.text("\n")
		}
	}, func(s string) {
		if inText {
			w.text(s)
		}
	})
}

// separator ends a paragraph: inside a table it must not end the row.
func separator(cell int) string {
	if cell > 0 {
		return " "
	}
	return "\n"
}

// slides reads a presentation, by the numbers of its slides.
func (a *archive) slides(w *writer) error {
	type slide struct {
		name string
		n    int
	}
	var all []slide
	for name := range a.files {
		if rest, ok := strings.CutPrefix(name, "ppt/slides/slide"); ok {
			if n, err := strconv.Atoi(strings.TrimSuffix(rest, ".xml")); err == nil {
				all = append(all, slide{name, n})
			}
		}
	}
	if len(all) == 0 {
		return errDamaged
	}
	slices.SortFunc(all, func(a, b slide) int { return a.n - b.n })
	for i, s := range all {
		if !w.page("Slide " + strconv.Itoa(i+1)) {
			return nil
		}
		inText := false
		err := a.walk(s.name, func(e xml.StartElement) {
			switch e.Name.Local {
			case "t":
				inText = true
			case "br":
				w.text("\n")
			}
		}, func(name string) {
			switch name {
			case "t":
				inText = false
			case "p":
				w.text("\n")
			}
		}, func(t string) {
			if inText {
				w.text(t)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sheets reads a workbook: one page for each sheet, one line for each row.
func (a *archive) sheets(w *writer) error {
	targets := map[string]string{}
	err := a.walk("xl/_rels/workbook.xml.rels", func(e xml.StartElement) {
		if e.Name.Local == "Relationship" {
			targets[attr(e, "Id")] = attr(e, "Target")
		}
	}, func(string) {}, func(string) {})
	if err != nil {
		return err
	}
	type sheet struct{ name, part string }
	var all []sheet
	err = a.walk("xl/workbook.xml", func(e xml.StartElement) {
		if e.Name.Local == "sheet" && len(all) < maxPages {
			part := targets[attr(e, "id")]
			if !strings.HasPrefix(part, "/") {
				part = "xl/" + part
			}
			all = append(all, sheet{attr(e, "name"), strings.TrimPrefix(path.Clean(part), "/")})
		}
	}, func(string) {}, func(string) {})
	if err != nil {
		return err
	}
	shared, err := a.sharedTexts()
	if err != nil {
		return err
	}
	for _, s := range all {
		if a.files[s.part] == nil { // a chart
			continue
		}
		if !w.page(s.name) {
			return nil
		}
		if err := a.rows(s.part, shared, w); err != nil {
			return err
		}
	}
	return nil
}

// sharedTexts are the texts that cells name by their number.
func (a *archive) sharedTexts() ([]string, error) {
	const part = "xl/sharedStrings.xml"
	if a.files[part] == nil {
		return nil, nil
	}
	var out []string
	var b strings.Builder
	in, phonetic := false, false
	err := a.walk(part, func(e xml.StartElement) {
		switch e.Name.Local {
		case "t":
			in = !phonetic
		case "rPh":
			phonetic = true
		}
	}, func(name string) {
		switch name {
		case "t":
			in = false
		case "rPh":
			phonetic = false
		case "si":
			if len(out) < maxShared {
				out = append(out, b.String())
			}
			b.Reset()
		}
	}, func(s string) {
		if in {
			b.WriteString(s)
		}
	})
	return out, err
}

// A rowReader puts the cells of a row together.
type rowReader struct {
	shared []string
	w      *writer
	cells  []string
	column int
	kind   string
	in     bool
	value  strings.Builder
}

func (a *archive) rows(part string, shared []string, w *writer) error {
	r := &rowReader{shared: shared, w: w}
	return a.walk(part, r.start, r.end, func(s string) {
		if r.in {
			r.value.WriteString(s)
		}
	})
}

func (r *rowReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "row":
		r.cells = r.cells[:0]
	case "c":
		r.kind = attr(e, "t")
		r.column = columnOf(attr(e, "r"), len(r.cells))
		r.value.Reset()
	case "v", "t":
		r.in = true
	}
}

func (r *rowReader) end(name string) {
	switch name {
	case "v", "t":
		r.in = false
	case "c":
		if r.column < len(r.cells) || r.column >= maxColumn {
			return
		}
		for len(r.cells) < r.column {
			r.cells = append(r.cells, "")
		}
		r.cells = append(r.cells, r.cell())
	case "row":
		r.w.text(strings.Join(r.cells, "\t") + "\n")
	}
}

func (r *rowReader) cell() string {
	v := r.value.String()
	switch r.kind {
	case "s":
		if i, err := strconv.Atoi(v); err == nil && i >= 0 && i < len(r.shared) {
			return oneLine(r.shared[i])
		}
		return ""
	case "b":
		if v == "1" {
			return "TRUE"
		}
		return "FALSE"
	}
	return oneLine(v)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// columnOf is the column of a cell such as "AB12", counted from 0.
func columnOf(ref string, next int) int {
	n := 0
	for _, c := range ref {
		if c < 'A' || c > 'Z' || n > maxColumn {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	if n == 0 {
		return next
	}
	return n - 1
}

// openDocument reads the formats of LibreOffice.
func (a *archive) openDocument(kind Kind, w *writer) error {
	o := &odf{kind: kind, w: w}
	if kind == Odt {
		w.page("")
	}
	return a.walk("content.xml", o.start, o.end, func(s string) {
		if o.para > 0 && o.hidden == 0 {
			w.text(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
		}
	})
}

type odf struct {
	kind   Kind
	w      *writer
	para   int
	cell   int
	slides int
	hidden int // inside a deleted change
}

func (o *odf) start(e xml.StartElement) {
	switch e.Name.Local {
	case "tracked-changes":
		o.hidden++
	case "page":
		if o.kind == Odp && e.Name.Space == "draw" {
			o.slides++
			o.w.page("Slide " + strconv.Itoa(o.slides))
		}
	case "table":
		if o.kind == Ods && o.cell == 0 {
			o.w.page(attr(e, "name"))
		}
	case "h":
		if n, err := strconv.Atoi(attr(e, "outline-level")); err == nil && n > 0 && n <= 6 {
			o.w.text(strings.Repeat("#", n) + " ")
		}
		o.para++
	case "p":
		o.para++
	case "table-cell":
		o.cell++
	case "tab":
		o.w.text("\t")
	case "line-break":
		o.w.text("\n")
	case "s":
		n, _ := strconv.Atoi(attr(e, "c"))
		o.w.text(strings.Repeat(" ", min(max(n, 1), 80)))
	}
}

func (o *odf) end(name string) {
	switch name {
	case "tracked-changes":
		o.hidden--
	case "h", "p":
		o.para--
		o.w.text(separator(o.cell))
	case "table-cell":
		o.cell--
		o.w.text("\t")
	case "table-row":
		o.w.text("\n")
	}
}
