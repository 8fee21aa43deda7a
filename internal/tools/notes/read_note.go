package notes

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
)

// ReadNote returns the text of one note, whole or in part. Use it after
// search_notes, when a passage is not enough.
type ReadNote struct {
	// Path of the note from the vault root, for example "ideas/tea.md". A unique file name, title or alias works too.
	Path string `json:"path"`
	// Section to read: a heading ("Brewing"), a path of headings ("Tea > Brewing") or a block ("^rel-1").
	Section string `json:"section,omitempty"`
	// Offset is the first line to return, counted from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Limit on the number of lines.
	Limit int `json:"limit,omitempty" default:"500" min:"1" max:"5000"`
	// Outline returns only the headings.
	Outline bool `json:"outline,omitempty"`
}

// NoteText is a note, or a part of it, as it stands on disk.
type NoteText struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Hash of the whole file; give it back as if_hash when you change the note.
	Hash string `json:"hash"`
	Text string `json:"text"`
	// Line of the file that the text begins with.
	Line int `json:"line"`
	// Lines in the whole file.
	Lines int `json:"lines"`
	// More tells how to read on when the text was cut.
	More string `json:"more,omitempty"`
	// Problems that the note has, such as YAML that cannot be read.
	Problems []string `json:"problems,omitempty"`
}

// Run reads the note.
func (in ReadNote) Run(ctx context.Context, env Env) (NoteText, error) {
	row, err := search.Locate(ctx, env.Store, in.Path)
	path := row.File.Path
	if fault.Of(err) == fault.NotFound {
		// A note that is newer than the index is still a note.
		if _, statErr := env.Vault.Stat(ctx, in.Path); statErr == nil {
			path, err = in.Path, nil
		}
	}
	if err != nil {
		return NoteText{}, err
	}
	f, err := env.Vault.Read(ctx, path)
	if err != nil {
		return NoteText{}, err
	}
	n := note.Parse(f.Path, f.Data)
	out := NoteText{Path: f.Path, Title: n.Title, Hash: f.Hash.String(), Lines: n.Lines}
	for _, p := range n.Problems {
		out.Problems = append(out.Problems, fmt.Sprintf("%s: %s", p.Kind, p.Detail))
	}
	if in.Outline {
		out.Text, out.Line = outline(n), 1
		return out, nil
	}
	text, line := n.Text(), 1
	if in.Section != "" {
		s, err := n.Section(in.Section)
		if err != nil {
			return NoteText{}, err
		}
		line += strings.Count(text[:s.Start], "\n")
		text = text[s.Start:s.End]
	}
	out.cut(text, line, in.Offset, in.Limit)
	return out, nil
}

// cut keeps limit lines from offset on, and says how to read the rest.
func (t *NoteText) cut(text string, line, offset, limit int) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := min(offset-1, len(lines))
	to := min(from+limit, len(lines))
	t.Text, t.Line = strings.Join(lines[from:to], ""), line+from
	if to < len(lines) {
		t.More = fmt.Sprintf("lines %d to %d of %d; call again with offset %d", from+1, to, len(lines), to+1)
	}
}

func outline(n *note.Note) string {
	var b strings.Builder
	for _, h := range n.Headings {
		fmt.Fprintf(&b, "%s %s (line %d)\n", strings.Repeat("#", h.Level), h.Text, h.Line)
	}
	return b.String()
}

// View shows the text as it is.
func (t NoteText) View() tool.View {
	return tool.View{Text: t.Text, Foot: t.More}
}
