package dataview

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 6, 17, 10, 30, 0, 0, time.Local) // a Wednesday

func sampleRecord() *Record {
	r := NewRecord("Books/Dune.md")
	r.Tags = []string{"book/novel"}
	r.Set("rating", Of(int64(5)))
	r.Set("Due Date", Of("2026-06-20"))
	r.Set("author", Of("[[Frank Herbert|Frank]]"))
	r.Set("topics", Of([]any{"desert", "Power"}))
	r.Set("size", Of(map[string]any{"pages": int64(412)}))
	file := NewRecord(r.Path)
	file.Set("name", "Dune")
	file.Set("path", r.Path)
	file.Set("tags", []Value{"#book", "#book/novel"})
	r.Set("file", file)
	return r
}

func evaluate(text string) (string, error) {
	e, err := parseExpr(text)
	if err != nil {
		return "", err
	}
	cost := 1000
	v, err := scope{now: now, cost: &cost}.eval(e, sampleRecord())
	return Text(v), err
}

func TestExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"1 + 2 * 3 - 4 / 2":                      "5",
		"(1 + 2) * 3 % 4":                        "1",
		"-rating + 1":                            "-4",
		"1 / 0":                                  "",
		"5 < 5 or 5 > 5":                         "false",
		"5 <= 5 and 5 >= 5 and 4 < 5":            "true",
		`"a" + 1`:                                "a1",
		"rating = 5 and not (rating > 5)":        "true",
		"rating >= 5 && !false || missing":       "true",
		"missing < 3":                            "false",
		"missing > 3":                            "false",
		"missing = null":                         "true",
		`"10" > 9`:                               "false",
		"due-date > date(today)":                 "true",
		"due-date - date(2026-06-18)":            "2 days",
		"date(2026-01-31) + dur(1 week, 2 days)": "2026-02-09",
		"date(2026-06-17) - dur(1 year)":         "2025-06-17",
		"dur(90 minutes) > dur(1 hour)":          "true",
		"date(sow)":                              "2026-06-15",
		"date(eom)":                              "2026-06-30",
		"date(now)":                              "2026-06-17T10:30:00",
		`date("2026-01-02").month`:               "1",
		"due-date.weekday":                       "6",
		"author = [[Frank Herbert]]":             "true",
		"author":                                 "[[Frank Herbert|Frank]]",
		"size.pages + 1":                         "413",
		`size["pages"]`:                          "412",
		"topics[1]":                              "Power",
		"length(topics) + topics.length":         "4",
		`contains(topics, "sert")`:               "true",
		`econtains(topics, "sert")`:              "false",
		`icontains(topics, "power")`:             "true",
		`topics.containsAny("x", "desert")`:      "true",
		`contains(file.name, "un")`:              "true",
		`lower("ABC") + upper('x"y')`:            `abcX"Y`,
		`"a\"b"`:                                 `a"b`,
		"default(missing, 3)":                    "3",
		`choice(rating > 3, "yes", "no")`:        "yes",
		`startswith("tea", "te") and endswith("tea", "a")`: "true",
		`regexmatch("D.n", file.name)`:                     "false",
		`regextest("D.n", file.name)`:                      "true",
		"sum([1, 2, 3]) + min(4, 5) + max([6, 7])":         "17",
		"average([1, 2])":                                  "1.5",
		"round(2.345, 2)":                                  "2.35",
		`join(topics, "/")`:                                "desert/Power",
		`file.hasTag("BOOK") and !file.hasTag("film")`:     "true",
		`file.inFolder("books") and !file.inFolder("Boo")`: "true",
		"note.rating":                                      "5",
		"#book":                                            "#book",
		"true":                                             "true",
	} {
		if got, err := evaluate(text); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestMistakesPointAtTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "line 1, column 1: this is not a query",
		"SELECT x":                    `column 1 at "SELECT x"`,
		"TABLE\na,\n  b $ c":          `line 3, column 5 at "$ c"`,
		"LIST FROM":                   "this is not a source",
		"LIST FROM rating":            `column 11 at "rating"`,
		"LIST FROM (#a or #b":         "parenthesis is not closed",
		"LIST FROM outgoing(x)":       "a link is missing",
		"LIST WHERE a FROM #b":        "FROM is not expected here",
		"LIST WHERE (a":               "the parenthesis is not closed",
		"LIST WHERE foo(a)":           "the function foo is not supported",
		"LIST WHERE contains(a)":      "contains has 1 arguments",
		`LIST WHERE "a`:               "the quote is not closed",
		"LIST WHERE [[a":              "the link is not closed",
		"LIST WHERE any(a, x => x)":   "the function any is not supported",
		"LIST WHERE contains(a => a)": "=>",
		"LIST LIMIT x":                "LIMIT needs a whole number",
		"LIST GROUP a":                "BY is missing",
		"TABLE a AS":                  "a name is missing after AS",
		"TABLE WITHOUT a":             "ID is missing",
		"TASK x":                      "a clause is expected here",
		strings.Repeat("(", 3000):     "this is not a query",
		"LIST WHERE " + strings.Repeat("(", 3000):  "nested too deeply",
		"LIST WHERE " + strings.Repeat("!", 3000):  "nested too deeply",
		"LIST WHERE a" + strings.Repeat(".b", 900): "nested too deeply",
		"LIST FROM " + strings.Repeat("-", 900):    "nested too deeply",
		strings.Repeat("x", 9000):                  "the limit is 8000",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestSources(t *testing.T) {
	r := sampleRecord()
	links := func(string) (map[string]bool, map[string]bool, error) {
		return map[string]bool{r.Path: true}, map[string]bool{}, nil
	}
	for text, want := range map[string]bool{
		"#book": true, "#book/novel": true, "#boo": false, `"Books"`: true, `"Books/Dune"`: true, `"Book"`: false,
		"[[x]]": true, "outgoing([[x]])": false, "-#book": false, "#a or #book": true, "#book and -\"Books\"": false, "(#a or #book) and [[x]]": true,
	} {
		q, err := Parse("LIST FROM " + text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got, err := q.IsFrom(r, links); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestGroupsAreAsUntrustedAsTheirRows(t *testing.T) {
	outside := sampleRecord()
	outside.Untrusted = true
	q, err := Parse("LIST GROUP BY rating")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Run(t.Context(), []*Record{sampleRecord(), outside}, now)
	if err != nil || len(rows) != 1 || !rows[0].Untrusted {
		t.Errorf("%+v, %v", rows, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`TABLE rating AS "r", file.name FROM #a and -"b" or outgoing([[c]]) WHERE a >= 1 SORT b DESC, c LIMIT 3`,
		"LIST WITHOUT ID rows.x GROUP BY author AS a", "TASK WHERE !completed and due < date(today) + dur(1 week)",
		"TABLE t FLATTEN topics AS t", `LIST WHERE contains(topics, "x") or -1 % 2 = [1, "a"][0]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			return
		}
		q.Needs()
		rows, err := q.Run(t.Context(), []*Record{sampleRecord()}, now)
		if err != nil {
			return
		}
		for _, r := range rows {
			for _, v := range r.Values {
				JSON(v)
			}
		}
	})
}

func FuzzParseBase(f *testing.F) {
	f.Add("filters:\n  and:\n    - file.hasTag(\"a\")\nformulas:\n  x: 1 + y\nviews:\n  - type: table\n    name: T\n    order: [file.name, formula.x]\n    sort: [{property: y, direction: DESC}]\n")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBase([]byte(s), "")
		if err != nil {
			return
		}
		b.Needs()
		_, _ = b.Run(t.Context(), []*Record{sampleRecord()}, now)
	})
}
