package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// momentTokens are the parts of a date format of moment.js, longest first, as
// Obsidian's settings use them.
var momentTokens = []struct {
	token string
	write func(time.Time) string
}{
	{"YYYY", func(t time.Time) string { return fmt.Sprintf("%04d", t.Year()) }},
	{"gggg", func(t time.Time) string { y, _ := localWeek(t); return fmt.Sprintf("%04d", y) }},
	{"GGGG", func(t time.Time) string { y, _ := t.ISOWeek(); return fmt.Sprintf("%04d", y) }},
	{"MMMM", func(t time.Time) string { return t.Format("January") }},
	{"dddd", func(t time.Time) string { return t.Format("Monday") }},
	{"DDDD", func(t time.Time) string { return fmt.Sprintf("%03d", t.YearDay()) }},
	{"MMM", func(t time.Time) string { return t.Format("Jan") }},
	{"ddd", func(t time.Time) string { return t.Format("Mon") }},
	{"DDD", func(t time.Time) string { return strconv.Itoa(t.YearDay()) }},
	{"SSS", func(t time.Time) string { return t.Format(".000")[1:] }},
	{"YY", func(t time.Time) string { return t.Format("06") }},
	{"MM", func(t time.Time) string { return t.Format("01") }},
	{"DD", func(t time.Time) string { return t.Format("02") }},
	{"Do", func(t time.Time) string { return ordinal(t.Day()) }},
	{"dd", func(t time.Time) string { return t.Format("Mon")[:2] }},
	{"ww", func(t time.Time) string { _, w := localWeek(t); return fmt.Sprintf("%02d", w) }},
	{"WW", func(t time.Time) string { _, w := t.ISOWeek(); return fmt.Sprintf("%02d", w) }},
	{"HH", func(t time.Time) string { return t.Format("15") }},
	{"hh", func(t time.Time) string { return t.Format("03") }},
	{"mm", func(t time.Time) string { return t.Format("04") }},
	{"ss", func(t time.Time) string { return t.Format("05") }},
	{"ZZ", func(t time.Time) string { return t.Format("-0700") }},
	{"M", func(t time.Time) string { return t.Format("1") }},
	{"D", func(t time.Time) string { return t.Format("2") }},
	{"d", func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) }},
	{"E", func(t time.Time) string { return strconv.Itoa((int(t.Weekday())+6)%7 + 1) }},
	{"w", func(t time.Time) string { _, w := localWeek(t); return strconv.Itoa(w) }},
	{"W", func(t time.Time) string { _, w := t.ISOWeek(); return strconv.Itoa(w) }},
	{"Q", func(t time.Time) string { return strconv.Itoa((int(t.Month())-1)/3 + 1) }},
	{"H", func(t time.Time) string { return strconv.Itoa(t.Hour()) }},
	{"h", func(t time.Time) string { return t.Format("3") }},
	{"m", func(t time.Time) string { return t.Format("4") }},
	{"s", func(t time.Time) string { return t.Format("5") }},
	{"A", func(t time.Time) string { return t.Format("PM") }},
	{"a", func(t time.Time) string { return t.Format("pm") }},
	{"X", func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }},
	{"x", func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }},
	{"Z", func(t time.Time) string { return t.Format("-07:00") }},
}

// Moment writes a date in a format of moment.js. Text in brackets stays as it
// is, without them.
func Moment(t time.Time, format string) string {
	var b strings.Builder
	for format != "" {
		if format[0] == '[' {
			if end := strings.IndexByte(format, ']'); end > 0 {
				b.WriteString(format[1:end])
				format = format[end+1:]
				continue
			}
		}
		found := false
		for _, m := range momentTokens {
			if rest, ok := strings.CutPrefix(format, m.token); ok {
				b.WriteString(m.write(t))
				format, found = rest, true
				break
			}
		}
		if !found {
			b.WriteByte(format[0])
			format = format[1:]
		}
	}
	return b.String()
}

// localWeek is the week of the year as moment counts it in English: weeks begin
// on Sunday, and the first is the one with January 1.
func localWeek(t time.Time) (year, week int) {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	end := day.AddDate(0, 0, 6-int(day.Weekday())) // the week's Saturday
	jan1 := time.Date(end.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	return end.Year(), (end.YearDay()+int(jan1.Weekday())-1)/7 + 1
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
