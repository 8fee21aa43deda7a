package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// FindSimilar: List the notes closest to a note in meaning, linked or not.
type FindSimilar struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"10" min:"1" max:"50"`
	// Leave out notes linked with it.
	Unlinked bool `json:"unlinked,omitempty"`
}

// Help is the text for people.
func (FindSimilar) Help() tool.Help {
	return tool.Help{
		Short: "List notes similar to a note",
		Flags: map[string]string{
			"unlinked": "leave out notes that already link to this note or are linked from it",
		},
		Examples: []string{
			"Matcha --limit 3",
			"Oolong --unlinked",
		},
	}
}

// SimilarNotes are the notes most similar to one, most similar first.
type SimilarNotes struct {
	Path  string        `json:"path"`
	Title string        `json:"title"`
	Notes []SimilarNote `json:"notes"`
	// Method is "meaning", or "words" when there are no vectors to compare.
	Method string          `json:"method"`
	Index  index.Freshness `json:"index"`
}

// SimilarNote is one similar note.
type SimilarNote struct {
	Path    string `json:"path"`
	Title   string `json:"title"`
	Heading string `json:"heading,omitempty"`
	// Excerpt is the most similar passage.
	Excerpt string `json:"excerpt"`
	// Score is 0 to 1; with method meaning it is the cosine.
	Score float64 `json:"score"`
	// Linked says that one of the two links to the other.
	Linked bool `json:"linked"`

	line int
}

// similarDepth is how many passages are looked at.
const similarDepth = 400

// Run compares the note with all others.
func (in FindSimilar) Run(ctx context.Context, env Env) (SimilarNotes, error) {
	row, err := toolkit.Locate(ctx, env.Store, "path", in.Path)
	if err != nil {
		return SimilarNotes{}, err
	}
	passages, err := env.Store.Passages(ctx, index.PassageQuery{IDs: []int64{row.ID}})
	if err != nil {
		return SimilarNotes{}, err
	}
	linked, err := env.linkedWith(ctx, row.File.Path)
	if err != nil {
		return SimilarNotes{}, err
	}
	out := SimilarNotes{Path: row.File.Path, Title: row.Title, Notes: []SimilarNote{}, Method: "meaning", Index: env.Fresh(ctx)}
	skip := func(p string) bool { return p == row.File.Path || in.Unlinked && linked[p] }
	found, ok, err := env.byMeaning(ctx, passages, skip, in.Limit)
	if err == nil && !ok {
		out.Method = "words"
		found, err = env.byWords(ctx, &row, passages, skip, in.Limit)
	}
	if err != nil {
		return SimilarNotes{}, err
	}
	for _, n := range found {
		n.Linked = linked[n.Path]
		out.Notes = append(out.Notes, n)
	}
	return out, nil
}

func (env Env) linkedWith(ctx context.Context, p string) (map[string]bool, error) {
	out := map[string]bool{}
	forward, err := graph.Forward(ctx, env.Store, p)
	if err != nil {
		return nil, err
	}
	for _, l := range forward {
		out[l.To] = true
	}
	back, err := graph.Backlinks(ctx, env.Store, p)
	for _, l := range back {
		out[l.From] = true
	}
	return out, err
}

// byMeaning asks for the passages nearest to the middle of the note's own. It
// is not ok when there is nothing to compare with.
func (env Env) byMeaning(ctx context.Context, passages []index.Passage, skip func(string) bool, limit int) ([]SimilarNote, bool, error) {
	model := env.Search.Model
	if model == nil || len(passages) == 0 {
		return nil, false, nil
	}
	var of []index.Hash
	for _, p := range passages {
		of = append(of, p.Hash)
	}
	near, err := env.Store.Nearest(ctx, index.Near{Model: model.ID(), Of: of, Limit: similarDepth + len(passages)})
	if err != nil || len(near) == 0 { // nothing has a vector yet
		return nil, false, err
	}
	var best []index.NearPassage
	seen := map[int64]bool{}
	for _, n := range near {
		if !seen[n.ID] && !skip(n.Path) && len(best) < limit && n.Cosine > 0 {
			seen[n.ID] = true
			best = append(best, n)
		}
	}
	out, err := env.shown(ctx, best)
	return out, true, err
}

// shown reads the passages that are shown.
func (env Env) shown(ctx context.Context, best []index.NearPassage) ([]SimilarNote, error) {
	var ids []int64
	for _, b := range best {
		ids = append(ids, b.ID)
	}
	passages, err := env.Store.Passages(ctx, index.PassageQuery{IDs: ids})
	if err != nil {
		return nil, err
	}
	var out []SimilarNote
	for _, b := range best {
		i := slices.IndexFunc(passages, func(p index.Passage) bool { return p.ID == b.ID && p.Seq == b.Seq })
		if i < 0 {
			continue // changed since
		}
		p := passages[i]
		out = append(out, SimilarNote{
			Path: p.Path, Title: p.Title, Heading: p.Heading, line: p.Line,
			Excerpt: search.Around(note.Plain(p.Text), 0, 0, previewWidth), Score: toolkit.Round(float64(b.Cosine)),
		})
	}
	return out, nil
}

// byWords searches for the words of the title, the headings and the tags.
func (env Env) byWords(ctx context.Context, row *index.Row, passages []index.Passage, skip func(string) bool, limit int) ([]SimilarNote, error) {
	words := strings.Fields(row.Title + " " + strings.Join(row.Tags, " "))
	for _, p := range passages {
		words = append(words, strings.Fields(strings.ReplaceAll(p.Heading, " > ", " "))...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	words = words[:min(len(words), 40)]
	a, err := env.Search.Ask(ctx, search.Query{Words: words}, search.Options{Mode: search.Lexical, Limit: 3*limit + 1})
	if err != nil {
		return nil, err
	}
	var out []SimilarNote
	for _, h := range a.Hits {
		if !skip(h.Path) && len(out) < limit {
			out = append(out, SimilarNote{Path: h.Path, Title: h.Title, Heading: h.Heading, Excerpt: h.Excerpt, Score: toolkit.Round(h.Score), line: h.Line})
		}
	}
	return out, nil
}

// View lists the notes.
func (s SimilarNotes) View() tool.View {
	var v tool.View
	for _, n := range s.Notes {
		item := tool.Item{Title: n.Title, Path: n.Path, Line: n.line, Detail: n.Heading, Text: n.Excerpt, Score: n.Score}
		if n.Linked {
			item.Notes = []string{"linked"}
		}
		v.Items = append(v.Items, item)
	}
	v.Foot = toolkit.Foot(s.Index, fmt.Sprintf("%s similar to %s, by %s", toolkit.Count(len(s.Notes), "note"), s.Title, s.Method))
	return v
}
