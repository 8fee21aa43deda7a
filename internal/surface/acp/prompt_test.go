package acp

import (
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	text := func(uri, words string) sdk.ContentBlock {
		return sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{Uri: uri, Text: words}})
	}
	for _, c := range []struct {
		name       string
		said       []sdk.ContentBlock
		text, note string
		outside    bool
	}{
		{"words", []sdk.ContentBlock{sdk.TextBlock("hello "), sdk.TextBlock("there")}, "hello there", "", false},
		{"a note", []sdk.ContentBlock{sdk.TextBlock("see "), sdk.ResourceLinkBlock("Tea", "file:///home/x/notes/Green%20tea.md")}, "see [[Green tea]]", "Green tea.md", false},
		{"a note with its text is read by a tool", []sdk.ContentBlock{text("file:///home/x/notes/Tea.md", "words")}, "[[Tea]]", "Tea.md", false},
		{"another file", []sdk.ContentBlock{text("file:///etc/hosts", "words")}, "\n\nfile:///etc/hosts:\n```\nwords\n```\n\n", "", true},
		{"beside the vault", []sdk.ContentBlock{sdk.ResourceLinkBlock("Other", "file:///home/x/notes/../secret.md")}, "Other", "", false},
		{"a page", []sdk.ContentBlock{sdk.ResourceLinkBlock("A page", "https://example.org/Tea.md")}, "A page", "", false},
	} {
		q, err := request("/home/x/notes", c.said)
		if err != nil || q.Text != c.text || q.Note != c.note || q.Outside != c.outside {
			t.Errorf("%s: %+v, %v", c.name, q, err)
		}
	}
	if _, err := request("/home/x/notes", []sdk.ContentBlock{sdk.ImageBlock("eA==", "image/png")}); err == nil {
		t.Error("a picture was taken")
	}
}

func TestSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ diff, before, after string }{
		{"--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", "one\ntwo\nthree\n", "one\n2\nthree\n"},
		{"--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+new\n", "", "new\n"},
		{"@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n\\ No newline at end of file\n+d\n", "a\n…\nc\n", "b\n…\nd\n"},
		{"@@ -1 +1 @@\n-a\n+b\u202ec\n", "a\n", "b\ufffdc\n"},
	} {
		if before, after := sides(c.diff); before != c.before || after != c.after {
			t.Errorf("%q: %q, %q", c.diff, before, after)
		}
	}
}
