package dataview

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Value is nil, bool, float64, string, time.Time, Duration, Link, []Value or
// *Record.
type Value any

// A Link points to a note.
type Link struct {
	Target string // a path where it is known, else as written
	Text   string
}

// String writes the link as notes do.
func (l Link) String() string {
	target := strings.TrimSuffix(l.Target, ".md")
	if text := l.Text; text != "" && text != target {
		return "[[" + target + "|" + text + "]]"
	}
	return "[[" + target + "]]"
}

// name is what links to the same note share: Notes/Tea.md and Tea.
func (l Link) name() string { return strings.ToLower(strings.TrimSuffix(path.Base(l.Target), ".md")) }

func linkOf(inside string) Link {
	target, text, _ := strings.Cut(inside, "|")
	target, _, _ = strings.Cut(target, "#")
	return Link{Target: strings.TrimSpace(target), Text: strings.TrimSpace(text)}
}

// A Duration is a span of time of the calendar.
type Duration struct {
	Months, Days int
	Time         time.Duration
}

func (d Duration) add(t time.Time, sign int) time.Time {
	return t.AddDate(0, sign*d.Months, sign*d.Days).Add(time.Duration(sign) * d.Time)
}

// length is about how long it is, to compare with others.
func (d Duration) length() float64 {
	return float64(d.Months)*30.44*24*3600 + float64(d.Days)*24*3600 + d.Time.Seconds()
}

// String writes the duration in words.
func (d Duration) String() string {
	var out []string
	add := func(n int, unit string) {
		if n != 0 {
			if n != 1 && n != -1 {
				unit += "s"
			}
			out = append(out, fmt.Sprintf("%d %s", n, unit))
		}
	}
	add(d.Months/12, "year")
	add(d.Months%12, "month")
	add(d.Days, "day")
	if d.Time != 0 || len(out) == 0 {
		out = append(out, d.Time.Round(time.Second).String())
	}
	return strings.Join(out, ", ")
}

var durationPart = regexp.MustCompile(`^\s*(\d{1,6})\s*(years?|yrs?|y|months?|mo|weeks?|wks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b,?\s*`)

// parseDuration reads "3 days" or "1 year, 2 months".
func parseDuration(s string) (Duration, bool) {
	var d Duration
	s = strings.ToLower(s)
	for first := true; s != "" || first; first = false {
		m := durationPart.FindStringSubmatch(s)
		if m == nil {
			return d, false
		}
		s = s[len(m[0]):]
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return d, false
		}
		switch unit := m[2]; {
		case unit[0] == 'y':
			d.Months += 12 * n
		case strings.HasPrefix(unit, "mo"):
			d.Months += n
		case unit[0] == 'w':
			d.Days += 7 * n
		case unit[0] == 'd':
			d.Days += n
		case unit[0] == 'h':
			d.Time += time.Duration(n) * time.Hour
		case unit[0] == 'm':
			d.Time += time.Duration(n) * time.Minute
		default:
			d.Time += time.Duration(n) * time.Second
		}
	}
	return d, true
}

var dateLayouts = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01"}

func parseDate(s string) (time.Time, bool) {
	if len(s) < 7 || len(s) > 40 || s[4] != '-' {
		return time.Time{}, false
	}
	for _, l := range dateLayouts {
		if t, err := time.ParseInLocation(l, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// dayWords are the words that date(…) knows.
var dayWords = []string{"today", "now", "tomorrow", "yesterday", "sow", "eow", "som", "eom", "soy", "eoy"}

func dayOf(word string, now time.Time) time.Time {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	first := today.AddDate(0, 0, 1-today.Day())
	year := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return now
	case "tomorrow":
		return today.AddDate(0, 0, 1)
	case "yesterday":
		return today.AddDate(0, 0, -1)
	case "sow":
		return monday
	case "eow":
		return monday.AddDate(0, 0, 6)
	case "som":
		return first
	case "eom":
		return first.AddDate(0, 1, -1)
	case "soy":
		return year
	case "eoy":
		return year.AddDate(1, 0, -1)
	}
	return today
}

var wholeLink = regexp.MustCompile(`^!?\[\[([^\[\]]+)\]\]$`)

// Of is a value of a property, as YAML gives it; dates and links are read from
// text.
func Of(v any) Value {
	switch v := v.(type) {
	case nil, bool, float64, time.Time, Link:
		return v
	case int64:
		return float64(v)
	case string:
		if t, ok := parseDate(v); ok {
			return t
		}
		if m := wholeLink.FindStringSubmatch(v); m != nil {
			return linkOf(m[1])
		}
		return v
	case []any:
		out := make([]Value, len(v))
		for i := range v {
			out[i] = Of(v[i])
		}
		return out
	case map[string]any:
		r := &Record{fields: map[string]Value{}}
		for k, e := range v {
			r.fields[Key(k)] = Of(e)
		}
		return r
	}
	return fmt.Sprint(v)
}

// OfText is a value of an inline field, which is written as text.
func OfText(s string) Value {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return n
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "":
		return nil
	}
	return Of(s)
}

// Key is the name of a field as it is compared: in lower case, with dashes.
func Key(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(s, "*_ "))), "-")
}

// rank puts values of different types in an order.
func rank(v Value) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case float64:
		return 2
	case time.Time:
		return 3
	case Duration:
		return 4
	case string, Link:
		return 5
	case []Value:
		return 6
	}
	return 7
}

// compare orders two values: by type, then by value. A missing one is first.
func compare(a, b Value) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch x := a.(type) {
	case bool:
		y, _ := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case float64:
		y, _ := b.(float64)
		return cmp.Compare(x, y)
	case time.Time:
		y, _ := b.(time.Time)
		return x.Compare(y)
	case Duration:
		y, _ := b.(Duration)
		return cmp.Compare(x.length(), y.length())
	case []Value:
		y, _ := b.([]Value)
		return slices.CompareFunc(x, y, compare)
	}
	if x, ok := a.(Link); ok {
		if y, ok := b.(Link); ok {
			return strings.Compare(x.name(), y.name())
		}
	}
	return strings.Compare(Text(a), Text(b))
}

func equal(a, b Value) bool { return rank(a) == rank(b) && compare(a, b) == 0 }

// truthy is what a condition makes of a value.
func truthy(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []Value:
		return len(v) > 0
	}
	return true
}

// Text writes a value for people.
func Text(v Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		if v.Hour() == 0 && v.Minute() == 0 && v.Second() == 0 {
			return v.Format(time.DateOnly)
		}
		return v.Format("2006-01-02T15:04:05")
	case []Value:
		out := make([]string, len(v))
		for i := range v {
			out[i] = Text(v[i])
		}
		return strings.Join(out, ", ")
	case *Record:
		if v.Path != "" {
			return Link{Target: v.Path}.String()
		}
		return v.text()
	}
	return fmt.Sprint(v)
}

// JSON is a value for programs: texts, numbers, lists; dates and links as text.
func JSON(v Value) any {
	switch v := v.(type) {
	case nil, bool, string:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case []Value:
		out := make([]any, len(v))
		for i := range v {
			out[i] = JSON(v[i])
		}
		return out
	}
	return Text(v)
}
