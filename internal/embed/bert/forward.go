package bert

import "context"

// A sequence is a text as ids, and its place in the request.
type sequence struct {
	index int
	ids   []int32
}

// A buffer grows to what is asked of it and is not cleared between uses.
type buffer[T any] struct{ data []T }

func (b *buffer[T]) grow(n int) []T {
	if cap(b.data) < n {
		b.data = make([]T, n)
	}
	b.data = b.data[:n]
	return b.data
}

// A workspace is the memory of one forward pass.
type workspace struct {
	x, qkv, attended, part, wide buffer[float32]
	scores, keys, values         buffer[float32]
	unpacked, scales             buffer[float32]
	bytes                        buffer[uint8]
	sums                         buffer[int32]
}

// slack is how many rows a tile may reach beyond the last.
const slack = 32

// forward runs the texts through all layers, one after the other in ws.x
// without gaps. A tile may compute rows beyond its text: within the batch they
// are overwritten by those they belong to, at its end they are slack.
func (m *Model) forward(ctx context.Context, ws *workspace, seqs []sequence, tokens int) error {
	k, width := m.kernel, m.file.Width
	x := ws.x.grow((tokens + slack) * width)
	qkv := ws.qkv.grow((tokens + slack) * 3 * width)
	attended := ws.attended.grow((tokens + slack) * width)
	part := ws.part.grow((tokens + slack) * width)
	row := 0
	for _, s := range seqs {
		for position, id := range s.ids {
			r := x[row*width : (row+1)*width]
			m.weights.words.row(r, id)
			k.addNorm(r, m.weights.positions[position*width:(position+1)*width], m.weights.start, m.file.Epsilon)
			row++
		}
	}
	for i := range m.weights.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := &m.weights.layers[i]
		k.linear(ws, qkv, x, tokens, &l.qkv)
		at := 0
		for _, s := range seqs {
			m.attend(ws, attended[at*width:], qkv[at*3*width:], len(s.ids))
			at += len(s.ids)
		}
		k.linear(ws, part, attended, tokens, &l.out)
		m.addNorms(x, part, tokens, l.attended)
		m.feed(ws, x, part, tokens, l)
	}
	return nil
}

func (m *Model) addNorms(x, t []float32, tokens int, n norm) {
	width := m.file.Width
	for r := range tokens {
		m.kernel.addNorm(x[r*width:(r+1)*width], t[r*width:(r+1)*width], n, m.file.Epsilon)
	}
}

// feed is the wide half of a layer.
func (m *Model) feed(ws *workspace, x, part []float32, tokens int, l *layer) {
	width, ff := m.file.Width, m.file.FF
	wide := ws.wide.grow((m.kernel.feed + slack) * ff)
	for from := 0; from < tokens; from += m.kernel.feed {
		rows := min(m.kernel.feed, tokens-from)
		m.kernel.linear(ws, wide, x[from*width:], rows, &l.up)
		for r := range rows {
			m.kernel.gelu(wide[r*ff : (r+1)*ff])
		}
		m.kernel.linear(ws, part[from*width:], wide, rows, &l.down)
	}
	m.addNorms(x, part, tokens, l.fed)
}
