package notes

import (
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// FuzzReplace: whatever is searched for, a found place is one place, and every
// byte outside of it stays.
func FuzzReplace(f *testing.F) {
	for _, s := range [][3]string{
		{"one\ntwo\n", "two", "three"}, {"a  b\r\nc\r\n", "a b\nc", "x\ny"}, {"x\nx\n", "x", "y"}, {"", "a", ""},
		{"# T\n=====\nbody", "T\n=====\nbody", "new"}, {"茶 茶\n", "茶\u00a0茶", "tea"}, {"a\n\n b\n", "\na\n\nb\n\n", "c"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, search, replace string) {
		n := note.Parse("a.md", []byte(text))
		if n.ReadOnly || search == "" {
			return
		}
		p, err := replaceIn(n, search, replace)
		if err != nil {
			if k := fault.Of(err); k != fault.NotFound && k != fault.Ambiguous && k != fault.Invalid {
				t.Fatalf("%q in %q: %v", search, text, err)
			}
			return
		}
		after, err := change.Splice(n.Text(), p)
		if err != nil {
			t.Fatalf("%q in %q: %v", search, text, err)
		}
		if !strings.HasPrefix(after, n.Text()[:p.Start]) || !strings.HasSuffix(after, n.Text()[p.End:]) {
			t.Fatalf("%q in %q became %q", search, text, after)
		}
		// The place holds the words that were searched for.
		if a, b := strings.Fields(n.Text()[p.Start:p.End]), strings.Fields(lineEnds(search, "\n")); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("found %q for %q", n.Text()[p.Start:p.End], search)
		}
	})
}

// FuzzBlocks: a text is either refused, or blocks whose searches are not empty.
func FuzzBlocks(f *testing.F) {
	f.Add("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
	f.Add("------- SEARCH\r\na\r\n=======\r\n+++++++ REPLACE")
	f.Add("<<<<<<< SEARCH\nT\n=====\n=======\nx\n>>>>>>> REPLACE")
	f.Fuzz(func(t *testing.T, diff string) {
		blocks, err := parseBlocks(diff)
		if err != nil {
			if fault.Of(err) != fault.Invalid {
				t.Fatalf("%q: %v", diff, err)
			}
			return
		}
		for _, b := range blocks {
			if strings.TrimSpace(b.search) == "" {
				t.Fatalf("%q has an empty search", diff)
			}
		}
	})
}

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
		if got := moment(at, format); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
	// Weeks as moment counts them in English: they begin on Sunday.
	for day, want := range map[string]string{"2025-12-27": "2025-52", "2025-12-28": "2026-01", "2026-01-04": "2026-02", "2023-01-01": "2023-01", "2022-12-31": "2022-53"} {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := moment(d, "gggg-ww"); got != want {
			t.Errorf("%s: %s, want %s", day, got, want)
		}
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 23: "23rd", 31: "31st"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := fillTemplate("# {{title}} {{date:YY}} {{ time }} {{date}} {{other}}", "T", at); got != "# T 26 04:05 2026-01-03 {{other}}" {
		t.Errorf("%q", got)
	}
}
