// Package scripted makes a language model by hand, without training: a file that a
// real llama-server or Ollama loads and serves, and whose answers are known
// beforehand. So the bytes that Lore gets are the real server's, and so is the
// grammar by which it holds the model to the schemas of our tools.
//
// How it thinks. Its one block is zero, so that nothing but the last token counts.
// The embedding of token n is the unit vector n, and the output matrix has one large
// number in the column of each token, in the row of the token that follows it: the
// next token is a function of the last. The pieces of a script are tokens, each
// used once. Which script is played says the chat template: it looks at the
// conversation, and ends the prompt with the token that begins the script.
//
// A call must fit the schema of its tool, with the required arguments first and all
// in the order of the schema: else the server's grammar forbids its tokens, and
// the model babbles.
package scripted

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Window is how many tokens it reads and writes together. Whatever is in no script
// is read byte by byte.
const Window = 32 << 10

// A script is what is said when the last request of the person holds a word.
type script struct {
	word   string // in capitals; "": chosen by the template itself
	name   string
	pieces []string
	cycle  bool // the last piece is said again for ever
}

// call is a tool call as the template writes them, cut where args is: each piece
// must be like no other, so the first cut is behind what only this call has.
func call(tool string, args ...string) []string {
	pieces := slices.Clone(args)
	pieces[0] = "<tool_call>\n{\"name\": \"" + tool + "\", \"arguments\": " + pieces[0]
	pieces[len(pieces)-1] += "}\n</tool_call>"
	return pieces
}

// Scripts are chosen in this order, after results of tools and the first ones.
var scripts = []script{
	{word: "LOOP", name: "loop", pieces: call("search_notes", `{"query": "the same `, `again", `, `"top_k": 1}`)},
	{word: "cannot use tools any more", name: "last", pieces: []string{"This is ", "what I have ", "so far."}},
	{name: "final", pieces: []string{"Sencha wants ", "water of 70 °C ", "[[Notes/Sencha#How I make it]], ", "cooler than most ", "[[Notes/Water temperature]]."}},
	{word: "LONG", name: "long", pieces: []string{"la "}, cycle: true},
	{word: "JSON", name: "json", pieces: []string{`{"title": `, `"About tea", `, `"ok": true}`}},
	{word: "THINK", name: "think", pieces: []string{"<think>", "\nThe person ", "wants it short.\n", "</think>", "\n\nShort ", "it is."}},
	{name: "text", pieces: []string{"Spoken ", "without ", "any tool"}},
	{word: "BOTH", name: "both", pieces: append(append(call("read_note", `{"path": "Notes/Sen`, `cha.md"}`), "\n"), call("read_note", `{"path": "Notes/Gyo`, `kuro.md"}`)...)},
	{word: "WRITE", name: "write", pieces: call("write_note", `{"path": "Drafts/Tea.md", "content": `, `"# Tea\n\nSee `, `[[Sencha]].\n"}`)},
	{word: "TIDY", name: "tidy", pieces: call("delete_note", `{"path": "Notes/Mat`, `cha.md"} `)},
	{name: "search", pieces: append([]string{"I look ", "it up.\n"}, call("search_notes", `{"query": "sencha `, `water temperature", `, `"top_k": 3}`)...)},
}

// template writes the conversation down, as models in the manner of Hermes read it,
// and ends with the beginning of a script.
func template() string {
	var b strings.Builder
	b.WriteString(`{%- set ns = namespace(u='', tool=false) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.u = m.content -%}{%- set ns.tool = false -%}{%- elif m.role == 'tool' -%}{%- set ns.tool = true -%}{%- endif -%}{%- endfor -%}
{%- if tools -%}<|im_start|>tools
{%- for t in tools %} {{ t.function.name }}{% endfor %}<|im_end|>
{% endif -%}
{%- for m in messages -%}
<|im_start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{% if m.content %}{{ m.content }}{% endif %}
{%- if m.tool_calls -%}{%- for c in m.tool_calls -%}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}{%- endif -%}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
`)
	when := "if"
	for _, s := range scripts {
		condition := "ns.u and '" + s.word + "' in ns.u"
		switch s.name {
		case "final":
			condition = "ns.tool"
		case "text":
			condition = "not tools"
		case "search":
			condition = "true"
		}
		fmt.Fprintf(&b, "{%% %s %s %%}<|s%s|>", when, condition, s.name)
		when = "elif"
	}
	b.WriteString("{% endif %}{% endif %}")
	return b.String()
}

// Kinds of tokens in the format.
const (
	plain   = 1
	unknown = 2
	control = 3
	byByte  = 6
)

type token struct {
	text  string
	score float32
	kind  int32
}

// brain is the tokens, and which follows which.
type brain struct {
	tokens []token
	next   map[int]int
	end    int // the token that ends an answer
}

func (b *brain) add(text string, score float32, kind int32) int {
	b.tokens = append(b.tokens, token{text, score, kind})
	return len(b.tokens) - 1
}

func learn() (*brain, error) {
	b := &brain{next: map[int]int{}}
	b.add("<unk>", 0, unknown)
	b.add("<s>", 0, control)
	b.add("</s>", 0, control)
	for n := range 256 {
		b.add(fmt.Sprintf("<0x%02X>", n), 0, byByte)
	}
	b.end = b.add("<|im_end|>", 0, control)
	b.add("<|im_start|>", 0, control)
	used := map[string]bool{}
	for _, s := range scripts {
		last := b.add("<|s"+s.name+"|>", 0, control)
		for _, piece := range s.pieces {
			text := strings.ReplaceAll(piece, " ", "\u2581")
			if used[text] {
				return nil, fmt.Errorf("script %s: %q is in another script too", s.name, piece)
			}
			used[text] = true
			// Worse than any byte, so that no prompt is read as a piece of a script.
			n := b.add(text, -1000-float32(len(b.tokens)), plain)
			b.next[last], last = n, n
		}
		if s.cycle {
			b.next[last] = last
		} else {
			b.next[last] = b.end
		}
	}
	return b, nil
}

// Model is the file.
func Model() ([]byte, error) {
	b, err := learn()
	if err != nil {
		return nil, err
	}
	const head, forward = 64, 32
	count := len(b.tokens)
	wide := (count + 63) / 64 * 64
	f := &file{}
	f.text("general.architecture", "llama")
	f.text("general.name", "scripted")
	f.number("general.file_type", 1)
	f.number("general.quantization_version", 2)
	for _, n := range []struct {
		key   string
		value int
	}{
		{"block_count", 1}, {"context_length", Window}, {"embedding_length", wide}, {"feed_forward_length", forward}, {"vocab_size", count},
		{"attention.head_count", 1}, {"attention.head_count_kv", 1}, {"attention.key_length", head}, {"attention.value_length", head}, {"rope.dimension_count", head},
	} {
		f.number("llama."+n.key, uint32(n.value))
	}
	f.real("llama.attention.layer_norm_rms_epsilon", 1e-5)
	f.real("llama.rope.freq_base", 10000)
	f.vocabulary(b)
	f.text("tokenizer.chat_template", template())

	f.half("token_embd.weight", []int{wide, count}, func(set func(row, column int, v uint16)) {
		for n := range count {
			set(n, n, one)
		}
	})
	f.ones("blk.0.attn_norm.weight", wide)
	f.half("blk.0.attn_q.weight", []int{wide, head}, nil)
	f.half("blk.0.attn_k.weight", []int{wide, head}, nil)
	f.half("blk.0.attn_v.weight", []int{wide, head}, nil)
	f.half("blk.0.attn_output.weight", []int{head, wide}, nil)
	f.ones("blk.0.ffn_norm.weight", wide)
	f.half("blk.0.ffn_gate.weight", []int{wide, forward}, nil)
	f.half("blk.0.ffn_up.weight", []int{wide, forward}, nil)
	f.half("blk.0.ffn_down.weight", []int{forward, wide}, nil)
	f.ones("output_norm.weight", wide)
	f.half("output.weight", []int{wide, count}, func(set func(row, column int, v uint16)) {
		for n := range count {
			if next, ok := b.next[n]; ok {
				set(next, n, four)
			} else {
				set(b.end, n, one) // whatever else was said: nothing more to say
			}
		}
	})
	return f.bytes(), nil
}

// Numbers of sixteen bits.
const (
	one  = 0x3c00
	four = 0x4400
)

// A file in the format GGUF, version 3: facts, then where each matrix lies, then
// the matrices.
type file struct {
	facts    bytes.Buffer
	nFacts   uint64
	places   bytes.Buffer
	nPlaces  uint64
	matrices bytes.Buffer
}

// align is what the matrices' places are multiples of.
const align = 32

func put(to *bytes.Buffer, values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			put(to, uint64(len(s)))
			to.WriteString(s)
			continue
		}
		_ = binary.Write(to, binary.LittleEndian, v) // a buffer takes everything of fixed size
	}
}

// Types of facts, as the format numbers them.
const (
	typeUint32  = uint32(4)
	typeInt32   = uint32(5)
	typeFloat32 = uint32(6)
	typeBool    = uint32(7)
	typeString  = uint32(8)
	typeArray   = uint32(9)
)

func (f *file) fact(key string, values ...any) {
	f.nFacts++
	put(&f.facts, append([]any{key}, values...)...)
}

func (f *file) text(key, value string)          { f.fact(key, typeString, value) }
func (f *file) number(key string, value uint32) { f.fact(key, typeUint32, value) }
func (f *file) real(key string, value float32)  { f.fact(key, typeFloat32, value) }

func (f *file) vocabulary(b *brain) {
	f.text("tokenizer.ggml.model", "llama")
	f.text("tokenizer.ggml.pre", "default")
	texts := []any{typeArray, typeString, uint64(len(b.tokens))}
	scores := []any{typeArray, typeFloat32, uint64(len(b.tokens))}
	kinds := []any{typeArray, typeInt32, uint64(len(b.tokens))}
	for _, t := range b.tokens {
		texts, scores, kinds = append(texts, t.text), append(scores, t.score), append(kinds, t.kind)
	}
	f.fact("tokenizer.ggml.tokens", texts...)
	f.fact("tokenizer.ggml.scores", scores...)
	f.fact("tokenizer.ggml.token_type", kinds...)
	f.number("tokenizer.ggml.bos_token_id", 1)
	f.number("tokenizer.ggml.eos_token_id", uint32(b.end))
	f.number("tokenizer.ggml.unknown_token_id", 0)
	for _, key := range []string{"add_bos_token", "add_eos_token", "add_space_prefix"} {
		f.fact("tokenizer.ggml."+key, typeBool, false)
	}
}

// matrix notes where the next one lies; kind 0 has numbers of 32 bits, 1 of 16.
func (f *file) matrix(name string, size []int, kind uint32, data []byte) {
	f.nPlaces++
	put(&f.places, name, uint32(len(size)))
	for _, n := range size {
		put(&f.places, uint64(n))
	}
	put(&f.places, kind, uint64(f.matrices.Len()))
	f.matrices.Write(data)
	pad(&f.matrices)
}

func (f *file) ones(name string, n int) {
	f.matrix(name, []int{n}, 0, bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, n))
}

// half is a matrix of zeros, but for what fill sets.
func (f *file) half(name string, size []int, fill func(set func(row, column int, v uint16))) {
	data := make([]byte, 2*size[0]*size[1])
	if fill != nil {
		fill(func(row, column int, v uint16) { binary.LittleEndian.PutUint16(data[2*(row*size[0]+column):], v) })
	}
	f.matrix(name, size, 1, data)
}

func pad(b *bytes.Buffer) {
	for b.Len()%align != 0 {
		b.WriteByte(0)
	}
}

func (f *file) bytes() []byte {
	var out bytes.Buffer
	out.WriteString("GGUF")
	put(&out, uint32(3), f.nPlaces, f.nFacts)
	out.Write(f.facts.Bytes())
	out.Write(f.places.Bytes())
	pad(&out)
	out.Write(f.matrices.Bytes())
	return out.Bytes()
}
