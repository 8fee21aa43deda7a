package bert

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// A Dense is a tensor before it is stored: its numbers, and how to store them.
type Dense struct {
	Name   string
	Type   Type
	Shape  []int
	Values []float32
}

// Encode makes a model file. The header's sections are filled in; the same
// input always gives the same bytes. The vocabulary is one piece a line.
func Encode(h Header, vocabulary string, tensors []Dense) ([]byte, error) {
	var data []byte
	align := func() int64 {
		for len(data)%alignment != 0 {
			data = append(data, 0)
		}
		return int64(len(data))
	}
	h.Tensors = nil
	for _, d := range tensors {
		size := 1
		for _, n := range d.Shape {
			size *= n
		}
		if size != len(d.Values) {
			return nil, invalid("tensor %q: %d numbers for shape %v", d.Name, len(d.Values), d.Shape)
		}
		t := Tensor{Name: d.Name, Type: d.Type, Shape: d.Shape, Offset: align()}
		if d.Type == Float32 {
			data = appendFloats(data, d.Values)
			h.Tensors = append(h.Tensors, t)
			continue
		}
		if len(d.Shape) != 2 || d.Type == Panels && (d.Shape[0]%16 != 0 || d.Shape[1]%4 != 0) {
			return nil, invalid("tensor %q: shape %v cannot be %s", d.Name, d.Shape, d.Type)
		}
		q, scales, sums := quantiseRows(d.Values, d.Shape[0], d.Shape[1])
		if d.Type == Panels {
			q = panels(q, d.Shape[0], d.Shape[1])
		}
		for _, x := range q {
			data = append(data, byte(x))
		}
		t.Scales = align()
		data = appendFloats(data, scales)
		if d.Type == Panels {
			t.Sums = align()
			data = appendFloats(data, sums)
		}
		h.Tensors = append(h.Tensors, t)
	}
	h.Vocabulary = Section{Offset: align(), Size: int64(len(vocabulary))}
	data = append(data, vocabulary...)

	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	for (len(magic)+8+len(header))%alignment != 0 {
		header = append(header, ' ')
	}
	out := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(out[len(magic):], version)
	binary.LittleEndian.PutUint32(out[len(magic)+4:], uint32(len(header)))
	return append(append(out, header...), data...), nil
}

func quantiseRows(values []float32, rows, cols int) (q []int8, scales, sums []float32) {
	q = make([]int8, rows*cols)
	scales, sums = make([]float32, rows), make([]float32, rows)
	for r := range rows {
		var largest float64
		for _, v := range values[r*cols : (r+1)*cols] {
			largest = math.Max(largest, math.Abs(float64(v)))
		}
		scale := float32(largest / 127)
		if scale == 0 {
			continue
		}
		sum := 0
		for c, v := range values[r*cols : (r+1)*cols] {
			x := int8(math.RoundToEven(float64(v) / float64(scale)))
			q[r*cols+c] = x
			sum += int(x)
		}
		scales[r] = scale
		sums[r] = float32(float64(scale) * float64(sum))
	}
	return q, scales, sums
}

// panels puts a matrix of rows in the order of [Panels].
func panels(q []int8, rows, cols int) []int8 {
	out := make([]int8, 0, len(q))
	for panel := 0; panel < rows; panel += 16 {
		for c := 0; c < cols; c += 4 {
			for r := panel; r < panel+16; r++ {
				out = append(out, q[r*cols+c:r*cols+c+4]...)
			}
		}
	}
	return out
}
