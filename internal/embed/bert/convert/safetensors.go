package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"lore/internal/embed/bert"
)

// A tensor is an array of a source file, as floats.
type tensor struct {
	shape  []int
	values []float32
}

type tensors map[string]tensor

// readSafetensors reads the format of Hugging Face: the length of a JSON
// header, the header, the data.
func readSafetensors(raw []byte) (tensors, error) {
	if len(raw) < 8 {
		return nil, fmt.Errorf("only %d bytes", len(raw))
	}
	size := binary.LittleEndian.Uint64(raw)
	if size > uint64(len(raw)-8) {
		return nil, fmt.Errorf("header of %d bytes in a file of %d", size, len(raw))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(raw[8:8+size], &header); err != nil {
		return nil, err
	}
	data := raw[8+size:]
	all := tensors{}
	for name, entry := range header {
		if name == "__metadata__" {
			continue
		}
		var e struct {
			Dtype   string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(entry, &e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > len(data) {
			return nil, fmt.Errorf("tensor %q at %v of %d bytes", name, e.Offsets, len(data))
		}
		values, err := floats(e.Dtype, data[e.Offsets[0]:e.Offsets[1]])
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		all[name] = tensor{e.Shape, values}
	}
	return all, nil
}

func floats(dtype string, raw []byte) ([]float32, error) {
	switch dtype {
	case "F32":
		out := make([]float32, len(raw)/4)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return out, nil
	case "F16":
		out := make([]float32, len(raw)/2)
		for i := range out {
			out[i] = half(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		return out, nil
	case "I64": // position ids, which nobody asks for
		return nil, nil
	}
	return nil, fmt.Errorf("numbers of type %s", dtype)
}

// half widens a float16.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// An arranger takes tensors by their names in BERT until one is missing.
type arranger struct {
	from tensors
	out  []bert.Dense
	err  error
}

func (a *arranger) take(name string, shape ...int) []float32 {
	t, ok := a.from[name]
	if a.err == nil && (!ok || !slices.Equal(t.shape, shape)) {
		a.err = fmt.Errorf("tensor %q has shape %v, not %v", name, t.shape, shape)
	}
	return t.values
}

func (a *arranger) add(name string, kind bert.Type, values []float32, shape ...int) {
	a.out = append(a.out, bert.Dense{Name: name, Type: kind, Shape: shape, Values: values})
}

func (a *arranger) norm(to, from string, width int) {
	a.add(to+".weight", bert.Float32, a.take(from+".weight", width), width)
	a.add(to+".bias", bert.Float32, a.take(from+".bias", width), width)
}

func (a *arranger) linear(to, from string, out, in int) {
	a.add(to+".weight", bert.Panels, a.take(from+".weight", out, in), out, in)
	a.add(to+".bias", bert.Float32, a.take(from+".bias", out), out)
}

// arrange renames the tensors, adds the embedding of the first segment to all
// positions, joins queries, keys and values, and scales the queries by one
// over the root of a head's width.
func (t tensors) arrange(h bert.Header, words bert.Type) ([]bert.Dense, error) {
	a := &arranger{from: t}
	width := h.Width
	vocabulary := t["embeddings.word_embeddings.weight"].shape
	positions := t["embeddings.position_embeddings.weight"].shape
	if len(vocabulary) != 2 || len(positions) != 2 || positions[0] < h.MaxTokens {
		return nil, fmt.Errorf("embeddings of words %v and of positions %v", vocabulary, positions)
	}
	a.add("words", words, a.take("embeddings.word_embeddings.weight", vocabulary[0], width), vocabulary[0], width)
	place := slices.Clone(a.take("embeddings.position_embeddings.weight", positions[0], width))
	segment := t["embeddings.token_type_embeddings.weight"].values
	if a.err != nil {
		return nil, a.err
	}
	if len(segment) < width {
		return nil, fmt.Errorf("%d numbers for the first segment", len(segment))
	}
	place = place[:h.MaxTokens*width]
	for i := range place {
		place[i] += segment[i%width]
	}
	a.add("positions", bert.Float32, place, h.MaxTokens, width)
	a.norm("start", "embeddings.LayerNorm", width)
	for i := range h.Layers {
		to, from := fmt.Sprintf("layer.%d.", i), fmt.Sprintf("encoder.layer.%d.", i)
		a.joined(to+"qkv", from+"attention.self.", h)
		a.linear(to+"out", from+"attention.output.dense", width, width)
		a.norm(to+"attended", from+"attention.output.LayerNorm", width)
		a.linear(to+"up", from+"intermediate.dense", h.FF, width)
		a.linear(to+"down", from+"output.dense", width, h.FF)
		a.norm(to+"fed", from+"output.LayerNorm", width)
	}
	return a.out, a.err
}

func (a *arranger) joined(to, from string, h bert.Header) {
	width := h.Width
	var weight, bias []float32
	for _, part := range []string{"query", "key", "value"} {
		w, b := slices.Clone(a.take(from+part+".weight", width, width)), slices.Clone(a.take(from+part+".bias", width))
		if part == "query" {
			scale := float32(1 / math.Sqrt(float64(width/h.Heads)))
			for i := range w {
				w[i] *= scale
			}
			for i := range b {
				b[i] *= scale
			}
		}
		weight, bias = append(weight, w...), append(bias, b...)
	}
	a.add(to+".weight", bert.Panels, weight, 3*width, width)
	a.add(to+".bias", bert.Float32, bias, 3*width)
}
