package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lore/internal/note/summarize"
)

// fields are the members of an answer, not yet believed.
type fields map[string]json.RawMessage

// object finds the JSON object in an answer: alone, in a code fence, or with
// words around it.
func object(text string) (fields, error) {
	wrong := problem("there is no JSON object in it")
	for range 20 { // words may have braces too, but not many
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		var f fields
		if err := json.NewDecoder(strings.NewReader(text[at:])).Decode(&f); err == nil && len(f) > 0 {
			return f, nil
		}
		wrong = problem("its JSON cannot be read")
		text = text[at+1:]
	}
	return nil, wrong
}

// str reads a text: one line, not empty, no longer than limit.
func (f fields) str(name string, limit int) (string, error) {
	var s string
	if err := json.Unmarshal(f[name], &s); err != nil {
		return "", problem(fmt.Sprintf("%q must be a text", name))
	}
	s = fit(s, limit)
	if s == "" {
		return "", problem(fmt.Sprintf("%q is empty", name))
	}
	return s, nil
}

// fit makes one line of a text and keeps as many whole sentences as there is
// room for, or as many words.
func fit(s string, limit int) string {
	s = oneLine(s)
	short := summarize.Shorten(s, limit)
	if short == s {
		return s
	}
	kept := 0
	for sentence := range summarize.Sentences(s) {
		end := kept + strings.Index(s[kept:], sentence) + len(sentence)
		if utf8.RuneCountInString(s[:end]) > limit {
			break
		}
		kept = end
	}
	if 2*kept > len(short) {
		return s[:kept]
	}
	return short
}

// num reads a number between low and high, also where it is written as a text.
func (f fields) num(name string, low, high float64) (float64, error) {
	var v float64
	if err := json.Unmarshal(f[name], &v); err != nil || string(f[name]) == "null" {
		var s string
		if json.Unmarshal(f[name], &s) != nil {
			return 0, problem(fmt.Sprintf("%q must be a number", name))
		}
		if v, err = strconv.ParseFloat(strings.TrimSpace(s), 64); err != nil {
			return 0, problem(fmt.Sprintf("%q must be a number", name))
		}
	}
	if !(v >= low && v <= high) {
		return 0, problem(fmt.Sprintf("%q must be between %g and %g", name, low, high))
	}
	return v, nil
}

// choice reads one of the values, in whatever spelling.
func (f fields) choice(name string, values []string) (string, error) {
	var s string
	if err := json.Unmarshal(f[name], &s); err == nil {
		for _, v := range values {
			if spelled(v) == spelled(s) {
				return v, nil
			}
		}
	}
	return "", problem(fmt.Sprintf("%q must be one of %s", name, strings.Join(values, ", ")))
}

// list reads texts, most of them at the most; one text alone is a list of one.
func (f fields) list(name string, most, limit int) ([]string, error) {
	var all []string
	if err := json.Unmarshal(f[name], &all); err != nil {
		var one string
		if json.Unmarshal(f[name], &one) != nil {
			return nil, problem(fmt.Sprintf("%q must be a list of texts", name))
		}
		all = []string{one}
	}
	var out []string
	for _, s := range all {
		s = strings.TrimSpace(strings.TrimLeft(fit(s, limit), "-*• "))
		if s != "" && !slices.Contains(out, s) && len(out) < most {
			out = append(out, s)
		}
	}
	return out, nil
}
