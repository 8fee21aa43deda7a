package textcall

// Code in an answer: what it shows is no call, unless a fence holds nothing else.

import (
	"errors"
	"slices"
	"strings"

	"lore/internal/llm/textcall/lenient"
)

// callFences are what a fence may say of itself when it holds calls: a note that
// is shown stands in others.
var callFences = []string{"", "json", "python", "py", "xml", "tool_call", "tool_calls", "tool_code", "tool", "tools", "function", "function_call"}

// openFence is a code fence: calls if there is nothing else in it, else code.
func (c *scanner) openFence(s string, run int, last bool) (element, error) {
	info := strings.IndexByte(s, '\n')
	if info < 0 && len(s) < 80 && !last {
		return element{}, lenient.ErrMore
	}
	if info >= 0 && slices.Contains(callFences, strings.TrimSpace(s[run:info])) {
		r := c.reader(s, last)
		r.I = info
		got, err := r.item()
		if err == nil {
			end := r.I
			if err = r.Must(s[:run]); errors.Is(err, lenient.ErrNo) && last && strings.TrimSpace(s[end:]) == "" {
				err = nil // the fence was not closed, the calls are complete
			}
		}
		if err == nil {
			return element{r.I, closing, got}, nil
		}
		if errors.Is(err, lenient.ErrMore) {
			return element{}, err
		}
	}
	c.fence = s[:run]
	if info < 0 {
		info = len(s)
	}
	return element{n: info}, nil
}

func (c *scanner) inFence(s string, last bool) (element, error) {
	if c.line {
		body := strings.TrimLeft(s, " \t\r\n")
		if n := len(s) - len(body); n > 0 {
			return element{n: n}, nil
		}
		run := runOf(s)
		if run == len(s) && s[0] == c.fence[0] && !last {
			return element{}, lenient.ErrMore
		}
		if strings.HasPrefix(s, c.fence) {
			c.fence = ""
			return element{n: run}, nil
		}
	}
	if k := strings.IndexByte(s, '\n'); k >= 0 {
		return element{n: k + 1}, nil
	}
	return element{n: len(s)}, nil
}

// inCode skips to the end of a code span: as many backticks, or an empty line.
func (c *scanner) inCode(s string, last bool) (element, error) {
	k := strings.IndexAny(s, "`\n")
	switch {
	case k < 0:
		return element{n: len(s)}, nil
	case k > 0:
		return element{n: k}, nil
	}
	if s[0] == '`' {
		run := runOf(s)
		if run == len(s) && !last {
			return element{}, lenient.ErrMore
		}
		if run == c.code {
			c.code = 0
		}
		return element{n: run}, nil
	}
	rest := strings.TrimLeft(s[1:], " \t\r")
	if rest == "" && !last {
		return element{}, lenient.ErrMore
	}
	if strings.HasPrefix(rest, "\n") {
		c.code = 0
	}
	return element{n: 1}, nil
}

func runOf(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}
