package textcall

import (
	"errors"
	"slices"
	"strings"

	"lore/internal/llm/textcall/lenient"
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

	before   string // the last words
	called   bool   // nothing was said since a call
	invented bool   // the model goes on with what others say
	tried    bool   // what was said last begins like a call, and cannot be read
	unknown  string // the name that it says, when no tool has it
}

// next is the next element; lenient.ErrMore when that cannot be said yet. What it says
// of a text is what it says of any longer one.
func (c *scanner) next(s string, last bool) (element, error) {
	inside, skipping, tried := c.think, c.until != nil, c.tried
	c.tried = false
	e, err := c.look(s, last)
	if err != nil {
		c.tried = tried
		return e, err
	}
	text := s[:e.n]
	blank := strings.TrimSpace(text) == ""
	c.tried = c.tried || tried && (skipping || blank || e.what == marks)
	if e.calls != nil && isAbout(c.before) {
		e = element{n: e.n}
	}
	switch {
	case e.calls != nil || e.what == thought:
		c.before, c.called = "", e.calls != nil
	case e.what == words:
		c.before += text
		c.before = c.before[max(0, len(c.before)-longestBefore):]
		c.called = c.called && blank
	}
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

const longestBefore = 160

// hypothetical are words before a call that is only spoken of.
var hypothetical = []string{
	"would look", "looks like this", "look like this", "would be", "for example", "as an example", "an example", "e.g.", "for instance", "something like", "such as",
	"the format", "the syntax", "you could", "you can ", "you would", "one would", "one could",
}

// isAbout reports whether the sentence that is not finished yet speaks of calls.
func isAbout(before string) bool {
	before = strings.ToLower(strings.TrimSpace(before))
	if before == "" || strings.IndexByte(".!?", before[len(before)-1]) >= 0 {
		return false
	}
	for _, end := range []string{". ", "! ", "? ", ".\n", "!\n", "?\n"} {
		if k := strings.LastIndex(before, end); k >= 0 && !strings.HasSuffix(before[:k+1], "e.g.") {
			before = before[k+1:]
		}
	}
	return slices.ContainsFunc(hypothetical, func(w string) bool { return strings.Contains(before, w) })
}

// isQuoted reports whether a quotation mark was just opened.
func (c *scanner) isQuoted() bool {
	return c.prev == '"' || c.prev == '\'' || slices.ContainsFunc([]string{"“", "„", "«", "‘", "‚"}, func(q string) bool { return strings.HasSuffix(c.before, q) })
}

// inventions are how others begin to speak. A model that writes them after a call
// invents the rest.
var inventions = []string{"Observation:", "✿RESULT✿", "✿RETURN✿", "### Instruction", "### Response", "### User", "User:", "Human:", "<|im_start|>user"}

func (c *scanner) look(s string, last bool) (element, error) {
	switch {
	case c.invented:
		return element{n: len(s), what: marks}, nil
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
	if c.line && c.called {
		w, err := c.reader(s, last).At(inventions...)
		if err != nil {
			return element{}, err
		}
		if c.invented = w != ""; c.invented {
			return element{n: len(s), what: marks}, nil
		}
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
			return element{}, lenient.ErrMore
		}
		c.code = run
		return element{n: run}, nil
	case '<', '[', ']':
		return c.tag(s, last)
	}
	return c.plain(s, last)
}

const functools = "functools["

// plain is text up to what may be more.
func (c *scanner) plain(s string, last bool) (element, error) {
	if strings.HasPrefix(s, functools) && !c.isQuoted() {
		r := c.reader(s, last)
		r.I = len(functools) - 1
		got, err := r.objects(true)
		if errors.Is(err, lenient.ErrNo) {
			return element{n: max(r.I, len(functools))}, nil
		}
		return element{r.I, closing, got}, err
	}
	n := len(s)
	if k := strings.IndexAny(s[1:], "<[]`\n"); k >= 0 {
		n = k + 1
		if word, is := strings.CutSuffix(s[:n+1], functools); is && word != "" {
			n = len(word)
		}
	}
	if n == len(s) && !last {
		if n -= partOf(s, functools); n == 0 {
			return element{}, lenient.ErrMore
		}
	}
	return element{n: n}, nil
}

// partOf is how much of the end of a text may be the beginning of one of these words.
func partOf(s string, words ...string) int {
	most := 0
	for _, w := range words {
		for n := min(len(w)-1, len(s)); n > most; n-- {
			if strings.HasSuffix(s, w[:n]) {
				most = n
			}
		}
	}
	return most
}

// inUntil skips to the end of what is no call.
func (c *scanner) inUntil(s string, last bool) (element, error) {
	r := lenient.Reader{S: s, Last: true}
	if _, _, err := r.Until(c.until...); err == nil {
		c.until, c.think = nil, false
		return element{n: r.I}, nil
	}
	keep := 0
	if !last {
		keep = partOf(s, c.until...)
	}
	if keep == len(s) {
		return element{}, lenient.ErrMore
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
			return element{}, lenient.ErrMore
		}
		if run >= 3 {
			return c.openFence(s, run, last)
		}
	case b == '{' || b == '[':
		return c.bare(s, last)
	}
	if e, err := c.started(s, last); err != nil || e.n > 0 || !c.fresh || !lenient.IsName(s[0]) {
		return e, err
	}
	return c.bareName(s, last)
}

// started are calls that begin with words.
func (c *scanner) started(s string, last bool) (element, error) {
	r := c.reader(s, last)
	for _, f := range starts {
		w, err := r.At(f.open)
		if err != nil {
			return element{}, err
		}
		if w == "" {
			continue
		}
		r.I = len(w)
		got, err := f.read(r)
		if errors.Is(err, errUnknown) {
			c.fails(r)
			return element{n: r.I}, nil
		}
		if errors.Is(err, lenient.ErrNo) {
			return element{n: len(w)}, nil
		}
		return element{r.I, closing, got}, err
	}
	return element{}, nil
}

// fails keeps that something begins like a call.
func (c *scanner) fails(r *reader) { c.tried, c.unknown = true, r.unknown }

// functionary reads >>>name and the arguments in the next line.
func (c *scanner) functionary(s string, last bool) (element, error) {
	r := c.reader(s, last)
	w, err := r.At(">>>")
	if err != nil || w == "" {
		return element{}, err
	}
	r.I = len(w)
	got, err := r.named()
	if errors.Is(err, lenient.ErrNo) {
		return element{}, nil
	}
	return element{r.I, closing, got}, err
}

func (c *scanner) reader(s string, last bool) *reader {
	return &reader{Reader: lenient.Reader{S: s, Last: last}, tools: c.tools}
}

// bare are calls without any word that says so: JSON, or as in Python.
func (c *scanner) bare(s string, last bool) (element, error) {
	r := c.reader(s, last)
	if f, err := r.formAt(forms); err != nil || f != nil {
		return element{}, err
	}
	if w, err := r.At(thinkWords...); err != nil || w != "" {
		return element{}, err
	}
	read := func() ([]Call, error) { return r.objects(true) }
	if s[0] == '[' {
		r.I = 1
		if !r.Space() {
			return element{}, unless(last)
		}
		if lenient.IsName(s[r.I]) {
			read = r.pythons
		}
		r.I = 0
	}
	got, err := read()
	for err == nil {
		end := r.I
		var more bool
		if more, err = r.Skip(";", ","); err != nil || !more {
			break
		}
		var next []Call
		if !r.Space() {
			err = unless(last)
		} else if r.S[r.I] == '{' || r.S[r.I] == '[' {
			next, err = read()
		}
		if next == nil && !errors.Is(err, lenient.ErrMore) {
			r.I, err = end, nil
			break
		}
		got = append(got, next...)
	}
	switch {
	case errors.Is(err, lenient.ErrMore):
		return element{}, err
	case err == nil:
		return element{r.I, closing, got}, nil
	case r.I <= 1:
		return element{}, nil
	}
	if errors.Is(err, errUnknown) && c.fresh {
		c.fails(r)
	}
	return element{n: r.I}, nil
}

func unless(last bool) error {
	if last {
		return nil
	}
	return lenient.ErrMore
}

// bareName is an answer that begins with the name of a tool.
func (c *scanner) bareName(s string, last bool) (element, error) {
	r := c.reader(s, last)
	if w, err := r.At(functools, "to=functions."); err != nil {
		return element{}, err
	} else if w == functools {
		return c.plain(s, last)
	} else if w != "" {
		return c.harmony(s, last)
	}
	name := r.toolName()
	if r.I == len(s) && !last && len(s) < 200 {
		return element{}, lenient.ErrMore
	}
	if _, ok := c.tools.name(name); !ok || r.I == len(s) {
		return element{n: r.I}, nil
	}
	var got []Call
	var err error
	if after := s[r.I]; after == '(' {
		r.I = 0
		got, err = r.pythonRun()
	} else if after == '\n' || after == '{' {
		r.I = 0
		got, err = r.named()
	} else {
		err = lenient.ErrNo
	}
	if errors.Is(err, lenient.ErrNo) {
		return element{n: len(name)}, nil
	}
	return element{r.I, closing, got}, err
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
	if w, _ := (&lenient.Reader{S: s, Last: true}).At(headers...); w != "" {
		return c.harmony(s, last)
	}
	f, err := r.formAt(forms)
	if err != nil {
		return element{}, err
	}
	if f != nil {
		return c.form(f, r)
	}
	if w, err := r.At(tokens...); err != nil {
		return element{}, err
	} else if w != "" {
		return element{n: len(w), what: marks}, nil
	}
	if _, err := r.At(headers...); err != nil {
		return element{}, err
	}
	if _, err := r.At(thinkWords...); err != nil {
		return element{}, err
	}
	return element{n: 1}, nil
}

// form reads calls that say that they are some. What is no call after all is
// skipped to its end: it may hold words that look like another.
func (c *scanner) form(f *form, r *reader) (element, error) {
	r.I = len(f.open)
	begun := r.I
	if c.isQuoted() {
		c.until = f.closers
		return element{n: begun}, nil
	}
	got, err := f.read(r)
	if err == nil {
		return element{r.I, calls, got}, nil
	}
	if errors.Is(err, lenient.ErrMore) {
		return element{}, err
	}
	if strings.TrimSpace(r.S[begun:min(r.I, len(r.S))]) != "" {
		if c.until = f.closers; c.until == nil {
			c.until = []string{"\n\n"}
		}
		begun = min(r.I, len(r.S))
	}
	c.fails(r)
	return element{n: begun}, nil
}

// harmony is the header of a message: a thought, a call, or nothing special.
func (c *scanner) harmony(s string, last bool) (element, error) {
	const body, longest = "<|message|>", 300
	k := strings.Index(s[:min(len(s), longest)], body)
	if k < 0 {
		if len(s) < longest && !last {
			return element{}, lenient.ErrMore
		}
		return element{n: 1}, nil
	}
	head := s[:k]
	k += len(body)
	if _, to, ok := strings.Cut(head, "to="); ok {
		r := c.reader(s, last)
		name := (&reader{Reader: lenient.Reader{S: to}}).toolName()
		if _, known := c.tools.name(name); known {
			r.I = k
			v, err := r.arguments()
			if errors.Is(err, lenient.ErrMore) {
				return element{}, err
			}
			if err == nil {
				got, err := r.single(name, v)
				return element{r.I, calls, got}, err
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
