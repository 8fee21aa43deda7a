package notes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// SearchNotes: Find notes by words and meaning, each with its best passage.
// Use this first.
type SearchNotes struct {
	// Plain words; also "a phrase", -not, tag:x, path:x, type:x, after:2026-01-31, before:, [property:value].
	Query string `json:"query"`
	// Max notes.
	TopK int `json:"top_k,omitempty" default:"10" min:"1" max:"50"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0" max:"1000"`
	// Which notes to search.
	Filter *Filter `json:"filter,omitempty"`
	// Search mode.
	Mode string `json:"mode,omitempty" default:"hybrid" enum:"hybrid,lexical,semantic"`
	// Explain the scores.
	Explain bool `json:"explain,omitempty"`
}

// Help is the text for people.
func (SearchNotes) Help() tool.Help {
	return tool.Help{
		Short: "Search notes by words and meaning",
		Long: `Write plain words. These narrow the search: "a phrase", -without, tag:NAME, path:FOLDER, type:NAME,` + "\n" +
			"after:2026-01-31, before:2026-12-31 and [property:value].",
		Flags: map[string]string{
			"query":       "what to search for",
			"mode":        "by words (lexical), by meaning (semantic), or both",
			"date-after":  "only notes dated on or after this day",
			"date-before": "only notes dated on or before this day",
			"folder":      "only notes in this folder",
			"type":        "only notes of this type",
			"tags":        "only notes with these tags; a nested tag also counts as its parent",
			"tags-match":  "match notes with all of the tags, or with any of them",
			"properties":  "only notes with this property: a value, a comparison such as >=4, !=done or ~tea, ! for none, empty for any",
			"explain":     "show how each score was computed",
		},
		Examples: []string{
			"cold brew",
			`"why does my tea taste bitter" --top-k 3`,
			`"tag:brewing water" --folder Notes`,
		},
	}
}

// Filter narrows a search to some notes.
type Filter struct {
	// Tags, with nested ones.
	Tags []string `json:"tags,omitempty"`
	// All (default) or any of them.
	TagsMatch string `json:"tags_match,omitempty" enum:"all,any"`
	// From this day on.
	DateAfter string `json:"date_after,omitempty"`
	// Up to this day.
	DateBefore string `json:"date_before,omitempty"`
	// In this folder.
	Folder string `json:"folder,omitempty"`
	// Of this type.
	Type string `json:"type,omitempty"`
	// Properties; "" for any value.
	Properties map[string]string `json:"properties,omitempty"`
}

// Found is a list of notes, best first.
type Found struct {
	Results []FoundNote `json:"results"`
	// Context describes the folders of the notes.
	Context []FolderContext `json:"context,omitempty"`
	// Mode that was used: without vectors a hybrid search is lexical.
	Mode string `json:"mode"`
	// Meaning counts the passages that semantic search covers.
	Meaning search.Coverage `json:"meaning,omitzero"`
	// More says how to get the next notes.
	More string `json:"more,omitempty"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// Hints about the answer.
	Hints []string        `json:"hints,omitempty"`
	Index index.Freshness `json:"index"`
}

// FoundNote is one note with its best passage.
type FoundNote struct {
	Path    string  `json:"path"`
	Title   string  `json:"title"`
	Heading string  `json:"heading,omitempty"`
	Line    int     `json:"line,omitempty"`
	Chunk   string  `json:"chunk"`
	Score   float64 `json:"score"`
	// Similarity is the cosine of the passage nearest in meaning.
	Similarity float64         `json:"similarity,omitempty"`
	Why        []search.Reason `json:"why,omitempty"`

	excerpt string
	marks   []search.Mark
}

// Run searches.
func (in SearchNotes) Run(ctx context.Context, env Env) (Found, error) {
	filter, err := in.Filter.index(ctx, env)
	if err != nil {
		return Found{}, err
	}
	a, err := env.Search.Find(ctx, in.Query, search.Options{
		Mode: search.Mode(in.Mode), Limit: in.TopK, Offset: in.Offset, Filter: filter, Explain: in.Explain, Partial: env.Fresh(ctx).Partial,
	})
	if err != nil {
		return Found{}, err
	}
	out := Found{Results: []FoundNote{}, Mode: string(a.Mode), Meaning: a.Meaning, Unknown: a.Unknown, Hints: a.Notes, Index: env.Fresh(ctx)}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, h.Path)
		excerpt, marks := h.Preview()
		out.Results = append(out.Results, FoundNote{
			Path: h.Path, Title: h.Title, Heading: h.Heading, Line: h.Line, Chunk: h.Passage,
			Score: toolkit.Round(h.Score), Similarity: toolkit.Round(float64(h.Cosine)), Why: h.Why,
			excerpt: excerpt, marks: marks,
		})
	}
	if a.More {
		out.More = paging.After(in.Offset, len(out.Results))
	}
	out.Context, err = env.contextOf(ctx, paths)
	return out, err
}

func (f *Filter) index(ctx context.Context, env Env) (index.Filter, error) {
	var out index.Filter
	if f == nil {
		return out, nil
	}
	out.Tags, out.AnyTag = f.Tags, f.TagsMatch == "any"
	var err error
	if out.Folders, err = toolkit.Folder(ctx, env.Vault, env.Store, f.Folder); err != nil {
		return out, fault.Rename(err, "folder", "filter.folder")
	}
	if f.Type != "" {
		out.Types = []string{f.Type}
	}
	for k, v := range f.Properties {
		out.Props = append(out.Props, search.PropertyValue(k, v))
	}
	after, err := day("filter.date_after", f.DateAfter)
	if err != nil {
		return out, err
	}
	before, err := day("filter.date_before", f.DateBefore)
	if err != nil {
		return out, err
	}
	if !after.IsZero() {
		out.After = after.Unix()
	}
	if !before.IsZero() {
		// The day itself is meant too, unless a time was given.
		if before.Hour() == 0 && before.Minute() == 0 && !strings.Contains(f.DateBefore, ":") {
			before = before.AddDate(0, 0, 1)
		}
		out.Before = before.Unix()
	}
	return out, nil
}

func day(field, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, ok := index.ParseDate(s)
	if !ok {
		return t, fault.Field(field, "write it as 2026-01-31 or 2026-01-31T10:00", "%q is not a date", s)
	}
	return t, nil
}

// View lists the notes with their excerpts.
func (f Found) View() tool.View {
	v := tool.View{}
	for _, r := range f.Results {
		item := tool.Item{Title: r.Title, Path: r.Path, Line: r.Line, Detail: r.Heading, Text: r.excerpt, Score: r.Score}
		for _, m := range r.marks {
			item.Marks = append(item.Marks, tool.Mark(m))
		}
		for _, w := range r.Why {
			item.Notes = append(item.Notes, fmt.Sprintf("%+.4f %s: %s", w.Points, w.Kind, w.Detail))
		}
		v.Items = append(v.Items, item)
	}
	none := ""
	if len(f.Results) == 0 {
		none = "no notes found"
	}
	v.Foot = toolkit.Foot(f.Index, append(append([]string{none}, f.Hints...), f.More)...)
	return v
}
