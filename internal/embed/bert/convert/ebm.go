package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"lore/internal/embed/bert"
)

// readEBM reads the form in which models are trained for this program: "EBM1",
// the length of a JSON header, the header, the data. Matrices are int8 with one
// scale a row.
func readEBM(o options) (h bert.Header, vocabulary string, source tensors, err error) {
	raw, err := os.ReadFile(o.ebm)
	if err != nil {
		return h, "", nil, err
	}
	pieces, err := os.ReadFile(o.vocabulary)
	if err != nil {
		return h, "", nil, err
	}
	if source, err = parseEBM(raw); err != nil {
		return h, "", nil, fmt.Errorf("%s: %w", o.ebm, err)
	}
	h = bert.Header{Heads: o.heads, Epsilon: 1e-12}
	for source[fmt.Sprintf("encoder.layer.%d.attention.self.query.weight", h.Layers)].values != nil {
		h.Layers++
	}
	up := source["encoder.layer.0.intermediate.dense.weight"].shape
	if len(up) != 2 {
		return h, "", nil, fmt.Errorf("%s: no layers", o.ebm)
	}
	h.FF, h.Width = up[0], up[1]
	return h, string(pieces), source, nil
}

func parseEBM(raw []byte) (tensors, error) {
	if len(raw) < 8 || string(raw[:4]) != "EBM1" {
		return nil, fmt.Errorf("it does not begin with EBM1")
	}
	size := int(binary.LittleEndian.Uint32(raw[4:]))
	if size > len(raw)-8 {
		return nil, fmt.Errorf("header of %d bytes in a file of %d", size, len(raw))
	}
	var header []struct {
		Name       string
		Shape      []int
		Type       string
		Off, Scale int
	}
	if err := json.Unmarshal(raw[8:8+size], &header); err != nil {
		return nil, err
	}
	data := raw[8+size:]
	section := func(at, n int) ([]byte, error) {
		if at < 0 || n < 0 || n > len(data) || at > len(data)-n {
			return nil, fmt.Errorf("%d bytes at %d of %d", n, at, len(data))
		}
		return data[at : at+n], nil
	}
	all := tensors{}
	for _, t := range header {
		n := 1
		for _, d := range t.Shape {
			if d <= 0 || d > len(data) || n > len(data) {
				return nil, fmt.Errorf("tensor %q has shape %v", t.Name, t.Shape)
			}
			n *= d
		}
		var values []float32
		var err error
		switch {
		case t.Type == "i8" && len(t.Shape) == 2:
			values, err = dequantise(section, t.Off, t.Scale, t.Shape[0], t.Shape[1])
		case t.Type == "f32":
			var b []byte
			if b, err = section(t.Off, 4*n); err == nil {
				values, err = floats("F32", b)
			}
		default:
			err = fmt.Errorf("numbers of type %s", t.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		all[t.Name] = tensor{t.Shape, values}
	}
	return all, nil
}

func dequantise(section func(at, n int) ([]byte, error), at, scale, rows, cols int) ([]float32, error) {
	q, err := section(at, rows*cols)
	if err != nil {
		return nil, err
	}
	s, err := section(scale, 4*rows)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(q))
	for i, x := range q {
		out[i] = float32(int8(x)) * math.Float32frombits(binary.LittleEndian.Uint32(s[i/cols*4:]))
	}
	return out, nil
}
