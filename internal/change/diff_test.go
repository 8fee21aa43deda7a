package change_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lore/internal/change"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		context       int
		want          string
	}{
		"same": {"a\n", "a\n", 0, ""},
		"one line": {
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", 0,
			"--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		"two hunks": {
			"1\n2\n3\n4\n5\n6\n", "one\n2\n3\n4\n5\nsix\n", 1,
			"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,2 +5,2 @@\n 5\n-6\n+six\n",
		},
		"no context":     {"a\nb\nc\n", "a\nc\n", -1, "--- a\n+++ b\n@@ -2 +1,0 @@\n-b\n"},
		"create":         {"", "a\n", 0, "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n"},
		"empty":          {"a\n", "", 0, "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n"},
		"final newline":  {"a\n", "a", 0, "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		"line end style": {"a\nb\n", "a\r\nb\n", -1, "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\r\n"},
	} {
		hunks := change.Diff(c.before, c.after, change.DiffOptions{Context: c.context})
		if got := change.Unified("a", "b", hunks); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	got := change.Unified("", "new.md", change.Diff("", "x\n", change.DiffOptions{}))
	if !strings.HasPrefix(got, "--- /dev/null\n+++ new.md\n") {
		t.Errorf("a new file is drawn as %q", got)
	}
}

func TestDiffMarksWords(t *testing.T) {
	t.Parallel()
	hunks := change.Diff("the red tea, hot\n", "the green tea, hot\n", change.DiffOptions{})
	var got []string
	for _, l := range hunks[0].Lines {
		for _, m := range l.Marks {
			got = append(got, string(l.Op)+" "+l.Text[m.Start:m.End])
		}
	}
	if want := "remove red|add green"; strings.Join(got, "|") != want {
		t.Errorf("marks %q, want %q", got, want)
	}
	for _, l := range change.Diff("abc def\n", "xyz 123 456\n", change.DiffOptions{})[0].Lines {
		if l.Marks != nil {
			t.Errorf("lines without anything in common are marked: %+v", l)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	added, removed := change.Count(change.Diff("a\nb\nc\n", "a\nx\ny\nc\nd\n", change.DiffOptions{}))
	if added != 3 || removed != 1 {
		t.Errorf("added %d, removed %d", added, removed)
	}
}

func TestApplyRefusesAnotherText(t *testing.T) {
	t.Parallel()
	hunks := change.Diff("a\nb\nc\n", "a\nB\nc\n", change.DiffOptions{})
	for _, other := range []string{"", "a\nx\nc\n", "a\n"} {
		if got, err := change.Apply(other, hunks); err == nil {
			t.Errorf("applied to %q: %q", other, got)
		}
	}
}

// A diff of large texts must stay nearly linear, also where lines repeat so
// that no landmark helps. Without the bounds this test does not end.
func TestDiffOfLargeTexts(t *testing.T) {
	t.Parallel()
	const n = 100_000
	rnd := rand.New(rand.NewPCG(1, 2))
	lines := func(kinds int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "line %d\n", rnd.IntN(kinds))
		}
		return b.String()
	}
	for name, c := range map[string][2]string{
		"few kinds of lines":    {lines(3), lines(3)},
		"many kinds of lines":   {lines(n), lines(n)},
		"nothing in common":     {lines(n), strings.ReplaceAll(lines(n), "line", "row")},
		"one line of megabytes": {strings.Repeat("x", 5<<20), strings.Repeat("x", 5<<20) + "y"},
	} {
		got, err := change.Apply(c[0], change.Diff(c[0], c[1], change.DiffOptions{}))
		if err != nil || got != c[1] {
			t.Errorf("%s: the diff does not lead to the new text (%v)", name, err)
		}
	}
}

func TestDiffIsSmall(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n\n", i)
	}
	before := b.String()
	after := strings.Replace(before, "line 2500\n", "changed\nand more\n", 1)
	added, removed := change.Count(change.Diff(before, after, change.DiffOptions{}))
	if added != 2 || removed != 1 {
		t.Errorf("added %d, removed %d", added, removed)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nb", 3)
	f.Add("", "x", 0)
	f.Add("a\r\nb\r\n", "a\nb\n", -1)
	f.Add("a\na\na\nb\na\n", "a\nb\na\na\n", 1)
	f.Fuzz(func(t *testing.T, before, after string, context int) {
		hunks := change.Diff(before, after, change.DiffOptions{Context: context % 10})
		got, err := change.Apply(before, hunks)
		if err != nil || got != after {
			t.Fatalf("Apply(%q) = %q, %v; want %q", before, got, err, after)
		}
		if (len(hunks) == 0) != (before == after) {
			t.Fatalf("%d hunks between %q and %q", len(hunks), before, after)
		}
		for _, h := range hunks {
			for _, l := range h.Lines {
				for _, m := range l.Marks {
					if m.Start >= m.End || m.End > len(l.Text) {
						t.Fatalf("mark %v in %q", m, l.Text)
					}
				}
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	var s strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&s, "line %d of a note\n\n", i)
	}
	before := s.String()
	after := strings.Replace(before, "line 1000 of", "LINE 1000 of", 1)
	for b.Loop() {
		change.Diff(before, after, change.DiffOptions{})
	}
}
