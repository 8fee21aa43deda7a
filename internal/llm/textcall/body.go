package textcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

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
		wrapped("<minimax:tool_call>", "</minimax:tool_call>"),
		wrapped("<seed:tool_call>", "</seed:tool_call>"),
		one("<use_tool>", (*reader).copilot, "</use_tool>"),
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
}

// formAt is the form that begins here.
func (r *reader) formAt(lists ...[]form) (*form, error) {
	for _, list := range lists {
		for k := range list {
			if strings.HasPrefix(r.s[r.i:], list[k].open) {
				return &list[k], nil
			}
		}
	}
	if r.last {
		return nil, nil
	}
	for _, list := range lists {
		for _, f := range list {
			if strings.HasPrefix(f.open, r.s[r.i:]) {
				return nil, errMore
			}
		}
	}
	return nil, nil
}

// items reads calls until one of the closing words. A closing word may be
// missing where nothing else can be meant: models forget it.
func (r *reader) items(closers []string) ([]Call, error) {
	var calls []Call
	for {
		before := r.i
		if !r.space() {
			if len(calls) > 0 && r.last {
				r.i = before
				return calls, nil
			}
			return nil, r.end()
		}
		if len(calls) > 0 && len(closers) > 0 {
			if ok, err := r.skip(closers...); ok || err != nil {
				return calls, err
			}
		}
		if len(calls) > 0 {
			if _, err := r.skip(",", ";"); err != nil {
				return nil, err
			}
			r.space()
		}
		start := r.i
		got, err := r.item()
		if errors.Is(err, errNo) && len(calls) > 0 && r.i == start {
			bare := len(closers) == 0 || start >= len(r.s) || strings.IndexByte("<[\n", r.s[start]) >= 0 || strings.Contains(r.s[before:start], "\n")
			if r.i = before; bare {
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
	if !r.space() {
		return nil, r.end()
	}
	start := r.i
	switch c := r.s[r.i]; {
	case c == '{':
		return r.objects(false)
	case c == '[':
		if f, err := r.formAt(forms); err != nil || f != nil { // the next block
			return nil, cmp.Or(err, errNo)
		}
		r.i++
		if !r.space() {
			return nil, r.end()
		}
		next := r.s[r.i]
		r.i = start
		if isName(next) {
			return r.pythons()
		}
		return r.objects(false)
	case c == '`':
		return r.fenced()
	case c == '<' || c == ']':
		if ok, err := r.skip("<|plugin|>"); err != nil || ok {
			if err != nil {
				return nil, err
			}
			return r.item()
		}
		f, err := r.formAt(inner, forms)
		if err != nil || f == nil {
			return nil, cmp.Or(err, errNo)
		}
		if r.depth++; r.depth > 4 {
			return nil, errNo
		}
		defer func() { r.depth-- }()
		r.i += len(f.open)
		return f.read(r)
	case isName(c):
		return r.named()
	}
	return nil, errNo
}

// fenced reads calls in a code fence.
func (r *reader) fenced() ([]Call, error) {
	if err := r.must("```"); err != nil {
		return nil, err
	}
	r.ident()
	calls, err := r.item()
	if err != nil {
		return nil, err
	}
	r.mend("a code fence")
	calls[0].Repaired = strings.Join(r.notes, ", ")
	return calls, r.must("```")
}

// single makes a call of a tool that is offered.
func (r *reader) single(name string, args json.RawMessage) ([]Call, error) {
	known, ok := r.tools.name(name)
	if !ok {
		return nil, errNo
	}
	c := Call{Name: known, Args: args, Repaired: strings.Join(r.notes, ", ")}
	r.notes = nil
	return []Call{c}, nil
}

// whole reads a value that is all there is.
func (r *reader) whole() (json.RawMessage, error) {
	var b bytes.Buffer
	if err := r.value(&b); err != nil {
		return nil, err
	}
	if r.space() {
		return nil, errNo
	}
	return b.Bytes(), nil
}

// arguments reads the object of arguments, which may stand in a fence.
func (r *reader) arguments() (json.RawMessage, error) {
	fence, err := r.skip("```json", "```")
	if err != nil {
		return nil, err
	}
	if !r.space() {
		return nil, r.end()
	}
	if r.s[r.i] != '{' && r.s[r.i] != '"' {
		return nil, errNo
	}
	var b bytes.Buffer
	if err := r.value(&b); err != nil {
		return nil, err
	}
	if fence {
		if err := r.must("```"); err != nil {
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
		return nil, errNo
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		return nil, errNo
	}
	r.mend("arguments as a text")
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}"), nil
	}
	in := reader{s: text, last: true, depth: r.depth}
	got, err := in.arguments()
	if err != nil || in.space() {
		return nil, errNo
	}
	for _, n := range in.notes {
		r.mend(n)
	}
	return got, nil
}

var (
	nameKeys = []string{"name", "tool_name", "tool", "function", "function_name", "action"}
	argsKeys = []string{"arguments", "parameters", "args", "params", "input", "tool_input", "action_input"}
)

// objects reads calls that are JSON: one, or a list of them. Strict: only those
// that tell their arguments.
func (r *reader) objects(strict bool) ([]Call, error) {
	var b bytes.Buffer
	if err := r.value(&b); err != nil {
		return nil, err
	}
	list := []json.RawMessage{b.Bytes()}
	if b.Bytes()[0] == '[' {
		if json.Unmarshal(b.Bytes(), &list) != nil {
			return nil, errNo
		}
	}
	var calls []Call
	notes := r.notes
	for _, v := range list {
		r.notes = notes
		c, err := r.fromJSON(v, strict)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c...)
	}
	if len(calls) == 0 {
		return nil, errNo
	}
	return calls, nil
}

func (r *reader) fromJSON(v json.RawMessage, strict bool) ([]Call, error) {
	if v = bytes.TrimSpace(v); v[0] == '"' { // "f(a=1)"
		var text string
		_ = json.Unmarshal(v, &text)
		in := reader{s: text, last: true, tools: r.tools}
		calls, err := in.pythonRun()
		if err != nil || in.space() || len(calls) == 0 {
			return nil, errNo
		}
		calls[0].Repaired = "a call as a text"
		return calls, nil
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(v, &o) != nil {
		return nil, errNo
	}
	if f := o["function"]; len(f) > 0 && f[0] == '{' {
		return r.fromJSON(f, strict)
	}
	if len(o) == 1 {
		for name, args := range o {
			if _, ok := r.tools.name(name); ok && len(args) > 0 && args[0] == '{' {
				return r.single(name, args)
			}
		}
	}
	name, args, told := "", json.RawMessage(nil), false
	for _, k := range nameKeys {
		if json.Unmarshal(o[k], &name) == nil && name != "" {
			break
		}
	}
	for _, k := range argsKeys {
		if args, told = o[k]; told {
			break
		}
	}
	if strict && !told || isSchema(args) {
		return nil, errNo
	}
	args, err := r.asObject(args)
	if err != nil {
		return nil, err
	}
	return r.single(name, args)
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
