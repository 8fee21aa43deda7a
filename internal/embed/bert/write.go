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
	var d data
	h.Tensors = nil
	for _, dense := range tensors {
		t, err := d.tensor(dense)
		if err != nil {
			return nil, err
		}
		h.Tensors = append(h.Tensors, t)
	}
	h.Vocabulary = Section{Offset: d.align(), Size: int64(len(vocabulary))}
	d = append(d, vocabulary...)

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
	return append(append(out, header...), d...), nil
}

// data is what follows the header.
type data []byte

// align fills up to where a section may begin.
func (d *data) align() int64 {
	for len(*d)%alignment != 0 {
		*d = append(*d, 0)
	}
	return int64(len(*d))
}

// tensor adds the numbers of a tensor and tells where they are.
func (d *data) tensor(dense Dense) (Tensor, error) {
	size := 1
	for _, n := range dense.Shape {
		size *= n
	}
	if size != len(dense.Values) {
		return Tensor{}, invalid("tensor %q: %d numbers for shape %v", dense.Name, len(dense.Values), dense.Shape)
	}
	t := Tensor{Name: dense.Name, Type: dense.Type, Shape: dense.Shape, Offset: d.align()}
	if dense.Type == Float32 {
		*d = appendFloats(*d, dense.Values)
		return t, nil
	}
	if len(dense.Shape) != 2 || dense.Type == Panels && (dense.Shape[0]%16 != 0 || dense.Shape[1]%4 != 0) || dense.Type == Nibbles && dense.Shape[1]%groupSize != 0 {
		return t, invalid("tensor %q: shape %v cannot be %s", dense.Name, dense.Shape, dense.Type)
	}
	rows, cols := dense.Shape[0], dense.Shape[1]
	if dense.Type == Nibbles {
		q, scales, groups := nibbles(dense.Values, rows, cols)
		*d = append(*d, q...)
		t.Scales = d.align()
		*d = appendFloats(*d, scales)
		t.Groups = d.align()
		*d = append(*d, groups...)
		return t, nil
	}
	q, scales, sums := quantiseRows(dense.Values, rows, cols)
	if dense.Type == Panels {
		q = panels(q, rows, cols)
	}
	for _, x := range q {
		*d = append(*d, byte(x))
	}
	t.Scales = d.align()
	*d = appendFloats(*d, scales)
	if dense.Type == Panels {
		t.Sums = d.align()
		*d = appendFloats(*d, sums)
	}
	return t, nil
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

// nibbles rounds rows to four bits in the form of [Nibbles].
func nibbles(values []float32, rows, cols int) (q []byte, scales []float32, shares []byte) {
	q, scales = make([]byte, rows*cols/2), make([]float32, rows)
	shares = make([]byte, rows*cols/groupSize)
	for r := range rows {
		row := values[r*cols : (r+1)*cols]
		best := make([]float64, cols/groupSize)
		for g := range best {
			best[g] = groupScale(row[g*groupSize : (g+1)*groupSize])
			scales[r] = max(scales[r], float32(best[g]))
		}
		for g, s := range best {
			if s == 0 {
				continue
			}
			share := max(1, math.RoundToEven(s/float64(scales[r])*255))
			shares[r*len(best)+g] = byte(share)
			s = float64(scales[r]) * share / 255
			for i := g * groupSize; i < (g+1)*groupSize; i++ {
				q[(r*cols+i)/2] |= byte(nibble(row[i], s)+8) << (i % 2 * 4)
			}
		}
		for g, s := range best { // a group of zeros
			for i := g * groupSize; s == 0 && i < (g+1)*groupSize; i++ {
				q[(r*cols+i)/2] |= 8 << (i % 2 * 4)
			}
		}
	}
	return q, scales, shares
}

func nibble(v float32, scale float64) int {
	return int(max(-8, min(7, math.RoundToEven(float64(v)/scale))))
}

// groupScale is the scale with the smallest squared error: cutting off the
// largest number a little makes all others finer.
func groupScale(group []float32) float64 {
	largest := 0.0
	for _, v := range group {
		largest = max(largest, math.Abs(float64(v)))
	}
	best, least := 0.0, math.Inf(1)
	for step := range 16 {
		s := largest / 7.5 * (1.05 - 0.03*float64(step))
		if s == 0 {
			return 0
		}
		sum := 0.0
		for _, v := range group {
			d := float64(v) - s*float64(nibble(v, s))
			sum += d * d
		}
		if sum < least {
			best, least = s, sum
		}
	}
	return best
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
