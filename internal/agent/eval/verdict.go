package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// An Outcome is what happened when a case was tried.
type Outcome struct {
	// Failed says why there is no answer; "" when there is one.
	Failed string
	Calls  []Made
	// Cited are the notes that the answer names and that were read.
	Cited  []string
	Answer string
	// Changed are the files that differ from before, Files the texts afterwards
	// of those that the case names, as far as they exist.
	Changed []string
	Files   map[string]string

	Steps, In, Out int
	Cost           *float64 // US dollars; nil is unknown
	Took           time.Duration
}

// Made is one call that was made.
type Made struct {
	Tool string
	Args json.RawMessage
	// Changes says that it was meant to change something.
	Changes bool
	// Mistaken says that the tool could not make sense of it.
	Mistaken bool
	// Given says that it was made before the model was asked, in its place.
	Given bool
}

// Judge compares what happened with what was expected and returns every reason
// why the case is not passed; none when it is.
func (c *Case) Judge(o *Outcome) []string {
	var out []string
	if o.Failed != "" {
		out = append(out, "no answer: "+o.Failed)
	}
	if why := c.missing(o.Calls); why != "" {
		out = append(out, why)
	}
	for _, f := range c.Forbid {
		for _, m := range o.Calls {
			if f.fits(&m) {
				out = append(out, fmt.Sprintf("forbidden: %s %s", m.Tool, m.Args))
				break
			}
		}
	}
	for _, p := range c.Cite {
		if !slices.Contains(o.Cited, p) {
			out = append(out, "not cited from reading: "+p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		f := c.Files[name]
		out = append(out, f.judge(name, o)...)
	}
	return append(out, c.Answer.judge(o.Answer)...)
}

// missing tells what lacks of the expected sequence that came furthest.
func (c *Case) missing(made []Made) string {
	far, next := -1, ""
	for _, seq := range c.Expect {
		i := 0
		for _, m := range made {
			if i < len(seq) && !m.Mistaken && seq[i].fits(&m) {
				i++
			}
		}
		if i == len(seq) {
			return ""
		}
		if i > far {
			far, next = i, seq[i].String()
		}
	}
	if next == "" {
		return ""
	}
	return "expected call not made: " + next
}

// fits reports whether a call is one of these.
func (c *Call) fits(m *Made) bool {
	if !slices.ContainsFunc(c.Names(), func(n string) bool { return n == m.Tool || n == Changes && m.Changes }) {
		return false
	}
	if len(c.Args) == 0 {
		return true
	}
	args := arguments(m.Args)
	for where, want := range c.Args {
		if v, given := at(args, where); !want.fits(v, given) {
			return false
		}
	}
	return true
}

// String tells the call in one line.
func (c Call) String() string {
	var args []string
	for _, k := range slices.Sorted(maps.Keys(c.Args)) {
		args = append(args, k+": "+c.Args[k].String())
	}
	if len(args) == 0 {
		return c.Tool
	}
	return c.Tool + " (" + strings.Join(args, ", ") + ")"
}

func (f *File) judge(name string, o *Outcome) []string {
	if name == "*" {
		if len(o.Changed) > 0 {
			return []string{"changed: " + strings.Join(o.Changed, ", ")}
		}
		return nil
	}
	var out []string
	if f.Unchanged && slices.Contains(o.Changed, name) {
		out = append(out, "changed: "+name)
	}
	text, there := o.Files[name]
	switch {
	case f.Absent && there:
		return append(out, "still there: "+name)
	case !f.Absent && !there:
		return append(out, "not there: "+name)
	}
	if f.Equals != nil && text != *f.Equals {
		out = append(out, name+" has another text")
	}
	for _, t := range f.Contains {
		if !strings.Contains(text, t) {
			out = append(out, fmt.Sprintf("%s lacks %q", name, t))
		}
	}
	for _, t := range f.Lacks {
		if strings.Contains(text, t) {
			out = append(out, fmt.Sprintf("%s has %q", name, t))
		}
	}
	return out
}

func (w *Words) judge(answer string) []string {
	var out []string
	for _, t := range w.Contains {
		if !has(answer, t) {
			out = append(out, fmt.Sprintf("the answer lacks %q", t))
		}
	}
	if len(w.Any) > 0 && !slices.ContainsFunc(w.Any, func(t string) bool { return has(answer, t) }) {
		out = append(out, fmt.Sprintf("the answer has none of %q", []string(w.Any)))
	}
	for _, t := range w.Not {
		if has(answer, t) {
			out = append(out, fmt.Sprintf("the answer has %q", t))
		}
	}
	if w.regex != nil && !w.regex.MatchString(answer) {
		out = append(out, fmt.Sprintf("the answer does not fit %q", w.Regex))
	}
	return out
}
