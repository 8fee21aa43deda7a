package files_test

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/files"
)

// TestPictureText: the text in a picture is text from outside, and without the
// program that reads it the answer says what to install.
func TestPictureText(t *testing.T) {
	dir := t.TempDir()
	data, err := hex.DecodeString("89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a0000000049454e44ae426082")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sign.png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, dir, nil)
	missing := fault.Fix(fault.Unavailable, "install it to read text in images", "tesseract is not installed")
	for _, c := range []struct {
		text, note string
		err        error
	}{
		{text: "Tea\nhouse"},
		{note: "this is an image; no text was found in it"},
		{err: missing, note: "this is an image; tesseract is not installed; install it to read text in images"},
	} {
		env := files.Env{Vault: p.Vault, Store: p.Store, Fresh: p.Fresh, PictureText: func(context.Context, string, []byte) (string, error) { return c.text, c.err }}
		got, err := files.ReadAttachment{Path: "sign.png", Offset: 1, Limit: 500}.Run(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		switch hasText := c.text != ""; {
		case hasText && (got.Text != c.text+"\n" || !got.ShowsOutside()):
			t.Errorf("%+v", got)
		case !hasText && (got.Note != c.note || got.ShowsOutside()):
			t.Errorf("%+v, want %q", got, c.note)
		}
	}
}
