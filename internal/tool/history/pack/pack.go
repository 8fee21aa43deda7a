// Package pack makes contents of files small: deflated, whole or as the
// difference to another content, and back again. It knows no file and no table.
package pack

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"
)

// Packed is a content as it is stored: whole, or as the difference to another.
// A difference begins with two numbers: how many bytes at the beginning and at
// the end of the other stay; what follows replaces the middle.
type Packed struct {
	Diff bool
	Raw  bool // not deflated
	Data []byte
}

// A Packer holds writers that deflate, used again: a new one costs more than
// what it does to a note.
type Packer struct{ pool sync.Pool }

// short is the length from which deflating is worth its time.
const short = 128

func (p *Packer) deflate(head []byte, text string) (data []byte, raw bool, err error) {
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

// Whole packs a content that stands for itself.
func (p *Packer) Whole(text string) (*Packed, error) {
	data, raw, err := p.deflate(nil, text)
	return &Packed{false, raw, data}, err
}

// Diff packs a content as the difference to base; nil when too little of it is
// the same.
func (p *Packer) Diff(base, text string) (*Packed, error) {
	start, end := common(base, text)
	if start+end <= len(text)/2 {
		return nil, nil
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(start)), uint64(end))
	data, raw, err := p.deflate(head, text[start:len(text)-end])
	return &Packed{true, raw, data}, err
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

// A Stored content is what was kept of a packed one.
type Stored struct {
	Size int
	Raw  bool
	Data []byte
}

var errDamaged = errors.New("damaged")

// Unpack makes the content of the first row out of it and those that it is the
// difference to.
func Unpack(steps []Stored) (string, error) {
	text := ""
	for i := len(steps) - 1; i >= 0; i-- {
		st, whole := steps[i], i == len(steps)-1
		var start, end uint64
		if !whole {
			var n, m int
			start, n = binary.Uvarint(st.Data)
			if n <= 0 {
				return "", errDamaged
			}
			end, m = binary.Uvarint(st.Data[n:])
			if m <= 0 || start > uint64(len(text)) || end > uint64(len(text))-start {
				return "", errDamaged
			}
			st.Data = st.Data[n+m:]
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

func inflate(st Stored) (string, error) {
	if st.Raw {
		return string(st.Data), nil
	}
	r := flate.NewReader(bytes.NewReader(st.Data))
	var b strings.Builder
	// A damaged row must not fill the memory; its hash will not fit either way.
	if _, err := io.Copy(&b, io.LimitReader(r, int64(st.Size)+1)); err != nil {
		return "", err
	}
	return b.String(), r.Close()
}
