package textcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"lore/internal/llm/textcall/lenient"
)

// errUnknown: a call, but of no tool that is offered.
var errUnknown = fmt.Errorf("%w of a known tool", lenient.ErrNo)

// A reader reads calls of the tools that are offered.
type reader struct {
	lenient.Reader
	tools   offer
	unknown string // the name that a call said, when no tool has it
}

// A form is a way to write calls: how it begins, and how what follows is read.
type form struct {
	open    string
	read    func(*reader) ([]Call, error)
	closers []string
}

func wrapped(open string, closers ...string) form {
	return form{open, func(r *reader) ([]Call, error) { return r.items(closers) }, closers}
}

// one is a form whose opening belongs to the call itself.
func one(open string, read func(*reader) ([]Call, error), closers ...string) form {
	return form{open, read, closers}
}

// forms are how calls begin that say so. The longer openings come first where
// one begins like another.
var forms []form

func init() { // the forms nest, so they cannot be a plain value
	forms = []form{
		wrapped("<tool_call>", "</tool_call>"),
		wrapped("<tool_calls>", "</tool_calls>"),
		wrapped("<TOOLCALL>", "</TOOLCALL>"),
		wrapped("<function_calls>", "</function_calls>"),
		wrapped("<function_call>", "</function_call>"),
		wrapped("<functioncall>", "</functioncall>"),
		wrapped("<tools>", "</tools>"),
		wrapped("<tool_use>", "</tool_use>"),
		one("<tool_call name=", (*reader).namedTag, "</tool_call>"),
		one("<use_tool>", (*reader).copilot, "</use_tool>"),
		wrapped("<|python_start|>", "<|python_end|>"),
		wrapped("<|tool_call|>", "<|/tool_call|>", "<|tool_call_end|>"),
		wrapped("<|tool_call_start|>", "<|tool_call_end|>"),
		wrapped("<|tool_call>", "<tool_call|>"),
		wrapped("<start_function_call>", "<end_function_call>"),
		wrapped("<|tools_prefix|>", "<|tools_suffix|>"),
		wrapped("<|START_ACTION|>", "<|END_ACTION|>"),
		wrapped("<|action_start|>", "<|action_end|>"),
		wrapped("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"),
		wrapped("<|function_call|>", "<|message_sep|>"),
		wrapped("<|message_sep|>\n\nfunction call<|role_sep|>\n", "<|message_sep|>"),
		wrapped("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
		wrapped("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),
		one("<|tool_call_begin|>", (*reader).kimi, "<|tool_call_end|>"),
		wrapped("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
		one("<｜tool▁call▁begin｜>", (*reader).deepseek, "<｜tool▁call▁end｜>"),
		wrapped("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),
		one("<｜tool_call_begin｜>", (*reader).step, "<｜tool_call_end｜>"),
		wrapped("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
		wrapped("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
		wrapped("[TOOL_CALLS]"),
		wrapped("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
		wrapped("]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>"),
		wrapped("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
		one("<function=", (*reader).function, "</function>"),
		one("<function name=", (*reader).function, "</function>"),
		one("<invoke name=", (*reader).invoke, "</invoke>"),
	}
}

// inner are forms that stand only inside others.
var inner = []form{
	one("<｜DSML｜invoke name=", (*reader).dsml),
	one("]<]minimax[>[<invoke name=", (*reader).minimax),
	one("<|open|>call tool=", (*reader).kimi3),
	one("<name>", (*reader).nameTag),
}

// starts are forms that begin with words: they count only where a line begins.
var starts []form

func init() {
	starts = []form{
		one("Action:", (*reader).react),
		one("✿FUNCTION✿:", (*reader).qwenAgent),
	}
}

// families are the endings of tags that hold calls: models put a namespace of their own before them.
var families = []string{"tool_calls", "tool_call", "function_calls", "function_call"}

// prefixed is a tag of a namespace that nobody listed: <xyz_tool_call>, <ns:invoke name=.
func (r *reader) prefixed() (*form, error) {
	const longest = 48
	rest := r.S[r.I:]
	if rest == "" || rest[0] != '<' {
		return nil, nil
	}
	n := 1
	for n < len(rest) && n < longest && (lenient.IsName(rest[n]) || rest[n] == ':') {
		n++
	}
	tag := rest[1:n]
	if n == len(rest) && n < longest && !r.Last {
		return nil, lenient.ErrMore
	}
	for _, f := range families {
		if p := strings.TrimSuffix(tag, f); p != tag && p != "" && strings.IndexByte(":_-.", p[len(p)-1]) >= 0 && strings.HasPrefix(rest[n:], ">") {
			f := wrapped("<"+tag+">", "</"+tag+">")
			return &f, nil
		}
	}
	ns, ok := strings.CutSuffix(tag, ":invoke")
	if !ok || ns == "" {
		return nil, nil
	}
	if w, err := (&lenient.Reader{S: r.S, I: r.I + n, Last: r.Last}).At(" name="); err != nil || w == "" {
		return nil, err
	}
	f := one("<"+tag+" name=", func(r *reader) ([]Call, error) {
		return r.tagCall(">", []string{"<" + ns + ":parameter name="}, []string{"</" + ns + ":parameter>"}, "</"+tag+">")
	}, "</"+tag+">")
	return &f, nil
}

// formAt is the form that begins here.
func (r *reader) formAt(lists ...[]form) (*form, error) {
	for _, list := range lists {
		for k := range list {
			if strings.HasPrefix(r.S[r.I:], list[k].open) {
				return &list[k], nil
			}
		}
	}
	for _, list := range lists {
		for _, f := range list {
			if !r.Last && strings.HasPrefix(f.open, r.S[r.I:]) {
				return nil, lenient.ErrMore
			}
		}
	}
	return r.prefixed()
}

// items reads calls until one of the closing words. A closing word may be
// missing where nothing else can be meant: models forget it.
func (r *reader) items(closers []string) ([]Call, error) {
	var calls []Call
	for {
		before := r.I
		if !r.Space() {
			if len(calls) > 0 && r.Last {
				r.I = before
				return calls, nil
			}
			return nil, r.End()
		}
		if len(calls) > 0 && len(closers) > 0 {
			if ok, err := r.Skip(closers...); ok || err != nil {
				return calls, err
			}
		}
		if len(calls) > 0 {
			if _, err := r.Skip(",", ";"); err != nil {
				return nil, err
			}
			r.Space()
		}
		start := r.I
		got, err := r.item()
		if errors.Is(err, lenient.ErrNo) && len(calls) > 0 && r.I == start {
			bare := len(closers) == 0 || start >= len(r.S) || strings.IndexByte("<[\n", r.S[start]) >= 0 || strings.Contains(r.S[before:start], "\n")
			if r.I = before; bare {
				return calls, nil
			}
		}
		if err != nil {
			return nil, err
		}
		calls = append(calls, got...)
	}
}

// item reads a call, or a list of calls, in any of the ways that need no
// closing word around them.
func (r *reader) item() ([]Call, error) {
	if !r.Space() {
		return nil, r.End()
	}
	start := r.I
	switch c := r.S[r.I]; {
	case c == '{':
		return r.objects(false)
	case c == '[':
		if f, err := r.formAt(forms); err != nil || f != nil { // the next block
			return nil, cmp.Or(err, lenient.ErrNo)
		}
		r.I++
		if !r.Space() {
			return nil, r.End()
		}
		next := r.S[r.I]
		r.I = start
		if lenient.IsName(next) {
			return r.pythons()
		}
		return r.objects(false)
	case c == '`':
		return r.fenced()
	case c == '<' || c == ']':
		if ok, err := r.Skip("<|plugin|>"); err != nil || ok {
			if err != nil {
				return nil, err
			}
			return r.item()
		}
		f, err := r.formAt(inner, forms)
		if err != nil || f == nil {
			return nil, cmp.Or(err, lenient.ErrNo)
		}
		if r.Depth++; r.Depth > 4 {
			return nil, lenient.ErrNo
		}
		defer func() { r.Depth-- }()
		r.I += len(f.open)
		return f.read(r)
	case lenient.IsName(c):
		return r.named()
	}
	return nil, lenient.ErrNo
}

// fenced reads calls in a code fence.
func (r *reader) fenced() ([]Call, error) {
	if err := r.Must("```"); err != nil {
		return nil, err
	}
	r.Ident()
	calls, err := r.item()
	if err != nil {
		return nil, err
	}
	r.Mend("a code fence")
	calls[0].Repaired = strings.Join(r.Notes, ", ")
	return calls, r.Must("```")
}

// single makes a call of a tool that is offered.
func (r *reader) single(name string, args json.RawMessage) ([]Call, error) {
	known, ok := r.tools.name(name)
	if !ok {
		r.unknown = name
		return nil, errUnknown
	}
	c := Call{Name: known, Args: args, Repaired: strings.Join(r.Notes, ", ")}
	r.Notes = nil
	return []Call{c}, nil
}

// whole reads a value that is all there is.
func (r *reader) whole() (json.RawMessage, error) {
	var b bytes.Buffer
	if err := r.Value(&b); err != nil {
		return nil, err
	}
	if r.Space() {
		return nil, lenient.ErrNo
	}
	return b.Bytes(), nil
}

// arguments reads the object of arguments, which may stand in a fence.
func (r *reader) arguments() (json.RawMessage, error) {
	fence, err := r.Skip("```json", "```")
	if err != nil {
		return nil, err
	}
	if !r.Space() {
		return nil, r.End()
	}
	if r.S[r.I] != '{' && r.S[r.I] != '"' {
		return nil, lenient.ErrNo
	}
	var b bytes.Buffer
	if err := r.Value(&b); err != nil {
		return nil, err
	}
	if fence {
		if err := r.Must("```"); err != nil {
			return nil, err
		}
	}
	return r.asObject(b.Bytes())
}

// asObject unwraps arguments that were written as a text, or not at all.
func (r *reader) asObject(v json.RawMessage) (json.RawMessage, error) {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) == 0 || string(v) == "null":
		return json.RawMessage("{}"), nil
	case v[0] == '{':
		return v, nil
	case v[0] != '"':
		return nil, lenient.ErrNo
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		return nil, lenient.ErrNo
	}
	r.Mend("arguments as a text")
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}"), nil
	}
	in := reader{Reader: lenient.Reader{S: text, Last: true, Depth: r.Depth}}
	got, err := in.arguments()
	if err != nil || in.Space() {
		return nil, lenient.ErrNo
	}
	for _, n := range in.Notes {
		r.Mend(n)
	}
	return got, nil
}

var (
	nameKeys = []string{"name", "tool_name", "tool", "function", "function_name", "action", "recipient_name"}
	listKeys = []string{"tool_calls", "function_calls", "function_call", "tool_call", "tool_uses"}
	argsKeys = []string{"arguments", "parameters", "args", "params", "input", "tool_input", "action_input"}
)

// objects reads calls that are JSON: one, or a list of them. Strict: only those
// that tell their arguments.
func (r *reader) objects(strict bool) ([]Call, error) {
	var b bytes.Buffer
	if err := r.Value(&b); err != nil {
		return nil, err
	}
	list := []json.RawMessage{b.Bytes()}
	if b.Bytes()[0] == '[' {
		if json.Unmarshal(b.Bytes(), &list) != nil {
			return nil, lenient.ErrNo
		}
	}
	return r.all(list, strict)
}

// all reads a list of calls. One of a tool that nobody offers does not void the others.
func (r *reader) all(list []json.RawMessage, strict bool) (calls []Call, err error) {
	notes, out := r.Notes, false
	for _, v := range list {
		r.Notes = notes
		c, err := r.fromJSON(v, strict)
		if errors.Is(err, errUnknown) && len(list) > 1 {
			out = true
			continue
		}
		if err != nil {
			return nil, err
		}
		calls = append(calls, c...)
	}
	if len(calls) == 0 {
		return nil, errUnknown
	}
	if out {
		leftOut(calls)
	}
	return calls, nil
}

// leftOut says that there was a call more, which cannot be made.
func leftOut(calls []Call) {
	c := &calls[0]
	c.Repaired = strings.TrimPrefix(c.Repaired+", a call was left out", ", ")
}

func (r *reader) fromJSON(v json.RawMessage, strict bool) ([]Call, error) {
	if v = bytes.TrimSpace(v); v[0] == '"' { // "f(a=1)"
		var text string
		_ = json.Unmarshal(v, &text)
		in := reader{Reader: lenient.Reader{S: text, Last: true}, tools: r.tools}
		calls, err := in.pythonRun()
		if err != nil || in.Space() || len(calls) == 0 {
			return nil, lenient.ErrNo
		}
		calls[0].Repaired = "a call as a text"
		return calls, nil
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(v, &o) != nil || hasTwins(v, len(o)) {
		return nil, lenient.ErrNo
	}
	if f := o["function"]; len(f) > 0 && f[0] == '{' {
		return r.fromJSON(f, strict)
	}
	for _, k := range listKeys {
		var list []json.RawMessage
		switch v := bytes.TrimSpace(o[k]); {
		case len(v) == 0:
		case v[0] == '{':
			return r.fromJSON(v, strict)
		case v[0] == '[' && json.Unmarshal(v, &list) == nil:
			return r.all(list, strict)
		}
	}
	if len(o) == 1 {
		for name, args := range o {
			if _, ok := r.tools.name(name); ok && len(args) > 0 && args[0] == '{' {
				return r.single(name, args)
			}
		}
	}
	key, name := r.nameIn(o)
	args, told := json.RawMessage(nil), false
	for _, k := range argsKeys {
		if args, told = o[k]; told {
			break
		}
	}
	if !told {
		args, told = r.flat(o, key, name)
	}
	if _, described := o["description"]; strict && !told || isSchema(args) || !told && described {
		return nil, lenient.ErrNo
	}
	args, err := r.asObject(args)
	if err != nil {
		return nil, err
	}
	return r.single(name, args)
}

// hasTwins reports whether an object has more keys than different ones: whoever reads
// it may read another one than a person.
func hasTwins(v json.RawMessage, different int) bool {
	d, keys := json.NewDecoder(bytes.NewReader(v)), 0
	_, err := d.Token() // {
	for err == nil && d.More() {
		keys++
		var value json.RawMessage
		_, err = d.Token()
		err = cmp.Or(err, d.Decode(&value))
	}
	return err != nil || keys != different
}

// nameIn is the name in an object, and the key that tells it: one of a tool that is
// offered before any other.
func (r *reader) nameIn(o map[string]json.RawMessage) (key, name string) {
	for _, k := range nameKeys {
		var said string
		if json.Unmarshal(o[k], &said) != nil || said == "" {
			continue
		}
		if _, ok := r.tools.name(said); ok {
			return k, said
		}
		if name == "" {
			key, name = k, said
		}
	}
	return key, name
}

// flat are arguments that stand beside the name: all of them must be the tool's.
func (r *reader) flat(o map[string]json.RawMessage, key, name string) (json.RawMessage, bool) {
	known, ok := r.tools.name(name)
	if !ok || len(o) < 2 {
		return nil, false
	}
	rest := maps.Clone(o)
	delete(rest, key)
	for k := range rest {
		if _, is := r.tools[known][k]; !is {
			return nil, false
		}
	}
	args, err := json.Marshal(rest)
	return args, err == nil
}

// isSchema is what a tool takes, not what it is given: models repeat how tools
// are described.
func isSchema(v json.RawMessage) bool {
	var s struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
	}
	return json.Unmarshal(v, &s) == nil && s.Type == "object" && s.Properties != nil
}
