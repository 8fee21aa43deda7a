package tool

import (
	"fmt"
	"testing"

	"lore/internal/tool/schema"
)

func TestNamesInJSON(t *testing.T) {
	n := newNames([]string{"Web.md", "deep/Odd \"name\".markdown", "Ünï/Café.MD", "a\\b.md"}, []string{"s-1", "n \"x\""})
	for _, c := range []struct {
		value any
		want  bool
	}{
		{"Web.md", true},
		{"see Web.md, line 3", true},
		{"one\nWeb.md\ntwo", true},
		{map[string]any{"Web.md": 1}, true},
		{map[string]any{"a": []any{map[string]any{"path": "deep/Odd \"name\".markdown"}}}, true},
		{"at deep/Odd \"name\".markdown:12", true},
		{"at Ünï/Café.MD:12", true},
		{"x a\\b.md x", true},
		{"s-1", true},
		{map[string]any{"id": "n \"x\""}, true},
		{"Web", false},
		{"web.md", false},
		{"the id s-1 in a sentence", false},
		{"Odd.markdown and .md and md", false},
		{"", false},
		{nil, false},
		{map[string]any{"n": 1.5, "b": true}, false},
	} {
		raw, err := schema.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.isIn(raw); got != c.want {
			t.Errorf("%s: %v", raw, got)
		}
	}
	if newNames(nil, nil).isIn([]byte(`"Web.md"`)) || (*names)(nil).isIn([]byte(`"Web.md"`)) {
		t.Error("no name is in it")
	}
}

// answerOf is an answer with as many paths, none of them untrusted.
func answerOf(t testing.TB, paths int) []byte {
	t.Helper()
	var list []map[string]any
	for i := range paths {
		list = append(list, map[string]any{"path": fmt.Sprintf("Folder %d/A trusted note %d.md", i%10, i), "text": "Some words.\nSee Other/Note.md, and more words of an excerpt that is shown."})
	}
	raw, err := schema.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func manyNames(n int) *names {
	var paths, ids []string
	for i := range n {
		paths, ids = append(paths, fmt.Sprintf("Web/%d/A note from outside %d.md", i%7, i)), append(ids, fmt.Sprintf("node-%d", i))
	}
	return newNames(paths, ids)
}

// The cost must not grow with the number of notes.
func BenchmarkNamesInJSON(b *testing.B) {
	raw := answerOf(b, 200)
	for _, n := range []int{50, 5000} {
		set := manyNames(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if set.isIn(raw) {
					b.Fatal("found")
				}
			}
		})
	}
}

func TestNamesNeedNoMemory(t *testing.T) {
	raw, set := answerOf(t, 200), manyNames(5000)
	if n := testing.AllocsPerRun(10, func() { set.isIn(raw) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
