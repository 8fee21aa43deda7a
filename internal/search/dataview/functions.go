package dataview

import (
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A function of the language. Methods are functions of what they stand behind.
type function struct {
	usage       string
	least, most int // arguments; most < 0 is any number
	call        func(s scope, args []Value) (Value, error)
}

var functions map[string]function

func init() { // a table that its own entries refer to, by way of eval
	functions = map[string]function{
		"contains":    {"contains(list or text, value)", 2, 2, plain(func(a []Value) Value { return contains(a[0], a[1], true, false) })},
		"icontains":   {"icontains(list or text, value)", 2, 2, plain(func(a []Value) Value { return contains(a[0], a[1], true, true) })},
		"econtains":   {"econtains(list or text, value)", 2, 2, plain(func(a []Value) Value { return contains(a[0], a[1], false, false) })},
		"containsany": {"list.containsAny(value, …)", 2, -1, plain(containsAny)},
		"length":      {"length(list or text)", 1, 1, plain(length)},
		"lower":       {"lower(text)", 1, 1, texts(strings.ToLower)},
		"upper":       {"upper(text)", 1, 1, texts(strings.ToUpper)},
		"trim":        {"text.trim()", 1, 1, texts(strings.TrimSpace)},
		"default":     {"default(value, other)", 2, 2, plain(func(a []Value) Value { return either(a[0] != nil, a[0], a[1]) })},
		"choice":      {"choice(condition, yes, no)", 3, 3, plain(func(a []Value) Value { return either(truthy(a[0]), a[1], a[2]) })},
		"if":          {"if(condition, yes, no)", 2, 3, plain(func(a []Value) Value { return either(truthy(a[0]), a[1], append(a, nil)[2]) })},
		"startswith":  {"startswith(text, start)", 2, 2, plain(func(a []Value) Value { return strings.HasPrefix(Text(a[0]), Text(a[1])) })},
		"endswith":    {"endswith(text, end)", 2, 2, plain(func(a []Value) Value { return strings.HasSuffix(Text(a[0]), Text(a[1])) })},
		"regexmatch":  {"regexmatch(pattern, text)", 2, 2, func(_ scope, a []Value) (Value, error) { return matches(Text(a[0]), Text(a[1]), true) }},
		"regextest":   {"regextest(pattern, text)", 2, 2, func(_ scope, a []Value) (Value, error) { return matches(Text(a[0]), Text(a[1]), false) }},
		"sum":         {"sum(list)", 1, 1, plain(sum)},
		"average":     {"average(list)", 1, 1, plain(average)},
		"min":         {"min(list) or min(a, b, …)", 1, -1, plain(func(a []Value) Value { return extreme(a, -1) })},
		"max":         {"max(list) or max(a, b, …)", 1, -1, plain(func(a []Value) Value { return extreme(a, 1) })},
		"round":       {"round(number, digits)", 1, 2, plain(round)},
		"number":      {"number(text)", 1, 1, plain(func(a []Value) Value { n, _ := OfText(Text(a[0])).(float64); return n })},
		"string":      {"string(value)", 1, 1, plain(func(a []Value) Value { return Text(a[0]) })},
		"join":        {"join(list, separator)", 1, 2, plain(join)},
		"link":        {"link(path)", 1, 2, plain(func(a []Value) Value { return Link{Target: Text(a[0])} })},
		"list":        {"list(value, …)", 0, -1, plain(func(a []Value) Value { return a })},
		"date":        {"date(today), date(2026-01-31) or date(text)", 1, 1, plain(toDate)},
		"dur":         {"dur(3 days)", 1, 1, plain(func(a []Value) Value { d, ok := parseDuration(Text(a[0])); return either(ok, d, nil) })},
		"now":         {"now()", 0, 0, func(s scope, _ []Value) (Value, error) { return s.now, nil }},
		"today":       {"today()", 0, 0, func(s scope, _ []Value) (Value, error) { return dayOf("today", s.now), nil }},
		"isempty":     {"value.isEmpty()", 1, 1, plain(func(a []Value) Value { n, ok := length(a).(float64); return a[0] == nil || ok && n == 0 })},
		"hastag":      {"file.hasTag(tag, …)", 2, -1, plain(hasTag)},
		"infolder":    {"file.inFolder(folder)", 2, 2, plain(inFolder)},
		"haslink":     {"file.hasLink(note)", 2, 2, plain(func(a []Value) Value { return contains(field(a[0], "outlinks"), asLink(a[1]), false, false) })},
		"hasproperty": {"file.hasProperty(name)", 2, 2, plain(func(a []Value) Value { return contains(field(a[0], "properties"), Key(Text(a[1])), false, false) })},
	}
}

// nearFunction tells what there is instead of a function.
func nearFunction(string) string {
	return "use one of " + strings.Join(slices.Sorted(maps.Keys(functions)), ", ")
}

func plain(f func([]Value) Value) func(scope, []Value) (Value, error) {
	return func(_ scope, a []Value) (Value, error) { return f(a), nil }
}

// texts makes a function of texts one of values: of a list, of each element.
func texts(f func(string) string) func(scope, []Value) (Value, error) {
	return plain(func(a []Value) Value {
		if list, ok := a[0].([]Value); ok {
			out := make([]Value, len(list))
			for i := range list {
				out[i] = f(Text(list[i]))
			}
			return out
		}
		if a[0] == nil {
			return nil
		}
		return f(Text(a[0]))
	})
}

func either(yes bool, a, b Value) Value {
	if yes {
		return a
	}
	return b
}

// contains looks for a value in a list, or for a part of a text. With parts, the
// elements of a list may contain it.
func contains(in, what Value, parts, fold bool) bool {
	switch in := in.(type) {
	case []Value:
		for _, e := range in {
			if equal(e, what) || parts && contains(e, what, parts, fold) {
				return true
			}
		}
		return false
	case *Record:
		return in.Get(Text(what)) != nil
	case string, Link:
		if _, ok := in.(Link); ok && equal(in, what) {
			return true
		}
		a, b := Text(in), Text(what)
		if fold {
			a, b = strings.ToLower(a), strings.ToLower(b)
		}
		return what != nil && strings.Contains(a, b)
	}
	return in != nil && equal(in, what)
}

func containsAny(a []Value) Value {
	return slices.ContainsFunc(a[1:], func(v Value) bool { return contains(a[0], v, true, false) })
}

func length(a []Value) Value {
	switch v := a[0].(type) {
	case []Value:
		return float64(len(v))
	case string:
		return float64(len([]rune(v)))
	case nil:
		return 0.0
	}
	return 1.0
}

// matches tries a pattern of RE2, which takes time in proportion to the text.
func matches(pattern, text string, whole bool) (Value, error) {
	if len(pattern) > 500 {
		return nil, errors.New("the pattern is longer than 500 bytes")
	}
	if whole {
		pattern = "^(?:" + pattern + ")$"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return re.MatchString(text), nil
}

// numbers are the numbers of a list, or of the arguments.
func numbers(a []Value) []float64 {
	if list, ok := a[0].([]Value); ok && len(a) == 1 {
		a = list
	}
	var out []float64
	for _, v := range a {
		if n, ok := v.(float64); ok {
			out = append(out, n)
		}
	}
	return out
}

func sum(a []Value) Value {
	total := 0.0
	for _, n := range numbers(a) {
		total += n
	}
	return total
}

func average(a []Value) Value {
	all := numbers(a)
	if len(all) == 0 {
		return nil
	}
	total, _ := sum(a).(float64)
	return total / float64(len(all))
}

// extreme is the least or the greatest value.
func extreme(a []Value, sign int) Value {
	if list, ok := a[0].([]Value); ok && len(a) == 1 {
		a = list
	}
	var best Value
	for _, v := range a {
		if v != nil && (best == nil || sign*compare(v, best) > 0) {
			best = v
		}
	}
	return best
}

func round(a []Value) Value {
	n, ok := a[0].(float64)
	if !ok {
		return nil
	}
	digits := 0.0
	if len(a) > 1 {
		digits, _ = a[1].(float64)
	}
	factor := math.Pow(10, math.Trunc(max(0, min(digits, 12))))
	return math.Round(n*factor) / factor
}

func join(a []Value) Value {
	list, ok := a[0].([]Value)
	if !ok {
		return Text(a[0])
	}
	sep := ", "
	if len(a) > 1 {
		sep = Text(a[1])
	}
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = Text(list[i])
	}
	return strings.Join(parts, sep)
}

func toDate(a []Value) Value {
	switch v := a[0].(type) {
	case time.Time:
		return v
	case Link:
		a[0] = v.name()
	}
	t, ok := parseDate(Text(a[0]))
	return either(ok, t, nil)
}

func asLink(v Value) Value {
	if s, ok := v.(string); ok {
		return Link{Target: s}
	}
	return v
}

// hasTag looks for a tag or one nested below it.
func hasTag(a []Value) Value {
	have, _ := field(a[0], "tags").([]Value)
	for _, w := range a[1:] {
		want := "#" + strings.ToLower(strings.TrimPrefix(Text(w), "#"))
		if slices.ContainsFunc(have, func(v Value) bool { return strings.ToLower(Text(v)) == want }) {
			return true
		}
	}
	return false
}

func inFolder(a []Value) Value {
	return isInFolder(Text(field(a[0], "path")), Text(a[1]))
}
