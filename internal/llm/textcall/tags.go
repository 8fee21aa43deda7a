package textcall

// Calls in tags: their names and arguments stand between an opening and a closing one.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/llm/textcall/lenient"
)

// attr reads the rest of a tag: a name, with or without quotes, then others.
func (r *reader) attr(end string) (name, others string, err error) {
	const longest = 300
	if w := r.S[r.I:]; len(w) > longest && !strings.Contains(w[:longest], end) {
		return "", "", lenient.ErrNo
	}
	head, _, err := r.Until(end)
	if err != nil {
		return "", "", err
	}
	if head != "" && strings.IndexByte(`"'`, head[0]) >= 0 {
		j := strings.IndexByte(head[1:], head[0])
		if j < 0 {
			return "", "", lenient.ErrNo
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
		r.unknown = name
		return nil, errUnknown
	}
	if !r.Space() {
		return nil, r.End()
	}
	if r.S[r.I] != '{' {
		return r.parameters(name, head, opens, closes, end)
	}
	v, err := r.arguments()
	if err != nil {
		return nil, err
	}
	if err := r.Must(end); err != nil {
		return nil, err
	}
	return r.single(name, v)
}

// parameters reads tags with arguments until the closing tag of the call.
func (r *reader) parameters(name, head string, opens, closes []string, end string) ([]Call, error) {
	known, _ := r.tools.name(name)
	var a args
	for {
		if ended, err := r.Skip(end); err != nil {
			return nil, err
		} else if ended {
			return r.single(name, a.json())
		}
		if err := r.Must(opens...); err != nil {
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
			v = lenient.Quoted(text)
		}
		if err := a.add(key, v); err != nil {
			return nil, err
		}
	}
}

// between is the text of an argument, up to its closing tag.
func (r *reader) between(tool, key string, opens, closes []string) (string, error) {
	if whole, err := r.Skip("<![CDATA["); err != nil {
		return "", err
	} else if whole {
		text, _, err := r.Until("]]>")
		return text, cmp.Or(err, r.Must(closes...))
	}
	start := r.I
	text, _, err := r.Until(closes...)
	if err != nil {
		return "", err
	}
	for _, open := range opens { // the closing tag was forgotten, and the next argument begins
		k := strings.Index(text, "\n"+open)
		if k < 0 {
			continue
		}
		next, _, _ := (&reader{Reader: lenient.Reader{S: text, I: k + 1 + len(open)}}).attr(">")
		if _, known := r.tools[tool][next]; known && next != key {
			r.Mend("a missing closing tag")
			r.I = start + k
			return text[:k+1], nil
		}
	}
	return text, nil
}

// namedTag reads "name">, arguments, and the closing tag.
func (r *reader) namedTag() ([]Call, error) {
	return r.tagCall(">", []string{"<parameter name=", "<param name="}, []string{"</parameter>", "</param>"}, "</tool_call>")
}

// nameTag reads tool</name><arguments>{…}</arguments>.
func (r *reader) nameTag() ([]Call, error) {
	name, _, err := r.Until("</name>")
	if err != nil {
		return nil, err
	}
	for _, tag := range argsKeys {
		if open, err := r.Skip("<" + tag + ">"); err != nil {
			return nil, err
		} else if open {
			v, err := r.arguments()
			if err != nil {
				return nil, err
			}
			if err := r.Must("</" + tag + ">"); err != nil {
				return nil, err
			}
			return r.single(name, v)
		}
	}
	return nil, lenient.ErrNo
}

// step reads function<｜tool_sep｜>, a call in tags, and the closing mark.
func (r *reader) step() ([]Call, error) {
	if _, _, err := r.Until("<｜tool_sep｜>"); err != nil {
		return nil, err
	}
	calls, err := r.item()
	if err != nil {
		return nil, err
	}
	return calls, r.Must("<｜tool_call_end｜>")
}

// react reads the name of a tool, and Action Input: with its arguments in the next
// line; or calls as JSON.
func (r *reader) react() ([]Call, error) {
	if !r.Space() {
		return nil, r.End()
	}
	if strings.IndexByte("`[{", r.S[r.I]) >= 0 {
		r.Other = true // a fence belongs to it
		return r.item()
	}
	return r.twoLines("Action Input:")
}

// qwenAgent reads the name of a tool, and ✿ARGS✿: with its arguments in the next line.
func (r *reader) qwenAgent() ([]Call, error) { return r.twoLines("✿ARGS✿:") }

func (r *reader) twoLines(second string) ([]Call, error) {
	name, _, err := r.Until("\n")
	if err != nil {
		return nil, err
	}
	if err := r.Must(second); err != nil {
		return nil, err
	}
	v, err := r.arguments()
	if err != nil {
		return nil, err
	}
	return r.single(strings.Trim(name, " \t\r`"), v)
}

// copilot reads <name>tool</name><arg>v</arg>, up to the closing tag of the call.
func (r *reader) copilot() ([]Call, error) {
	if err := r.Must("<name>"); err != nil {
		return nil, err
	}
	name, _, err := r.Until("</name>")
	if err != nil {
		return nil, err
	}
	return r.tags(name, "", "</use_tool>")
}

// tags reads arguments whose names are tags, up to a closing word.
func (r *reader) tags(name, mark, end string) ([]Call, error) {
	known, ok := r.tools.name(name)
	if !ok {
		r.unknown = name
		return nil, errUnknown
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
		if done, err := r.Skip(end); err != nil || done {
			return items, err
		}
		if err := r.Must(mark + "<"); err != nil {
			return nil, err
		}
		key, _, err := r.Until(">")
		if err != nil {
			return nil, err
		}
		if key == "" || strings.ContainsAny(key, " </\n") {
			return nil, lenient.ErrNo
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
	w, err := r.At(mark + "<")
	if err != nil {
		return nil, err
	}
	want := r.tools[tool][arg]
	text := slices.Contains(want, "string") && !slices.Contains(want, "object") && !slices.Contains(want, "array")
	if text || w == "" || mark == "" || depth > 8 || strings.HasPrefix(r.S[r.I:], mark+end) {
		text, _, err := r.Until(mark + end)
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
	r.Space()
	calls, err := r.named()
	if err != nil {
		return nil, err
	}
	if ended, err := r.Skip("<|tool_call_end|>"); ended || err != nil {
		return calls, err
	}
	if r.I == len(r.S) || strings.HasPrefix(r.S[r.I:], "<") { // forgotten, but the arguments are complete
		return calls, unless(r.Last || r.I < len(r.S))
	}
	return nil, lenient.ErrNo
}

func (r *reader) deepseek() ([]Call, error) {
	start := r.I
	head, _, err := r.Until("<｜tool▁sep｜>")
	if err != nil {
		return nil, err
	}
	if _, ok := r.tools.name(head); ok && head != "function" {
		r.I = start
	}
	r.Space()
	calls, err := r.named()
	if err != nil {
		return nil, err
	}
	return calls, r.Must("<｜tool▁call▁end｜>")
}

// kimi3 reads "name" index="1"<|sep|>, arguments, and the closing mark.
func (r *reader) kimi3() ([]Call, error) {
	return r.tagCall("<|sep|>", []string{"<|open|>argument key="}, []string{"<|close|>argument<|sep|>"}, "<|close|>call<|sep|>")
}
