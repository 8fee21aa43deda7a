package note_test

import (
	"testing"

	"lore/internal/note"
)

func TestMarkUntrusted(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"# Tea\n", "---\nuntrusted: true\n---\n# Tea\n"},
		{"---\ntags: [a]\n---\n# Tea\n", "---\ntags: [a]\nuntrusted: true\n---\n# Tea\n"},
		{"---\nuntrusted: false\n---\nx", "---\nuntrusted: true\n---\nx"},
		{"---\nuntrusted: true\n---\nx", "---\nuntrusted: true\n---\nx"},
		{"", "---\nuntrusted: true\n---\n"},
	} {
		got, err := note.MarkUntrusted("a.md", c.in)
		if err != nil || got != c.want {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
		if !note.Parse("a.md", []byte(got)).IsUntrusted() {
			t.Errorf("%q is not marked", got)
		}
	}
	if _, err := note.MarkUntrusted("a.md", "---\n[broken\n---\nx"); err == nil {
		t.Error("broken front matter was written")
	}
	for text, want := range map[string]bool{
		"": false, "---\nuntrusted:\n---\n": false, "---\nuntrusted: no\n---\n": false, "---\nuntrusted: yes\n---\n": true, "---\nuntrusted: web\n---\n": true,
		"---\nuntrusted: true\nuntrusted: false\n---\n": true, "---\nuntrusted: [x]\n---\n": true,
		"---\nuntrusted: [false]\n---\n": true, "---\nuntrusted: []\n---\n": true, "---\nuntrusted: {a: 1}\n---\n": true, "---\nuntrusted: \"null\"\n---\n": true,
		"---\nuntrusted: ~\n---\n": false, "---\nuntrusted: FALSE\n---\n": false, "---\nuntrusted: \" no \"\n---\n": false, "---\nuntrusted: 0\n---\n": true,
		"---\nuntrusted: false\nuntrusted: false\n---\n": true, "---\nUntrusted: true\n---\n": true, "---\nUntrusted: false\n---\n": false,
		"---\na: [\nuntrusted: true\n---\n": true, "---\na: [\n---\n": false, "\ufeff---\nuntrusted: true\n---\n": true, "---\r\nuntrusted: true\r\n---\r\n": true,
		"---\nuntrusted: true\n": false, "text\n---\nuntrusted: true\n---\n": false,
	} {
		if got := note.Parse("a.md", []byte(text)).IsUntrusted(); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if got := note.IsUntrusted([]byte(text)); got != want {
			t.Errorf("%q, of its front matter alone: %v", text, got)
		}
	}
}
