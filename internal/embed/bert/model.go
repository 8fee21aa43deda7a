// Package bert runs small BERT encoders on the CPU: tokens in, one vector per
// text out. It owns the format of model files, the arithmetic, and the choice
// of the fastest kernel a CPU has. It knows no particular model, and not what
// the vectors are for.
//
// Weights are int8 in the file and stay so in memory: they are used where they
// lie. On CPUs with instructions for products of bytes, activations are made
// bytes as well, row by row over the range of each row; attention is always
// computed in floats.
package bert

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"lore/internal/embed"
	"lore/internal/embed/wordpiece"
	"lore/internal/fault"
)

// Options choose how a model runs. The zero value is right.
type Options struct {
	// Kernel is one of [Kernels], or "" for the fastest.
	Kernel string
}

// A Model is a loaded model file. It implements [embed.Model] and is safe for
// concurrent use. It starts no goroutines: Embed computes on the goroutine of
// its caller, so the caller decides how many cores are used. Each call that
// runs at a time needs about 10 MB beside the weights (for the model that is
// built in), which are kept for the next call.
type Model struct {
	file    *File
	weights *weights
	tokens  *wordpiece.Tokenizer
	kernel  *kernel
	spaces  sync.Pool
}

// Kernels are the names of the kernels that run on this CPU, the best last.
func Kernels() []string {
	var names []string
	for _, k := range detect() {
		names = append(names, k.name)
	}
	return names
}

// Load makes a model of a file, which it keeps. A damaged file or an unknown
// kernel gives an error of kind fault.Invalid.
func Load(data string, o Options) (*Model, error) {
	file, err := Parse(data)
	if err != nil {
		return nil, err
	}
	kernels := detect()
	m := &Model{file: file, kernel: kernels[len(kernels)-1]}
	if o.Kernel != "" {
		i := slices.IndexFunc(kernels, func(k *kernel) bool { return k.name == o.Kernel })
		if i < 0 {
			return nil, fault.New(fault.Invalid, "this CPU cannot run the embedding code %q (supported: %v)", o.Kernel, Kernels())
		}
		m.kernel = kernels[i]
	}
	if m.weights, m.tokens, err = load(file); err != nil {
		return nil, err
	}
	m.spaces.New = func() any { return new(workspace) }
	return m, nil
}

// ID names the space of the vectors.
func (m *Model) ID() string { return m.file.Model }

// Dim is the length of the vectors.
func (m *Model) Dim() int { return m.file.Width }

// MaxWords is how many words of English are read of a text.
func (m *Model) MaxWords() int { return m.file.MaxWords }

// Kernel is the name of the kernel that was chosen.
func (m *Model) Kernel() string { return m.kernel.name }

// Embed implements [embed.Model]. It looks at ctx between layers, that is
// every few milliseconds. Texts of similar length are computed together,
// without padding.
func (m *Model) Embed(ctx context.Context, role embed.Role, texts []string) ([][]float32, error) {
	prefix := m.file.PassagePrefix
	if role == embed.Query {
		prefix = m.file.QueryPrefix
	}
	seqs := make([]sequence, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seqs[i] = sequence{index: i, ids: m.tokens.Encode(nil, prefix+text, m.file.MaxTokens)}
	}
	slices.SortStableFunc(seqs, func(a, b sequence) int { return cmp.Compare(len(a.ids), len(b.ids)) })
	ws := m.spaces.Get().(*workspace)
	defer m.spaces.Put(ws)
	vectors := make([][]float32, len(texts))
	for len(seqs) > 0 {
		n, tokens := 1, len(seqs[0].ids)
		for n < len(seqs) && tokens+len(seqs[n].ids) <= m.kernel.batch {
			tokens += len(seqs[n].ids)
			n++
		}
		if err := m.forward(ctx, ws, seqs[:n], tokens); err != nil {
			return nil, err
		}
		at := 0
		for _, s := range seqs[:n] {
			v, err := m.pool(ws.x.data[at*m.file.Width:], len(s.ids))
			if err != nil {
				return nil, err
			}
			vectors[s.index] = v
			at += len(s.ids)
		}
		seqs = seqs[n:]
	}
	return vectors, nil
}

// pool makes one vector of length 1 of the rows of a text.
func (m *Model) pool(rows []float32, tokens int) ([]float32, error) {
	v := make([]float32, m.file.Width)
	if m.file.Pooling == "first" {
		tokens = 1
	}
	for t := range tokens {
		row := rows[t*len(v):][:len(v)]
		for i := range v {
			v[i] += row[i]
		}
	}
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return nil, fault.New(fault.Internal, "the embedding model %s returned an empty embedding", m.file.Model)
	}
	inverse := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= inverse
	}
	return v, nil
}
