package timespan

import (
	"testing"
	"time"
)

// TestParse reads at a Tuesday in summer time: 2026-06-16 10:30 in Berlin.
func TestParse(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data here")
	}
	now := time.Date(2026, 6, 16, 10, 30, 0, 0, berlin)
	for expression, want := range map[string]string{
		"today":                    "2026-06-16 00:00 2026-06-17 00:00",
		"Yesterday":                "2026-06-15 00:00 2026-06-16 00:00",
		"tomorrow":                 "2026-06-17 00:00 2026-06-18 00:00",
		"the day before yesterday": "2026-06-14 00:00 2026-06-15 00:00",
		"this week":                "2026-06-15 00:00 2026-06-22 00:00",
		"last week":                "2026-06-08 00:00 2026-06-15 00:00",
		"next week":                "2026-06-22 00:00 2026-06-29 00:00",
		"last month":               "2026-05-01 00:00 2026-06-01 00:00",
		"this quarter":             "2026-04-01 00:00 2026-07-01 00:00",
		"last quarter":             "2026-01-01 00:00 2026-04-01 00:00",
		"last year":                "2025-01-01 00:00 2026-01-01 00:00",
		"in the last 7 days":       "2026-06-09 10:30 2026-06-16 10:30",
		"past two weeks":           "2026-06-02 10:30 2026-06-16 10:30",
		"next 3 hours":             "2026-06-16 10:30 2026-06-16 13:30",
		"3 days ago":               "2026-06-13 00:00 2026-06-14 00:00",
		"an hour ago":              "2026-06-16 09:30 2026-06-16 09:30",
		"2 weeks from now":         "2026-06-30 00:00 2026-07-01 00:00",
		"past 4 months":            "2026-02-16 10:30 2026-06-16 10:30",
		"monday":                   "2026-06-15 00:00 2026-06-16 00:00",
		"tuesday":                  "2026-06-16 00:00 2026-06-17 00:00",
		"wednesday":                "2026-06-10 00:00 2026-06-11 00:00",
		"last Tuesday":             "2026-06-09 00:00 2026-06-10 00:00",
		"next Friday":              "2026-06-19 00:00 2026-06-20 00:00",
		"this Sunday":              "2026-06-21 00:00 2026-06-22 00:00",
		"last weekend":             "2026-06-13 00:00 2026-06-15 00:00",
		"2026-03-02":               "2026-03-02 00:00 2026-03-03 00:00",
		"2026-03":                  "2026-03-01 00:00 2026-04-01 00:00",
		"2026":                     "2026-01-01 00:00 2027-01-01 00:00",
		"2026-W01":                 "2025-12-29 00:00 2026-01-05 00:00",
		"Q1 2026":                  "2026-01-01 00:00 2026-04-01 00:00",
		"2025-Q4":                  "2025-10-01 00:00 2026-01-01 00:00",
		"March 2026":               "2026-03-01 00:00 2026-04-01 00:00",
		"last november":            "2025-11-01 00:00 2025-12-01 00:00",
		"next march":               "2027-03-01 00:00 2027-04-01 00:00",
		"May 4th":                  "2026-05-04 00:00 2026-05-05 00:00",
		"4 May 2025":               "2025-05-04 00:00 2025-05-05 00:00",
		"2026-03-01 to 2026-03-15": "2026-03-01 00:00 2026-03-16 00:00",
		"between May and June":     "2026-05-01 00:00 2026-07-01 00:00",
		"from monday to tuesday":   "2026-06-15 00:00 2026-06-17 00:00",
		"since Monday":             "2026-06-15 00:00 2026-06-16 10:30",
		"since 2026-03-28":         "2026-03-28 00:00 2026-06-16 10:30", // over the change to summer time
		"year to date":             "2026-01-01 00:00 2026-06-16 10:30",
		"2026-06-16 08:00 to now":  "2026-06-16 08:00 2026-06-16 10:30",
	} {
		s, err := Parse(expression, now)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got := s.Start.Format("2006-01-02 15:04 ") + s.End.Format("2006-01-02 15:04"); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
	for _, bad := range []string{"", "soon", "last", "0 days ago", "13th floor", "2026-02-30", "2026-13", "2026-W60", "june to may 2025", "last last week", "monday to", "99999999999999 days ago", "Feb 30"} {
		if s, err := Parse(bad, now); err == nil {
			t.Errorf("%q: %v", bad, s)
		}
	}
}

// A day has 23 hours when summer time begins.
func TestShortDay(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data here")
	}
	s, err := Parse("today", time.Date(2026, 3, 29, 12, 0, 0, 0, berlin))
	if err != nil || s.End.Sub(s.Start) != 23*time.Hour {
		t.Errorf("%v %v", s, err)
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 6, 16, 10, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{0: "now", -time.Hour: "1 hour ago", 50 * time.Hour: "in 2 days", -400 * 24 * time.Hour: "1 year ago", 3 * time.Minute: "in 3 minutes"} {
		if got := Ago(now.Add(d), now); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"last week", "2026-W12", "between may and june", "past 3 days", "q1", "since since since"} {
		f.Add(s)
	}
	now := time.Date(2026, 6, 16, 10, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if span, err := Parse(s, now); err == nil && span.End.Before(span.Start) {
			t.Errorf("%q: %v", s, span)
		}
	})
}
