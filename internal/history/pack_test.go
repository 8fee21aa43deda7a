package history

import (
	"strings"
	"testing"
)

func FuzzPack(f *testing.F) {
	f.Add("", "a", "b")
	f.Add("one two three", "one TWO three", "one TWO")
	f.Add(strings.Repeat("abc", 100), strings.Repeat("abc", 101), strings.Repeat("bca", 90))
	f.Add("aaaa", "aa", "aaaaaaaa")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var p packers
		sides := []*side{{text: a}, {text: b}, {text: c}}
		var rows []stored
		for i, s := range sides {
			if i > 0 {
				s.base = sides[i-1]
			}
			got, err := p.best(s, true)
			if err != nil {
				t.Fatal(err)
			}
			if got.data == nil || len(got.data) > len(s.text)+20 {
				t.Fatalf("%q is kept in %d bytes", s.text, len(got.data))
			}
			if !got.diff {
				rows = nil
			}
			rows = append([]stored{{len(s.text), got.raw, got.data}}, rows...)
			back, err := unpack(rows)
			if err != nil || back != s.text {
				t.Fatalf("%q came back as %q, %v", s.text, back, err)
			}
		}
		for _, r := range rows { // damage is an error or another text, never a panic
			for i := range min(len(r.data), 8) {
				r.data[i] ^= 0xff
				_, _ = unpack(rows)
				r.data[i] ^= 0xff
			}
		}
	})
}
