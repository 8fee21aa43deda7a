package dataview

import (
	"slices"
	"strconv"
	"strings"
)

// An expr is one node of an expression.
type expr struct {
	op   string  // "value", "name", ".", "[]", "call", "not", "neg", or a binary operator
	name string  // of a name, a field or a function
	args []*expr // operands, or arguments of a call
	lit  Value
	at   int
	src  string
}

// maxDepth is how deep expressions may be nested.
const maxDepth = 100

type parser struct {
	src   string
	toks  []token
	pos   int
	depth int
}

func newParser(src string) (*parser, error) {
	toks, err := scan(src)
	return &parser{src: src, toks: toks}, err
}

// parseExpr reads a text that is one expression.
func parseExpr(src string) (*expr, error) {
	p, err := newParser(src)
	if err != nil {
		return nil, err
	}
	e, err := p.expr()
	if err == nil && p.peek().kind != tokEnd {
		err = p.fail("remove it, or join it with and or or", "the expression ends before this")
	}
	return e, err
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// sign takes one of the signs, if it follows.
func (p *parser) sign(signs ...string) (string, bool) {
	if t := p.peek(); t.kind == tokSign && slices.Contains(signs, t.text) {
		p.pos++
		return t.text, true
	}
	return "", false
}

// word takes one of the words, in any case, if it follows.
func (p *parser) word(words ...string) (string, bool) {
	if t := p.peek(); t.kind == tokWord && slices.Contains(words, strings.ToLower(t.text)) {
		p.pos++
		return strings.ToLower(t.text), true
	}
	return "", false
}

func (p *parser) fail(fix, format string, args ...any) error {
	return errorAt(p.src, p.peek().at, fix, format, args...)
}

func (p *parser) node(op string, at int, args ...*expr) *expr {
	return &expr{op: op, args: args, at: at, src: p.src}
}

// levels are the binary operators, weakest first.
var levels = [][]string{{"or", "||"}, {"and", "&&"}, {"=", "==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) expr() (*expr, error) { return p.binary(0) }

func (p *parser) binary(level int) (*expr, error) {
	if level == len(levels) {
		return p.unary()
	}
	if p.depth++; p.depth > maxDepth*len(levels) {
		return nil, p.fail("simplify it", "the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	left, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		at := p.peek().at
		op, ok := p.sign(levels[level]...)
		if !ok {
			op, ok = p.word(levels[level]...)
		}
		if !ok {
			return left, nil
		}
		if n > maxDepth*10 {
			return nil, p.fail("simplify it", "the expression is too long")
		}
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		switch op {
		case "||":
			op = "or"
		case "&&":
			op = "and"
		case "==":
			op = "="
		}
		left = p.node(op, at, left, right)
	}
}

func (p *parser) unary() (*expr, error) {
	at := p.peek().at
	op := ""
	if _, ok := p.sign("!"); ok {
		op = "not"
	} else if _, ok := p.word("not"); ok {
		op = "not"
	} else if _, ok := p.sign("-"); ok {
		op = "neg"
	}
	if op == "" {
		return p.postfix()
	}
	if p.depth++; p.depth > maxDepth*len(levels) {
		return nil, p.fail("simplify it", "the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	e, err := p.unary()
	return p.node(op, at, e), err
}

// postfix reads fields, indexes and calls behind a value.
func (p *parser) postfix() (*expr, error) {
	e, err := p.primary()
	for n := 0; err == nil; n++ {
		t := p.peek()
		if n > maxDepth {
			return nil, p.fail("simplify it", "the expression is nested too deeply")
		}
		if _, ok := p.sign("."); ok {
			name := p.next()
			if name.kind != tokWord {
				p.pos--
				return nil, p.fail("name a field", "a field is missing after the dot")
			}
			e = p.node(".", t.at, e)
			e.name = name.text
			if q := p.peek(); q.kind == tokSign && q.text == "(" { // a method is a function of what it stands behind
				e, err = p.call(e.name, name.at, e.args[0])
			}
			continue
		}
		if _, ok := p.sign("["); ok {
			i, err := p.expr()
			if err != nil {
				return nil, err
			}
			if _, ok := p.sign("]"); !ok {
				return nil, p.fail("close it with ]", "the bracket is not closed")
			}
			e = p.node("[]", t.at, e, i)
			continue
		}
		return e, nil
	}
	return nil, err
}

func (p *parser) primary() (*expr, error) {
	t := p.peek()
	value := func(v Value) (*expr, error) {
		p.pos++
		e := p.node("value", t.at)
		e.lit = v
		return e, nil
	}
	switch t.kind {
	case tokNumber:
		n, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, p.fail("write a smaller number", "%s is not a number", t.text)
		}
		return value(n)
	case tokText:
		return value(t.text)
	case tokTag:
		return value(t.text)
	case tokLink:
		return value(linkOf(t.text))
	case tokWord:
		switch strings.ToLower(t.text) {
		case "true", "false":
			return value(strings.EqualFold(t.text, "true"))
		case "null":
			return value(nil)
		}
		p.pos++
		if q := p.peek(); q.kind == tokSign && q.text == "(" {
			return p.call(t.text, t.at)
		}
		e := p.node("name", t.at)
		e.name = t.text
		return e, nil
	case tokEnd:
		return nil, p.fail("complete it", "a value is missing at the end")
	}
	if _, ok := p.sign("("); ok {
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		if _, ok := p.sign(")"); !ok {
			return nil, p.fail("close it with )", "the parenthesis is not closed")
		}
		return e, nil
	}
	if _, ok := p.sign("["); ok {
		e, err := p.list("]")
		return p.node("list", t.at, e...), err
	}
	return nil, p.fail("write a field, a value or a function", "a value is expected here")
}

// list reads expressions up to a closing sign.
func (p *parser) list(end string) ([]*expr, error) {
	var out []*expr
	for {
		if _, ok := p.sign(end); ok && len(out) == 0 {
			return out, nil
		}
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		if _, ok := p.sign(","); ok {
			continue
		}
		if t := p.peek(); t.text == "=>" {
			return nil, p.fail("use a function that needs none, such as contains or any list field", "functions of functions (=>) are not supported")
		}
		if _, ok := p.sign(end); !ok {
			return nil, p.fail("close it with "+end, "%s is missing", end)
		}
		return out, nil
	}
}

// call reads the arguments of a function; the name was read already. What
// date(…) and dur(…) hold may be words of their own.
func (p *parser) call(name string, at int, self ...*expr) (*expr, error) {
	lower := strings.ToLower(name)
	if len(self) == 0 && (lower == "date" || lower == "dur") {
		if e, ok := p.literal(lower, at); ok {
			return e, nil
		}
	}
	f, ok := functions[lower]
	if !ok {
		return nil, errorAt(p.src, at, nearFunction(lower), "the function %s is not supported", name)
	}
	p.pos++ // the parenthesis
	args, err := p.list(")")
	if err != nil {
		return nil, err
	}
	args = append(self, args...)
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return nil, errorAt(p.src, at, "write it as "+f.usage, "%s has %d arguments", name, len(args))
	}
	e := p.node("call", at, args...)
	e.name = lower
	return e, nil
}

// literal reads date(today), date(2026-01-31) and dur(3 days).
func (p *parser) literal(name string, at int) (*expr, bool) {
	open := p.peek().at
	end := strings.IndexByte(p.src[open:], ')')
	if end < 0 {
		return nil, false
	}
	text := strings.TrimSpace(p.src[open+1 : open+end])
	e := p.node("value", at)
	if name == "dur" {
		d, ok := parseDuration(text)
		if !ok {
			return nil, false
		}
		e.lit = d
	} else if slices.Contains(dayWords, strings.ToLower(text)) {
		e.op, e.name = "day", strings.ToLower(text)
	} else if t, ok := parseDate(text); ok {
		e.lit = t
	} else {
		return nil, false
	}
	for p.peek().kind != tokEnd && p.peek().at <= open+end {
		p.pos++
	}
	return e, true
}
