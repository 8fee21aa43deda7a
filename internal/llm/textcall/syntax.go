package textcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"lore/internal/llm/textcall/lenient"
)

// args gathers arguments in the order in which they were written.
type args struct {
	b    bytes.Buffer
	seen map[string]bool
}

func (a *args) add(name string, v json.RawMessage) error {
	if a.seen[name] {
		return lenient.ErrNo
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
		a.b.WriteByte('{')
	} else {
		a.b.WriteByte(',')
	}
	a.seen[name] = true
	a.b.Write(lenient.Quoted(name))
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
	if err := r.Must("["); err != nil {
		return nil, err
	}
	calls, err := r.pythonRun()
	if errors.Is(err, errUnknown) {
		_, more := r.Skip("]")
		return nil, cmp.Or(more, err)
	}
	if err != nil {
		return nil, err
	}
	return calls, r.Must("]")
}

// pythonRun reads f(a=1), g(b="x"), also with other ends of a statement between
// them. A call among others that cannot be made is left out: of an unknown tool, or
// with a value that is not there yet.
func (r *reader) pythonRun() ([]Call, error) {
	var calls []Call
	out := false
	for {
		end := r.I
		if !r.Space() {
			if len(calls) > 0 && r.Last {
				r.I = end
				return calls, nil
			}
			return nil, r.End()
		}
		if len(calls) > 0 && r.S[r.I] == ']' { // a comma too many
			return calls, nil
		}
		name := r.toolName()
		if r.I >= len(r.S) && !r.Last {
			return nil, lenient.ErrMore
		}
		if r.I >= len(r.S) || r.S[r.I] != '(' || name == "" {
			if r.I = end; len(calls) == 0 || !strings.HasSuffix(strings.TrimRight(r.S[:end], " \t\r\n"), ";") {
				return nil, lenient.ErrNo
			}
			return calls, nil
		}
		open, err := r.I, errUnknown
		var c []Call
		if _, ok := r.tools.name(name); ok {
			c, err = r.python(name)
		} else {
			r.unknown = name
		}
		if errors.Is(err, lenient.ErrNo) {
			r.I, out = open, true
			if more := r.balanced(); errors.Is(more, lenient.ErrMore) {
				return nil, more
			} else if more != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		calls = append(calls, c...)
		if more, err := r.Skip(",", ";"); err != nil {
			return nil, err
		} else if more {
			continue
		}
		if len(calls) == 0 {
			return nil, errUnknown
		}
		if out {
			leftOut(calls)
		}
		return calls, nil
	}
}

// balanced skips what stands in brackets, with its quotes.
func (r *reader) balanced() error {
	const longest = 2 << 10
	depth, start := 0, r.I
	for r.I < len(r.S) {
		if r.I-start > longest {
			return lenient.ErrNo
		}
		c := r.S[r.I]
		switch {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == '"' || c == '\'':
			if err := r.Text(&bytes.Buffer{}); err != nil {
				return err
			}
			continue
		}
		if r.I++; depth == 0 {
			return nil
		}
	}
	return r.End()
}

// python reads what stands in round brackets after a name.
func (r *reader) python(name string) ([]Call, error) {
	r.I++
	other := r.Other
	r.Other = true
	defer func() { r.Other = other }()
	var a args
	for {
		if closed, err := r.Skip(")"); err != nil || closed {
			if err != nil {
				return nil, err
			}
			return r.single(name, a.json())
		}
		if !r.Space() {
			return nil, r.End()
		}
		if r.S[r.I] == '{' && a.seen == nil { // f({"a": 1})
			v, err := r.arguments()
			if err != nil {
				return nil, err
			}
			if err := r.Must(")"); err != nil {
				return nil, err
			}
			return r.single(name, v)
		}
		key := strings.ReplaceAll(r.toolName(), `\_`, "_")
		if key == "" {
			return nil, lenient.ErrNo
		}
		if err := r.Must("=", ":"); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := r.Value(&b); err != nil {
			return nil, err
		}
		known, _ := r.tools.name(name)
		if err := a.add(key, r.tools.fit(known, key, b.Bytes())); err != nil {
			return nil, err
		}
		if more, err := r.Skip(","); err != nil {
			return nil, err
		} else if !more {
			if err := r.Must(")"); err != nil {
				return nil, err
			}
			return r.single(name, a.json())
		}
	}
}

// toolName reads a name with what models put around it.
func (r *reader) toolName() string {
	start := r.I
	for r.I < len(r.S) && (lenient.IsName(r.S[r.I]) || r.S[r.I] == ':') || strings.HasPrefix(r.S[r.I:], `\_`) {
		r.I++
		if r.S[r.I-1] == '\\' {
			r.I++
		}
	}
	if r.S[r.I:] == `\` && !r.Last { // an underscore may follow
		r.I++
	}
	return r.S[start:r.I]
}

// named reads a name and then the arguments, in the many ways there are.
func (r *reader) named() ([]Call, error) {
	start := r.I
	name := strings.TrimPrefix(r.toolName(), "call:")
	if r.I >= len(r.S) {
		if !r.Last {
			return nil, lenient.ErrMore
		}
		r.I = start
		return nil, lenient.ErrNo
	}
	if _, ok := r.tools.name(name); !ok {
		return r.unnamed(start, name)
	}
	if r.S[r.I] == '(' {
		return r.python(name)
	}
	spaced := r.I
	if !r.Space() {
		return nil, r.End()
	}
	w, err := r.At("{", "```", "[CALL_ID]", "[ARGS]", "<arg_key>", "<tool_sep>", "<｜tool▁sep｜>", "<|tool_call_argument_begin|>", "</tool_call>")
	if err != nil {
		return nil, err
	}
	switch w {
	case "":
		r.I = start
		return nil, lenient.ErrNo
	case "<arg_key>", "</tool_call>":
		return r.glm(name)
	case "<tool_sep>":
		r.I += len(w)
		r.Space()
		if w, err := r.At("<arg_key>", "</tool_call>"); err != nil {
			return nil, err
		} else if w != "" {
			return r.glm(name)
		}
	case "[CALL_ID]":
		if _, _, err := r.Until("[ARGS]"); err != nil {
			return nil, err
		}
	case "{", "```":
		r.Other = r.Other || r.S[spaced] == '{' // name{…}: Gemma's own way
	default:
		r.I += len(w)
	}
	v, err := r.arguments()
	if err != nil {
		return nil, err
	}
	return r.single(name, v)
}

// unnamed is what stands behind a name that is no tool's: print( before a call is
// Gemini's way.
func (r *reader) unnamed(start int, name string) ([]Call, error) {
	if name != "print" || r.S[r.I] != '(' {
		r.I, r.unknown = start, name
		return nil, errUnknown
	}
	r.I++
	if r.Depth++; r.Depth > 4 {
		return nil, lenient.ErrNo
	}
	defer func() { r.Depth-- }()
	calls, err := r.item()
	if err != nil {
		return nil, err
	}
	return calls, r.Must(")")
}

// glm reads <arg_key>k</arg_key><arg_value>v</arg_value> and so on.
func (r *reader) glm(name string) ([]Call, error) {
	known, _ := r.tools.name(name)
	var a args
	for {
		more, err := r.Skip("<arg_key>")
		if err != nil {
			return nil, err
		}
		if !more {
			if !r.Space() {
				return nil, r.End()
			}
			if w, err := r.At("</tool_call>"); err != nil || w == "" {
				return nil, cmp.Or(err, lenient.ErrNo)
			}
			return r.single(name, a.json())
		}
		key, _, err := r.Until("</arg_key>")
		if err != nil {
			return nil, err
		}
		if err := r.Must("<arg_value>"); err != nil {
			return nil, err
		}
		text, _, err := r.Until("</arg_value>")
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
