// Package cron reads cron expressions and finds the next time that they mean, by
// the clock of a time zone: a nightly job runs once in each night, also when the
// clocks change.
package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Schedule is one expression: minute, hour, day of the month, month and day of
// the week.
type Schedule struct {
	text                          string
	minute, hour, dom, month, dow []bool
	anyHour, anyDay, anyWeekday   bool
	loc                           *time.Location
}

// String is the expression as it was written.
func (s Schedule) String() string { return s.text }

var (
	months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	days   = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	words  = map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *"}
)

// Parse reads an expression of five fields, or a word such as @daily.
func Parse(text string, loc *time.Location) (Schedule, error) {
	s := Schedule{text: strings.TrimSpace(text), loc: loc}
	expr := s.text
	if w, ok := words[strings.ToLower(expr)]; ok {
		expr = w
	}
	f := strings.Fields(expr)
	if len(f) != 5 {
		return s, fmt.Errorf("%q has %d fields; a schedule has five: minute, hour, day of the month, month, day of the week", text, len(f))
	}
	var err error
	for i, to := range []struct {
		name      string
		set       *[]bool
		low, high int
		names     []string
	}{{"minute", &s.minute, 0, 59, nil}, {"hour", &s.hour, 0, 23, nil}, {"day of the month", &s.dom, 1, 31, nil}, {"month", &s.month, 1, 12, months}, {"day of the week", &s.dow, 0, 7, days}} {
		if *to.set, err = field(f[i], to.low, to.high, to.names); err != nil {
			return s, fmt.Errorf("%s: %w", to.name, err)
		}
	}
	s.dow[0] = s.dow[0] || s.dow[7] // Sunday has two numbers
	s.anyHour, s.anyDay, s.anyWeekday = strings.HasPrefix(f[1], "*"), f[2] == "*", f[4] == "*"
	if s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, loc)).IsZero() {
		return s, fmt.Errorf("%q never happens", text)
	}
	return s, nil
}

// field reads one field: *, a number, a name, a range, a step, or several of them
// separated by commas.
func field(text string, low, high int, names []string) ([]bool, error) {
	set := make([]bool, high+1)
	for part := range strings.SplitSeq(text, ",") {
		span, by, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			var err error
			if step, err = strconv.Atoi(by); err != nil || step < 1 {
				return nil, fmt.Errorf("%q is not a step", by)
			}
		}
		from, to := low, high
		if span != "*" {
			first, last, isRange := strings.Cut(span, "-")
			var err error
			if from, err = number(first, low, high, names); err != nil {
				return nil, err
			}
			switch {
			case isRange:
				if to, err = number(last, low, high, names); err != nil {
					return nil, err
				}
			case !stepped:
				to = from
			}
			if to < from {
				return nil, fmt.Errorf("%q runs backward", span)
			}
		}
		for v := from; v <= to; v += step {
			set[v] = true
		}
	}
	return set, nil
}

func number(text string, low, high int, names []string) (int, error) {
	if i := slices.Index(names, strings.ToLower(text)); i >= 0 {
		return i + low, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, low, high)
	}
	return n, nil
}

// horizon is how many days ahead a time is looked for: February 29 comes once in
// eight years at the longest.
const horizon = 9 * 366

// Next is the first time after t; zero when there is none.
func (s Schedule) Next(t time.Time) time.Time {
	local := t.In(s.loc)
	y, m, d := local.Date()
	for i := range horizon {
		noon := time.Date(y, m, d+i, 12, 0, 0, 0, s.loc)
		if !s.fitsDay(noon) {
			continue
		}
		if at := s.firstOn(noon, t); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// fitsDay reports whether the expression means a day. When both fields of days are
// given, one of them is enough.
func (s Schedule) fitsDay(day time.Time) bool {
	dom, dow := s.dom[day.Day()], s.dow[int(day.Weekday())]
	switch {
	case !s.month[int(day.Month())]:
		return false
	case s.anyDay || s.anyWeekday:
		return dom && dow
	}
	return dom || dow
}

// firstOn is the first time on a day that is after t. A time that the clocks skip is
// taken after the gap; one that they show twice is taken once, unless the expression
// means every hour.
func (s Schedule) firstOn(day, t time.Time) time.Time {
	y, m, d := day.Date()
	var best time.Time
	consider := func(at time.Time) {
		if at.After(t) && (best.IsZero() || at.Before(best)) {
			best = at
		}
	}
	for h := range 24 {
		for minute := range 60 {
			if !s.hour[h] || !s.minute[minute] {
				continue
			}
			at := time.Date(y, m, d, h, minute, 0, 0, s.loc)
			skipped := at.Hour() != h || at.Minute() != minute
			if skipped && s.anyHour { // the next hour has its own
				continue
			}
			same := func(o time.Time) bool { return o.Hour() == h && o.Minute() == minute }
			if early := at.Add(-time.Hour); same(early) { // Date may mean either of the two
				at = early
			}
			consider(at)
			if again := at.Add(time.Hour); s.anyHour && same(again) {
				consider(again)
			}
		}
	}
	return best
}
