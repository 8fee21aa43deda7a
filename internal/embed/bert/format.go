package bert

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"lore/internal/fault"
)

// A model file is
//
//	magic "LOREBERT", version uint32, length of the header uint32
//	the header: JSON, padded with spaces
//	the data: tensors and the vocabulary, each at a multiple of 64 bytes
//
// all little-endian. The weights lie in the file as the kernels read them, so
// that loading them is nothing but finding them.
const (
	magic     = "LOREBERT"
	version   = 1
	alignment = 64
	maxHeader = 1 << 20
)

// A Header describes a model. Everything the encoder needs to know is here, so
// that another model of the family takes this one's place without code.
type Header struct {
	// Model names the space of the vectors; see embed.Model.ID.
	Model string `json:"model"`
	// Source says where the weights came from and under which licence.
	Source  string `json:"source"`
	License string `json:"license"`

	Layers int `json:"layers"`
	Width  int `json:"width"`
	Heads  int `json:"heads"`
	FF     int `json:"ff"`
	// MaxTokens is how much of a text is read, with its two marks.
	MaxTokens int `json:"max_tokens"`
	// MaxWords is about how many words of English that is.
	MaxWords int `json:"max_words"`
	// Pooling makes one vector of many: "mean" of all tokens, or "first".
	Pooling string `json:"pooling"`
	// LowerCase must be true: the tokenizer knows uncased vocabularies only.
	LowerCase bool `json:"lower_case"`
	// Tokenizer is "" for that of an uncased BERT, or "multilingual".
	Tokenizer string `json:"tokenizer,omitempty"`
	// Epsilon is added to the variance in layer normalisation.
	Epsilon float64 `json:"epsilon"`
	// QueryPrefix and PassagePrefix stand before texts of that role, for
	// models that were trained with them.
	QueryPrefix   string `json:"query_prefix,omitempty"`
	PassagePrefix string `json:"passage_prefix,omitempty"`

	Vocabulary Section  `json:"vocabulary"`
	Tensors    []Tensor `json:"tensors"`
}

// A Section is a range of the data.
type Section struct {
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// A Type is how the numbers of a tensor are stored.
type Type string

// The types of tensors.
const (
	// Float32 is one float after the other.
	Float32 Type = "f32"
	// Rows is int8, row after row, each with one float scale.
	Rows Type = "i8.rows"
	// Panels is int8 with one float scale per row, in the order of the matrix
	// kernels: 16 rows make a panel, and in a panel the four numbers at
	// columns 4i to 4i+3 of each of its rows lie side by side. Beside the
	// scales it has the sum of each row times its scale.
	Panels Type = "i8.panels"
	// Nibbles is four bits a number, row after row, the number at an even column
	// in the low half of its byte, and 8 is zero. Each row has one float scale,
	// and each group of [groupSize] columns a byte: its share of that, of 255.
	Nibbles Type = "i4.rows"
)

const groupSize = 32

// A Tensor is where the numbers of one array are.
type Tensor struct {
	Name   string `json:"name"`
	Type   Type   `json:"type"`
	Shape  []int  `json:"shape"`
	Offset int64  `json:"offset"`
	Scales int64  `json:"scales,omitempty"`
	Sums   int64  `json:"sums,omitempty"`
	Groups int64  `json:"groups,omitempty"`
}

// A File is a model file whose parts were checked to be where they should.
type File struct {
	Header
	data    string
	tensors map[string]Tensor
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "model file: "+format, args...)
}

// Parse reads a model file. It keeps data and copies nothing. A file that is
// damaged or made to harm gives an error of kind fault.Invalid.
func Parse(data string) (*File, error) {
	const fixed = len(magic) + 8
	if len(data) < fixed || data[:len(magic)] != magic {
		return nil, invalid("it does not begin with %q", magic)
	}
	if v := uint32At(data, len(magic)); v != version {
		return nil, invalid("version %d, but this program reads %d", v, version)
	}
	size := int(uint32At(data, len(magic)+4))
	if size > maxHeader || size > len(data)-fixed {
		return nil, invalid("header of %d bytes", size)
	}
	f := &File{tensors: map[string]Tensor{}}
	decoder := json.NewDecoder(strings.NewReader(data[fixed : fixed+size]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f.Header); err != nil {
		return nil, invalid("header: %v", err)
	}
	f.data = data[fixed+size:]
	if err := f.checkShape(); err != nil {
		return nil, err
	}
	if _, err := f.section(f.Header.Vocabulary.Offset, f.Header.Vocabulary.Size); err != nil {
		return nil, err
	}
	for _, t := range f.Tensors {
		if _, twice := f.tensors[t.Name]; twice {
			return nil, invalid("tensor %q occurs twice", t.Name)
		}
		f.tensors[t.Name] = t
	}
	return f, nil
}

// The bounds keep what a file can ask for in memory and time within reason.
func (f *File) checkShape() error {
	for _, c := range []struct {
		name              string
		value, low, high  int
		multiple, divides int
	}{
		{"layers", f.Layers, 1, 64, 1, 0},
		{"width", f.Width, 32, 4096, 32, 0},
		{"heads", f.Heads, 1, 128, 1, f.Width},
		{"ff", f.FF, 32, 16384, 32, 0},
		{"max_tokens", f.MaxTokens, 3, 8192, 1, 0},
		{"max_words", f.MaxWords, 1, 8192, 1, 0},
	} {
		if c.value < c.low || c.value > c.high || c.value%c.multiple != 0 || c.divides%c.value != 0 {
			return invalid("%s %d is not possible", c.name, c.value)
		}
	}
	switch {
	case f.Width/f.Heads%32 != 0:
		return invalid("%d heads of width %d: a head must be a multiple of 32 wide", f.Heads, f.Width)
	case f.Pooling != "mean" && f.Pooling != "first":
		return invalid("pooling %q", f.Pooling)
	case f.Tokenizer != "" && f.Tokenizer != "multilingual":
		return invalid("tokenizer %q", f.Tokenizer)
	case !f.LowerCase:
		return invalid("a vocabulary with upper case")
	case !(f.Epsilon >= 0 && f.Epsilon < 1):
		return invalid("epsilon %v", f.Epsilon)
	case f.Model == "":
		return invalid("it has no name")
	}
	return nil
}

// Pieces is the vocabulary, one piece a line.
func (f *File) Pieces() string {
	v := f.Header.Vocabulary
	return f.data[v.Offset : v.Offset+v.Size]
}

func (f *File) section(offset, size int64) (string, error) {
	if offset < 0 || size < 0 || offset > int64(len(f.data)) || size > int64(len(f.data))-offset {
		return "", invalid("%d bytes at %d of %d", size, offset, len(f.data))
	}
	return f.data[offset : offset+size], nil
}

// tensor finds a tensor that must have this type and shape. The shape is
// within the bounds of checkShape, so that its size cannot overflow.
func (f *File) tensor(name string, kind Type, shape ...int) (Tensor, string, error) {
	t, ok := f.tensors[name]
	if !ok {
		return t, "", invalid("it has no tensor %q", name)
	}
	if t.Type != kind || fmt.Sprint(t.Shape) != fmt.Sprint(shape) {
		return t, "", invalid("tensor %q is %s %v, not %s %v", name, t.Type, t.Shape, kind, shape)
	}
	size := int64(1)
	for _, n := range shape {
		size *= int64(n)
	}
	switch kind {
	case Float32:
		size *= 4
	case Nibbles:
		size /= 2
	}
	raw, err := f.section(t.Offset, size)
	return t, raw, err
}

// floats copies numbers out of the file: it may lie in memory unaligned.
func (f *File) floats(offset int64, n int) ([]float32, error) {
	raw, err := f.section(offset, 4*int64(n))
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	for i := range out {
		bits := uint32At(raw, 4*i)
		if bits>>23&0xff == 0xff {
			return nil, invalid("a number at %d is not finite", offset+4*int64(i))
		}
		out[i] = math.Float32frombits(bits)
	}
	return out, nil
}

func (f *File) vector(name string, shape ...int) ([]float32, error) {
	t, raw, err := f.tensor(name, Float32, shape...)
	if err != nil {
		return nil, err
	}
	return f.floats(t.Offset, len(raw)/4)
}

func uint32At(s string, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func appendFloats(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}
