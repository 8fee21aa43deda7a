package files

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ReadFile: Read a text file, whole or in part.
type ReadFile struct {
	// Path.
	Path string `json:"path"`
	// First line, from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Max lines.
	Limit int `json:"limit,omitempty" default:"2000" min:"1" max:"5000"`
}

// Help is the text for people.
func (ReadFile) Help() tool.Help {
	return tool.Help{
		Short: "Show a text file",
		Long:  "Shows any text file of the vault. lore read shows a note.",
		Flags: map[string]string{
			"path":   "path of the file",
			"offset": "first line to show, counted from 1",
			"limit":  "maximum number of lines",
		},
		Examples: []string{`"Tea map.canvas" --limit 5`},
		Hidden:   true,
	}
}

// FileText is a text file, or some lines of it.
type FileText struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Size of the whole file in bytes.
	Size int64 `json:"size"`
	// Hash of the whole file; pass it as if_hash when you change it.
	Hash string `json:"hash,omitempty"`
	// Line of the file where the content starts.
	Line int `json:"line"`
	// Lines in the whole file.
	Lines int `json:"lines"`
	// More says how to read the rest when the content was cut.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// Run reads the file.
func (in ReadFile) Run(ctx context.Context, env Env) (FileText, error) {
	f, err := env.open(ctx, in.Path)
	if err != nil {
		return FileText{}, err
	}
	if !textual(f.Data) {
		return FileText{}, fault.Fix(fault.Invalid, "use read_attachment for its type and size", "%s is not text", f.Path)
	}
	cut := paging.CutLines(string(f.Data), in.Offset, in.Limit)
	out := FileText{
		Path: f.Path, Content: cut.Text, Size: f.Info.Size, Hash: f.Hash.String(), Line: cut.First, Lines: cut.Total, More: cut.More, Index: env.Fresh(ctx),
	}
	if f.Truncated {
		out.Hash = ""
		out.More = strings.TrimPrefix(out.More+fmt.Sprintf("; only the first %d of %d bytes were read", len(f.Data), f.Info.Size), "; ")
	}
	return out, nil
}

// View shows the content as it is.
func (f FileText) View() tool.View {
	return tool.View{Text: f.Content, Foot: toolkit.Foot(f.Index, f.More)}
}
