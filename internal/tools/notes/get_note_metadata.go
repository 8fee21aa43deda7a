package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// GetNoteMetadata: Get a note's properties, tags, headings, counts, dates and
// hash, without its text.
type GetNoteMetadata struct {
	// Path, name, title or alias.
	Path string `json:"path"`
}

// Help is the text for people.
func (GetNoteMetadata) Help() tool.Help {
	return tool.Help{
		Short: "Show the properties, tags, headings and counts of a note",
		Examples: []string{
			"Oolong",
			`"Cold brew" --json`,
		},
	}
}

// Metadata is what is known about one note.
type Metadata struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Type    string   `json:"type,omitempty"`
	Tags    []string `json:"tags"`
	Aliases []string `json:"aliases"`
	// Frontmatter as written; empty when the YAML cannot be read.
	Frontmatter map[string]any `json:"frontmatter"`
	Headings    []HeadingLine  `json:"headings"`
	Words       int            `json:"words"`
	Lines       int            `json:"lines"`
	Size        int64          `json:"size"`
	// TasksOpen and TasksDone count boxes.
	TasksOpen int `json:"tasks_open"`
	TasksDone int `json:"tasks_done"`
	// LinksOut counts links to other files, LinksBroken those of them that are broken, LinksIn links from other notes.
	LinksOut    int `json:"links_out"`
	LinksBroken int `json:"links_broken"`
	LinksIn     int `json:"links_in"`
	// Date that the note gives itself.
	Date     string `json:"date,omitempty"`
	Modified string `json:"modified"`
	// Hash of the whole file; pass it as if_hash when you change the note.
	Hash     string          `json:"hash"`
	ReadOnly bool            `json:"read_only,omitempty"`
	Problems []string        `json:"problems,omitempty"`
	Index    index.Freshness `json:"index"`
}

// HeadingLine is one heading with its line.
type HeadingLine struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
	Line  int    `json:"line"`
}

// Run reads the note and asks the index for its links.
func (in GetNoteMetadata) Run(ctx context.Context, env Env) (Metadata, error) {
	n, err := env.open(ctx, in.Path)
	if err != nil {
		return Metadata{}, err
	}
	d := index.NewDocument(n.row.File, index.KindNote, n.Note)
	out := Metadata{
		Path: n.File.Path, Title: n.Title, Type: n.Type, Tags: d.Tags, Aliases: n.Aliases, Frontmatter: map[string]any{}, Headings: []HeadingLine{},
		Words: n.Words, Lines: n.Lines, Size: n.Info.Size, TasksOpen: d.Tasks, TasksDone: d.Done,
		Modified: n.Info.ModTime.Local().Format(time.RFC3339), Hash: n.Hash.String(),
		ReadOnly: n.ReadOnly, Problems: problems(n.Note), Index: env.Fresh(ctx),
	}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	if out.Aliases == nil {
		out.Aliases = []string{}
	}
	for _, p := range n.Front.Props {
		out.Frontmatter[p.Key] = p.Value
	}
	for _, h := range n.Headings {
		out.Headings = append(out.Headings, HeadingLine{h.Level, h.Text, h.Line})
	}
	if d.Date != 0 {
		out.Date = time.Unix(d.Date, 0).Local().Format(time.DateOnly)
	}
	if !n.known {
		out.LinksOut = len(d.Links)
		return out, nil
	}
	return out, out.count(ctx, env, n.File.Path)
}

// count asks the index for the links.
func (m *Metadata) count(ctx context.Context, env Env, path string) error {
	forward, err := graph.Forward(ctx, env.Store, path)
	if err != nil {
		return err
	}
	for _, l := range forward {
		switch l.To {
		case path: // a link into the same note
		case "":
			m.LinksBroken++
			m.LinksOut++
		default:
			m.LinksOut++
		}
	}
	back, err := graph.Backlinks(ctx, env.Store, path)
	m.LinksIn = len(back)
	return err
}

// View is a list of facts.
func (m Metadata) View() tool.View {
	var v tool.View
	add := func(name, value string) {
		if value != "" {
			v.Pairs = append(v.Pairs, [2]string{name, value})
		}
	}
	add("path", m.Path)
	add("title", m.Title)
	add("type", m.Type)
	add("tags", strings.Join(m.Tags, ", "))
	add("aliases", strings.Join(m.Aliases, ", "))
	add("date", m.Date)
	add("modified", m.Modified)
	add("size", fmt.Sprintf("%d bytes, %d words, %d lines", m.Size, m.Words, m.Lines))
	add("links", fmt.Sprintf("%d in, %d out, %d broken", m.LinksIn, m.LinksOut, m.LinksBroken))
	if m.TasksOpen+m.TasksDone > 0 {
		add("tasks", fmt.Sprintf("%d open, %d done", m.TasksOpen, m.TasksDone))
	}
	var heads []string
	for _, h := range m.Headings {
		heads = append(heads, h.Text)
	}
	add("headings", strings.Join(heads, ", "))
	if len(m.Frontmatter) > 0 {
		// What was read from YAML can always be written as JSON.
		b, _ := json.Marshal(m.Frontmatter)
		add("frontmatter", string(b))
	}
	add("hash", m.Hash)
	add("problems", strings.Join(m.Problems, "; "))
	if m.ReadOnly {
		add("read-only", strconv.FormatBool(m.ReadOnly))
	}
	v.Foot = toolkit.Foot(m.Index)
	return v
}
