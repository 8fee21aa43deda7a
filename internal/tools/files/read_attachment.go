package files

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // the size of pictures is read from their headers
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"path"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/files/doctext"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// ReadAttachment: Read the text of a file that is not a note, also of PDF, Word,
// Excel, PowerPoint and OpenDocument files. For other files, get the type and size.
type ReadAttachment struct {
	// Path or file name.
	Path string `json:"path"`
	// Only this page, slide or sheet, from 1.
	Page int `json:"page,omitempty" min:"1"`
	// First line, from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Max lines.
	Limit int `json:"limit,omitempty" default:"500" min:"1" max:"5000"`
}

// Help is the text for people.
func (ReadAttachment) Help() tool.Help {
	return tool.Help{
		Short: "Show the text of an attachment",
		Long: "Reads text files, PDF, Word (docx), Excel (xlsx), PowerPoint (pptx) and OpenDocument files (odt, ods, odp). " +
			"Text in images is read if tesseract is installed. For other files, shows type, size and date.",
		Flags: map[string]string{
			"path":   "path or file name of the attachment",
			"page":   "only this page, slide or sheet, counted from 1",
			"offset": "first line to show, counted from 1",
		},
		Examples: []string{
			`"Tea map.canvas" --limit 5`,
			`"Tea map.canvas" --offset 3 --limit 1`,
		},
	}
}

// AttachmentText is a file: its text, or what it is.
type AttachmentText struct {
	Path string `json:"path"`
	// Type is the media type, detected from the content.
	Type     string `json:"type"`
	Size     int64  `json:"size"`
	Modified string `json:"modified"`
	// Width and Height of an image, in pixels.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// Pages, slides or sheets of a document.
	Pages int `json:"pages,omitempty"`
	// Text of the file, or a part of it.
	Text string `json:"text,omitempty"`
	// Line of the file where the text starts.
	Line  int `json:"line,omitempty"`
	Lines int `json:"lines,omitempty"`
	// More says how to read the rest when the text was cut.
	More string `json:"more,omitempty"`
	// Note says why there is no text, or how it was read.
	Note  string          `json:"note,omitempty"`
	Index index.Freshness `json:"index"`

	outside bool
}

// ShowsOutside tells that the text of a document or an image is text from
// outside: whoever made the file, its owner has often not read all of it.
func (a AttachmentText) ShowsOutside() bool { return a.outside }

// Run reads the file.
func (in ReadAttachment) Run(ctx context.Context, env Env) (AttachmentText, error) {
	f, err := env.readFile(ctx, in.Path)
	if err != nil {
		return AttachmentText{}, err
	}
	out := AttachmentText{
		Path: f.Path, Type: mediaType(f.Path, f.Data), Size: f.Info.Size, Modified: toolkit.Stamp(f.Info.ModTime.UnixNano()), Index: env.Fresh(ctx),
	}
	if kind := doctext.KindOf(f.Path, f.Data); kind != "" {
		out.Type = string(kind)
		err := in.document(ctx, env, kind, f, &out)
		return out, err
	}
	if in.Page > 0 {
		return AttachmentText{}, fault.Field("page", "leave it out", "%s has no pages", f.Path)
	}
	switch {
	case len(f.Data) == 0:
		out.Note = "the file is empty"
	case textual(f.Data):
		in.cut(string(f.Data), &out)
		if f.Truncated {
			out.Note = fmt.Sprintf("only the first %d of %d bytes were read", len(f.Data), f.Info.Size)
		}
	case strings.HasPrefix(out.Type, "image/"):
		// Only the header is decoded: a picture can be built to need gigabytes.
		if c, _, err := image.DecodeConfig(bytes.NewReader(f.Data)); err == nil {
			out.Width, out.Height = c.Width, c.Height
		}
		var text string
		if text, out.Note = env.pictureText(ctx, f); text != "" {
			in.cut(text+"\n", &out)
			out.outside = true
		}
	default:
		out.Note = "this is not text; its content is not returned"
	}
	return out, ctx.Err()
}

func (in ReadAttachment) cut(text string, out *AttachmentText) {
	cut := paging.CutLines(text, in.Offset, in.Limit)
	out.Text, out.Line, out.Lines, out.More = cut.Text, cut.First, cut.Total, cut.More
}

// document reads the text of a document. What cannot be read is told and is no
// error: the type and size still are an answer.
func (in ReadAttachment) document(ctx context.Context, env Env, kind doctext.Kind, f vault.File, out *AttachmentText) error {
	data := f.Data
	if f.Truncated {
		whole, err := env.Vault.Read(ctx, f.Path)
		if fault.Of(err) == fault.TooLarge {
			out.Note = "this document is too large to be read"
			return nil
		}
		if err != nil {
			return err
		}
		data = whole.Data
	}
	d, err := readDocument(ctx, kind, data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out.Note = "its text cannot be read: " + err.Error()
		return nil
	}
	out.Pages = d.Pages()
	text := d.Text
	if in.Page > 0 {
		if in.Page > d.Pages() {
			return fault.Field("page", "choose a page up to "+strconv.Itoa(d.Pages()), "%s has %s", f.Path, toolkit.Count(d.Pages(), "page"))
		}
		text = d.Page(in.Page)
	}
	switch {
	case d.Empty:
		out.Note = "no text was found in it; the pages may be images"
		return nil
	case d.Cut:
		out.Note = "only a part of the document could be read"
	}
	in.cut(text, out)
	out.outside = true
	return nil
}

// mediaTypes are the names whose content does not tell the type.
var mediaTypes = map[string]string{
	".csv": "text/csv", ".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".svg": "image/svg+xml",
	".md": "text/markdown", ".canvas": "application/json", ".tsv": "text/tab-separated-values",
}

func mediaType(p string, data []byte) string {
	if t, ok := mediaTypes[strings.ToLower(path.Ext(p))]; ok && textual(data) {
		return t
	}
	t, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return t
}

// View shows the text, or the facts.
func (a AttachmentText) View() tool.View {
	if a.Text != "" {
		return tool.View{Text: a.Text, Foot: toolkit.Foot(a.Index, a.More, a.Note)}
	}
	v := tool.View{Pairs: [][2]string{{"path", a.Path}, {"type", a.Type}, {"size", toolkit.Count(int(a.Size), "byte")}, {"modified", a.Modified}}}
	if a.Width > 0 {
		v.Pairs = append(v.Pairs, [2]string{"pixels", fmt.Sprintf("%d x %d", a.Width, a.Height)})
	}
	v.Foot = toolkit.Foot(a.Index, a.Note)
	return v
}
