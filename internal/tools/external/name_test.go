package external

import (
	"net/http"
	"strings"
	"testing"
)

type httpRequest = http.Request

func TestNames(t *testing.T) {
	for _, c := range []struct{ server, own, want string }{
		{"git", "status", "mcp__git__status"},
		{"git_hub", "status", "mcp__git_hub__status"},
		{"x", "_y", "mcp__x___y"},
		{"x", "a.b", "mcp__x__a_b_"},
		{"x y", "a", "mcp__x_y-"},
		{"x__y", "z", "mcp__x_y-"},
		{"_x", "z", "mcp__x-"},
		{"数据", "z", "mcp__"},
		{strings.Repeat("s", 80), strings.Repeat("t", 120), "mcp__sssssss"},
		{"a", strings.Repeat("t", 57), "mcp__a__ttt"},
	} {
		got := Name(c.server, c.own)
		if !strings.HasPrefix(got, c.want) || len(got) > maxName || !plainTool.MatchString(got) {
			t.Errorf("%q of %q is %q", c.own, c.server, got)
		}
		if s, ok := serverIn(got); !ok || s != slug(c.server) {
			t.Errorf("%q is of %q, want %q", got, s, slug(c.server))
		}
	}
}

// FuzzNames looks for two tools of one name, and for names that nobody takes.
func FuzzNames(f *testing.F) {
	f.Add("x__y", "z", "x", "y__z")
	f.Add("a.b", "t", "a_b", "t")
	f.Add("a", "", "a_", "_")
	f.Fuzz(func(t *testing.T, s1, t1, s2, t2 string) {
		a, b := Name(s1, t1), Name(s2, t2)
		if a == b && (s1 != s2 || t1 != t2) && slug(s1) != slug(s2) {
			t.Errorf("%q of %q and %q of %q are both %q", t1, s1, t2, s2, a)
		}
		for _, n := range []string{a, b} {
			if len(n) > maxName || !plainTool.MatchString(n) {
				t.Errorf("the name %q", n)
			}
		}
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ntext\tö 漢 👩‍👩‍👧": "plain\ntext\tö 漢 👩‍👩‍👧",
		"a\U000E0041\U000E0042b": "ab",
		"a\u202Eb\u2066c":        "abc",
		"a\x1b[31mb\x00c":        "a[31mbc",
		"a\u200b\ufeff\u2060b":   "ab",
		"bad\xff":                "bad\uFFFD",
	} {
		if got, _ := clean(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}
