package textcall

import (
	"errors"
	"strings"
)

// A what says what an element of an answer is.
type what int

const (
	words   what = iota // text
	marks               // tokens of a template: they say nothing
	calls               // calls, wherever they stand
	closing             // calls, if nothing is said after them
	thought             // the end of a thought whose beginning was in the prompt
)

// An element is a piece of an answer, from the beginning of what is left.
type element struct {
	n     int
	what  what
	calls []Call
}

// A scanner knows where in an answer it is: code, quotes and thoughts are never
// calls.
type scanner struct {
	tools offer
	fresh bool     // nothing was said yet
	line  bool     // nothing but space in this line
	quote bool     // in a line that begins with >
	code  int      // in a code span of so many backticks
	fence string   // in a code fence that is closed by this
	until []string // in something that ends with one of these
	think bool     // and that is a thought
	prev  byte     // the last byte
}

// next is the next element; errMore when that cannot be said yet. What it says
// of a text is what it says of any longer one.
func (c *scanner) next(s string, last bool) (element, error) {
	inside := c.think
	e, err := c.look(s, last)
	if err != nil {
		return e, err
	}
	text := s[:e.n]
	if k := strings.LastIndexByte(text, '\n'); k >= 0 {
		c.line = true
		text = text[k+1:]
	}
	if strings.Trim(text, " \t\r") != "" {
		c.line = false
	}
	inside = inside || c.think
	switch {
	case e.what == thought:
		c.fresh, c.line = true, true
	case e.what != words || inside:
		c.line = true
	case strings.TrimSpace(s[:e.n]) != "":
		c.fresh = false
	}
	c.prev = s[e.n-1]
	return e, nil
}

func (c *scanner) look(s string, last bool) (element, error) {
	switch {
	case c.until != nil:
		return c.inUntil(s, last)
	case c.fence != "":
		return c.inFence(s, last)
	case c.quote:
		if k := strings.IndexByte(s, '\n'); k >= 0 {
			c.quote = false
			return element{n: k + 1}, nil
		}
		return element{n: len(s)}, nil
	case c.code > 0:
		return c.inCode(s, last)
	}
	if n := len(s) - len(strings.TrimLeft(s, " \t\r\n")); n > 0 {
		return element{n: n}, nil
	}
	if c.line {
		if e, err := c.lineStart(s, last); err != nil || e.n > 0 {
			return e, err
		}
	}
	switch s[0] {
	case '`':
		run := runOf(s)
		if run == len(s) && !last {
			return element{}, errMore
		}
		c.code = run
		return element{n: run}, nil
	case '<', '[', ']':
		return c.tag(s, last)
	}
	if k := strings.IndexAny(s[1:], "<[]`\n"); k >= 0 {
		return element{n: k + 1}, nil
	}
	return element{n: len(s)}, nil
}

// inUntil skips to the end of what is no call.
func (c *scanner) inUntil(s string, last bool) (element, error) {
	r := reader{s: s, last: true}
	if _, _, err := r.until(c.until...); err == nil {
		c.until, c.think = nil, false
		return element{n: r.i}, nil
	}
	keep := 0
	for _, w := range c.until {
		for n := min(len(w)-1, len(s)); n > keep && !last; n-- {
			if strings.HasSuffix(s, w[:n]) {
				keep = n
			}
		}
	}
	if keep == len(s) {
		return element{}, errMore
	}
	return element{n: len(s) - keep}, nil
}

// lineStart looks for what counts only at the beginning of a line. An element
// of no length: there is nothing of the kind.
func (c *scanner) lineStart(s string, last bool) (element, error) {
	switch b := s[0]; {
	case b == '>':
		if e, err := c.functionary(s, last); err != nil || e.n > 0 {
			return e, err
		}
		c.quote = true
		return element{n: 1}, nil
	case b == '`' || b == '~':
		run := runOf(s)
		if run == len(s) && !last {
			return element{}, errMore
		}
		if run >= 3 {
			return c.openFence(s, run, last)
		}
	case b == '{' || b == '[':
		return c.bare(s, last)
	case c.fresh && isName(b):
		return c.bareName(s, last)
	}
	return element{}, nil
}

// functionary reads >>>name and the arguments in the next line.
func (c *scanner) functionary(s string, last bool) (element, error) {
	r := c.reader(s, last)
	w, err := r.at(">>>")
	if err != nil || w == "" {
		return element{}, err
	}
	r.i = len(w)
	got, err := r.named()
	if errors.Is(err, errNo) {
		return element{}, nil
	}
	return element{r.i, closing, got}, err
}

func (c *scanner) reader(s string, last bool) *reader {
	return &reader{s: s, last: last, tools: c.tools}
}

// bare are calls without any word that says so: JSON, or as in Python.
func (c *scanner) bare(s string, last bool) (element, error) {
	r := c.reader(s, last)
	if f, err := r.formAt(forms); err != nil || f != nil {
		return element{}, err
	}
	if w, err := r.at(thinkWords...); err != nil || w != "" {
		return element{}, err
	}
	read := func() ([]Call, error) { return r.objects(true) }
	if s[0] == '[' {
		r.i = 1
		if !r.space() {
			return element{}, unless(last)
		}
		if isName(s[r.i]) {
			read = r.pythons
		}
		r.i = 0
	}
	got, err := read()
	for err == nil {
		end := r.i
		var more bool
		if more, err = r.skip(";", ","); err != nil || !more {
			break
		}
		var next []Call
		if !r.space() {
			err = unless(last)
		} else if r.s[r.i] == '{' || r.s[r.i] == '[' {
			next, err = read()
		}
		if next == nil && !errors.Is(err, errMore) {
			r.i, err = end, nil
			break
		}
		got = append(got, next...)
	}
	switch {
	case errors.Is(err, errMore):
		return element{}, err
	case err == nil:
		return element{r.i, closing, got}, nil
	case r.i <= 1:
		return element{}, nil
	}
	return element{n: r.i}, nil
}

func unless(last bool) error {
	if last {
		return nil
	}
	return errMore
}

// bareName is an answer that begins with the name of a tool.
func (c *scanner) bareName(s string, last bool) (element, error) {
	r := c.reader(s, last)
	if w, err := r.at("functools[", "to=functions."); err != nil {
		return element{}, err
	} else if w == "functools[" {
		r.i = len(w) - 1
		got, err := r.objects(true)
		if errors.Is(err, errNo) {
			return element{n: r.i}, nil
		}
		return element{r.i, calls, got}, err
	} else if w != "" {
		return c.harmony(s, last)
	}
	name := r.toolName()
	if r.i == len(s) && !last && len(s) < 200 {
		return element{}, errMore
	}
	if _, ok := c.tools.name(name); !ok || r.i == len(s) {
		return element{n: r.i}, nil
	}
	var got []Call
	var err error
	if after := s[r.i]; after == '(' {
		r.i = 0
		got, err = r.pythonRun()
	} else if after == '\n' || after == '{' {
		r.i = 0
		got, err = r.named()
	} else {
		err = errNo
	}
	if errors.Is(err, errNo) {
		return element{n: len(name)}, nil
	}
	return element{r.i, closing, got}, err
}

// Thoughts: how they begin and how they end.
var thinking = []struct{ open, close string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<mm:think>", "</mm:think>"},
	{"<seed:think>", "</seed:think>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"[THINK]", "[/THINK]"},
	{"<|open|>think<|sep|>", "<|close|>think<|sep|>"},
	{"<|channel>thought", "<channel|>"},
}

// quotations are what a model shows: comments, and results that it made up.
var quotations = []struct{ open, close string }{
	{"<!--", "-->"},
	{"<tool_response", "</tool_response>"},
}

// tokens of templates, and closing words that stand alone.
var tokens = []string{
	"<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|call|>", "<|return|>", "<|endoftext|>",
	"<|start_header_id|>", "<|end_header_id|>", "<s>", "</s>", "</tool_call>", "</tool_calls>", "</function>", "</function_calls>",
	"<|tool_call_end|>", "<|tool_calls_section_end|>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>",
	"<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<turn|>",
}

// headers begin the messages of harmony.
var headers = []string{"<|channel|>", "<|start|>"}

var thinkWords = func() (out []string) {
	for _, t := range thinking {
		out = append(out, t.open, t.close)
	}
	for _, q := range quotations {
		out = append(out, q.open)
	}
	return out
}()

// tag is what begins with a bracket: thoughts, tokens, calls, or just text.
func (c *scanner) tag(s string, last bool) (element, error) {
	r := c.reader(s, last)
	for _, t := range thinking {
		if strings.HasPrefix(s, t.open) {
			c.until, c.think = []string{t.close}, true
			return element{n: len(t.open)}, nil
		}
		if strings.HasPrefix(s, t.close) {
			return element{n: len(t.close), what: thought}, nil
		}
	}
	for _, q := range quotations {
		if strings.HasPrefix(s, q.open) {
			c.until = []string{q.close}
			return element{n: len(q.open)}, nil
		}
	}
	if w, _ := (&reader{s: s, last: true}).at(headers...); w != "" {
		return c.harmony(s, last)
	}
	f, err := r.formAt(forms)
	if err != nil {
		return element{}, err
	}
	if f != nil {
		return c.form(f, r)
	}
	if w, err := r.at(tokens...); err != nil {
		return element{}, err
	} else if w != "" {
		return element{n: len(w), what: marks}, nil
	}
	if _, err := r.at(headers...); err != nil {
		return element{}, err
	}
	if _, err := r.at(thinkWords...); err != nil {
		return element{}, err
	}
	return element{n: 1}, nil
}

// form reads calls that say that they are some. What is no call after all is
// skipped to its end: it may hold words that look like another.
func (c *scanner) form(f *form, r *reader) (element, error) {
	r.i = len(f.open)
	begun := r.i
	if c.prev == '"' || c.prev == '\'' {
		c.until = f.closers
		return element{n: begun}, nil
	}
	got, err := f.read(r)
	if err == nil {
		return element{r.i, calls, got}, nil
	}
	if errors.Is(err, errMore) {
		return element{}, err
	}
	if strings.TrimSpace(r.s[begun:min(r.i, len(r.s))]) != "" {
		if c.until = f.closers; c.until == nil {
			c.until = []string{"\n\n"}
		}
		begun = min(r.i, len(r.s))
	}
	return element{n: begun}, nil
}

// harmony is the header of a message: a thought, a call, or nothing special.
func (c *scanner) harmony(s string, last bool) (element, error) {
	const body, longest = "<|message|>", 300
	k := strings.Index(s[:min(len(s), longest)], body)
	if k < 0 {
		if len(s) < longest && !last {
			return element{}, errMore
		}
		return element{n: 1}, nil
	}
	head := s[:k]
	k += len(body)
	if _, to, ok := strings.Cut(head, "to="); ok {
		r := c.reader(s, last)
		name := (&reader{s: to}).toolName()
		if _, known := c.tools.name(name); known {
			r.i = k
			v, err := r.arguments()
			if errors.Is(err, errMore) {
				return element{}, err
			}
			if err == nil {
				got, err := r.single(name, v)
				return element{r.i, calls, got}, err
			}
		}
		if !strings.HasPrefix(to, "assistant") {
			c.until = []string{"<|end|>", "<|call|>", "<|start|>"}
			return element{n: k}, nil
		}
	}
	if strings.Contains(head, "analysis") {
		c.until, c.think = []string{"<|end|>", "<|call|>"}, true
		return element{n: k}, nil
	}
	return element{n: k, what: marks}, nil
}
