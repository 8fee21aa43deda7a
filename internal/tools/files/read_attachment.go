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
	"strings"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ReadAttachment: Read the text of a file that is not a note; for other
// files, get the type and size.
type ReadAttachment struct {
	// Path or file name.
	Path string `json:"path"`
	// First line, from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Max lines.
	Limit int `json:"limit,omitempty" default:"500" min:"1" max:"5000"`
}

// Help is the text for people.
func (ReadAttachment) Help() tool.Help {
	return tool.Help{
		Short: "Show the text of an attachment",
		Long:  "If the file is not text, shows its type, size and date.",
		Flags: map[string]string{
			"path":   "path or file name of the attachment",
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
	// Text of a text file, or a part of it.
	Text string `json:"text,omitempty"`
	// Line of the file where the text starts.
	Line  int `json:"line,omitempty"`
	Lines int `json:"lines,omitempty"`
	// More says how to read the rest when the text was cut.
	More string `json:"more,omitempty"`
	// Note says why there is no text.
	Note  string          `json:"note,omitempty"`
	Index index.Freshness `json:"index"`
}

// Run reads the file.
func (in ReadAttachment) Run(ctx context.Context, env Env) (AttachmentText, error) {
	f, err := env.readFile(ctx, in.Path)
	if err != nil {
		return AttachmentText{}, err
	}
	out := AttachmentText{
		Path: f.Path, Type: mediaType(f.Path, f.Data), Size: f.Info.Size, Modified: toolkit.Stamp(f.Info.ModTime.UnixNano()), Index: env.Fresh(ctx),
	}
	switch {
	case len(f.Data) == 0:
		out.Note = "the file is empty"
	case textual(f.Data):
		cut := paging.CutLines(string(f.Data), in.Offset, in.Limit)
		out.Text, out.Line, out.Lines, out.More = cut.Text, cut.First, cut.Total, cut.More
		if f.Truncated {
			out.Note = fmt.Sprintf("only the first %d of %d bytes were read", len(f.Data), f.Info.Size)
		}
	case strings.HasPrefix(out.Type, "image/"):
		// Only the header is decoded: a picture can be built to need gigabytes.
		if c, _, err := image.DecodeConfig(bytes.NewReader(f.Data)); err == nil {
			out.Width, out.Height = c.Width, c.Height
		}
		out.Note = "this is an image; it has no text"
	case out.Type == "application/pdf":
		out.Note = "this is a PDF; its text is not extracted"
	default:
		out.Note = "this is not text; its content is not returned"
	}
	return out, nil
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
