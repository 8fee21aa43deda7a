package doctext

import (
	"bytes"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxOperators = 20_000_000
	maxOperands  = 4096
	maxShown     = 1 << 20 // bytes of one string
	maxForms     = 12      // forms inside each other
	formCost     = 100     // operators that one counts for
	maxSaved     = 256
)

// readPDF writes the text of every page, and reads at most so many values and
// operators for it.
func readPDF(ctx context.Context, data []byte, w *writer, most int) error {
	p, err := openPDF(ctx, data)
	if err != nil {
		return err
	}
	r := &reader{pdf: p, w: w, fonts: map[any]*font{}, left: most, codes: maxAllCodes}
	pages := p.pages()
	if len(pages) == 0 {
		return errDamaged
	}
	for i, page := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !w.page("Page " + strconv.Itoa(i+1)) {
			return nil
		}
		r.state, r.saved, r.was = newState(), nil, glyphEnd{}
		r.run(p.contents(page.dict), page.resources, 0)
		if w.full || r.left <= 0 || p.room <= 0 {
			w.full = true
			return nil
		}
	}
	return ctx.Err()
}

type pdfPage struct {
	dict      dict
	resources dict
}

// pages are the pages in their order; those that no tree leads to when there is
// none.
func (p *pdf) pages() []pdfPage {
	var out []pdfPage
	seen := map[int]bool{}
	if root := p.root(); root != nil {
		p.tree(root["Pages"], nil, seen, 0, &out)
	}
	if len(out) > 0 {
		return out
	}
	for _, n := range p.numbers() {
		if p.ctx.Err() != nil || len(out) > maxPages {
			break
		}
		if d, ok := p.object(n).(dict); ok && d["Type"] == name("Page") {
			out = append(out, pdfPage{d, p.dict(d["Resources"])})
		}
	}
	return out
}

// numbers are those of all objects.
func (p *pdf) numbers() []int { return slices.Sorted(maps.Keys(p.places)) }

// root is the catalog that the last trailer names.
func (p *pdf) root() dict {
	rest := p.data
	for range maxRoots {
		i := bytes.LastIndex(rest, []byte("/Root"))
		if i < 0 {
			break
		}
		l := &lexer{src: p.data, pos: i + len("/Root"), p: p}
		if d := p.dict(l.value(0)); d != nil && d["Pages"] != nil {
			return d
		}
		rest = rest[:i]
	}
	for _, n := range p.numbers() {
		if d, ok := p.object(n).(dict); ok && d["Type"] == name("Catalog") {
			return d
		}
		if p.ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

func (p *pdf) tree(v any, resources dict, seen map[int]bool, depth int, out *[]pdfPage) {
	if r, ok := v.(ref); ok {
		if seen[int(r)] {
			return
		}
		seen[int(r)] = true
	}
	d := p.dict(v)
	if d == nil || depth > maxTree || len(*out) > maxPages || p.ctx.Err() != nil {
		return
	}
	if own := p.dict(d["Resources"]); own != nil {
		resources = own
	}
	kids, ok := p.get(d["Kids"]).([]any)
	if !ok {
		*out = append(*out, pdfPage{d, resources})
		return
	}
	for _, k := range kids {
		p.tree(k, resources, seen, depth+1, out)
	}
}

// contents are the streams of a page, one after the other.
func (p *pdf) contents(page dict) []byte {
	v := p.get(page["Contents"])
	if s, ok := v.(stream); ok {
		return p.unpack(s)
	}
	list, _ := v.([]any)
	var out []byte
	for _, e := range list {
		if s, ok := p.get(e).(stream); ok && len(out) < maxPart {
			out = append(append(out, p.unpack(s)...), '\n')
		}
	}
	return out
}

// A matrix is that of a PDF: x' = a*x + c*y + e, y' = b*x + d*y + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what q saves and Q restores, with the matrices of the text.
type state struct {
	ctm, text, line    matrix
	font               *font
	size, leading      float64
	charGap, wordGap   float64
	horizontal, raised float64
}

func newState() state { return state{ctm: identity, text: identity, line: identity, horizontal: 1} }

// glyphEnd is where the last text ended.
type glyphEnd struct {
	any        bool
	x, y, size float64
}

// A reader runs content streams.
type reader struct {
	*pdf
	w     *writer
	state state
	saved []state
	fonts map[any]*font
	was   glyphEnd
	left  int // values and operators that may still be read
	codes int // entries of fonts that may still be kept
}

// run runs one content stream.
func (r *reader) run(body []byte, resources dict, depth int) {
	l := &lexer{src: body}
	var args []any
	for {
		if r.left--; r.left <= 0 || r.w.full || r.left%1024 == 0 && r.ctx.Err() != nil {
			return
		}
		switch v := l.value(0).(type) {
		case end:
			return
		case op:
			switch v {
			case "BI":
				l.skipImage()
			case "Do":
				r.form(args, resources, depth)
			default:
				r.do(v, args, resources)
			}
			args = args[:0]
		case closing:
		default:
			if len(args) < maxOperands {
				args = append(args, v)
			}
		}
	}
}

// skipImage passes over a picture inside of the stream.
func (l *lexer) skipImage() {
	i := bytes.Index(l.src[l.pos:], []byte("ID"))
	if i < 0 {
		l.pos = len(l.src)
		return
	}
	for l.pos += i + 2; ; {
		i := bytes.Index(l.src[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.src)
			return
		}
		l.pos += i + 2
		if isSpace(l.src[l.pos-3]) && (l.pos >= len(l.src) || isSpace(l.src[l.pos])) {
			return
		}
	}
}

// form runs a stream that a page places like a picture.
func (r *reader) form(args []any, resources dict, depth int) {
	if len(args) == 0 || depth >= maxForms {
		return
	}
	n, _ := args[len(args)-1].(name)
	s, ok := r.get(r.dict(resources["XObject"])[n]).(stream)
	if !ok || s.dict["Subtype"] != name("Form") {
		return
	}
	own := r.dict(s.dict["Resources"])
	if own == nil {
		own = resources
	}
	r.left -= formCost
	before, saved := r.state, r.saved
	r.saved = nil
	if m, ok := toMatrix(r.array(s.dict["Matrix"])); ok {
		r.state.ctm = m.times(r.state.ctm)
	}
	r.run(r.unpack(s), own, depth+1)
	r.state, r.saved = before, saved
}

func toMatrix(args []any) (m matrix, ok bool) {
	if len(args) < 6 {
		return m, false
	}
	for i, a := range args[len(args)-6:] {
		if m[i], ok = a.(float64); !ok {
			return m, false
		}
	}
	return m, true
}

func num(args []any, fromEnd int) float64 {
	if fromEnd > len(args) {
		return 0
	}
	f, _ := args[len(args)-fromEnd].(float64)
	return f
}

// do runs one operator; those that draw no text are left out.
func (r *reader) do(o op, args []any, resources dict) {
	s := &r.state
	switch o {
	case "q":
		if len(r.saved) < maxSaved {
			r.saved = append(r.saved, *s)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			*s, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		if m, ok := toMatrix(args); ok {
			s.ctm = m.times(s.ctm)
		}
	case "BT":
		s.text, s.line = identity, identity
	case "Tf":
		s.size = num(args, 1)
		if len(args) > 1 {
			n, _ := args[len(args)-2].(name)
			s.font = r.fontOf(r.dict(resources["Font"])[n])
		}
	case "Tc":
		s.charGap = num(args, 1)
	case "Tw":
		s.wordGap = num(args, 1)
	case "Tz":
		s.horizontal = num(args, 1) / 100
	case "TL":
		s.leading = num(args, 1)
	case "Ts":
		s.raised = num(args, 1)
	default:
		r.showOrMove(o, args)
	}
}

func (r *reader) showOrMove(o op, args []any) {
	s := &r.state
	switch o {
	case "Td":
		r.move(num(args, 2), num(args, 1))
	case "TD":
		s.leading = -num(args, 1)
		r.move(num(args, 2), num(args, 1))
	case "Tm":
		if m, ok := toMatrix(args); ok {
			s.text, s.line = m, m
		}
	case "T*":
		r.move(0, -s.leading)
	case "Tj", "'", "\"":
		if o == "\"" {
			s.wordGap, s.charGap = num(args, 3), num(args, 2)
		}
		if o != "Tj" {
			r.move(0, -s.leading)
		}
		if len(args) > 0 {
			t, _ := args[len(args)-1].(str)
			r.show(t)
		}
	case "TJ":
		if len(args) == 0 {
			return
		}
		list, _ := args[len(args)-1].([]any)
		for _, e := range list {
			switch e := e.(type) {
			case str:
				r.show(e)
			case float64:
				r.advance(-e / 1000 * s.size * s.horizontal)
			}
		}
	}
}

func (r *reader) move(x, y float64) {
	r.state.line = matrix{1, 0, 0, 1, x, y}.times(r.state.line)
	r.state.text = r.state.line
}

func (r *reader) advance(x float64) { r.state.text = matrix{1, 0, 0, 1, x, 0}.times(r.state.text) }

// show writes a text, with a space or a new line before it where its position
// says so.
func (r *reader) show(t str) {
	s := &r.state
	if s.font == nil || s.size == 0 {
		return
	}
	s.font.decode(t[:min(len(t), maxShown)], func(text string, width float64, space bool) {
		m := s.text.times(s.ctm)
		size := math.Abs(s.size) * math.Hypot(m[2], m[3])
		r.separate(m[4], m[5]+s.raised, size, text)
		r.w.text(text)
		x := width*s.size + s.charGap
		if space {
			x += s.wordGap
		}
		r.advance(x * s.horizontal)
		m = s.text.times(s.ctm)
		r.was = glyphEnd{any: true, x: m[4] - s.charGap, y: m[5] + s.raised, size: size}
	})
}

func (r *reader) separate(x, y, size float64, text string) {
	was := r.was
	if !was.any || strings.TrimSpace(text) == "" {
		return
	}
	big := math.Max(math.Max(size, was.size), 0.1)
	down := math.Abs(y - was.y)
	switch {
	case down > 1.8*big:
		r.w.text("\n\n")
	case down > 0.6*big || x < was.x-big && down > 0.3*big || x < was.x-4*big:
		r.w.text("\n")
	case x > was.x+0.17*big || x < was.x-big:
		if c := r.w.last(); c != ' ' && c != '\n' && c != 0 {
			r.w.text(" ")
		}
	}
}
