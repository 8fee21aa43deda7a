package bert

import "math"

// A kernel is a way to do the arithmetic on some CPU. All share the shape of
// the computation; those with bytes multiply weights and activations as bytes,
// the others as floats.
type kernel struct {
	name string

	// gemm is a tile of a product of floats: c[rows x cols] = a * b, where b
	// is k rows of cols numbers; c is added to if accumulate is not 0. lda and
	// ldc are strides in numbers.
	rows, cols int
	gemm       func(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)
	// unpack writes a panel as floats: 4*k4 rows of 16, stride bytes apart.
	unpack func(dst *float32, stride int, panel *int8, k4 int, scales *float32)

	// bytes is a tile of a product of bytes, or nil. b points to the first of
	// the tile's panels, which are panel bytes long.
	byteRows, byteCols int
	bytes              func(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)
	// columns is bytes for all rows and two panels, or nil. It needs weights
	// whose rows are multiples of 64 numbers, and reaches up to 32 rows at once.
	columns func(rows, k64 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)
	// signed is whether a holds signed bytes, 128 less than said in quantise.
	signed bool

	// batch is how many tokens go through the layers together, and feed how
	// many rows of them through the wide half of a layer: so few that they
	// stay in the second cache beside the weights. Kernels of floats unpack
	// the weights each time and want more.
	batch, feed int

	// The row functions. Rows are multiples of 32 numbers, those of softmax a
	// multiple of cols.
	softmax   func(x []float32)
	gelu      func(x []float32)
	addSum    func(x, t []float32) (sum, squares float32) // x += t
	normalise func(x, weight, bias []float32, mean, inverse float32)
	extremes  func(x []float32) (low, high float32)
	quantise  func(dst []uint8, x []float32, low, inverse float32)
}

// finish is how sums of products of bytes become floats:
//
//	sum * rowScale * colScale + rowZero * colSum + bias
//
// The pointers are to the first row and column of the tile. scratch has room
// for 32 x 32 sums.
type finish struct {
	rowScale, rowZero         *float32
	colScale, colSum, colBias *float32
	scratch                   *int32
}

// addNorm adds t to x and normalises the layer.
func (k *kernel) addNorm(x, t []float32, n norm, epsilon float64) {
	sum, squares := k.addSum(x, t)
	size := float64(len(x))
	mean := float64(sum) / size
	variance := max(0, float64(squares)/size-mean*mean)
	k.normalise(x, n.weight, n.bias, float32(mean), float32(1/math.Sqrt(variance+epsilon)))
}

// quantiseRow turns a row into bytes, over its own range, such that
// x = byte*scale + zero.
func (k *kernel) quantiseRow(dst []uint8, x []float32) (scale, zero float32) {
	low, high := k.extremes(x)
	scale = (high - low) / 255
	if scale < 1e-30 { // all alike
		scale = 1e-30
	}
	k.quantise(dst, x, low, 1/scale)
	if k.signed {
		low += 128 * scale
	}
	return scale, low
}

// linear computes dst = x * m + bias for rows rows. Both have room for as many
// rows more as a tile has.
func (k *kernel) linear(ws *workspace, dst, x []float32, rows int, m *matrix) {
	if k.bytes == nil {
		k.floatLinear(ws, dst, x, rows, m)
		return
	}
	bytes := ws.bytes.grow((rows + slack) * m.in)
	scales := ws.scales.grow(2 * (rows + slack))
	zeros := scales[rows+slack:]
	for r := range rows {
		scales[r], zeros[r] = k.quantiseRow(bytes[r*m.in:(r+1)*m.in], x[r*m.in:(r+1)*m.in])
	}
	if k.columns != nil && m.in%64 == 0 {
		f := finish{rowScale: &scales[0], rowZero: &zeros[0], scratch: &ws.sums.grow(32 * 32)[0]}
		for c := 0; c < m.out; c += 32 {
			f.colScale, f.colSum, f.colBias = &m.scales[c], &m.sums[c], &m.bias[c]
			k.columns(rows, m.in/64, &bytes[0], m.in, m.panel(c), 16*m.in, &dst[c], m.out, &f)
		}
		return
	}
	for c := 0; c < m.out; c += k.byteCols {
		f := finish{colScale: &m.scales[c], colSum: &m.sums[c], colBias: &m.bias[c]}
		panel := m.panel(c)
		for r := 0; r < rows; r += k.byteRows {
			f.rowScale, f.rowZero = &scales[r], &zeros[r]
			k.bytes(m.in/4, &bytes[r*m.in], m.in, panel, 16*m.in, &dst[r*m.out+c], m.out, &f)
		}
	}
}

// depth is how much of the inner dimension is worked on at once: the columns
// of a tile, so deep, stay in the nearest caches.
const depth = 384

// floatLinear unpacks the weights of a tile's columns at a time and uses them
// for all rows. That costs a little for every batch, and saves keeping all
// weights as floats.
func (k *kernel) floatLinear(ws *workspace, dst, x []float32, rows int, m *matrix) {
	for r := range rows {
		copy(dst[r*m.out:(r+1)*m.out], m.bias)
	}
	wide := max(k.cols, 16)
	unpacked := ws.unpacked.grow(depth * wide)
	for d := 0; d < m.in; d += depth {
		deep := min(depth, m.in-d)
		for c := 0; c < m.out; c += wide {
			for p := 0; p < wide; p += 16 {
				// Kernels narrower than a panel unpack it in stripes.
				k.unpackStripes(unpacked[p:], m, c+p, d, deep, wide)
			}
			for stripe := 0; stripe < wide; stripe += k.cols {
				b := &unpacked[stripe*deep]
				if k.cols >= 16 {
					b = &unpacked[0]
				}
				for r := 0; r < rows; r += k.rows {
					k.gemm(deep, &x[r*m.in+d], m.in, b, &dst[r*m.out+c+stripe], m.out, 1)
				}
			}
		}
	}
}

// unpackStripes writes 16 columns from c on, deep rows from d on. If a tile is
// 16 or more columns wide they become part of its rows, else stripes of
// k.cols columns, one after the other.
func (k *kernel) unpackStripes(dst []float32, m *matrix, c, d, deep, wide int) {
	panel := m.panels[c*m.in+d*16:]
	if k.unpack != nil && k.cols >= 16 {
		k.unpack(&dst[0], 4*wide, bytePointer(panel), deep/4, &m.scales[c])
		return
	}
	for i := range deep {
		for j := range 16 {
			v := float32(int8(panel[i/4*64+j*4+i%4])) * m.scales[c+j]
			if k.cols >= 16 {
				dst[i*wide+j] = v
			} else {
				dst[j/k.cols*k.cols*deep+i*k.cols+j%k.cols] = v
			}
		}
	}
}
