package dataview

import (
	"strings"
	"time"
)

// A scope is what an expression is evaluated in.
type scope struct {
	now      time.Time
	formulas map[string]*expr // of a base
	depth    int              // of formulas that use formulas
	cost     *int             // steps that are left; a query ends when there are none
}

// eval is the value of an expression for one record.
func (s scope) eval(e *expr, r *Record) (Value, error) {
	if *s.cost--; *s.cost < 0 {
		return nil, errorAt(e.src, e.at, "narrow it with FROM", "the query takes too many steps")
	}
	switch e.op {
	case "value":
		return e.lit, nil
	case "day":
		return dayOf(e.name, s.now), nil
	case "name":
		return r.Get(e.name), nil
	case ".":
		if base := e.args[0]; base.op == "name" {
			switch name := strings.ToLower(base.name); {
			case name == "formula" && s.formulas != nil:
				return s.formula(e, r)
			case (name == "note" || name == "this") && r.Get(name) == nil:
				return r.Get(e.name), nil
			}
		}
	case "and", "or":
		left, err := s.eval(e.args[0], r)
		if err != nil || truthy(left) == (e.op == "or") {
			return truthy(left), err
		}
		right, err := s.eval(e.args[1], r)
		return truthy(right), err
	}
	args := make([]Value, len(e.args))
	for i, a := range e.args {
		v, err := s.eval(a, r)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return s.apply(e, args)
}

// apply is the value of an operator or function of values.
func (s scope) apply(e *expr, args []Value) (Value, error) {
	switch e.op {
	case ".":
		return field(args[0], e.name), nil
	case "[]":
		return at(args[0], args[1]), nil
	case "list":
		return args, nil
	case "not":
		return !truthy(args[0]), nil
	case "neg":
		n, ok := args[0].(float64)
		if !ok {
			return nil, nil
		}
		return -n, nil
	case "call":
		v, err := functions[e.name].call(s, args)
		if err != nil {
			return nil, errorAt(e.src, e.at, "check its arguments", "%s: %v", e.name, err)
		}
		if t, ok := v.(string); ok && len(t) > maxValue {
			return nil, errorAt(e.src, e.at, "make it shorter", "%s makes a text of %d bytes", e.name, len(t))
		}
		return v, nil
	case "+", "-", "*", "/", "%":
		return arithmetic(e.op, args[0], args[1]), nil
	}
	return compared(e.op, args[0], args[1]), nil
}

// maxValue is the longest text that a function makes.
const maxValue = 64 << 10

// formula is the value of a formula of a base. One that needs itself has none.
func (s scope) formula(e *expr, r *Record) (Value, error) {
	f := s.formulas[Key(e.name)]
	if f == nil {
		return nil, errorAt(e.src, e.at, "define it under formulas", "there is no formula %q", e.name)
	}
	if s.depth++; s.depth > 20 {
		return nil, errorAt(e.src, e.at, "remove the circle", "the formula %q uses itself", e.name)
	}
	return s.eval(f, r)
}

// field is a field of a value; of a list, that of each element.
func field(v Value, name string) Value {
	switch v := v.(type) {
	case *Record:
		return v.Get(name)
	case []Value:
		if strings.EqualFold(name, "length") {
			return float64(len(v))
		}
		out := make([]Value, 0, len(v))
		for _, e := range v {
			if f := field(e, name); f != nil {
				out = append(out, f)
			}
		}
		return out
	case string:
		if strings.EqualFold(name, "length") {
			return float64(len([]rune(v)))
		}
	case time.Time:
		switch strings.ToLower(name) {
		case "year":
			return float64(v.Year())
		case "month":
			return float64(v.Month())
		case "day":
			return float64(v.Day())
		case "weekday":
			return float64((int(v.Weekday())+6)%7 + 1)
		case "hour":
			return float64(v.Hour())
		case "minute":
			return float64(v.Minute())
		}
	case Link:
		if strings.EqualFold(name, "path") {
			return v.Target
		}
	}
	return nil
}

// at is an element of a list, or a field by its name.
func at(v, i Value) Value {
	switch i := i.(type) {
	case float64:
		if list, ok := v.([]Value); ok && i >= 0 && int(i) < len(list) {
			return list[int(i)]
		}
	case string:
		return field(v, i)
	}
	return nil
}

// arithmetic calculates with numbers, dates and durations; + also joins texts.
// Whatever else is asked for has no value.
func arithmetic(op string, a, b Value) Value {
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			return calculate(op, x, y)
		}
	case time.Time:
		switch y := b.(type) {
		case Duration:
			if op == "+" {
				return y.add(x, 1)
			}
			if op == "-" {
				return y.add(x, -1)
			}
		case time.Time:
			if op == "-" {
				d := x.Sub(y)
				return Duration{Days: int(d / (24 * time.Hour)), Time: d % (24 * time.Hour)}
			}
		}
		return nil
	case Duration:
		switch y := b.(type) {
		case Duration:
			if op == "+" {
				return Duration{x.Months + y.Months, x.Days + y.Days, x.Time + y.Time}
			}
			if op == "-" {
				return Duration{x.Months - y.Months, x.Days - y.Days, x.Time - y.Time}
			}
		case time.Time:
			if op == "+" {
				return x.add(y, 1)
			}
		}
		return nil
	}
	_, left := a.(string)
	_, right := b.(string)
	if text := Text(a) + Text(b); op == "+" && (left || right) && len(text) <= maxValue {
		return text
	}
	return nil
}

func calculate(op string, x, y float64) Value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		return nil
	}
	if op == "/" {
		return x / y
	}
	n := x / y
	return x - y*float64(int64(n))
}

// compared is a comparison. A missing value, and one of another type, is neither
// less nor more.
func compared(op string, a, b Value) Value {
	switch op {
	case "=":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	}
	if a == nil || b == nil || rank(a) != rank(b) {
		return false
	}
	c := compare(a, b)
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}
