package chat

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
)

// An Attachment is what a person sends along with a message.
type Attachment struct {
	Kind AttachmentKind `json:"kind"`
	// Name is the path of a note, or the name of a file.
	Name string `json:"name"`
	// Text is the selected passage, or the content of a text file.
	Text string `json:"text,omitempty"`
	// Media is the type of a picture, and Data the picture in base64.
	Media string `json:"media,omitempty"`
	Data  string `json:"data,omitempty"`
	// Withheld says that the model may not get it, because a person or a rule said no.
	Withheld bool `json:"withheld,omitempty"`
}

// An AttachmentKind says what is attached.
type AttachmentKind string

// The kinds of attachments.
const (
	AttachedNote      AttachmentKind = "note"      // the model gets what a tool reads of it, as far as it may
	AttachedSelection AttachmentKind = "selection" // a passage of a note; it goes where the note may go
	AttachedFile      AttachmentKind = "file"      // a text file
	AttachedPicture   AttachmentKind = "picture"
)

// Limits of what can be attached to one message.
const (
	MaxAttachments = 8
	MaxFileBytes   = 256 << 10
	MaxPicture     = 1 << 20
)

// Pictures are the types of pictures that every provider takes.
var Pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// FromNote reports whether the attachment is a note or a part of one.
func (a *Attachment) FromNote() bool { return a.Kind == AttachedNote || a.Kind == AttachedSelection }

// Picture is the bytes of a picture; nil when it is none.
func (a *Attachment) Picture() []byte {
	b, err := base64.StdEncoding.DecodeString(a.Data)
	if err != nil {
		return nil
	}
	return b
}

// CheckAttachments reports what cannot be attached, and why.
func CheckAttachments(list []Attachment) error {
	if len(list) > MaxAttachments {
		return fault.Field("attached", fmt.Sprintf("attach at most %d", MaxAttachments), "%d attachments are too many", len(list))
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (a *Attachment) check() error {
	bad := func(fix, format string, args ...any) error {
		return fault.Field("attached", fix, "%s: %s", a.Name, fmt.Sprintf(format, args...))
	}
	text := len(a.Data) == 0 && a.Media == ""
	switch {
	case strings.TrimSpace(a.Name) == "" || len(a.Name) > 1024:
		return fault.Field("attached", "give each attachment a name", "has no name, or one that is too long")
	case len(a.Text) > MaxFileBytes:
		return bad(fmt.Sprintf("attach at most %d kB of text", MaxFileBytes>>10), "too long")
	case !utf8.ValidString(a.Text) || strings.ContainsRune(a.Text, 0):
		return bad("attach text files and pictures", "not a text file")
	case a.Kind == AttachedNote && (a.Text != "" || !text):
		return bad("give only the path", "a note is read from the vault")
	case a.FromNote() && text, a.Kind == AttachedFile && text:
		return nil
	case a.Kind != AttachedPicture || a.Text != "":
		return bad("use note, selection, file or picture", "unknown kind of attachment %q", a.Kind)
	case !slices.Contains(Pictures, a.Media):
		return bad("use PNG, JPEG, GIF or WebP", "unknown type of picture %q", a.Media)
	case len(a.Picture()) == 0 || len(a.Picture()) > MaxPicture:
		return bad(fmt.Sprintf("attach pictures of at most %d kB", MaxPicture>>10), "empty, or too large")
	}
	return nil
}

// Notes are the notes that a message brings along, each once.
func (m *Message) Notes() []string {
	var out []string
	for i := range m.Attached {
		if a := &m.Attached[i]; a.FromNote() && !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// BringsOutside reports whether a message has words that the person did not write:
// what follows from them is as wary as what follows from a web page.
func (m *Message) BringsOutside() bool {
	return m.Outside || slices.ContainsFunc(m.Attached, func(a Attachment) bool { return !a.FromNote() })
}
