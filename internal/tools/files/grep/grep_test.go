package grep

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lines are the numbers of the lines that match, as a plain loop over all lines
// finds them.
func lines(t *testing.T, pattern string, literal, ignoreCase bool, text string) []int {
	t.Helper()
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Skip(err)
	}
	var out []int
	all := strings.Split(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	for i, l := range all {
		if re.MatchString(strings.TrimSuffix(l, "\r")) {
			out = append(out, i+1)
		}
	}
	return out
}

func found(t *testing.T, pattern string, literal, ignoreCase bool, text string) []int {
	t.Helper()
	m, err := Compile(pattern, literal, ignoreCase)
	if err != nil {
		t.Skip(err)
	}
	f := Text("a", []byte(text), m, Options{Most: 1 << 20})
	var out []int
	for _, one := range f.Matches {
		out = append(out, one.Line)
	}
	if f.Total != len(out) {
		t.Errorf("%d matches, %d are kept", f.Total, len(out))
	}
	return out
}

var samples = []string{
	"one\ntwo\nthree\n", "Hello World\nhello world\nHELLO\n\n", "a\r\nb\r\nab\r\n", "", "\n\n\n", "no end", "Kelvin \u212A\nlong \u017Fs\nks\n", "绿茶\nマッチャ\nTea 绿茶 tea\n",
	"aaaaaaaab\naab\nb\n", strings.Repeat("x", 5000) + "\ny\n", "foo bar\nbar foo\nfoobar\nqux\n", "tab\tend\n  lead\n",
}

// TestMatcherFindsWhatThePatternFinds compares the search, which looks for words
// first, with one line after the other.
func TestMatcherFindsWhatThePatternFinds(t *testing.T) {
	for _, pattern := range []string{
		"o", "hello", "foo|bar", "(foo|qux) ?", "^two$", "b+", "a{2,}b", "h.llo", "[xy]", "K", "ks", "绿茶", "tea$", "^$", "^", "$", `\s`, `\bfoo\b`, "x*", "foo.*bar|bar.*foo", `o\nt`, "(?i)HeLLo", `a\r?$`,
	} {
		for _, ignoreCase := range []bool{false, true} {
			for _, literal := range []bool{false, true} {
				for _, text := range samples {
					want, got := lines(t, pattern, literal, ignoreCase, text), found(t, pattern, literal, ignoreCase, text)
					if !slices.Equal(want, got) {
						t.Errorf("%q (literal %v, ignore case %v) in %.60q: lines %v, want %v", pattern, literal, ignoreCase, text, got, want)
					}
				}
			}
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, s := range samples {
		f.Add("o|a", false, true, s)
		f.Add("ks", true, true, s)
	}
	f.Fuzz(func(t *testing.T, pattern string, literal, ignoreCase bool, text string) {
		if pattern == "" || len(pattern) > 100 || strings.ContainsRune(text, 0) {
			return
		}
		if want, got := lines(t, pattern, literal, ignoreCase, text), found(t, pattern, literal, ignoreCase, text); !slices.Equal(want, got) {
			t.Errorf("lines %v, want %v", got, want)
		}
	})
}

func TestContext(t *testing.T) {
	m, err := Compile("c", true, false)
	if err != nil {
		t.Fatal(err)
	}
	f := Text("a", []byte("a\r\nb\r\nc\r\nd\r\ne"), m, Options{Most: 1, Context: 3})
	if got := f.Matches[0]; got.Line != 3 || got.Text != "c" || !slices.Equal(got.Before, []string{"a", "b"}) || !slices.Equal(got.After, []string{"d", "e"}) {
		t.Errorf("%+v", got)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSearch: every file once, whatever lies beside it; links, second names and
// data are left alone.
func TestSearch(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "needle outside\n")
	var want []string
	for i := range 300 {
		name := filepath.ToSlash(filepath.Join("d"+string(rune('a'+i%7)), strings.Repeat("e/", i%5)+"f"+string(rune('a'+i%26))+strings.Repeat("x", i/26)))
		put(t, dir, name, "hay\nneedle\nhay\n")
		if !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	put(t, dir, "no/skip.txt", "needle\n")
	put(t, dir, "data.bin", "needle\x00\n")
	put(t, dir, "late.bin", "needle\n"+strings.Repeat("x", 20_000)+"\x00")
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Log(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "away")); err != nil {
		t.Log(err)
	}
	linked := os.Link(filepath.Join(outside, "secret"), filepath.Join(dir, "hard")) == nil
	m, err := Compile("needle", false, false)
	if err != nil {
		t.Fatal(err)
	}
	at, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	o := Options{Enter: func(p string) bool { return p != "no" }, File: func(string) bool { return true }, Most: 10}
	f, err := Search(t.Context(), at, m, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range f.Matches {
		if got = append(got, one.Path); one.Line != 2 {
			t.Errorf("%+v", one)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || f.Files != len(want) || f.Total != len(want) {
		t.Errorf("%d files, want %d: %v", len(got), len(want), got)
	}
	if linked && f.Skipped != 1 {
		t.Errorf("%d files are skipped", f.Skipped)
	}
}

// BenchmarkSearch searches the folder that LORE_GREP names for LORE_GREP_PATTERN.
func BenchmarkSearch(b *testing.B) {
	dir, pattern := os.Getenv("LORE_GREP"), os.Getenv("LORE_GREP_PATTERN")
	if dir == "" {
		b.Skip("LORE_GREP names no folder")
	}
	m, err := Compile(pattern, false, os.Getenv("LORE_GREP_CASE") != "")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		at, err := os.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		f, err := Search(b.Context(), at, m, Options{Enter: func(p string) bool { return !strings.HasPrefix(filepath.Base(p), ".") }, File: func(p string) bool { return !strings.HasPrefix(filepath.Base(p), ".") }, Most: 1000})
		_ = at.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(f.Total), "matches")
		b.ReportMetric(float64(f.Searched), "files")
	}
}
