package search

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/index"
)

var today = time.Date(2026, 3, 15, 14, 30, 0, 0, time.Local)

func day(y int, m time.Month, d int) int64 { return time.Date(y, m, d, 0, 0, 0, 0, time.Local).Unix() }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Query
	}{
		{"", Query{}},
		{"   \t\n", Query{}},
		{"green tea", Query{Text: "green tea", Words: []string{"green", "tea"}}},
		{`"green tea" leaf`, Query{Text: "green tea leaf", Words: []string{"leaf"}, Phrases: []string{"green tea"}}},
		{`""`, Query{}},
		{`tea -coffee -"hot milk"`, Query{Text: "tea", Words: []string{"tea"}, Not: []string{"coffee", "hot milk"}}},
		{`“green tea” -“hot milk” „leaf“ “open`, Query{Text: "green tea leaf “open", Words: []string{"“open"}, Phrases: []string{"green tea", "leaf"}, Not: []string{"hot milk"}}},
		{"tag:“two words” tag:tea/", Query{Filter: index.Filter{Tags: []string{"two words", "tea"}}}},
		{"a - b -5 --x", Query{Text: "a - b -5 --x", Words: []string{"a", "-", "b", "-5", "--x"}}},
		{"tag:tea TAG:#Green/One -tag:x #leaf -#stem", Query{Filter: index.Filter{Tags: []string{"tea", "Green/One", "leaf"}, NoTags: []string{"x", "stem"}}}},
		{"#1 C#", Query{Text: "#1 C#", Words: []string{"#1", "C#"}}},
		{`tag:"two words"`, Query{Filter: index.Filter{Tags: []string{"two words"}}}},
		{"path:a/*.md -path:old folder:work -folder:/x/", Query{Filter: index.Filter{Globs: []string{"a/*.md"}, NoGlobs: []string{"old", "x/*"}, Folders: []string{"work"}}}},
		{"type:Claim -type:Note", Query{Filter: index.Filter{Types: []string{"Claim"}, NoTypes: []string{"Note"}}}},
		{"after:2026-01-31 before:2026-02", Query{Filter: index.Filter{After: day(2026, 1, 31), Before: day(2026, 2, 1)}}},
		{"after:2025 before:today", Query{Filter: index.Filter{After: day(2025, 1, 1), Before: day(2026, 3, 15)}}},
		{"after:Yesterday", Query{Filter: index.Filter{After: day(2026, 3, 14)}}},
		{"[status]", Query{Filter: index.Filter{Props: []index.PropFilter{{Key: "status"}}}}},
		{`[status: open] -[rating >= 4] [x="y z"]`, Query{Filter: index.Filter{Props: []index.PropFilter{
			{Key: "status", Op: "=", Value: "open"}, {Key: "rating", Op: ">=", Value: "4", Not: true}, {Key: "x", Op: "=", Value: "y z"}}}}},
		{"[a<1][b>2]", Query{Filter: index.Filter{Props: []index.PropFilter{{Key: "a", Op: "<", Value: "1"}, {Key: "b", Op: ">", Value: "2"}}}}},
		{"[status:]", Query{Filter: index.Filter{Props: []index.PropFilter{{Key: "status"}}}}},
		{"[[Tea]]", Query{Text: "[[Tea]]", Words: []string{"[[Tea]]"}}},
		{"http://x.org tags:no", Query{Text: "http://x.org tags:no", Words: []string{"http://x.org", "tags:no"}}},
		{`5" pipe`, Query{Text: `5" pipe`, Words: []string{`5"`, "pipe"}}},
		{"日本 お茶", Query{Text: "日本 お茶", Words: []string{"日本", "お茶"}}},
	} {
		got, err := Parse(c.in, today)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Parse(%q)\n got %+v %v\nwant %+v", c.in, got, err, c.want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, in := range []string{
		`"never closed`, `-"never closed`, "tag:", "tag: tea", `tag:""`, "before:soon", "after:2026-13-01", "-before:2026", "[never", "[]", "[:x]", "[ = 3]",
		strings.Repeat("tag:x ", 51), `"` + strings.Repeat("word ", 1000) + `"`, strings.Repeat("-x ", 2000),
	} {
		_, err := Parse(in, today)
		if fault.Of(err) != fault.Invalid || !strings.HasPrefix(fmt.Sprint(err), "query: ") || !strings.Contains(err.Error(), "; ") || len(err.Error()) > 200 {
			t.Errorf("Parse(%.60q): %v", in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`tea "a b" -c tag:x path:"y z" [k>=1] after:2026`, "[[x]] #tag -#no \xff \"", "type:ÄÖ before:yesterday -[", "日本-語 'x' -\""} {
		f.Add(s)
	}
	f.Add(strings.Repeat("one ", 500) + strings.Repeat("a1-b2-", 500))
	var parts strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&parts, "w%d-", i)
	}
	f.Add(parts.String())
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s, today)
		if err != nil {
			if fault.Of(err) != fault.Invalid {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		again, err := Parse(s, today)
		if err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%q is read in two ways", s)
		}
		for _, w := range q.Words {
			if w == "" || strings.TrimSpace(w) != w {
				t.Errorf("%q has the word %q", s, w)
			}
			if !strings.Contains(s, w) {
				t.Errorf("%q: %q was made up", s, w)
			}
		}
		if q.conditions() > maxConditions || len(grams(content(q.bounded().Words))) > maxWords {
			t.Errorf("%q is not bounded", s)
		}
	})
}

func TestContent(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"the green tea", "green tea"},
		{"what is the", "what is the"}, // nothing else is left
		{"father's Abdul-Aziz’s tea tea?", "father Abdul Aziz tea"},
		{"cafe\u0301", "cafe\u0301"},
		{"!!! ???", ""},
	} {
		if got := strings.Join(content(strings.Fields(c.in)), " "); got != c.want {
			t.Errorf("content(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, same := range [][]string{
		{"run", "runs", "running"}, {"tea", "teas"}, {"story", "stories"}, {"class", "classes"}, {"plan", "planned", "planning", "plans"},
		{"quick", "quickly"}, {"like", "liked", "likes"}, {"call", "calls", "calling", "called"}, {"Größe"}, {"bus"}, {"茶"}, {"ed"}, {""},
	} {
		for _, w := range same {
			if stem(w) != stem(same[0]) {
				t.Errorf("stem(%q) = %q, stem(%q) = %q", w, stem(w), same[0], stem(same[0]))
			}
		}
	}
	for _, apart := range [][2]string{{"tea", "team"}, {"bus", "bu"}, {"class", "clas"}, {"thing", "th"}} {
		if stem(apart[0]) == stem(apart[1]) {
			t.Errorf("%q and %q are one word", apart[0], apart[1])
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"tea", "tea", 0}, {"tea", "te", 1}, {"tea", "teas", 1}, {"tea", "toa", 1}, {"tea", "eta", 1}, {"tea", "", 3}, {"", "tea", 3},
		{"chrisanthemum", "chrysanthemum", 1}, {"chrisanthenum", "chrysanthemum", 2}, {"größe", "grösse", 2}, {"茶道", "道茶", 1}, {"short", "very much longer", 4},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("filler words stand here ", 40)
	for _, c := range []struct{ query, text, marked, begins, ends string }{
		{"tea", "Green tea is a tea.", "tea tea", "Green", "tea."},
		{"running", "He runs and ran a run", "runs run", "He", "run"},
		{"tea", long + "green tea leaf " + long, "tea", "… ", " …"},
		{"tea", "tea " + long, "tea", "tea", " …"},
		{"nothing", long, "", "filler", " …"},
		{"茶", long + "お茶を飲む " + long, "茶", "… ", " …"},
		{"日本茶道文化", "日本的茶道文化。日出，道路，文化", "日本 茶道文化 文化", "日本", "文化"}, // neither 日 nor 道 alone
		{"喝茶 tea", "喝\n茶，喝水，Tea", "喝\n茶 Tea", "喝", "Tea"},
		{"녹차를 마신다", "따뜻한 녹차를 자주 마신다", "녹차를 마신다", "따", "다"},
		{"ดื่มชา", "ฉันชอบดื่มชาเขียว", "ดื่มชา", "ฉัน", "ว"},
		{"iPhone手机", "他的iPhone手机", "iPhone 手机", "他", "机"},
		{`"green tea" cup`, long + "green tea " + long + " cup of green tea " + long, "cup green tea", "… ", " …"},
		{"tea", strings.Repeat("é", 500) + " tea " + strings.Repeat("茶", 500), "tea", "… ", " …"},
		{"tea", "", "", "", ""},
	} {
		q, err := Parse(c.query, today)
		if err != nil {
			t.Fatal(err)
		}
		got, marks := newAsked(q).excerpt(c.text)
		var marked []string
		for _, m := range marks {
			marked = append(marked, got[m.Start:m.End])
		}
		if strings.Join(marked, " ") != c.marked || !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) || len(got) > excerptBytes+20 {
			t.Errorf("%q in %.30q: %q marks %q", c.query, c.text, got, marked)
		}
	}
}

// FuzzExcerpt: marks lie in the excerpt, in order, on whole words that were
// asked for, and what is shown is from the text.
func FuzzExcerpt(f *testing.F) {
	f.Add("tea", "green tea")
	f.Add("茶道文化 ชาเขียว", "日本的茶道文化 ฉันชอบดื่มชาเขียว 文化道\n茶道")
	f.Add("茶 run", strings.Repeat("お茶 running é ", 60))
	f.Add("a", strings.Repeat("\xff a \xe8\x8c", 100))
	f.Fuzz(func(t *testing.T, query, text string) {
		a := newAsked(Query{Words: strings.Fields(query)})
		got, marks := a.excerpt(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q is cut inside a character", got)
		}
		inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(got, "… "), " …"))
		if !strings.Contains(text, inner) {
			t.Fatalf("%q is not from the text", got)
		}
		if len(got) > excerptBytes+20 {
			t.Fatalf("%d bytes", len(got))
		}
		at := 0
		for _, m := range marks {
			if m.Start < at || m.End <= m.Start || m.End > len(got) {
				t.Fatalf("%v of %q", marks, got)
			}
			at = m.End
			wanted := false
			a.each(got[m.Start:m.End], func(int, int, int) { wanted = true })
			if !wanted {
				t.Fatalf("%q was not asked for", got[m.Start:m.End])
			}
			begins, ends := false, false
			eachWord(got, func(_ string, start, end int) { begins, ends = begins || start == m.Start, ends || end == m.End })
			if !begins || !ends {
				t.Fatalf("%q of %q is no whole word", got[m.Start:m.End], got)
			}
		}
	})
}

// TestALongQuestionIsReadOnce would not end if parts of a question were read
// again and again.
func TestALongQuestionIsReadOnce(t *testing.T) {
	for _, piece := range []string{"a ", "„a ", "字", "a-b ", "[[a "} {
		q, err := Parse(strings.Repeat(piece, 50_000), time.Now())
		if err != nil || len(q.Words) == 0 {
			t.Errorf("%q: %d words, %v", piece, len(q.Words), err)
		}
	}
}
