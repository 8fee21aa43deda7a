package history

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxDepth is how many differences lie between a content and one that is kept
// whole, at the most: each is one more row to read.
const maxDepth = 8

// packed is a content as it is stored: whole, or as the difference to another.
// A difference begins with two numbers: how many bytes at the beginning and at
// the end of the other stay; what follows replaces the middle.
type packed struct {
	diff bool
	raw  bool // not deflated
	data []byte
}

// packers are writers that deflate, used again: a new one costs more than what
// it does to a note.
type packers struct{ pool sync.Pool }

// short is the length from which deflating is worth its time.
const short = 128

func (p *packers) deflate(head []byte, text string) (data []byte, raw bool, err error) {
	if len(text) >= short {
		b := bytes.NewBuffer(append([]byte(nil), head...))
		w, ok := p.pool.Get().(*flate.Writer)
		if ok {
			w.Reset(b)
		} else if w, err = flate.NewWriter(b, flate.BestSpeed); err != nil {
			return nil, false, err
		}
		defer p.pool.Put(w)
		if _, err := io.WriteString(w, text); err != nil {
			return nil, false, err
		}
		if err := w.Close(); err != nil {
			return nil, false, err
		}
		if b.Len() < len(head)+len(text) {
			return b.Bytes(), false, nil
		}
	}
	data = append(make([]byte, 0, len(head)+len(text)+1), head...) // never nil: the column takes no NULL
	return append(data, text...), true, nil
}

// best packs a content in the shorter way: as the difference to its base, when
// that may be and most of it is the same, or else whole.
func (p *packers) best(c *side, diff bool) (*packed, error) {
	if diff && c.base != nil {
		if c.diff != nil {
			return c.diff, nil
		}
		if start, end := common(c.base.text, c.text); start+end > len(c.text)/2 {
			head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(start)), uint64(end))
			data, raw, err := p.deflate(head, c.text[start:len(c.text)-end])
			c.diff = &packed{true, raw, data}
			return c.diff, err
		}
	}
	if c.whole == nil {
		data, raw, err := p.deflate(nil, c.text)
		if err != nil {
			return nil, err
		}
		c.whole = &packed{false, raw, data}
	}
	return c.whole, nil
}

// common counts the bytes that two texts share at the beginning and at the end.
func common(a, b string) (start, end int) {
	n := min(len(a), len(b))
	for start < n && a[start] == b[start] {
		start++
	}
	for end < n-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start, end
}

// stored is a row of the table of images.
type stored struct {
	size int
	raw  bool
	data []byte
}

var errDamaged = errors.New("damaged")

// unpack makes the content of the first row out of it and those that it is the
// difference to.
func unpack(steps []stored) (string, error) {
	text := ""
	for i := len(steps) - 1; i >= 0; i-- {
		st, whole := steps[i], i == len(steps)-1
		var start, end uint64
		if !whole {
			var n, m int
			start, n = binary.Uvarint(st.data)
			if n <= 0 {
				return "", errDamaged
			}
			end, m = binary.Uvarint(st.data[n:])
			if m <= 0 || start > uint64(len(text)) || end > uint64(len(text))-start {
				return "", errDamaged
			}
			st.data = st.data[n+m:]
		}
		middle, err := inflate(st)
		if err != nil {
			return "", err
		}
		if !whole {
			middle = text[:start] + middle + text[uint64(len(text))-end:]
		}
		text = middle
	}
	return text, nil
}

func inflate(st stored) (string, error) {
	if st.raw {
		return string(st.data), nil
	}
	r := flate.NewReader(bytes.NewReader(st.data))
	var b strings.Builder
	// A damaged row must not fill the memory; its hash will not fit either way.
	if _, err := io.Copy(&b, io.LimitReader(r, int64(st.size)+1)); err != nil {
		return "", err
	}
	return b.String(), r.Close()
}
