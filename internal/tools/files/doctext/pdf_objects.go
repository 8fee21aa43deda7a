package doctext

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/ascii85"
	"errors"
	"io"
	"slices"
	"strconv"

	"lore/internal/fault"
)

// Limits of one PDF.
const (
	maxObjects = 1_000_000
	maxTree    = 50        // levels of the tree of pages
	maxItems   = 200_000   // of one list or dictionary
	maxKept    = 2_000_000 // values that are kept in memory
	keptBytes  = 32 << 20  // the text that they were read from
	maxRoots   = 32        // trailers that are tried
)

// The values of a PDF. Numbers are float64, strings are str, dictionaries dict.
type (
	name string
	str  string
	ref  int
	dict map[name]any
	op   string // an operator of a content stream
)

type stream struct {
	dict dict
	raw  []byte
}

// A place is where an object is: at an offset of the file, or in an object stream.
type place struct {
	offset int
	inside []byte // the text of an object out of an object stream
}

// A pdf is a file whose objects were found by looking for them: the table that
// the file has of them is often wrong in damaged files, and never needed.
type pdf struct {
	ctx    context.Context
	data   []byte
	places map[int]place
	parsed map[int]any
	busy   map[int]bool
	kept   int   // values in parsed
	size   int   // bytes that they were read from
	work   int   // bytes that may still be read for objects: some are read more than once
	room   int64 // bytes that may still be unpacked
}

var errEncrypted = fault.New(fault.Invalid, "the PDF is encrypted")

func openPDF(ctx context.Context, data []byte) (*pdf, error) {
	p := &pdf{ctx: ctx, data: data, places: map[int]place{}, parsed: map[int]any{}, busy: map[int]bool{}, work: 4*len(data) + maxPart, room: maxTotal}
	if isEncrypted(data) {
		return nil, errEncrypted
	}
	if err := p.findObjects(); err != nil {
		return nil, err
	}
	if len(p.places) == 0 {
		return nil, errDamaged
	}
	return p, p.openObjectStreams()
}

// isEncrypted looks for the entry of a trailer: a reference or a dictionary.
func isEncrypted(data []byte) bool {
	for rest := data; ; {
		i := bytes.Index(rest, []byte("/Encrypt"))
		if i < 0 {
			return false
		}
		rest = rest[i+len("/Encrypt"):]
		next := bytes.TrimLeft(rest[:min(len(rest), 20)], " \r\n\t")
		if len(next) > 0 && (next[0] >= '0' && next[0] <= '9' || next[0] == '<') {
			return true
		}
	}
}

// findObjects notes where every "12 0 obj" is; of several with one number the
// last counts, as in a file that was saved several times.
func (p *pdf) findObjects() error {
	for at, round := 0, 0; ; round++ {
		if round%1024 == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		i := bytes.Index(p.data[at:], []byte("obj"))
		if i < 0 {
			return nil
		}
		at += i + 3
		if n, ok := numberBefore(p.data[:at-3]); ok {
			if len(p.places) >= maxObjects {
				return errDamaged
			}
			p.places[n] = place{offset: at}
		}
	}
}

// numberBefore reads the number of "12 0 " at the end of a text.
func numberBefore(b []byte) (int, bool) {
	i := len(b)
	back := func(is func(byte) bool) int {
		n := 0
		for i > 0 && is(b[i-1]) && n < 12 {
			i--
			n++
		}
		return n
	}
	if back(isSpace) == 0 || back(isDigit) == 0 || back(isSpace) == 0 {
		return 0, false
	}
	end := i
	if back(isDigit) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(b[i:end]))
	return n, err == nil
}

// openObjectStreams adds the objects that are packed together.
func (p *pdf) openObjectStreams() error {
	var packed []int
	for n, at := range p.places {
		if bytes.Contains(p.data[at.offset:min(len(p.data), at.offset+400)], []byte("/ObjStm")) {
			packed = append(packed, n)
		}
	}
	slices.Sort(packed)
	for _, n := range packed {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		s, ok := p.get(ref(n)).(stream)
		if !ok || s.dict["Type"] != name("ObjStm") {
			continue
		}
		body := p.unpack(s)
		first, count := p.integer(s.dict["First"]), p.integer(s.dict["N"])
		if first <= 0 || first > len(body) || count > maxObjects {
			continue
		}
		l := &lexer{src: body[:first], p: nil}
		for range count {
			num, ok1 := l.value(0).(float64)
			off, ok2 := l.value(0).(float64)
			at := first + int(off)
			if !ok1 || !ok2 || at < first || at > len(body) {
				break
			}
			if _, direct := p.places[int(num)]; !direct && len(p.places) < maxObjects {
				p.places[int(num)] = place{inside: body[at:]}
			}
		}
	}
	return nil
}

// get follows references to the value itself; nil when there is none.
func (p *pdf) get(v any) any {
	for range 8 {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = p.object(int(r))
	}
	return nil
}

func (p *pdf) object(n int) any {
	if v, ok := p.parsed[n]; ok {
		return v
	}
	at, ok := p.places[n]
	if !ok || p.busy[n] || p.work <= 0 {
		return nil
	}
	p.busy[n] = true
	defer delete(p.busy, n)
	l := &lexer{src: p.data, pos: at.offset, p: p}
	if at.inside != nil {
		l = &lexer{src: at.inside, p: p}
	}
	v := l.value(0)
	if d, ok := v.(dict); ok && at.inside == nil {
		if raw, ok := l.streamBody(d); ok {
			v = stream{d, raw}
		}
	}
	used := l.pos
	if at.inside == nil {
		used -= at.offset
	}
	p.work -= used + 1
	if p.kept, p.size = p.kept+l.count, p.size+used; p.kept > maxKept || p.size > keptBytes {
		clear(p.parsed)
		p.kept, p.size = l.count, used
	}
	p.parsed[n] = v
	return v
}

func (p *pdf) dict(v any) dict {
	switch v := p.get(v).(type) {
	case dict:
		return v
	case stream:
		return v.dict
	}
	return nil
}

func (p *pdf) array(v any) []any {
	a, _ := p.get(v).([]any)
	return a
}

func (p *pdf) number(v any) float64 {
	f, _ := p.get(v).(float64)
	return f
}

func (p *pdf) integer(v any) int {
	f := p.number(v)
	if f < -1e9 || f > 1e9 {
		return 0
	}
	return int(f)
}

// unpack undoes the filters of a stream. It returns what could be read: the end
// of a damaged stream is missing, its beginning is good. A filter that is not
// known gives nothing; those hold pictures.
func (p *pdf) unpack(s stream) []byte {
	filters := p.array(s.dict["Filter"])
	if one, ok := p.get(s.dict["Filter"]).(name); ok {
		filters = []any{one}
	}
	data := s.raw
	if len(filters) == 0 { // it costs as much to read as one that was packed
		if p.room -= int64(len(data)); p.room < 0 {
			return nil
		}
	}
	for i, f := range filters {
		if i >= 4 {
			return nil
		}
		kind, _ := p.get(f).(name)
		switch kind {
		case "FlateDecode", "Fl":
			data = p.inflate(data)
		case "ASCIIHexDecode", "AHx":
			p.room -= int64(len(data))
			data = unhex(data[:min(len(data), maxPart)])
		case "ASCII85Decode", "A85":
			data = p.un85(data)
		default:
			return nil
		}
	}
	return data
}

func (p *pdf) inflate(data []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return p.take(z)
}

func (p *pdf) un85(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	if i := bytes.IndexByte(data, '~'); i >= 0 {
		data = data[:i]
	}
	return p.take(ascii85.NewDecoder(bytes.NewReader(data)))
}

// take reads within the limits.
func (p *pdf) take(r io.Reader) []byte {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, max(0, min(maxPart, p.room))))
	p.room -= n
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && n == 0 {
		return nil
	}
	return b.Bytes()
}

func unhex(data []byte) []byte {
	var out []byte
	high := -1
	for _, c := range data {
		if c == '>' {
			break
		}
		h := hexValue(c)
		switch {
		case h < 0:
		case high < 0:
			high = h
		default:
			out, high = append(out, byte(high<<4|h)), -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return out
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
