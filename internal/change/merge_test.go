package change_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lore/internal/change"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, mine, theirs, want string
		conflicts                int
	}{
		"two places":           {"1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "one\n2\n3\n4\nfive\n", 0},
		"same change":          {"1\n2\n3\n", "1\nx\n3\n", "1\nx\n3\n", "1\nx\n3\n", 0},
		"same place":           {"1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n", "1\nx\n3\n", 1},
		"neighbours":           {"1\n2\n3\n4\n", "1\nx\n3\n4\n", "1\n2\ny\n4\n", "1\nx\n3\n4\n", 1},
		"both append":          {"1\n", "1\nm\n", "1\nt\n", "1\nm\n", 1},
		"delete against edit":  {"1\n2\n3\n", "1\n3\n", "1\ny\n3\n", "1\n3\n", 1},
		"line ends are kept":   {"1\r\n2\r\n3\r\n4\r\n", "1\r\n2\r\n3\r\nfour\r\n", "one\r\n2\r\n3\r\n4\r\n", "one\r\n2\r\n3\r\nfour\r\n", 0},
		"no final newline":     {"1\n2\n3", "1\n2\nthree", "one\n2\n3", "one\n2\nthree", 0},
		"newline against more": {"1\n2\n", "1\n2", "1\n2\n3\n", "1\n2", 1},
		"both create alike":    {"", "x\n", "x\n", "x\n", 0},
		"both create":          {"", "x\n", "y\n", "x\n", 1},
	} {
		got, conflicts := change.Merge(c.base, c.mine, c.theirs)
		if got != c.want || len(conflicts) != c.conflicts {
			t.Errorf("%s: %q with %+v; want %q with %d conflicts", name, got, conflicts, c.want, c.conflicts)
		}
	}
}

func TestMarkConflicts(t *testing.T) {
	t.Parallel()
	merged, conflicts := change.Merge("1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n")
	want := "1\n<<<<<<< mine\nx\n=======\ny\n>>>>>>> theirs\n3\n"
	if got := change.MarkConflicts(merged, conflicts, "mine", "theirs"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// drawText draws texts of few different lines, so that changes meet often.
func drawText(t *rapid.T, name string) string {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\r\n", "\n", "e\n", "f\n", "g\n"})
	s := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, name), "")
	if rapid.Bool().Draw(t, name+" cut") {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

func TestMergeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkMerge(t, drawText(t, "base"), drawText(t, "mine"), drawText(t, "theirs"))
	})
}

type failer interface{ Fatalf(string, ...any) }

// checkMerge holds what must be true of every merge.
func checkMerge(t failer, b, m, th string) {
	for _, c := range []struct{ name, mine, theirs, want string }{
		{"theirs unchanged", m, b, m},
		{"mine unchanged", b, th, th},
		{"same change", m, m, m},
	} {
		got, conflicts := change.Merge(b, c.mine, c.theirs)
		if got != c.want || conflicts != nil {
			t.Fatalf("%s: Merge(%q, %q, %q) = %q, %+v", c.name, b, c.mine, c.theirs, got, conflicts)
		}
	}
	x, cx := change.Merge(b, m, th)
	y, cy := change.Merge(b, th, m)
	if len(cx) != len(cy) || (len(cx) == 0 && x != y) {
		t.Fatalf("Merge(%q, %q, %q) depends on the side: %q %+v, %q %+v", b, m, th, x, cx, y, cy)
	}
	var choose []change.Patch
	for i := range cx {
		c, d := cx[i], cy[i]
		if c.Line != d.Line || c.Base != d.Base || c.Mine != d.Theirs || c.Theirs != d.Mine {
			t.Fatalf("conflict %+v is not the mirror of %+v", c, d)
		}
		if x[c.Start:c.End] != c.Mine {
			t.Fatalf("conflict %+v does not stand at its place in %q", c, x)
		}
		choose = append(choose, change.Patch{Start: c.Start, End: c.End, Text: c.Theirs})
	}
	if got, err := change.Splice(x, choose...); err != nil || got != y {
		t.Fatalf("choosing theirs everywhere gives %q, %v; want %q", got, err, y)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nb", "x\nb\nc\n")
	f.Add("", "x", "y\n")
	f.Add("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\nc")
	f.Fuzz(func(t *testing.T, base, mine, theirs string) { checkMerge(t, base, mine, theirs) })
}
