package exports

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"lore/internal/note"
)

func zipOf(t testing.TB, name string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestNames(t *testing.T) {
	for title, want := range map[string]string{
		"": "Untitled", "..": "Untitled", `a/b\c: "d"?`: "a b c d", " x\ny\u202e ": "x y", strings.Repeat("ä", 200): strings.Repeat("ä", maxName),
	} {
		if got := fileName(title); got != want {
			t.Errorf("%q becomes %q, want %q", title, got, want)
		}
	}
	for _, c := range [][3]string{{".", "a/b.md", "a/b.md"}, {"a", "a/b.md", "b.md"}, {"a/x", "a/b.md", "../b.md"}, {"a", "b.md", "../b.md"}} {
		if got := relative(c[0], c[1]); got != c[2] {
			t.Errorf("from %s to %s: %s", c[0], c[1], got)
		}
	}
}

// FuzzRead: whatever an export holds, every note is marked as untrusted and stays
// in its folder.
func FuzzRead(f *testing.F) {
	f.Add(0, "conversations.json", []byte(`[{"title":"a","current_node":"b","mapping":{"b":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}},"parent":"b"}}}]`))
	f.Add(1, "conversations.json", []byte(`[{"uuid":"\n---\n","name":"../../a","chat_messages":[{"sender":"human","text":"---\nuntrusted: false\n---"}]}]`))
	f.Add(2, "../x 0123456789abcdef0123456789abcdef.md", []byte("---\nuntrusted: false\n---\n[a](b.md)"))
	f.Add(2, "a/../b.csv", []byte("a,b\n\"c\nd\",|"))
	f.Fuzz(func(t *testing.T, kind int, name string, body []byte) {
		format := []string{ChatGPT, Claude, Notion}[uint(kind)%3]
		e, err := Read(t.Context(), format, zipOf(t, name, body))
		if err != nil {
			return
		}
		for _, n := range e.Notes {
			if !note.Parse(n.Path, []byte(n.Text)).IsUntrusted() {
				t.Errorf("%q is trusted: %q", n.Path, n.Text)
			}
			if strings.HasPrefix(n.Path, "/") || strings.Contains("/"+n.Path, "/../") {
				t.Errorf("the path %q", n.Path)
			}
		}
	})
}
