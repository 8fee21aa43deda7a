package note

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

func utf16Bytes(s string, big bool) []byte {
	out := []byte{0xFF, 0xFE}
	if big {
		out = []byte{0xFE, 0xFF}
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// shapes grow to about n bytes each; reading them must take time in proportion.
var shapes = []struct {
	name string
	make func(n int) string
}{
	{"line", func(n int) string { return strings.Repeat("a", n) }},
	{"words", func(n int) string { return strings.Repeat("word ", n/5) }},
	{"quotes", func(n int) string { return strings.Repeat(">", n) }},
	{"quote lines", func(n int) string { return strings.Repeat(strings.Repeat("> ", 500)+"a\n", n/1001) }},
	{"lists", func(n int) string { return strings.Repeat("- ", n/2) + "a" }},
	{"list lines", nestedList},
	{"blank lines in lists", func(n int) string { return strings.Repeat("- ", 90) + "a" + strings.Repeat("\n", n) }},
	{"open brackets", func(n int) string { return strings.Repeat("[", n) }},
	{"brackets", func(n int) string { return strings.Repeat("[", n/2) + "a" + strings.Repeat("]", n/2) }},
	{"open links", func(n int) string { return strings.Repeat("[a](b", n/5) }},
	{"open titles", func(n int) string { return strings.Repeat("[a](b \"", n/7) }},
	{"images", func(n int) string { return strings.Repeat("![", n/8) + "a" + strings.Repeat("](b)", n/8) }},
	{"wikilinks", func(n int) string { return strings.Repeat("[[a|", n/4) }},
	{"references", func(n int) string { return "[a]: b\n\n" + strings.Repeat("[a][", n/4) }},
	{"definitions", func(n int) string { return strings.Repeat("[a]: b\n", n/7) }},
	{"half definitions", func(n int) string { return strings.Repeat("[a]:\n", n/5) }},
	{"backticks", backticks},
	{"same backticks", func(n int) string { return strings.Repeat("`a``b", n/5) }},
	{"table", func(n int) string {
		return strings.Repeat("|a", n/8) + "|\n" + strings.Repeat("|-", n/8) + "|\n" + strings.Repeat("|b", n/4) + "|\n"
	}},
	{"rows", func(n int) string { return "|a|b|\n|-|-|\n" + strings.Repeat("|`c|[[d\\|e]]|\n", n/14) }},
	{"delimiters", func(n int) string { return strings.Repeat("|-\n", n/3) }},
	{"tags", func(n int) string { return strings.Repeat("<a b=\"", n/6) }},
	{"quoted tags", func(n int) string { return strings.Repeat("<a b='\" c=\"'", n/12) }},
	{"comments", func(n int) string { return strings.Repeat("a <!-- ", n/7) }},
	{"comment lines", func(n int) string { return strings.Repeat("<!--\n", n/5) }},
	{"math", func(n int) string { return strings.Repeat("$a ", n/3) }},
	{"percent", func(n int) string { return strings.Repeat("a %%b% ", n/7) }},
	{"percent lines", func(n int) string { return strings.Repeat("%%\n%%\na\n\n", n/9) }},
	{"hashes", func(n int) string { return strings.Repeat("#a ", n/3) }},
	{"headings", func(n int) string { return strings.Repeat("# a\n", n/4) }},
	{"setext", func(n int) string { return strings.Repeat("a\n", n/2) + "===\n" }},
	{"fields", func(n int) string { return strings.Repeat("[a:: (b:: ", n/10) }},
	{"field lines", func(n int) string { return strings.Repeat("a:: [[b]]\n", n/10) }},
	{"urls", func(n int) string { return strings.Repeat("http://a(", n/9) }},
	{"colons", func(n int) string { return strings.Repeat("://", n/3) }},
	{"entities", func(n int) string { return "[a](" + strings.Repeat("&amp", n/4) + ")" }},
	{"escapes", func(n int) string { return strings.Repeat("\\[", n/2) }},
	{"marks", func(n int) string { return strings.Repeat("a ^b\n\n", n/6) }},
	{"footnotes", func(n int) string { return strings.Repeat("[^a]: b\n", n/8) }},
	{"cjk", func(n int) string { return strings.Repeat("字", n/3) }},
	{"front keys", func(n int) string { return "---\n" + strings.Repeat("a: b\n", min(n, maxFront-100)/5) + "---\n" }},
	{"front lists", func(n int) string {
		return "---\na:\n" + strings.Repeat("- \"[[b]]\"\n", min(n, maxFront-100)/10) + "---\n"
	}},
	{"front flow", func(n int) string { return "---\na: " + strings.Repeat("[", min(n, maxFront-100)) + "\n---\n" }},
	{"front open", func(n int) string { return "---\n" + strings.Repeat("a: b\n", n/5) }},
}

func nestedList(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(" ", 2*(i%300)) + "- a\n")
	}
	return b.String()
}

func backticks(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("`", i) + " ")
	}
	return b.String()
}

func TestHostileShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			src := s.make(1 << 17)
			check(t, Parse("a.md", []byte(src)))
			Plain(src)
		})
	}
}

// BenchmarkHostile shows that the time for a byte does not grow with the size.
func BenchmarkHostile(b *testing.B) {
	for _, s := range shapes {
		for _, size := range []int{1 << 15, 1 << 18, 1 << 21} {
			src := []byte(s.make(size))
			b.Run(fmt.Sprintf("%s/%dK", s.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					Parse("a.md", src)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/byte")
			})
		}
	}
}

// BenchmarkHostilePlain is the same for Plain.
func BenchmarkHostilePlain(b *testing.B) {
	for _, s := range shapes {
		for _, size := range []int{1 << 15, 1 << 18, 1 << 21} {
			src := s.make(size)
			b.Run(fmt.Sprintf("%s/%dK", s.name, size>>10), func(b *testing.B) {
				for b.Loop() {
					Plain(src)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/byte")
			})
		}
	}
}

func TestOddFiles(t *testing.T) {
	bomb := "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	tests := []struct {
		name     string
		src      []byte
		readOnly bool
		problem  string
		title    string
		headings int
	}{
		{"empty", nil, false, "", "note", 0},
		{"only front matter", []byte("---\ntitle: T\n---"), false, "", "T", 0},
		{"empty front matter", []byte("---\n---\n# A\n"), false, "", "A", 1},
		{"unclosed front matter", []byte("---\na: b\n# A\n"), false, "", "A", 1},
		{"dots close", []byte("---\ntitle: D\n...\n# A\n"), false, "", "D", 1},
		{"bom", []byte(bom + "---\ntitle: B\n---\n# A\n"), false, "", "B", 1},
		{"bom and body", []byte(bom + "# A\n"), false, "", "A", 1},
		{"crlf", []byte("---\r\ntitle: C\r\n---\r\n# A\r\n\r\nB\r\n===\r\n"), false, "", "C", 2},
		{"lone cr", []byte("# A\rtext\r## B\r"), false, "", "A", 2},
		{"mixed", []byte("# A\r\ntext\n## B\rx"), false, "", "A", 2},
		{"no final newline", []byte("# A"), false, "", "A", 1},
		{"line separator", []byte("# A\u2028# B\n"), false, "", "A\u2028# B", 1},
		{"nul", []byte("# A\x00\n## B\n"), true, "nul_byte", "A", 2},
		{"invalid", []byte("# A\xff\n## B\n"), true, "invalid_utf8", "A\xff", 2},
		{"utf16le", utf16Bytes("# Ä\n[[x]]\n", false), true, "utf16", "Ä", 1},
		{"utf16be", utf16Bytes("# Ä\n[[x]]\n", true), true, "utf16", "Ä", 1},
		{"bomb", []byte(bomb + "---\n# A\n"), false, "broken_yaml", "A", 1},
		{"cycle", []byte("---\na: &a [*a]\n---\n# A\n"), false, "broken_yaml", "A", 1},
		{"huge front matter", []byte("---\n" + strings.Repeat("k: v\n", 300_000) + "---\n# A\n"), false, "broken_yaml", "A", 1},
		{"not a mapping", []byte("---\n- a\n---\n# A\n"), false, "broken_yaml", "A", 1},
		{"twice", []byte("---\na: 1\na: 2\n---\n# A\n"), false, "duplicate_key", "A", 1},
		{"too large", []byte("# A\n" + strings.Repeat("word \n", 2_000_000)), false, "too_large", "A", 1},
		{"too deep", []byte(strings.Repeat("> ", 200) + "a"), false, "too_deep", "note", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := Parse("dir/note.md", tt.src)
			check(t, n)
			if n.ReadOnly != tt.readOnly || n.Title != tt.title || len(n.Headings) != tt.headings {
				t.Errorf("read only %v, title %q, %d headings", n.ReadOnly, n.Title, len(n.Headings))
			}
			got := ""
			if len(n.Problems) > 0 {
				got = n.Problems[0].Kind
			}
			if got != tt.problem {
				t.Errorf("problems %v, want %q", n.Problems, tt.problem)
			}
			if n.ReadOnly {
				if _, err := SetProperty(n, "a", 1); err == nil {
					t.Error("a file that is no plain text was edited")
				}
			}
		})
	}
}
