package pack

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
		var p Packer
		var rows []Stored
		for i, text := range []string{a, b, c} {
			var got *Packed
			var err error
			if i > 0 {
				got, err = p.Diff([]string{a, b, c}[i-1], text)
			}
			if got == nil && err == nil {
				got, err = p.Whole(text)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Data == nil || len(got.Data) > len(text)+20 {
				t.Fatalf("%q is kept in %d bytes", text, len(got.Data))
			}
			if !got.Diff {
				rows = nil
			}
			rows = append([]Stored{{len(text), got.Raw, got.Data}}, rows...)
			back, err := Unpack(rows)
			if err != nil || back != text {
				t.Fatalf("%q came back as %q, %v", text, back, err)
			}
		}
		for _, r := range rows { // damage is an error or another text, never a panic
			for i := range min(len(r.Data), 8) {
				r.Data[i] ^= 0xff
				_, _ = Unpack(rows)
				r.Data[i] ^= 0xff
			}
		}
	})
}
