package textcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// args gathers arguments in the order in which they were written.
type args struct {
	b    bytes.Buffer
	seen map[string]bool
}

func (a *args) add(name string, v json.RawMessage) error {
	if a.seen[name] {
		return errNo
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
		a.b.WriteByte('{')
	} else {
		a.b.WriteByte(',')
	}
	a.seen[name] = true
	a.b.Write(quoted(name))
	a.b.WriteByte(':')
	a.b.Write(v)
	return nil
}

func (a *args) json() json.RawMessage {
	if a.seen == nil {
		return json.RawMessage("{}")
	}
	return append(a.b.Bytes(), '}')
}

// pythons reads [f(a=1), g(b="x")].
func (r *reader) pythons() ([]Call, error) {
	if err := r.must("["); err != nil {
		return nil, err
	}
	calls, err := r.pythonRun()
	if err != nil {
		return nil, err
	}
	return calls, r.must("]")
}

// pythonRun reads f(a=1), g(b="x").
func (r *reader) pythonRun() ([]Call, error) {
	var calls []Call
	for {
		if !r.space() {
			return nil, r.end()
		}
		if len(calls) > 0 && r.s[r.i] == ']' { // a comma too many
			return calls, nil
		}
		name := r.toolName()
		if r.i >= len(r.s) {
			return nil, r.end()
		}
		if r.s[r.i] != '(' {
			return nil, errNo
		}
		if _, ok := r.tools.name(name); !ok {
			return nil, errNo
		}
		c, err := r.python(name)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c...)
		if more, err := r.skip(","); err != nil || !more {
			return calls, err
		}
	}
}

// python reads what stands in round brackets after a name.
func (r *reader) python(name string) ([]Call, error) {
	r.i++
	other := r.other
	r.other = true
	defer func() { r.other = other }()
	var a args
	for {
		if closed, err := r.skip(")"); err != nil || closed {
			if err != nil {
				return nil, err
			}
			return r.single(name, a.json())
		}
		if !r.space() {
			return nil, r.end()
		}
		if r.s[r.i] == '{' && a.seen == nil { // f({"a": 1})
			v, err := r.arguments()
			if err != nil {
				return nil, err
			}
			if err := r.must(")"); err != nil {
				return nil, err
			}
			return r.single(name, v)
		}
		key := strings.ReplaceAll(r.toolName(), `\_`, "_")
		if key == "" {
			return nil, errNo
		}
		if err := r.must("=", ":"); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := r.value(&b); err != nil {
			return nil, err
		}
		known, _ := r.tools.name(name)
		if err := a.add(key, r.tools.fit(known, key, b.Bytes())); err != nil {
			return nil, err
		}
		if more, err := r.skip(","); err != nil {
			return nil, err
		} else if !more {
			if err := r.must(")"); err != nil {
				return nil, err
			}
			return r.single(name, a.json())
		}
	}
}

// toolName reads a name with what models put around it.
func (r *reader) toolName() string {
	start := r.i
	for r.i < len(r.s) && (isName(r.s[r.i]) || r.s[r.i] == ':') || strings.HasPrefix(r.s[r.i:], `\_`) {
		r.i++
		if r.s[r.i-1] == '\\' {
			r.i++
		}
	}
	if r.s[r.i:] == `\` && !r.last { // an underscore may follow
		r.i++
	}
	return r.s[start:r.i]
}

// named reads a name and then the arguments, in the many ways there are.
func (r *reader) named() ([]Call, error) {
	start := r.i
	name := strings.TrimPrefix(r.toolName(), "call:")
	if r.i >= len(r.s) {
		if !r.last {
			return nil, errMore
		}
		r.i = start
		return nil, errNo
	}
	if _, ok := r.tools.name(name); !ok {
		r.i = start
		return nil, errNo
	}
	if r.s[r.i] == '(' {
		return r.python(name)
	}
	spaced := r.i
	if !r.space() {
		return nil, r.end()
	}
	w, err := r.at("{", "```", "[CALL_ID]", "[ARGS]", "<arg_key>", "<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "</tool_call>")
	if err != nil {
		return nil, err
	}
	switch w {
	case "":
		r.i = start
		return nil, errNo
	case "<arg_key>", "</tool_call>":
		return r.glm(name)
	case "[CALL_ID]":
		if _, _, err := r.until("[ARGS]"); err != nil {
			return nil, err
		}
	case "{", "```":
		r.other = r.other || r.s[spaced] == '{' // name{…}: Gemma's own way
	default:
		r.i += len(w)
	}
	v, err := r.arguments()
	if err != nil {
		return nil, err
	}
	return r.single(name, v)
}

// glm reads <arg_key>k</arg_key><arg_value>v</arg_value> and so on.
func (r *reader) glm(name string) ([]Call, error) {
	known, _ := r.tools.name(name)
	var a args
	for {
		more, err := r.skip("<arg_key>")
		if err != nil {
			return nil, err
		}
		if !more {
			if !r.space() {
				return nil, r.end()
			}
			if w, err := r.at("</tool_call>"); err != nil || w == "" {
				return nil, cmp.Or(err, errNo)
			}
			return r.single(name, a.json())
		}
		key, _, err := r.until("</arg_key>")
		if err != nil {
			return nil, err
		}
		if err := r.must("<arg_value>"); err != nil {
			return nil, err
		}
		text, _, err := r.until("</arg_value>")
		if err != nil {
			return nil, err
		}
		key = strings.TrimSpace(key)
		if err := a.add(key, r.tools.typed(known, key, trimLine(text))); err != nil {
			return nil, err
		}
	}
}

// trimLine takes the line breaks away that tags put around a text.
func trimLine(s string) string {
	if in, ok := strings.CutPrefix(s, "\n"); ok {
		return strings.TrimSuffix(in, "\n")
	}
	return s
}

// attr reads the rest of a tag: a name, with or without quotes, then others.
func (r *reader) attr(end string) (name, others string, err error) {
	const longest = 300
	if w := r.s[r.i:]; len(w) > longest && !strings.Contains(w[:longest], end) {
		return "", "", errNo
	}
	head, _, err := r.until(end)
	if err != nil {
		return "", "", err
	}
	if head != "" && strings.IndexByte(`"'`, head[0]) >= 0 {
		j := strings.IndexByte(head[1:], head[0])
		if j < 0 {
			return "", "", errNo
		}
		return head[1 : 1+j], head[2+j:], nil
	}
	name, others, _ = strings.Cut(head, " ")
	return strings.TrimSpace(name), others, nil
}

// function reads name><parameter=p>v</parameter></function>, or JSON inside.
func (r *reader) function() ([]Call, error) {
	return r.tagCall(">", []string{"<parameter=", "<parameter name=", "<param name="}, []string{"</parameter>", "</param>"}, "</function>")
}

// invoke reads "name"><parameter name="p">v</parameter></invoke>.
func (r *reader) invoke() ([]Call, error) {
	return r.tagCall(">", []string{"<parameter name="}, []string{"</parameter>"}, "</invoke>")
}

func (r *reader) dsml() ([]Call, error) {
	return r.tagCall(">", []string{"<｜DSML｜parameter name="}, []string{"</｜DSML｜parameter>"}, "</｜DSML｜invoke>")
}

// tagCall reads the rest of the opening tag, which ends with head, and what is
// between it and the closing tag: tags with arguments, or JSON.
func (r *reader) tagCall(head string, opens, closes []string, end string) ([]Call, error) {
	name, _, err := r.attr(head)
	if err != nil {
		return nil, err
	}
	if _, ok := r.tools.name(name); !ok {
		return nil, errNo
	}
	if !r.space() {
		return nil, r.end()
	}
	if r.s[r.i] != '{' {
		return r.parameters(name, head, opens, closes, end)
	}
	v, err := r.arguments()
	if err != nil {
		return nil, err
	}
	if err := r.must(end); err != nil {
		return nil, err
	}
	return r.single(name, v)
}

// parameters reads tags with arguments until the closing tag of the call.
func (r *reader) parameters(name, head string, opens, closes []string, end string) ([]Call, error) {
	known, _ := r.tools.name(name)
	var a args
	for {
		if ended, err := r.skip(end); err != nil {
			return nil, err
		} else if ended {
			return r.single(name, a.json())
		}
		if err := r.must(opens...); err != nil {
			return nil, err
		}
		key, others, err := r.attr(head)
		if err != nil {
			return nil, err
		}
		text, err := r.between(known, key, opens, closes)
		if err != nil {
			return nil, err
		}
		v := r.tools.typed(known, key, trimLine(text))
		if strings.Contains(others, `string="true"`) || strings.Contains(others, `type="string"`) {
			v = quoted(text)
		}
		if err := a.add(key, v); err != nil {
			return nil, err
		}
	}
}

// between is the text of an argument, up to its closing tag.
func (r *reader) between(tool, key string, opens, closes []string) (string, error) {
	if whole, err := r.skip("<![CDATA["); err != nil {
		return "", err
	} else if whole {
		text, _, err := r.until("]]>")
		return text, cmp.Or(err, r.must(closes...))
	}
	start := r.i
	text, _, err := r.until(closes...)
	if err != nil {
		return "", err
	}
	for _, open := range opens { // the closing tag was forgotten, and the next argument begins
		k := strings.Index(text, "\n"+open)
		if k < 0 {
			continue
		}
		next, _, _ := (&reader{s: text, i: k + 1 + len(open)}).attr(">")
		if _, known := r.tools[tool][next]; known && next != key {
			r.mend("a missing closing tag")
			r.i = start + k
			return text[:k+1], nil
		}
	}
	return text, nil
}

// copilot reads <name>tool</name><arg>v</arg>, up to the closing tag of the call.
func (r *reader) copilot() ([]Call, error) {
	if err := r.must("<name>"); err != nil {
		return nil, err
	}
	name, _, err := r.until("</name>")
	if err != nil {
		return nil, err
	}
	return r.tags(name, "", "</use_tool>")
}

// tags reads arguments whose names are tags, up to a closing word.
func (r *reader) tags(name, mark, end string) ([]Call, error) {
	known, ok := r.tools.name(name)
	if !ok {
		return nil, errNo
	}
	var a args
	if _, err := r.pairs(known, "", mark, end, 0, &a); err != nil {
		return nil, err
	}
	return r.single(name, a.json())
}

// pairs reads tags with values up to a closing word. Items of a list have no
// name of their own.
func (r *reader) pairs(tool, path, mark, end string, depth int, a *args) (items [][]byte, err error) {
	for {
		if done, err := r.skip(end); err != nil || done {
			return items, err
		}
		if err := r.must(mark + "<"); err != nil {
			return nil, err
		}
		key, _, err := r.until(">")
		if err != nil {
			return nil, err
		}
		if key == "" || strings.ContainsAny(key, " </\n") {
			return nil, errNo
		}
		v, err := r.tagged(tool, path+key, mark, "</"+key+">", depth)
		if err != nil {
			return nil, err
		}
		if items = append(items, v); key != "item" || depth == 0 {
			if err := a.add(key, v); err != nil {
				return nil, err
			}
		}
	}
}

// tagged is a value up to the closing tag: a text, or with marks around its
// tags, values in values.
func (r *reader) tagged(tool, arg, mark, end string, depth int) (json.RawMessage, error) {
	w, err := r.at(mark + "<")
	if err != nil {
		return nil, err
	}
	want := r.tools[tool][arg]
	text := slices.Contains(want, "string") && !slices.Contains(want, "object") && !slices.Contains(want, "array")
	if text || w == "" || mark == "" || depth > 8 || strings.HasPrefix(r.s[r.i:], mark+end) {
		text, _, err := r.until(mark + end)
		return r.tools.typed(tool, arg, trimLine(text)), err
	}
	var o args
	items, err := r.pairs(tool, arg+".", mark, mark+end, depth+1, &o)
	if err != nil || o.seen != nil {
		return o.json(), err
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte(","))...), ']'), nil
}

const minimaxMark = "]<]minimax[>["

func (r *reader) minimax() ([]Call, error) {
	name, _, err := r.attr(">")
	if err != nil {
		return nil, err
	}
	return r.tags(name, minimaxMark, minimaxMark+"</invoke>")
}

func (r *reader) kimi() ([]Call, error) {
	r.space()
	calls, err := r.named()
	if err != nil {
		return nil, err
	}
	if ended, err := r.skip("<|tool_call_end|>"); ended || err != nil {
		return calls, err
	}
	if r.i == len(r.s) || strings.HasPrefix(r.s[r.i:], "<") { // forgotten, but the arguments are complete
		return calls, unless(r.last || r.i < len(r.s))
	}
	return nil, errNo
}

func (r *reader) deepseek() ([]Call, error) {
	start := r.i
	head, _, err := r.until("<｜tool▁sep｜>")
	if err != nil {
		return nil, err
	}
	if _, ok := r.tools.name(head); ok && head != "function" {
		r.i = start
	}
	r.space()
	calls, err := r.named()
	if err != nil {
		return nil, err
	}
	return calls, r.must("<｜tool▁call▁end｜>")
}

// kimi3 reads "name" index="1"<|sep|>, arguments, and the closing mark.
func (r *reader) kimi3() ([]Call, error) {
	return r.tagCall("<|sep|>", []string{"<|open|>argument key="}, []string{"<|close|>argument<|sep|>"}, "<|close|>call<|sep|>")
}
