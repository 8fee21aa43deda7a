package change

import (
	"fmt"
	"strings"
)

// An Op says what happened to a line.
type Op string

// What can happen to a line.
const (
	Keep   Op = "keep"
	Remove Op = "remove"
	Add    Op = "add"
)

// A Line is one line of a [Hunk]. Its text keeps the line end it has in the
// file, so a change of line ends is a change that can be seen.
type Line struct {
	Op   Op     `json:"op"`
	Text string `json:"text"`
	// Before and After are the line's numbers, counted from 1; 0 on the side
	// where the line does not stand.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
	// Marks are the byte ranges of Text that changed, for a line that replaces
	// a similar one. Empty means the whole line.
	Marks []Mark `json:"marks,omitempty"`
}

// A Mark is a half-open range of bytes in the text of a line.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// A Hunk is a run of changed lines with the lines around them.
type Hunk struct {
	// BeforeLine and AfterLine are the numbers of the first line on each side,
	// counted from 1; for an empty side, the number of the line above it.
	BeforeLine  int    `json:"before_line"`
	BeforeCount int    `json:"before_count"`
	AfterLine   int    `json:"after_line"`
	AfterCount  int    `json:"after_count"`
	Lines       []Line `json:"lines"`
}

// DiffOptions says how a difference is shown. The zero value is what a person
// wants to read: three lines of context, changed words marked.
type DiffOptions struct {
	Context int  // lines around a change; 0 means 3, negative means none
	NoMarks bool // leave out the marks inside lines
}

// Diff compares two texts line by line. The result is exact: [Apply] makes
// after from before. It is not always the shortest one: parts that differ very
// much are shown as replaced whole, which keeps the cost nearly linear.
func Diff(before, after string, opt DiffOptions) []Hunk {
	if before == after {
		return nil
	}
	a, b := splitLines(before), splitLines(after)
	context := opt.Context
	switch {
	case context == 0:
		context = 3
	case context < 0:
		context = 0
	}
	all := regions(number(a, b))
	var out []Hunk
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].a0-all[n-1].a1 <= 2*context {
			n++
		}
		out = append(out, hunk(a, b, all[:n], context, !opt.NoMarks))
		all = all[n:]
	}
	return out
}

// hunk draws one group of regions with the lines around them.
func hunk(a, b []string, group []region, context int, marks bool) Hunk {
	first, last := group[0], group[len(group)-1]
	lead := min(context, first.a0)
	tail := min(context, len(a)-last.a1)
	x, y := first.a0-lead, first.b0-lead
	h := Hunk{
		BeforeLine: x + 1, BeforeCount: last.a1 + tail - x,
		AfterLine: y + 1, AfterCount: last.b1 + tail - y,
	}
	if h.BeforeCount == 0 {
		h.BeforeLine--
	}
	if h.AfterCount == 0 {
		h.AfterLine--
	}
	keep := func(until int) {
		for ; x < until; x, y = x+1, y+1 {
			h.Lines = append(h.Lines, Line{Op: Keep, Text: a[x], Before: x + 1, After: y + 1})
		}
	}
	for _, r := range group {
		keep(r.a0)
		at := len(h.Lines)
		for ; x < r.a1; x++ {
			h.Lines = append(h.Lines, Line{Op: Remove, Text: a[x], Before: x + 1})
		}
		for ; y < r.b1; y++ {
			h.Lines = append(h.Lines, Line{Op: Add, Text: b[y], After: y + 1})
		}
		if marks {
			markPairs(h.Lines[at:at+r.a1-r.a0], h.Lines[at+r.a1-r.a0:])
		}
	}
	keep(last.a1 + tail)
	return h
}

// Count adds up the lines that hunks add and remove.
func Count(hunks []Hunk) (added, removed int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case Add:
				added++
			case Remove:
				removed++
			}
		}
	}
	return added, removed
}

// Apply makes the text after from the text before. Every line that a hunk
// keeps or removes must stand where the hunk says, byte for byte.
func Apply(before string, hunks []Hunk) (string, error) {
	a := splitLines(before)
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		start := h.BeforeLine - 1
		if h.BeforeCount == 0 {
			start++
		}
		if start < at || start > len(a) {
			return "", fmt.Errorf("hunk at line %d overlaps another one or leaves the text of %d lines", h.BeforeLine, len(a))
		}
		for ; at < start; at++ {
			out.WriteString(a[at])
		}
		for _, l := range h.Lines {
			if l.Op == Add {
				out.WriteString(l.Text)
				continue
			}
			if at >= len(a) || a[at] != l.Text {
				return "", fmt.Errorf("line %d is not what the hunk was made from", at+1)
			}
			if l.Op == Keep {
				out.WriteString(l.Text)
			}
			at++
		}
	}
	for ; at < len(a); at++ {
		out.WriteString(a[at])
	}
	return out.String(), nil
}

// Unified writes hunks in the form that patch(1) and every reader of diffs
// knows. An empty name stands for a file that does not exist.
func Unified(before, after string, hunks []Hunk) string {
	if len(hunks) == 0 {
		return ""
	}
	name := func(n string) string {
		if n == "" {
			return "/dev/null"
		}
		return n
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name(before), name(after))
	signs := map[Op]byte{Keep: ' ', Remove: '-', Add: '+'}
	for _, h := range hunks {
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(h.BeforeLine, h.BeforeCount), span(h.AfterLine, h.AfterCount))
		for _, l := range h.Lines {
			out.WriteByte(signs[l.Op])
			out.WriteString(l.Text)
			if !strings.HasSuffix(l.Text, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return out.String()
}

func span(line, count int) string {
	if count == 1 {
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}
