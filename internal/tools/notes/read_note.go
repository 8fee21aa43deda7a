package notes

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ReadNote: Read one note, whole or in part.
type ReadNote struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Only this heading ("Tea > Brewing") or block ("^id").
	Section string `json:"section,omitempty"`
	// First line, from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Max lines.
	Limit int `json:"limit,omitempty" default:"500" min:"1" max:"5000"`
	// Only the headings.
	Outline bool `json:"outline,omitempty"`
}

// Help is the text for people.
func (ReadNote) Help() tool.Help {
	return tool.Help{
		Short: "Show the text of a note",
		Flags: map[string]string{
			"section": `only this heading ("Tea > Brewing") or block ("^id")`,
			"offset":  "first line to show, counted from 1",
			"outline": "show only the headings",
		},
		Examples: []string{
			"Matcha",
			`Matcha --section "Thin tea, usucha"`,
			"Oolong --outline",
		},
	}
}

// NoteText is a note, or a part of it, as it is on disk.
type NoteText struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Hash of the whole file; pass it as if_hash when you change the note.
	Hash string `json:"hash"`
	Text string `json:"text"`
	// Line of the file where the text starts.
	Line int `json:"line"`
	// Lines in the whole file.
	Lines int `json:"lines"`
	// More says how to read the rest when the text was cut.
	More string `json:"more,omitempty"`
	// Context describes the folder of the note.
	Context []FolderContext `json:"context,omitempty"`
	// Problems that the note has, such as YAML that cannot be read.
	Problems []string        `json:"problems,omitempty"`
	Index    index.Freshness `json:"index"`
}

// Run reads the note.
func (in ReadNote) Run(ctx context.Context, env Env) (NoteText, error) {
	n, err := env.read(ctx, in.Path)
	if err != nil {
		return NoteText{}, err
	}
	out := NoteText{
		Path: n.File.Path, Title: n.Title, Hash: n.Hash.String(), Lines: n.Lines, Problems: problems(n.Note), Index: env.Fresh(ctx),
	}
	if out.Context, err = env.contextOf(ctx, []string{out.Path}); err != nil {
		return NoteText{}, err
	}
	text, line := n.Text(), 1
	switch {
	case in.Outline:
		text = outline(n.Note)
	case in.Section != "":
		s, err := n.Section(in.Section)
		if err != nil {
			return NoteText{}, fault.Rename(err, "", "section")
		}
		line += strings.Count(text[:s.Start], "\n")
		text = text[s.Start:s.End]
	}
	cut := paging.CutLines(text, in.Offset, in.Limit)
	out.Text, out.More, out.Line = cut.Text, cut.More, line+cut.First-1
	if in.Outline {
		out.Line = 1
	}
	return out, nil
}

func problems(n *note.Note) []string {
	var out []string
	for _, p := range n.Problems {
		text := p.Kind + ": " + p.Detail
		if p.Line > 0 {
			text += fmt.Sprintf(" (line %d)", p.Line)
		}
		out = append(out, text)
	}
	return out
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
	return tool.View{Text: t.Text, Foot: toolkit.Foot(t.Index, t.More)}
}
