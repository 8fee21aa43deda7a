// Package template fills in the templates that Obsidian's users write: the
// placeholders of the core plugin, and those of Templater that need no code. It
// also writes dates in the formats of moment.js.
//
// No template is ever run: an expression that is not known is left out and
// named in a warning. Filled-in text is not read again, so a value that looks
// like a placeholder stays as it is.
package template

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fields are what a template may ask for.
type Fields struct {
	Title  string
	Folder string // of the new note, without a slash at its end
	Now    time.Time
	Values map[string]string // for {{name}}; they come before the fields of the same name
}

// A Result is a filled-in template.
type Result struct {
	Text     string
	Warnings []string // one for each expression that was left out or has no value
}

// placeholder is {{name}}, {{date:FORMAT}} or <% an expression %>, with the marks
// by which Templater trims what is around it.
var placeholder = regexp.MustCompile(`(?s)\{\{[ \t]*([\pL_][\pL\pN_ .-]*?)[ \t]*(?::([^}\n]*))?\}\}|<%([-_*+~]*)(.*?)([-_]?)%>`)

// Fill fills in the placeholders of a text.
func Fill(text string, f Fields) Result {
	var out Result
	var b []byte
	last := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		if m[0] < last {
			continue
		}
		b = append(b, text[last:m[0]]...)
		last = m[1]
		if m[2] >= 0 {
			format := ""
			if m[4] >= 0 {
				format = text[m[4]:m[5]]
			}
			b = append(b, f.field(&out, text[m[0]:m[1]], text[m[2]:m[3]], format)...)
			continue
		}
		mark, code := text[m[6]:m[7]], strings.TrimSpace(text[m[8]:m[9]])
		value, ok := "", false
		if !strings.ContainsAny(mark, "*~") {
			value, ok = f.expression(code)
		}
		if !ok {
			out.warn("left out %s: only dates, titles and folders of Templater are filled in; code never runs", shorten(text[m[0]:m[1]]))
		}
		if strings.ContainsAny(mark, "_") {
			b = bytes.TrimRight(b, " \t")
		}
		b = append(b, value...)
		switch end := text[m[10]:m[11]]; {
		case end == "-": // the line break behind it
			last += lineBreak(text[last:])
		case end == "_": // the blanks behind it
			last += len(text[last:]) - len(strings.TrimLeft(text[last:], " \t"))
		}
	}
	out.Text = string(append(b, text[last:]...))
	return out
}

// maxWarnings is how many expressions are named.
const maxWarnings = 20

func (r *Result) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); len(r.Warnings) < maxWarnings && !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}

// lineBreak is the length of the line break that a text begins with.
func lineBreak(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"):
		return 1
	}
	return 0
}

// shorten puts an expression on one line of a warning.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// field is the value of {{name}} or {{name:format}}. One that nobody gave a value
// stays as it is written.
func (f Fields) field(out *Result, written, name, format string) string {
	if v, ok := f.Values[name]; ok && format == "" {
		return v
	}
	switch strings.ToLower(name) {
	case "title":
		if format == "" {
			return f.Title
		}
	case "date", "time":
		switch {
		case format != "":
			return Moment(f.Now, format)
		case strings.EqualFold(name, "time"):
			return Moment(f.Now, "HH:mm")
		}
		return Moment(f.Now, "YYYY-MM-DD")
	}
	out.warn("%s has no value", written)
	return written
}

var call = regexp.MustCompile(`^(?:await\s+)?tp\.(file|date)\.(\w+)\s*(?:\((.*)\))?$`)

// expression is the value of an expression of Templater; false when it is none of
// those that need no code.
func (f Fields) expression(code string) (string, bool) {
	m := call.FindStringSubmatch(strings.TrimSuffix(code, ";"))
	if m == nil {
		return "", false
	}
	args, ok := arguments(m[3])
	if !ok {
		return "", false
	}
	if m[1] == "date" {
		return f.date(m[2], args)
	}
	switch name := m[2]; {
	case name == "title" && len(args) == 0:
		return f.Title, true
	case name == "folder" && len(args) <= 1:
		if argument(args, 0, "false") == "true" {
			return f.Folder, true
		}
		return strings.TrimPrefix(path.Base("/"+f.Folder), "/"), true
	case (name == "creation_date" || name == "last_modified_date") && len(args) <= 1:
		return Moment(f.Now, argument(args, 0, "YYYY-MM-DD HH:mm")), true
	}
	return "", false
}

// date is the value of a function of tp.date: a format, and for now an offset in
// days or as an ISO 8601 duration.
func (f Fields) date(name string, args []string) (string, bool) {
	most, days := 1, 0
	switch name {
	case "now":
		most = 2
	case "today":
	case "tomorrow":
		days = 1
	case "yesterday":
		days = -1
	default:
		return "", false
	}
	if len(args) > most {
		return "", false
	}
	day, ok := shift(f.Now.AddDate(0, 0, days), argument(args, 1, "0"))
	return Moment(day, argument(args, 0, "YYYY-MM-DD")), ok
}

func argument(args []string, i int, or string) string {
	if i < len(args) {
		return args[i]
	}
	return or
}

var duration = regexp.MustCompile(`^([-+]?)P([-+]?\d{1,4})([DWMY])$`)

// shift moves a day by a number of days or by a duration such as P-1M.
func shift(t time.Time, offset string) (time.Time, bool) {
	if n, err := strconv.Atoi(offset); err == nil && n > -100_000 && n < 100_000 {
		return t.AddDate(0, 0, n), true
	}
	m := duration.FindStringSubmatch(strings.ToUpper(offset))
	if m == nil {
		return t, false
	}
	n, err := strconv.Atoi(m[2])
	if m[1] == "-" {
		n = -n
	}
	switch m[3] {
	case "D":
		return t.AddDate(0, 0, n), err == nil
	case "W":
		return t.AddDate(0, 0, 7*n), err == nil
	case "M":
		return addMonths(t, n), err == nil
	}
	return addMonths(t, 12*n), err == nil
}

// addMonths keeps the day within the month, as moment does: a month after
// January 31 is the last day of February.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location()).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// arguments reads the arguments of a call: quoted texts, numbers, true and false.
func arguments(s string) ([]string, bool) {
	var out []string
	for s = strings.TrimSpace(s); s != ""; {
		var arg string
		if q := s[0]; q == '"' || q == '\'' || q == '`' {
			end := strings.IndexByte(s[1:], q)
			if end < 0 || strings.ContainsAny(s[1:1+end], "\\") || q == '`' && strings.Contains(s[1:1+end], "${") {
				return nil, false
			}
			arg, s = s[1:1+end], strings.TrimSpace(s[end+2:])
		} else {
			end := strings.IndexByte(s, ',')
			if end < 0 {
				end = len(s)
			}
			arg, s = strings.TrimSpace(s[:end]), s[end:]
			if _, err := strconv.Atoi(arg); err != nil && arg != "true" && arg != "false" {
				return nil, false
			}
		}
		out = append(out, arg)
		if s == "" {
			break
		}
		rest, ok := strings.CutPrefix(s, ",")
		if s = strings.TrimSpace(rest); !ok || s == "" {
			return nil, false
		}
	}
	return out, true
}
