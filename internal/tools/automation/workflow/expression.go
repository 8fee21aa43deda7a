package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An Expression is a condition or a value: paths, texts, numbers, comparisons,
// "and", "or", "not", and filters.
//
//	steps.find.total > 0 and not inputs.quick
//	steps.find.results | length
type Expression struct {
	text string
	root node
}

// String is the expression as it was written.
func (e *Expression) String() string { return e.text }

// A node is a part of an expression.
type node struct {
	op   string // "path", "value", "filter", "not", "and", "or", or a comparison
	path []string
	val  any
	name string // of a filter
	args []node
}

// maxDepth bounds how deep an expression nests.
const maxDepth = 20

type reader struct {
	tokens []string
	at     int
	depth  int
}

// ParseExpression reads an expression.
func ParseExpression(text string) (*Expression, error) {
	tokens, err := split(text)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("the expression is empty")
	}
	r := &reader{tokens: tokens}
	n, err := r.either()
	if err == nil && r.at < len(tokens) {
		err = fmt.Errorf("%q is not expected in %q", tokens[r.at], text)
	}
	return &Expression{strings.TrimSpace(text), n}, err
}

var operators = []string{"==", "!=", "<=", ">=", "<", ">", "|", "(", ")"}

// split cuts an expression into its words and signs.
func split(text string) ([]string, error) {
	var out []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		if i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(rest, o) }); i >= 0 {
			out, rest = append(out, operators[i]), rest[len(operators[i]):]
			continue
		}
		if q := rest[0]; q == '"' || q == '\'' {
			end := strings.IndexByte(rest[1:], q)
			if end < 0 {
				return nil, fmt.Errorf("a quote is not closed in %q", text)
			}
			out, rest = append(out, `"`+rest[1:end+1]), rest[end+2:]
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'=!<>|()`, r) })
		if end == 0 {
			return nil, fmt.Errorf("%q is not expected in %q", rest[:1], text)
		}
		if end < 0 {
			end = len(rest)
		}
		out, rest = append(out, rest[:end]), rest[end:]
	}
	return out, nil
}

func (r *reader) next() string {
	if r.at >= len(r.tokens) {
		return ""
	}
	return r.tokens[r.at]
}

func (r *reader) take(words ...string) bool {
	if slices.Contains(words, r.next()) && r.at < len(r.tokens) {
		r.at++
		return true
	}
	return false
}

func (r *reader) chain(op string, part func() (node, error)) (node, error) {
	n, err := part()
	for err == nil && r.take(op) {
		var right node
		right, err = part()
		n = node{op: op, args: []node{n, right}}
	}
	return n, err
}

func (r *reader) either() (node, error) {
	if r.depth++; r.depth > maxDepth {
		return node{}, fmt.Errorf("the expression nests too deep")
	}
	defer func() { r.depth-- }()
	return r.chain("or", func() (node, error) { return r.chain("and", r.unary) })
}

func (r *reader) unary() (node, error) {
	if !r.take("not") {
		return r.comparison()
	}
	if r.depth++; r.depth > maxDepth {
		return node{}, fmt.Errorf("the expression nests too deep")
	}
	n, err := r.unary()
	r.depth--
	return node{op: "not", args: []node{n}}, err
}

func (r *reader) comparison() (node, error) {
	left, err := r.filtered()
	if err != nil {
		return node{}, err
	}
	op := r.next()
	if !r.take("==", "!=", "<", "<=", ">", ">=", "contains") {
		return left, nil
	}
	right, err := r.filtered()
	return node{op: op, args: []node{left, right}}, err
}

// filters are how many arguments each takes.
var filters = map[string]int{"length": 0, "first": 0, "last": 0, "lower": 0, "upper": 0, "trim": 0, "json": 0, "join": 1, "default": 1, "pluck": 1}

func (r *reader) filtered() (node, error) {
	n, err := r.operand()
	for err == nil && r.take("|") {
		name := r.next()
		count, ok := filters[name]
		if !ok {
			return node{}, fmt.Errorf("there is no filter %q; use length, first, last, join, pluck, default, lower, upper, trim or json", name)
		}
		r.at++
		args := []node{n}
		for range count {
			var a node
			if a, err = r.operand(); err != nil {
				return node{}, fmt.Errorf("the filter %s needs a value", name)
			}
			args = append(args, a)
		}
		n = node{op: "filter", name: name, args: args}
	}
	return n, err
}

func (r *reader) operand() (node, error) {
	t := r.next()
	r.at++
	switch {
	case t == "":
		return node{}, fmt.Errorf("the expression ends too early")
	case t == "(":
		n, err := r.either()
		if err == nil && !r.take(")") {
			err = fmt.Errorf("a ) is missing")
		}
		return n, err
	case t[0] == '"':
		return node{op: "value", val: t[1:]}, nil
	case t == "true" || t == "false":
		return node{op: "value", val: t == "true"}, nil
	case t == "null":
		return node{op: "value"}, nil
	}
	if f, err := strconv.ParseFloat(t, 64); err == nil {
		return node{op: "value", val: f}, nil
	}
	path := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(t), ".")
	if slices.Contains(path, "") || !isName(path[0]) || slices.Contains(operators, t) || t == "and" || t == "or" {
		return node{}, fmt.Errorf("%q is not a value; put text in quotes", t)
	}
	return node{op: "path", path: path}, nil
}

// paths are all paths in an expression.
func (e *Expression) paths() [][]string {
	var out [][]string
	var walk func(node)
	walk = func(n node) {
		if n.op == "path" {
			out = append(out, n.path)
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.root)
	return out
}

// Eval is the value of an expression.
func (e *Expression) Eval(scope map[string]any) (any, error) { return e.root.eval(scope) }

func (n node) eval(scope map[string]any) (any, error) {
	switch n.op {
	case "value":
		return n.val, nil
	case "path":
		return lookUp(scope, n.path)
	case "filter":
		return n.filter(scope)
	}
	left, err := n.args[0].eval(scope)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "not":
		return !isTrue(left), nil
	case "and":
		if !isTrue(left) {
			return false, nil
		}
	case "or":
		if isTrue(left) {
			return true, nil
		}
	}
	right, err := n.args[1].eval(scope)
	if err != nil {
		return nil, err
	}
	if n.op == "and" || n.op == "or" {
		return isTrue(right), nil
	}
	return compare(n.op, left, right)
}

// isTrue reports whether a value counts as yes: not false, null, 0 or empty.
func isTrue(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func compare(op string, a, b any) (any, error) {
	if op == "contains" {
		return contains(a, b), nil
	}
	if op == "==" || op == "!=" {
		return (Text(a) == Text(b)) == (op == "=="), nil
	}
	x, okX := number(a)
	y, okY := number(b)
	if !okX || !okY { // dates and names compare as text
		s, sOK := a.(string)
		t, tOK := b.(string)
		if !sOK || !tOK {
			return nil, fmt.Errorf("%s and %s cannot be compared with %s", Text(a), Text(b), op)
		}
		x, y = float64(strings.Compare(s, t)), 0
	}
	return map[string]bool{"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op], nil
}

func contains(a, b any) bool {
	if list, ok := a.([]any); ok {
		return slices.ContainsFunc(list, func(e any) bool { return Text(e) == Text(b) })
	}
	return strings.Contains(Text(a), Text(b))
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

func (n node) filter(scope map[string]any) (any, error) {
	v, err := n.args[0].eval(scope)
	if n.name == "default" {
		if err == nil && v != nil && v != "" {
			return v, nil
		}
		return n.args[1].eval(scope)
	}
	if err != nil {
		return nil, err
	}
	list, isList := v.([]any)
	switch n.name {
	case "length":
		if m, ok := v.(map[string]any); ok {
			return float64(len(m)), nil
		}
		if s, ok := v.(string); ok {
			return float64(len([]rune(s))), nil
		}
		return float64(len(list)), nil
	case "lower":
		return strings.ToLower(Text(v)), nil
	case "upper":
		return strings.ToUpper(Text(v)), nil
	case "trim":
		return strings.TrimSpace(Text(v)), nil
	case "json":
		b, err := json.Marshal(v)
		return string(b), err
	}
	if !isList {
		return nil, fmt.Errorf("the filter %s needs a list", n.name)
	}
	return n.filterList(scope, list)
}

func (n node) filterList(scope map[string]any, list []any) (any, error) {
	switch {
	case n.name == "first" && len(list) > 0:
		return list[0], nil
	case n.name == "last" && len(list) > 0:
		return list[len(list)-1], nil
	case n.name == "first" || n.name == "last":
		return nil, nil
	}
	arg, err := n.args[1].eval(scope)
	if err != nil {
		return nil, err
	}
	if n.name == "pluck" {
		out := []any{}
		for _, e := range list {
			m, _ := e.(map[string]any)
			out = append(out, m[Text(arg)])
		}
		return out, nil
	}
	var texts []string
	for _, e := range list {
		texts = append(texts, Text(e))
	}
	return strings.Join(texts, Text(arg)), nil
}

// lookUp follows a path. A name that is not there is an error that tells which are.
func lookUp(scope map[string]any, path []string) (any, error) {
	var at any = scope
	for i, name := range path {
		here := strings.Join(path[:i], ".")
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[name]
			if !ok {
				return nil, fmt.Errorf("%s has no field %q; it has %s", here, name, strings.Join(keys(v), ", "))
			}
			at = next
		case []any:
			k, err := strconv.Atoi(name)
			if err != nil || k < 0 || k >= len(v) {
				return nil, fmt.Errorf("%s has %d items; there is no item %s", here, len(v), name)
			}
			at = v[k]
		default:
			return nil, fmt.Errorf("%s has no fields, so there is no %q", here, name)
		}
	}
	return at, nil
}

func keys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	if len(out) > 20 {
		out = append(out[:20], "…")
	}
	return out
}

// Text is a value as it stands in a text.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool, int, json.Number:
		return fmt.Sprint(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
