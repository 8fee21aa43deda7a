package change

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// share is what one text loses that becomes another.
func share(before, after string) float64 {
	for _, l := range (Set{Replace("a.md", before, after)}).Losses() {
		return l.Share()
	}
	return 0
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d%s", i, [2]string{" ", "\n"}[i%10/9])
	}
	return b.String()
}

func TestLosses(t *testing.T) {
	long := manyWords(100)
	lines := strings.SplitAfter(long, "\n")
	for name, c := range map[string]struct {
		before, after string
		least, most   float64
	}{
		"the same":               {long, long, 0, 0},
		"carriage returns":       {long, strings.ReplaceAll(long, "\n", "\r\n"), 0, 0},
		"lines in another order": {long, strings.Join(append(lines[5:10:10], lines[:5]...), ""), 0, 0},
		"lines wrapped anew":     {long, strings.ReplaceAll(long, "\n", " "), 0, 0},
		"indented":               {long, "\t" + strings.ReplaceAll(long, "\n", "\n\t"), 0, 0},
		"more is there":          {long, "before\n" + long + "after\n", 0, 0},
		"one word":               {long, strings.Replace(long, "w55", "other", 1), 0.005, 0.02},
		"half":                   {long, strings.Join(lines[:5], ""), 0.45, 0.55},
		"the same length":        {long, strings.Repeat("x", len(long)), 1, 1},
		"longer":                 {long, strings.Repeat("lorem ipsum dolor ", 400), 1, 1},
		"all words, no text":     {long, shuffledWords(long), 0.8, 1},
		"emptied":                {long, "", 1, 1},
		"one line for two":       {"a b c d\na b c d\n", "a b c d\n", 0.5, 0.5},
		"a long word":            {"short words here " + strings.Repeat("k", 500), "short words here", 0.9, 1},
		"Chinese":                {strings.Repeat("茶是一种饮料", 20), "牛奶", 1, 1},
		"Chinese, a bit":         {"茶是一种很好的饮料我们每天都喝", "茶是一种很好的饮料我们每天不喝", 0.01, 0.2},
		"a table's line":         {"|---|---|\n", "x", 1, 1},
		"two words":              {"green tea", "black tea", 0.5, 1},
		"two words, kept":        {"green tea", "green tea and more", 0, 1},
	} {
		if got := share(c.before, c.after); got < c.least || got > c.most {
			t.Errorf("%s: %.3f", name, got)
		}
	}
}

func shuffledWords(s string) string {
	f := strings.Fields(s)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	return strings.Join(f, " ")
}

// TestMovedText: what goes to another file of the set is kept, once.
func TestMovedText(t *testing.T) {
	long := manyWords(100)
	lines := strings.SplitAfter(long, "\n")
	half, rest := strings.Join(lines[:3], ""), strings.Join(lines[3:], "")
	if got := (Set{Replace("a.md", long, half), Create("b.md", rest)}).Losses(); len(got) != 0 {
		t.Errorf("a part that moved to a new file is lost: %v", got)
	}
	if got := (Set{Replace("a.md", long, half), Replace("b.md", "own text here", "own text here\n"+rest)}).Losses(); len(got) != 0 {
		t.Errorf("a part that moved to another file is lost: %v", got)
	}
	set := Set{Replace("a.md", long, half), Replace("c.md", long, half), Create("b.md", rest)}
	if got := set.Losses(); len(got) != 1 || got[0].Gone != 70 || !set.Shrinks() {
		t.Errorf("one copy stands for two: %v", got)
	}
	set = Set{Replace("Tea.md", long, "x"), Create("words.md", shuffledWords(long))}
	if !set.Shrinks() {
		t.Error("a list of the words stands for the text")
	}
	if got := (Set{Replace("Tea.md", long, half)}).Losses(); len(got) != 1 || got[0].String() != "70 of 100 words in Tea.md would be lost" {
		t.Error(got)
	}
}

func FuzzLosses(f *testing.F) {
	f.Add("one two three\nfour", "four\none two three")
	f.Add("a\r\nb", "")
	f.Add("茶是一种饮料", "茶 是")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip()
		}
		got := share(a, b)
		if got < 0 || got > 1 {
			t.Errorf("%q to %q: %v", a, b, got)
		}
		if share(a, a) != 0 || share(a, a+"\n"+b) != 0 {
			t.Errorf("%q: something is lost of what is there", a)
		}
		lines := strings.FieldsFunc(a, func(r rune) bool { return r == '\n' || r == '\r' })
		for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
			lines[i], lines[j] = lines[j], lines[i]
		}
		if share(a, strings.Join(lines, "\n")) != 0 {
			t.Errorf("%q: lines in another order are lost", a)
		}
		crlf := strings.NewReplacer("\r", "\n", "\n", "\r\n")
		if x, y := share(crlf.Replace(a), b), share(strings.ReplaceAll(crlf.Replace(a), "\r\n", "\n"), crlf.Replace(b)); x != y {
			t.Errorf("%q to %q: %v or %v by its line ends", a, b, x, y)
		}
		if len(textLines(a)) > 0 && share(a, "") != 1 {
			t.Errorf("%q emptied: %v", a, share(a, ""))
		}
		if share(a, "\u2603\u2603\u2603") == 0 && len(textLines(a)) > 0 && !strings.Contains(a, "\u2603") {
			t.Errorf("%q: nothing is lost", a)
		}
	})
}
