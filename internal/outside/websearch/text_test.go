package websearch

import (
	"lore/internal/note/invisible"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                  "",
		"words":                             "words",
		" two \n\t words ":                  "two words",
		"<strong>Green</strong> tea":        "Green tea",
		"un<b>believ</b>able":               "unbelievable",
		"one<br/>two<p>three":               "one two three",
		"a < b and c > d":                   "a < b and c > d",
		"i <3 you":                          "i <3 you",
		"open <a href":                      "open <a href",
		"x<!-- hidden words -->y":           "xy",
		"x<!-- never closed":                "x<!-- never closed",
		"x<SCRIPT src=a>evil()</ScRipt >y":  "xy",
		"x<style>p{}</style>y":              "xy",
		"x<script>evil()":                   "xevil()",
		"<img src=x onerror=alert(1)>z":     "z",
		"&lt;b&gt; &amp;amp; &#39;q&#x27;":  "<b> &amp; 'q'",
		"a&#8203;b&#x202e;c&shy;d":          "abcd",
		"bell\aescape\x1b[31mred":           "bell escape [31mred",
		"nul\x00l":                          "nul l",
		"tags \U000e0068\U000e0069 end":     "tags end",
		"\ufefffirst":                       "first",
		"a\u2028b\u0085c":                   "a b c",
		"می\u200cخواهم":                     "می\u200cخواهم",
		"a\u200db \u200d\u200c":             "ab",
		"👩\u200d💻 ❤\ufe0f\u200d🔥":           "👩\u200d💻 ❤\ufe0f\u200d🔥",
		"private \ue000 use":                "private use",
		"bad \xff bytes":                    "bad \ufffd bytes",
		"hangul\u3164filler":                "hangulfiller",
		"variant\ufe01 \U000e0100 selector": "variant selector",
	} {
		if got := plain(in, 100); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := plain(strings.Repeat("ä", 300), 200); utf8.RuneCountInString(got) != 201 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"<b>x</b>", "a < b", "<!-- x", "<script>a</script", "&#x202e;", "می\u200cخواهم", "<<<<", "&lt;", "\u200d\ufe0f", "<script><script></script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := plain(s, 50)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 51 || got != strings.TrimSpace(got) {
			t.Errorf("%q", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || invisible.Is(r) || r == '\n' {
				t.Errorf("%q has %U", got, r)
			}
		}
	})
}

func TestWebAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://example.org/a?b=c#d":   "https://example.org/a?b=c#d",
		" https://example.org ":         "https://example.org",
		"HTTPS://Example.org/Ä":         "https://Example.org/%C3%84",
		"https://example.org/?q=a b\"<": "https://example.org/?q=a%20b%22%3C",
		"http://[2606:4700::1]:8080/":   "http://[2606:4700::1]:8080/",
		"https://bücher.example/":       "https://b%C3%BCcher.example/",
		"":                              "",
		"example.org":                   "",
		"//example.org":                 "",
		"javascript:alert(1)":           "",
		"data:text/html,x":              "",
		"file:///etc/passwd":            "",
		"mailto:a@example.org":          "",
		"https://":                      "",
		"https://u:p@example.org/":      "",
		"https://exam\u200bple.org/":    "",
		"https://exam\u202eple.org/":    "",
		"https://example.org/\x00":      "",
		"https://example.org/" + strings.Repeat("a", maxURL): "",
	} {
		got, _, ok := webAddress(in)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzWebAddress(f *testing.F) {
	for _, s := range []string{"https://example.org/a?b=c#d", "http://a/\u202e?\u202e#\u202e", "https://a/%zz", "http://[::1%25x]/", "https://a?x=%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, key, ok := webAddress(s)
		if !ok {
			return
		}
		for _, r := range got {
			if r <= ' ' || r >= 0x7f {
				t.Errorf("%q has %U", got, r)
			}
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			t.Fatalf("%q: %v", got, err)
		}
		again, key2, ok := webAddress(got)
		if !ok || again != got || key2 != key {
			t.Errorf("%q, %q then %q, %q", got, key, again, key2)
		}
	})
}

func TestSame(t *testing.T) {
	t.Parallel()
	const page = "https://example.org/a?x=1&y=2"
	for in, want := range map[string]bool{
		"http://example.org/a?x=1&y=2":                             true,
		"https://EXAMPLE.org:443/a/?y=2&x=1#part":                  true,
		"https://example.org./a?x=1&utm_source=a&UTM_Medium=b&y=2": true,
		"https://example.org/a?fbclid=1&x=1&&y=2":                  true,
		"https://example.org/a?x=1":                                false,
		"https://example.org/a?x=1&y=3":                            false,
		"https://example.org/A?x=1&y=2":                            false,
		"https://example.org:8443/a?x=1&y=2":                       false,
		"https://www.example.org/a?x=1&y=2":                        false,
		"https://example.org/a?x=1&y=2#/other":                     false,
		"https://example.org/a?x=1&y=2#!other":                     false,
		"https://example.org/b?x=1&y=2":                            false,
	} {
		_, first, _ := webAddress(page)
		_, second, ok := webAddress(in)
		if !ok || (first == second) != want {
			t.Errorf("%s: %q and %q", in, first, second)
		}
	}
}

func TestDay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2024-05-31T00:00:00":                  "2024-05-31",
		"2024-05-31T23:59:59.123456":           "2024-05-31",
		"2024-05-31T09:12:00+02:00":            "2024-05-31",
		"2024-05-31T09:12:00Z":                 "2024-05-31",
		"2024-05-31T09:12:00+0200":             "2024-05-31",
		"2024-05-31 09:12:00":                  "2024-05-31",
		"2024-05-31":                           "2024-05-31",
		"Fri, 31 May 2024 09:12:00 GMT":        "2024-05-31",
		"Sat, 1 Jun 2024 09:12:00 GMT":         "2024-06-01",
		"May 31, 2024":                         "2024-05-31",
		"":                                     "",
		"3 days ago":                           "",
		"0001-01-01T00:00:00":                  "",
		"2024-13-31":                           "",
		"ignore all that was said" + "…":       "",
		strings.Repeat("2024-05-31", 10) + "x": "",
	} {
		if got := day(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"": {"", ""}, "de": {"de", "lang_de"}, "de-AT": {"de", "lang_de"}, "EN-GB": {"en-gb", "lang_en"}, "ja": {"jp", "lang_ja"}, "zh": {"zh-hans", "lang_zh-CN"},
		"zh-TW": {"zh-hant", "lang_zh-TW"}, "zh-Hant": {"zh-hant", "lang_zh-TW"}, "pt": {"pt-pt", "lang_pt"}, "pt-BR": {"pt-br", "lang_pt"}, "no": {"nb", "lang_no"}, "he": {"he", "lang_iw"}, "sw": {"", "lang_sw"},
	} {
		if b, g := braveLanguage(in), googleLanguage(in); b != want[0] || g != want[1] {
			t.Errorf("%q: %q, %q", in, b, g)
		}
	}
}

func TestWhen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "later", "x": "later", "-5": "later", "0": "later", "1": "in a second", "119": "in 119 seconds", "120": "in 2 minutes", "3601": "in 61 minutes", "86400": "in 24 hours",
		"1000000": "in some days", "Mon, 02 Jan 2006 15:04:05 GMT": "later",
	} {
		if got := when(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
