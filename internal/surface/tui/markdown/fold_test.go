package markdown

import (
	"strings"
	"testing"

	"lore/internal/surface/cli/draw"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"one two three", 10, "one two\nthree"},
		{"abcdefghijklmno", 10, "abcdefghij\nklmno"},
		{"玉露玉露玉露", 7, "玉露玉\n露玉露"},
		{"\x1b[31mabcdefghijkl\x1b[0mmn", 10, "\x1b[31mabcdefghij\x1b[0m\n\x1b[31mkl\x1b[0mmn"},
		{"", 10, ""},
	} {
		if got := strings.Join(Fold(c.text, c.width), "\n"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range [][2]string{{"0123456789", "0123456789"}, {"0123456789a", "012345678…"}, {"玉露玉露玉露", "玉露玉露…"}} {
		if got := Clip(c[0], 10); got != c[1] || Cells(got) > 10 {
			t.Errorf("%q: %q", c[0], got)
		}
	}
}

func TestPlain(t *testing.T) {
	got := strings.Join(Plain("a\tb\x1b\n\nlonger words here\n", "> ", "  ", 12), "\n")
	if want := "> a    b␛\n  \n  longer\n  words here"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range samples {
		f.Add(s, uint8(20))
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		st := Style{Width: 12 + int(width)%100, Screen: draw.Screen{Colour: true}}
		sound(t, st, Plain(text, "  ", "  ", st.Width))
		line := draw.Screen{Colour: true}.Red(draw.OneLine(text)) + draw.OneLine(text)
		parts := Fold(line, st.Width)
		sound(t, st, parts)
		bare := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "", " ", "")
		if got, want := bare.Replace(strings.Join(parts, "")), bare.Replace(line); got != want {
			t.Fatalf("something was lost: %q, want %q", got, want)
		}
	})
}
