package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lore/internal/embed"
	"lore/internal/graph/judge"
	"lore/internal/graph/stance"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tools/toolkit"
)

// A nearby is a note that is near to another, with the passage that shows it.
type nearby struct {
	row     index.Row
	cosine  float64
	excerpt string
}

// How a note is compared.
const (
	nearDepth    = 400 // passages that are looked at
	nearPassages = 12  // passages of a text that is not indexed yet
	excerptWidth = 300
)

// modelID is the id of the model that vectors are of, or "".
func (env Env) modelID() string {
	if env.Search == nil || env.Search.Model == nil {
		return ""
	}
	return env.Search.Model.ID()
}

// model is the same where some note has a vector. It counts them, which is not
// free.
func (env Env) model(ctx context.Context) (string, error) {
	id := env.modelID()
	if id == "" {
		return "", nil
	}
	st, err := env.Store.Stats(ctx, id)
	if err != nil || st.Embedded == 0 {
		return "", err
	}
	return id, nil
}

// hashes are those of the passages of a note.
func (env Env) hashes(ctx context.Context, row *index.Row) ([]index.Hash, error) {
	passages, err := env.Store.Passages(ctx, index.PassageQuery{IDs: []int64{row.ID}})
	out := []index.Hash{}
	for _, p := range passages {
		out = append(out, p.Hash)
	}
	return out, err
}

// near finds the notes nearest to one by meaning, nearest first, at least as
// near as least. Without vectors it searches for the words of the title; the
// second result names the way.
func (env Env) near(ctx context.Context, row *index.Row, limit int, least float64) ([]nearby, string, error) {
	if model := env.modelID(); model != "" {
		of, err := env.hashes(ctx, row)
		if err != nil {
			return nil, "", err
		}
		found, any, err := env.nearest(ctx, index.Near{Model: model, Of: of}, row.File.Path, limit, least)
		if err != nil || any {
			return found, "meaning", err
		}
		n, err := env.read(ctx, *row) // it has no vectors yet
		if err != nil {
			return nil, "", err
		}
		found, how, err := env.nearText(ctx, row.Title, says(n.Note), limit+1, least)
		found = slices.DeleteFunc(found, func(x nearby) bool { return x.row.File.Path == row.File.Path })
		return found[:min(limit, len(found))], how, err
	}
	n, err := env.read(ctx, *row)
	if err != nil {
		return nil, "", err
	}
	found, err := env.byWords(ctx, docOf(n), row.File.Path, limit, least)
	return found, "words", err
}

// nearText does the same for a text that is not indexed.
func (env Env) nearText(ctx context.Context, title, text string, limit int, least float64) ([]nearby, string, error) {
	model := env.modelID()
	byWords := func() ([]nearby, string, error) {
		found, err := env.byWords(ctx, judge.Doc{Title: title, Text: text}, "", limit, least)
		return found, "words", err
	}
	if model == "" {
		return byWords()
	}
	var passages []string
	for _, c := range note.Parse("x.md", []byte(text)).Chunks {
		if len(passages) < nearPassages {
			passages = append(passages, index.PassageText(title, strings.Join(c.Headings, " > "), c.Text))
		}
	}
	if len(passages) == 0 {
		passages = []string{title}
	}
	vectors, err := env.Search.Model.Embed(ctx, embed.Passage, passages)
	if err != nil {
		return nil, "", fmt.Errorf("embed the node: %w", err)
	}
	found, any, err := env.nearest(ctx, index.Near{Model: model, Vector: middle(vectors)}, "", limit, least)
	if err == nil && !any {
		return byWords() // no note has a vector yet
	}
	return found, "meaning", err
}

// middle is the direction between vectors of length 1.
func middle(vs [][]float32) []float32 {
	out := make([]float32, len(vs[0]))
	for _, v := range vs {
		for i, x := range v {
			out[i] += x
		}
	}
	sum := 0.0
	for _, x := range out {
		sum += float64(x) * float64(x)
	}
	if sum > 0 {
		scale := float32(1 / math.Sqrt(sum))
		for i := range out {
			out[i] *= scale
		}
	}
	return out
}

// nearest reads the best passage of each note. The second result is false when
// there was nothing to compare with.
func (env Env) nearest(ctx context.Context, q index.Near, skip string, limit int, least float64) ([]nearby, bool, error) {
	q.Limit = nearDepth + len(q.Of)
	passages, err := env.Store.Nearest(ctx, q)
	if err != nil {
		return nil, false, err
	}
	var best []index.NearPassage
	var ids []int64
	for _, p := range passages {
		if p.Path != skip && len(best) < limit && toolkit.Round(float64(p.Cosine)) >= least && !slices.Contains(ids, p.ID) {
			best, ids = append(best, p), append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil, len(passages) > 0, nil
	}
	rows, err := env.Store.Notes(ctx, index.Select{IDs: ids})
	if err != nil {
		return nil, false, err
	}
	texts, err := env.Store.Passages(ctx, index.PassageQuery{IDs: ids})
	if err != nil {
		return nil, false, err
	}
	var out []nearby
	for _, b := range best {
		i := slices.IndexFunc(rows, func(r index.Row) bool { return r.ID == b.ID && r.Kind == index.KindNote })
		k := slices.IndexFunc(texts, func(p index.Passage) bool { return p.ID == b.ID && p.Seq == b.Seq })
		if i >= 0 && k >= 0 {
			out = append(out, nearby{rows[i], toolkit.Round(min(1, float64(b.Cosine))), search.Around(note.Plain(texts[k].Text), 0, 0, excerptWidth)})
		}
	}
	return out, true, nil
}

// byWords searches for the words of a title when there are no vectors. How alike
// two notes are is what the search says, and at least the part of their words
// that both have: where half of the notes have a word, as in a small vault, it
// counts nothing in a search.
func (env Env) byWords(ctx context.Context, d judge.Doc, skip string, limit int, least float64) ([]nearby, error) {
	if env.Search == nil {
		return nil, nil
	}
	a, err := env.Search.Ask(ctx, search.Query{Words: strings.Fields(d.Title)}, search.Options{Mode: search.Lexical, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, h.Path)
	}
	rows, err := env.rows(ctx, paths)
	if err != nil {
		return nil, err
	}
	var out []nearby
	for _, h := range a.Hits {
		r := rows[h.Path]
		if r == nil || r.Kind != index.KindNote || h.Path == skip || len(out) == limit {
			continue
		}
		other, err := env.doc(ctx, r)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // it went away or cannot be read
		}
		if alike := toolkit.Round(max(h.Score, stance.Overlap(d.Title+". "+d.Text, other.Title+". "+other.Text))); alike >= least {
			out = append(out, nearby{*r, alike, h.Excerpt})
		}
	}
	slices.SortStableFunc(out, func(a, b nearby) int { return -cmp.Compare(a.cosine, b.cosine) })
	return out, nil
}

// mostCompared is how much of a text stands for it when two are compared, in
// characters.
const mostCompared = 1500

// similarity is the cosine of two texts, or nil when no model can tell. It asks
// for what the nodes say and not for what the index knows, which holds their
// relations too: what is calculated from it may be written there.
func (env Env) similarity(ctx context.Context, a, b judge.Doc) (*float64, error) {
	if env.Search == nil || env.Search.Model == nil {
		return nil, nil
	}
	text := func(d judge.Doc) string {
		r := []rune(d.Text)
		return index.PassageText(d.Title, "", string(r[:min(len(r), mostCompared)]))
	}
	v, err := env.Search.Model.Embed(ctx, embed.Passage, []string{text(a), text(b)})
	if err != nil {
		return nil, fmt.Errorf("compare two nodes: %w", err)
	}
	c := cosine(v[0], v[1])
	return &c, nil
}

// cosine of two vectors of length 1, 0 when they have nothing in common.
func cosine(a, b []float32) float64 {
	dot := 0.0
	for i, x := range a {
		dot += float64(x) * float64(b[i])
	}
	return toolkit.Round(max(0, min(1, dot)))
}
