// Package timespan reads the words by which people name a stretch of time: "last
// week", "3 days ago", "March 2026", "Monday to Friday". It is pure: the same
// words at the same moment give the same answer.
package timespan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
)

// A Span is a stretch of time. End is the first moment that does not belong to it.
type Span struct {
	Start, End time.Time
}

// Examples are expressions that Parse reads, for help and errors.
const Examples = `"today", "last week", "past 7 days", "3 days ago", "next Friday", "March 2026", "2026-Q1", "2026-03-01 to 2026-03-15", "since Monday"`

// longest is how long an expression may be: nobody names a time in more words.
const longest = 200

// Parse reads an expression. Weeks begin on Monday. "Last week" is the whole week
// before this one, "past 7 days" ends now.
func Parse(expression string, now time.Time) (Span, error) {
	if len(expression) > longest {
		return Span{}, fault.Field("expression", "use, for example, "+Examples, "is longer than %d bytes", longest)
	}
	words := clean(expression)
	if words == "" {
		return Span{}, fault.Field("expression", "use, for example, "+Examples, "is empty")
	}
	if s, ok := parse(words, now); ok {
		if s.End.Before(s.Start) {
			return Span{}, fault.Field("expression", "put the earlier time first", "%q ends before it begins", expression)
		}
		return s, nil
	}
	return Span{}, fault.Field("expression", "use, for example, "+Examples, "%q is not a time range that Lore understands", expression)
}

var spaces = regexp.MustCompile(`[\s,]+`)

// clean gives an expression one form: lower case, single spaces, no filler words.
func clean(s string) string {
	s = strings.ToLower(strings.TrimSpace(spaces.ReplaceAllString(s, " ")))
	for _, filler := range []string{"the ", "in ", "on ", "during ", "within ", "of "} {
		s = strings.TrimPrefix(s, filler)
		s = strings.ReplaceAll(s, " "+filler, " ")
	}
	return strings.TrimSpace(s)
}

func parse(words string, now time.Time) (Span, bool) {
	if s, ok := between(words, now); ok {
		return s, ok
	}
	for _, read := range []func(string, time.Time) (Span, bool){named, counted, weekday, calendar} {
		if s, ok := read(words, now); ok {
			return s, ok
		}
	}
	return Span{}, false
}

// between reads two expressions with a word between them, and open ends.
func between(words string, now time.Time) (Span, bool) {
	rest, open := strings.CutPrefix(words, "since ")
	if open {
		from, ok := parse(rest, now)
		return Span{from.Start, now}, ok
	}
	rest, open = strings.CutPrefix(words, "until ")
	if open {
		to, ok := parse(rest, now)
		return Span{now, to.End}, ok
	}
	words, hasAnd := strings.CutPrefix(words, "between ")
	words = strings.TrimPrefix(words, "from ")
	separators := []string{" to ", " until ", " through ", " till ", "..", " – ", " - "}
	if hasAnd {
		separators = []string{" and "}
	}
	for _, sep := range separators {
		a, b, ok := strings.Cut(words, sep)
		if !ok {
			continue
		}
		from, ok1 := parse(strings.TrimSpace(a), now)
		to, ok2 := parse(strings.TrimSpace(b), now)
		return Span{from.Start, to.End}, ok1 && ok2
	}
	return Span{}, false
}

// unit is a part of the calendar.
type unit string

const (
	second  unit = "second"
	minute  unit = "minute"
	hour    unit = "hour"
	day     unit = "day"
	week    unit = "week"
	month   unit = "month"
	quarter unit = "quarter"
	year    unit = "year"
)

func unitOf(word string) (unit, bool) {
	u := unit(strings.TrimSuffix(word, "s"))
	switch u {
	case "min":
		u = minute
	case "sec":
		u = second
	case "hr":
		u = hour
	}
	return u, slices.Contains([]unit{second, minute, hour, day, week, month, quarter, year}, u)
}

// begin is the start of the unit around t.
func (u unit) begin(t time.Time) time.Time {
	y, m, d := t.Date()
	at := func(m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, t.Location()) }
	switch u {
	case second:
		return t.Truncate(time.Second)
	case minute:
		return t.Truncate(time.Minute)
	case hour:
		return time.Date(y, m, d, t.Hour(), 0, 0, 0, t.Location())
	case week:
		return at(m, d-(int(t.Weekday())+6)%7)
	case month:
		return at(m, 1)
	case quarter:
		return at(m-(m-1)%3, 1)
	case year:
		return at(time.January, 1)
	}
	return at(m, d)
}

// add moves t by n units. Months that are too short for a day end on their last.
func (u unit) add(t time.Time, n int) time.Time {
	switch u {
	case second:
		return t.Add(time.Duration(n) * time.Second)
	case minute:
		return t.Add(time.Duration(n) * time.Minute)
	case hour:
		return t.Add(time.Duration(n) * time.Hour)
	case week:
		return t.AddDate(0, 0, 7*n)
	case month:
		return addMonths(t, n)
	case quarter:
		return addMonths(t, 3*n)
	case year:
		return addMonths(t, 12*n)
	}
	return t.AddDate(0, 0, n)
}

func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	return first.AddDate(0, 0, min(t.Day(), DaysIn(first))-1)
}

// DaysIn is how many days the month of t has.
func DaysIn(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// whole is the unit around t.
func (u unit) whole(t time.Time) Span {
	start := u.begin(t)
	return Span{start, u.add(start, 1)}
}

// named reads today, yesterday, this week, last month and the like.
func named(words string, now time.Time) (Span, bool) {
	switch words {
	case "now":
		return Span{now, now}, true
	case "today":
		return day.whole(now), true
	case "yesterday":
		return day.whole(now.AddDate(0, 0, -1)), true
	case "tomorrow":
		return day.whole(now.AddDate(0, 0, 1)), true
	case "day before yesterday":
		return day.whole(now.AddDate(0, 0, -2)), true
	case "day after tomorrow":
		return day.whole(now.AddDate(0, 0, 2)), true
	case "weekend", "this weekend":
		return weekend(now, 0), true
	case "last weekend", "previous weekend":
		return weekend(now, -1), true
	case "next weekend":
		return weekend(now, 1), true
	case "ytd", "year to date":
		return Span{year.begin(now), now}, true
	}
	which, name, ok := strings.Cut(words, " ")
	u, isUnit := unitOf(name)
	if !ok || !isUnit || strings.HasSuffix(name, "s") {
		return Span{}, false
	}
	n, ok := map[string]int{"this": 0, "current": 0, "last": -1, "previous": -1, "past": -1, "next": 1, "coming": 1}[which]
	if !ok {
		return Span{}, false
	}
	return u.whole(u.add(u.begin(now), n)), true
}

func weekend(now time.Time, n int) Span {
	saturday := week.begin(now).AddDate(0, 0, 5+7*n)
	return Span{saturday, saturday.AddDate(0, 0, 2)}
}

var (
	amount  = regexp.MustCompile(`^(last|past|previous|next|coming)? ?(\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve) ([a-z]+)( ago| from now)?$`)
	numbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "", "twelve"}
)

// counted reads "past 7 days", "next two weeks", "3 days ago", "in 2 hours".
func counted(words string, now time.Time) (Span, bool) {
	m := amount.FindStringSubmatch(words)
	if m == nil {
		return Span{}, false
	}
	u, ok := unitOf(m[3])
	n, err := strconv.Atoi(m[2])
	if err != nil {
		if n = slices.Index(numbers, m[2]); n < 0 {
			n = 1 // a, an
		}
	}
	switch {
	case !ok || n == 0:
		return Span{}, false
	case m[1] == "next" || m[1] == "coming":
		return Span{now, u.add(now, n)}, m[4] == ""
	case m[1] != "":
		return Span{u.add(now, -n), now}, m[4] == ""
	case m[4] == " ago":
		return u.moment(u.add(now, -n)), true
	}
	return u.moment(u.add(now, n)), true
}

// moment is the day around t, or t itself where the unit is finer than a day.
func (u unit) moment(t time.Time) Span {
	if u == second || u == minute || u == hour {
		return Span{t, t}
	}
	return day.whole(t)
}

// weekday reads monday, last friday, next tuesday, this thursday. A weekday alone
// is the latest one, today included.
func weekday(words string, now time.Time) (Span, bool) {
	which, name, ok := strings.Cut(words, " ")
	if !ok {
		which, name = "", words
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		full := strings.ToLower(d.String())
		if name != full && name != full[:3] {
			continue
		}
		back := (int(now.Weekday()) - int(d) + 7) % 7
		switch which {
		case "":
			return day.whole(now.AddDate(0, 0, -back)), true
		case "last", "previous", "past":
			if back == 0 {
				back = 7
			}
			return day.whole(now.AddDate(0, 0, -back)), true
		case "next", "coming":
			return day.whole(now.AddDate(0, 0, 7-back)), true
		case "this":
			return day.whole(week.begin(now).AddDate(0, 0, (int(d)+6)%7)), true
		}
	}
	return Span{}, false
}

var (
	isoDay     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	isoMonth   = regexp.MustCompile(`^(\d{4})-(\d{2})$`)
	isoWeek    = regexp.MustCompile(`^(\d{4})-?w(\d{1,2})$`)
	quarterly  = regexp.MustCompile(`^(?:(\d{4})[ -]?q([1-4])|q([1-4])(?: (\d{4}))?)$`)
	onlyYear   = regexp.MustCompile(`^\d{4}$`)
	dayOfMonth = regexp.MustCompile(`^(?:([a-z]+) (\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th)? ([a-z]+))(?: (\d{4}))?$`)
	monthYear  = regexp.MustCompile(`^(?:(this|last|previous|next) )?([a-z]+)(?: (\d{4}))?$`)
)

// calendar reads dates, months, quarters, weeks and years.
func calendar(words string, now time.Time) (Span, bool) {
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, now.Location()) }
	if t, ok := Instant(words, now); ok {
		if isoDay.MatchString(words) {
			return day.whole(t), true
		}
		return Span{t, t}, true
	}
	if m := isoMonth.FindStringSubmatch(words); m != nil {
		n := number(m[2])
		return month.whole(at(number(m[1]), time.Month(n), 1)), n >= 1 && n <= 12
	}
	if m := isoWeek.FindStringSubmatch(words); m != nil {
		monday := week.begin(at(number(m[1]), time.January, 4)).AddDate(0, 0, 7*(number(m[2])-1))
		y, w := monday.ISOWeek()
		return week.whole(monday), y == number(m[1]) && w == number(m[2])
	}
	if m := quarterly.FindStringSubmatch(words); m != nil {
		y, q := number(m[1]+m[4]), number(m[2]+m[3])
		if y == 0 {
			y = now.Year()
		}
		return quarter.whole(at(y, time.Month(3*q-2), 1)), true
	}
	if onlyYear.MatchString(words) {
		return year.whole(at(number(words), time.January, 1)), true
	}
	if m := dayOfMonth.FindStringSubmatch(words); m != nil {
		mo, ok := monthOf(m[1] + m[4])
		y := number(m[5])
		if y == 0 {
			y = now.Year()
		}
		t := at(y, mo, number(m[2]+m[3]))
		return day.whole(t), ok && t.Month() == mo
	}
	return ofMonth(words, now)
}

// ofMonth reads "march", "last march", "march 2026".
func ofMonth(words string, now time.Time) (Span, bool) {
	m := monthYear.FindStringSubmatch(words)
	if m == nil {
		return Span{}, false
	}
	mo, ok := monthOf(m[2])
	y := number(m[3])
	if y == 0 {
		y = now.Year()
		switch {
		case (m[1] == "last" || m[1] == "previous") && mo >= now.Month():
			y--
		case m[1] == "next" && mo <= now.Month():
			y++
		}
	}
	return month.whole(time.Date(y, mo, 1, 0, 0, 0, 0, now.Location())), ok && (m[1] == "" || m[3] == "")
}

func monthOf(word string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if word == full || word == full[:3] || word == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the pattern has digits only, or nothing
	return n
}

// layouts are how a moment can be written, from exact to short.
var layouts = []string{
	time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02 3:04pm", time.DateOnly,
}

// Instant reads one moment: RFC 3339, a date with or without a time, a time of
// today, "now", or seconds since 1970. Without an offset it is in now's time zone.
func Instant(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return now, true
	}
	upper := strings.ToUpper(text)
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, upper, now.Location()); err == nil {
			return t, true
		}
		if t, err := time.ParseInLocation(layout, strings.ToLower(text), now.Location()); err == nil {
			return t, true
		}
	}
	for _, layout := range []string{"15:04", "15:04:05", "3:04pm", "3pm", "3:04 pm", "3 pm"} {
		if c, err := time.Parse(layout, strings.ToLower(text)); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), c.Hour(), c.Minute(), c.Second(), 0, now.Location()), true
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) >= 9 && len(text) <= 11 {
		return time.Unix(n, 0).In(now.Location()), true
	}
	return time.Time{}, false
}

// Ago says how far t is from now in words: "in 3 days", "2 hours ago".
func Ago(t, now time.Time) string {
	d := t.Sub(now)
	if d < 0 {
		d = -d
	}
	text := ""
	for _, s := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / s.size); n > 0 {
			text = fmt.Sprintf("%d %s", n, s.name)
			if n > 1 {
				text += "s"
			}
			break
		}
	}
	switch {
	case text == "":
		return "now"
	case t.After(now):
		return "in " + text
	}
	return text + " ago"
}
