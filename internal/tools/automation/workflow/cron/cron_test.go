package cron

import (
	"strings"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expr, after, want string }{
		{"0 3 * * *", "2026-06-15 12:00", "06-16 03:00 CEST, 06-17 03:00 CEST"},
		{"*/15 9-10 * * *", "2026-06-15 10:31", "06-15 10:45 CEST, 06-16 09:00 CEST"},
		{"0 9 * * mon-fri", "2026-06-19 09:00", "06-22 09:00 CEST, 06-23 09:00 CEST"},
		{"0 0 * * 7", "2026-06-15 12:00", "06-21 00:00 CEST, 06-28 00:00 CEST"},
		{"0 0 1 jan,jul *", "2026-06-15 12:00", "07-01 00:00 CEST, 01-01 00:00 CET"},
		{"0 0 29 2 *", "2026-06-15 12:00", "02-29 00:00 CET, 02-29 00:00 CET"},
		{"0 0 13 * 5", "2026-06-01 12:00", "06-05 00:00 CEST, 06-12 00:00 CEST, 06-13 00:00 CEST"},
		{"@daily", "2026-06-15 12:00", "06-16 00:00 CEST"},
		{"5/20 0 * * *", "2026-06-15 12:00", "06-16 00:05 CEST, 06-16 00:25 CEST, 06-16 00:45 CEST, 06-17 00:05 CEST"},
		// The clocks skip 2:30 on March 29 and show it twice on October 25: once each.
		{"30 2 * * *", "2026-03-28 12:00", "03-29 03:30 CEST, 03-30 02:30 CEST"},
		{"30 2 * * *", "2026-10-24 12:00", "10-25 02:30 CEST, 10-26 02:30 CET"},
		{"*/30 * * * *", "2026-03-29 01:20", "03-29 01:30 CET, 03-29 03:00 CEST, 03-29 03:30 CEST"},
		{"*/30 * * * *", "2026-10-25 01:40", "10-25 02:00 CEST, 10-25 02:30 CEST, 10-25 02:00 CET, 10-25 02:30 CET, 10-25 03:00 CET"},
	} {
		s, err := Parse(c.expr, berlin)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		at, err := time.ParseInLocation("2006-01-02 15:04", c.after, berlin)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Count(c.want, ",") + 1 {
			at = s.Next(at)
			got = append(got, at.Format("01-02 15:04 MST"))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s after %s: %s, want %s", c.expr, c.after, text, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for expr, want := range map[string]string{
		"": "0 fields", "* * * *": "4 fields", "60 * * * *": "minute: \"60\" is not a number from 0 to 59", "* 24 * * *": "hour", "* * 0 * *": "day of the month",
		"* * * 13 *": "month", "* * * * 8": "day of the week", "a * * * *": "minute", "*/0 * * * *": "is not a step", "5-1 * * * *": "runs backward", "0 0 31 2 *": "never happens",
		"@reboot": "1 fields", "1,,2 * * * *": "minute",
	} {
		if _, err := Parse(expr, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", expr, err, want)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	s, err := Parse("30 2 * * *", berlin)
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, berlin)
	for b.Loop() {
		at = s.Next(at)
	}
}
