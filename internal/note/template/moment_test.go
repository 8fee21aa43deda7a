package template

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	at := time.Date(2026, 1, 3, 4, 5, 6, 7e6, time.UTC) // a Saturday
	for format, want := range map[string]string{
		"YYYY-MM-DD":              "2026-01-03",
		"YY/M/D":                  "26/1/3",
		"dddd, MMMM Do YYYY":      "Saturday, January 3rd 2026",
		"ddd dd d E MMM":          "Sat Sa 6 6 Jan",
		"HH:mm:ss.SSS h A a":      "04:05:06.007 4 AM am",
		"gggg-[W]ww":              "2026-W01",
		"GGGG-[W]WW":              "2026-W01",
		"[Week of] w, Q DDDD":     "Week of 1, 1 003",
		"YYYY/MM-MMMM/YYYY-MM-DD": "2026/01-January/2026-01-03",
		"[open":                   "[open",
		"茶 D":                     "茶 3",
	} {
		if got := Moment(at, format); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
	// Weeks as moment counts them in English: they begin on Sunday.
	for day, want := range map[string]string{"2025-12-27": "2025-52", "2025-12-28": "2026-01", "2026-01-04": "2026-02", "2023-01-01": "2023-01", "2022-12-31": "2022-53"} {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := Moment(d, "gggg-ww"); got != want {
			t.Errorf("%s: %s, want %s", day, got, want)
		}
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 23: "23rd", 31: "31st"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
