package search

import (
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
)

// operators compare a property with a value, longest first.
var operators = []struct {
	text, op string
	not      bool
}{
	{"!=", "=", true}, {"<=", "<=", false}, {">=", ">=", false}, {"==", "=", false},
	{"=", "=", false}, {":", "=", false}, {"<", "<", false}, {">", ">", false}, {"~", index.OpContains, false},
}

// Condition reads one condition on a property:
//
//	status           has the property; !status has it not
//	status=open      also status:open; != lets other values through, and notes without it
//	rating>=4        also <, <=, >: numbers as numbers, dates as dates, the rest as text
//	topic~tea        contains the text
//
// The value may be quoted. Case does not matter; of a list, one element is enough.
func Condition(text string) (index.PropFilter, error) {
	text = strings.TrimSpace(text)
	at, best := -1, 0
	for i, o := range operators {
		if j := strings.Index(text, o.text); j > 0 && (at < 0 || j < at) {
			at, best = j, i
		}
	}
	key, not := text, false
	var p index.PropFilter
	if at > 0 {
		key = text[:at]
		p = comparison(text[at:], operators[best].text, operators[best].op, operators[best].not)
	} else if key, not = strings.CutPrefix(text, "!"); not {
		p.Not = true
	}
	if p.Key = strings.TrimSpace(key); p.Key == "" || strings.ContainsAny(p.Key[:1], "!<>=~:") {
		return p, fault.Field("properties", "write it as status, !status, status=open, status!=done, rating>=4 or topic~tea", "%q is not a condition", cut(text, 60))
	}
	return p, nil
}

// PropertyValue reads the value of a filter: an operator may stand before it, and
// "!" alone asks for notes without the property.
func PropertyValue(key, value string) index.PropFilter {
	v := strings.TrimSpace(value)
	if v == "!" {
		return index.PropFilter{Key: key, Not: true}
	}
	for _, o := range operators {
		if o.text != ":" && strings.HasPrefix(v, o.text) {
			p := comparison(v, o.text, o.op, o.not)
			p.Key = key
			return p
		}
	}
	return index.PropFilter{Key: key, Value: value}
}

// comparison is the condition that an operator with its value makes. Without a
// value, the property is asked for.
func comparison(text, sign, op string, not bool) index.PropFilter {
	value := strings.TrimSpace(text[len(sign):])
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	}
	value = strings.Trim(value, `"`)
	if value == "" {
		return index.PropFilter{Not: not}
	}
	return index.PropFilter{Op: op, Value: value, Not: not}
}
