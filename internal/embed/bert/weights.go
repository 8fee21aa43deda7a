package bert

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"lore/internal/embed/wordpiece"
)

// A matrix is a layer's weights: out rows of in numbers, in panels, where they
// lie in the file.
type matrix struct {
	in, out int
	panels  string
	scales  []float32
	sums    []float32 // of each row, times its scale
	bias    []float32
}

// panel points to the panel that begins with row r, a multiple of 16.
func (m *matrix) panel(r int) *int8 {
	return (*int8)(unsafe.Pointer(unsafe.StringData(m.panels[r*m.in:])))
}

type norm struct{ weight, bias []float32 }

type layer struct {
	qkv, out, up, down matrix
	attended, fed      norm
}

// words are the embeddings of the vocabulary, read in place: bytes, or half
// bytes with shares for their groups.
type words struct{ rows, scales, groups string }

// row writes the embedding of one id, which is known to be in range.
func (w words) row(dst []float32, id int32) {
	scale := math.Float32frombits(uint32At(w.scales, 4*int(id)))
	if w.groups != "" {
		row, groups := w.rows[int(id)*len(dst)/2:], w.groups[int(id)*len(dst)/groupSize:]
		for i := range dst {
			dst[i] = float32(int(row[i/2]>>(i%2*4)&15)-8) * (scale * float32(groups[i/groupSize]) / 255)
		}
		return
	}
	row := w.rows[int(id)*len(dst):]
	for i := range dst {
		dst[i] = float32(int8(row[i])) * scale
	}
}

// weights are all numbers of a model.
type weights struct {
	words     words
	positions []float32 // with the embedding of the first segment added
	start     norm
	layers    []layer
}

// A finder takes tensors out of a file until one is missing.
type finder struct {
	*File
	err error
}

func (f *finder) floats(name string, shape ...int) []float32 {
	if f.err != nil {
		return nil
	}
	var v []float32
	v, f.err = f.vector(name, shape...)
	return v
}

func (f *finder) norm(name string) norm {
	return norm{f.floats(name+".weight", f.Width), f.floats(name+".bias", f.Width)}
}

func (f *finder) matrix(name string, out, in int) matrix {
	m := matrix{in: in, out: out, bias: f.floats(name+".bias", out)}
	if f.err != nil {
		return m
	}
	var t Tensor
	if t, m.panels, f.err = f.tensor(name+".weight", Panels, out, in); f.err != nil {
		return m
	}
	if m.scales, f.err = f.File.floats(t.Scales, out); f.err != nil {
		return m
	}
	m.sums, f.err = f.File.floats(t.Sums, out)
	return m
}

func (f *finder) words(count int) words {
	if f.err != nil {
		return words{}
	}
	kind := Rows
	if f.tensors["words"].Type == Nibbles {
		kind = Nibbles
	}
	t, rows, err := f.tensor("words", kind, count, f.Width)
	if f.err = err; err != nil {
		return words{}
	}
	groups := ""
	if kind == Nibbles {
		if groups, f.err = f.section(t.Groups, int64(count*f.Width/groupSize)); f.err != nil {
			return words{}
		}
	}
	if _, f.err = f.File.floats(t.Scales, count); f.err != nil {
		return words{}
	}
	scales, err := f.section(t.Scales, 4*int64(count))
	f.err = err
	return words{rows, scales, groups}
}

// load finds all weights of the file and makes its tokenizer.
func load(file *File) (*weights, *wordpiece.Tokenizer, error) {
	// The count comes from the vocabulary itself, so that every id that the
	// tokenizer can give has a row.
	tokenizer := wordpiece.New
	if file.Tokenizer == "multilingual" {
		tokenizer = wordpiece.NewMultilingual
	}
	tokens, err := tokenizer(file.Pieces())
	if err != nil {
		return nil, nil, fmt.Errorf("model file: %w", err)
	}
	f := &finder{File: file}
	w := &weights{
		words:     f.words(tokens.Len()),
		positions: f.floats("positions", f.MaxTokens, f.Width),
		start:     f.norm("start"),
	}
	for i := range f.Layers {
		name := func(part string) string { return fmt.Sprintf("layer.%d.%s", i, part) }
		w.layers = append(w.layers, layer{
			qkv:      f.matrix(name("qkv"), 3*f.Width, f.Width),
			out:      f.matrix(name("out"), f.Width, f.Width),
			up:       f.matrix(name("up"), f.FF, f.Width),
			down:     f.matrix(name("down"), f.Width, f.FF),
			attended: f.norm(name("attended")),
			fed:      f.norm(name("fed")),
		})
		if f.err != nil {
			break
		}
	}
	// Names are compared in full; a tensor that nobody asked for is a sign of
	// a file for another version.
	if want := 4 + 12*f.Layers; f.err == nil && len(f.Tensors) != want {
		var names []string
		for _, t := range f.Tensors {
			names = append(names, t.Name)
		}
		f.err = invalid("%d tensors, not %d: %s", len(names), want, strings.Join(names, " "))
	}
	return w, tokens, f.err
}
