package bert

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lore/internal/embed"
	"lore/internal/fault"
)

const smallVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##c\n"

// small makes the parts of a tiny model with random weights.
func small() (Header, []Dense) {
	r := rand.New(rand.NewPCG(5, 5))
	h := Header{
		Model: "small/int8/1", Layers: 2, Width: 64, Heads: 2, FF: 96,
		MaxTokens: 8, MaxWords: 6, Pooling: "mean", LowerCase: true, Epsilon: 1e-12,
	}
	var ts []Dense
	add := func(name string, kind Type, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		ts = append(ts, Dense{name, kind, shape, noise(r, n, 0.3)})
	}
	add("words", Rows, 7, 64)
	add("positions", Float32, 8, 64)
	add("start.weight", Float32, 64)
	add("start.bias", Float32, 64)
	for i := range 2 {
		for _, m := range []struct {
			name    string
			out, in int
		}{{"qkv", 192, 64}, {"out", 64, 64}, {"up", 96, 64}, {"down", 64, 96}} {
			add(fmt.Sprintf("layer.%d.%s.weight", i, m.name), Panels, m.out, m.in)
			add(fmt.Sprintf("layer.%d.%s.bias", i, m.name), Float32, m.out)
		}
		for _, n := range []string{"attended", "fed"} {
			add(fmt.Sprintf("layer.%d.%s.weight", i, n), Float32, 64)
			add(fmt.Sprintf("layer.%d.%s.bias", i, n), Float32, 64)
		}
	}
	return h, ts
}

func smallFile(t testing.TB, change func(*Header, *[]Dense)) string {
	h, ts := small()
	if change != nil {
		change(&h, &ts)
	}
	data, err := Encode(h, smallVocabulary, ts)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSmallModel(t *testing.T) {
	for _, pooling := range []string{"mean", "first"} {
		file := smallFile(t, func(h *Header, _ *[]Dense) {
			h.Pooling, h.QueryPrefix, h.PassagePrefix = pooling, "a ", "b "
		})
		var reference []float32
		for _, name := range append([]string{"scalar"}, Kernels()...) {
			m, err := Load(file, Options{Kernel: name})
			if err != nil {
				t.Fatal(err)
			}
			if m.ID() != "small/int8/1" || m.Dim() != 64 || m.MaxWords() != 6 {
				t.Errorf("%s %d %d", m.ID(), m.Dim(), m.MaxWords())
			}
			v := embedAll(t, m, []string{"acc b x", "a", strings.Repeat("ac", 9)})
			if reference == nil {
				reference = v[0]
			}
			if c := cosine(v[0], reference); c < 0.99 {
				t.Errorf("%s, %s: cosine to the reference %v", pooling, name, c)
			}
			q, err := m.Embed(context.Background(), embed.Query, []string{"x"})
			if err != nil {
				t.Fatal(err)
			}
			if p := embedAll(t, m, []string{"x"}); cosine(q[0], p[0]) > 0.9999 {
				t.Error("the prefix of a query does not count")
			}
		}
	}
}

func TestEncodeIsStable(t *testing.T) {
	if first, second := smallFile(t, nil), smallFile(t, nil); first != second {
		t.Error("the same model gave two files")
	}
	h, ts := small()
	ts[1].Values = ts[1].Values[1:]
	if _, err := Encode(h, smallVocabulary, ts); fault.Of(err) != fault.Invalid {
		t.Errorf("a tensor too short: %v", err)
	}
}

// The file has no part that may be missing.
func TestTruncated(t *testing.T) {
	file := smallFile(t, nil)
	for n := 0; n < len(file); n += 1 + n/50 {
		if _, err := Load(file[:n], Options{}); fault.Of(err) != fault.Invalid {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
}

func TestHostileHeaders(t *testing.T) {
	rename := func(from, to string) func(*Header, *[]Dense) {
		return func(_ *Header, ts *[]Dense) {
			for i := range *ts {
				if (*ts)[i].Name == from {
					(*ts)[i].Name = to
				}
			}
		}
	}
	for name, change := range map[string]func(*Header, *[]Dense){
		"no layers":        func(h *Header, _ *[]Dense) { h.Layers = 0 },
		"more layers":      func(h *Header, _ *[]Dense) { h.Layers = 3 },
		"fewer layers":     func(h *Header, _ *[]Dense) { h.Layers = 1 },
		"countless layers": func(h *Header, _ *[]Dense) { h.Layers = 1 << 40 },
		"other width":      func(h *Header, _ *[]Dense) { h.Width = 128 },
		"odd width":        func(h *Header, _ *[]Dense) { h.Width = 63 },
		"no heads":         func(h *Header, _ *[]Dense) { h.Heads = 0 },
		"thin heads":       func(h *Header, _ *[]Dense) { h.Heads = 4 },
		"minus heads":      func(h *Header, _ *[]Dense) { h.Heads = -2 },
		"more tokens":      func(h *Header, _ *[]Dense) { h.MaxTokens = 9 },
		"no tokens":        func(h *Header, _ *[]Dense) { h.MaxTokens = 2 },
		"no words":         func(h *Header, _ *[]Dense) { h.MaxWords = 0 },
		"other pooling":    func(h *Header, _ *[]Dense) { h.Pooling = "max" },
		"upper case":       func(h *Header, _ *[]Dense) { h.LowerCase = false },
		"other tokenizer":  func(h *Header, _ *[]Dense) { h.Tokenizer = "bytes" },
		"epsilon":          func(h *Header, _ *[]Dense) { h.Epsilon = -1 },
		"no name":          func(h *Header, _ *[]Dense) { h.Model = "" },
		"missing":          rename("layer.1.up.weight", "layer.1.upp.weight"),
		"twice":            rename("start.weight", "start.bias"),
		"one more": func(_ *Header, ts *[]Dense) {
			*ts = append(*ts, Dense{"more", Float32, []int{1}, []float32{1}})
		},
		"other type":   func(_ *Header, ts *[]Dense) { (*ts)[0].Type = Float32 },
		"other shape":  func(_ *Header, ts *[]Dense) { (*ts)[1].Shape = []int{64, 8} },
		"not a number": func(_ *Header, ts *[]Dense) { (*ts)[1].Values[5] = float32(math.NaN()) },
		"fewer words": func(_ *Header, ts *[]Dense) {
			(*ts)[0].Shape, (*ts)[0].Values = []int{6, 64}, (*ts)[0].Values[64:]
		},
	} {
		if _, err := Load(smallFile(t, change), Options{}); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNibbles: four bits come back within half a step, and the vectors of a
// model hardly change.
func TestNibbles(t *testing.T) {
	four := smallFile(t, func(_ *Header, ts *[]Dense) {
		(*ts)[0].Type = Nibbles
		clear((*ts)[0].Values[64:96]) // a group of zeros
		clear((*ts)[0].Values[128:192])
	})
	m, err := Load(four, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, ts := small()
	row := make([]float32, 64)
	for id := range 7 {
		m.weights.words.row(row, int32(id))
		for i, got := range row {
			want := float64(ts[0].Values[id*64+i])
			if id == 1 && i < 32 || id == 2 {
				want = 0
			}
			var largest float64
			for _, v := range ts[0].Values[id*64+i/32*32 : id*64+i/32*32+32] {
				largest = max(largest, math.Abs(float64(v)))
			}
			if math.Abs(float64(got)-want) > largest*0.15 {
				t.Errorf("word %d, %d: %v, want %v of %v", id, i, got, want, largest)
			}
		}
	}
	groups := func(at int64) string {
		return patched(t, four, func(h *Header) { h.Tensors[0].Groups = at })
	}
	for _, file := range []string{groups(-1), groups(int64(len(four))), groups(math.MaxInt64)} {
		if _, err := Load(file, Options{}); fault.Of(err) != fault.Invalid {
			t.Errorf("groups beyond the file: %v", err)
		}
	}
	h, ts := small()
	ts[0] = Dense{"words", Nibbles, []int{7, 40}, make([]float32, 280)}
	if _, err := Encode(h, smallVocabulary, ts); fault.Of(err) != fault.Invalid {
		t.Errorf("a group that is not full: %v", err)
	}
}

func TestHostileOffsets(t *testing.T) {
	file := smallFile(t, nil)
	end := int64(len(file))
	move := func(change func(words *Tensor, h *Header)) string {
		return patched(t, file, func(h *Header) { change(&h.Tensors[0], h) })
	}
	for name, file := range map[string]string{
		"other magic":      "LOREBARK" + file[8:],
		"other version":    file[:8] + "\x02" + file[9:],
		"long header":      file[:12] + "\xff\xff\xff\xff" + file[16:],
		"unknown field":    strings.Replace(file, `"layers"`, `"lasers"`, 1),
		"last byte":        file[:len(file)-1],
		"before it":        move(func(w *Tensor, _ *Header) { w.Offset = -1 }),
		"half beyond":      move(func(w *Tensor, _ *Header) { w.Offset = end - 7*64 }),
		"beyond":           move(func(w *Tensor, _ *Header) { w.Offset = end + 1 }),
		"overflow":         move(func(w *Tensor, _ *Header) { w.Offset = math.MaxInt64 }),
		"scales beyond":    move(func(w *Tensor, _ *Header) { w.Scales = end }),
		"scales before":    move(func(w *Tensor, _ *Header) { w.Scales = -4 }),
		"sums beyond":      move(func(_ *Tensor, h *Header) { h.Tensors[4].Sums = end }),
		"no vocabulary":    move(func(_ *Tensor, h *Header) { h.Vocabulary.Size = 0 }),
		"minus vocabulary": move(func(_ *Tensor, h *Header) { h.Vocabulary.Size = -1 }),
		"long vocabulary":  move(func(_ *Tensor, h *Header) { h.Vocabulary.Size = math.MaxInt64 }),
	} {
		if _, err := Load(file, Options{}); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// patched changes the header of a file and leaves its data.
func patched(t testing.TB, file string, change func(*Header)) string {
	f, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	change(&f.Header)
	header, err := json.Marshal(f.Header)
	if err != nil {
		t.Fatal(err)
	}
	raw := append([]byte(magic), version, 0, 0, 0)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(header)))
	return string(raw) + string(header) + f.data
}

// A file of any bytes loads and runs, or gives an error.
func FuzzLoad(f *testing.F) {
	file := smallFile(f, nil)
	size := int(binary.LittleEndian.Uint32([]byte(file[12:16])))
	f.Add(file[16:16+size], file[16+size:])
	f.Add("{}", "")
	f.Fuzz(func(t *testing.T, header, data string) {
		raw := append([]byte(magic), 1, 0, 0, 0)
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(header)))
		m, err := Load(string(raw)+header+data, Options{})
		if err != nil {
			if k := fault.Of(err); k != fault.Invalid && k != fault.TooLarge {
				t.Fatalf("%s: %v", k, err)
			}
			return
		}
		if m.file.MaxTokens*m.file.Layers*m.file.FF > 1<<20 {
			return // it runs, but for too long
		}
		v, err := m.Embed(context.Background(), embed.Passage, []string{"acc b", ""})
		if err == nil && (len(v) != 2 || len(v[1]) != m.Dim()) {
			t.Fatalf("%d vectors", len(v))
		}
	})
}
