package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lore/internal/embed"
	"lore/internal/index"
)

// A run is one question on its way to an answer.
type run struct {
	s      *Searcher
	q      Query
	o      Options
	w      Weights
	filter index.Filter
	hits   map[int64]*Hit
	order  []*Hit
	out    Answer
}

func (r *run) answer(ctx context.Context) (Answer, error) {
	r.out.Mode = r.o.Mode
	if len(r.q.Words)+len(r.q.Phrases) == 0 {
		return r.list(ctx)
	}
	steps := []func(context.Context) error{r.words, r.meaning, r.names, r.links, r.similar}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return Answer{}, err // whoever asked has gone
		}
		if err := step(ctx); err != nil {
			return Answer{}, err
		}
	}
	r.sort()
	if len(r.order) > 0 && r.out.Mode == Hybrid && !slices.ContainsFunc(r.order, (*Hit).isNamed) {
		r.note("%s contains these words; these notes are the closest in meaning", r.noNote())
	}
	return r.page(ctx)
}

// isNamed reports whether a note has words of the question, in its text or its name.
func (h *Hit) isNamed() bool {
	return slices.ContainsFunc(h.Why, func(w Reason) bool { return w.Kind == "words" || w.Kind == "name" })
}

// list answers a question that has only filters: the newest notes first.
func (r *run) list(ctx context.Context) (Answer, error) {
	rows, err := r.s.Store.Notes(ctx, index.Select{Filter: r.filter, Order: index.ByModified, Limit: r.o.Limit + 1, Offset: r.o.Offset})
	if err != nil {
		return Answer{}, err
	}
	for _, row := range rows {
		r.order = append(r.order, &Hit{id: row.ID, Path: row.File.Path, Score: 1, seq: -1})
	}
	r.o.Offset = 0
	return r.page(ctx)
}

// hit returns the hit of a note, new or known.
func (r *run) hit(id int64, path string) *Hit {
	h := r.hits[id]
	if h == nil {
		h = &Hit{id: id, Path: path, seq: -1, place: math.MaxInt}
		r.hits[id] = h
		r.order = append(r.order, h)
	}
	return h
}

func (h *Hit) add(kind string, points float64, format string, args ...any) {
	h.Score += points
	h.Why = append(h.Why, Reason{Kind: kind, Points: points, Detail: fmt.Sprintf(format, args...)})
}

// sort puts the best hits first; equal ones go by path, and those without points
// by their place, so that the same question always gives the same order.
func (r *run) sort() {
	slices.SortFunc(r.order, func(a, b *Hit) int {
		c := -cmp.Compare(a.Score, b.Score)
		if c == 0 && a.Score == 0 {
			c = cmp.Compare(a.place, b.place)
		}
		return cmp.Or(c, strings.Compare(a.Path, b.Path))
	})
}

// depth is how many notes each ranking gives to the whole. A far page needs
// more, but points are given within Depth alone: what lies deeper follows in
// the order of its places, so that a page never changes those before it.
func (r *run) depth() int { return max(r.w.Depth, r.o.Offset+r.o.Limit+1) }

// share places a score between the lowest and the highest of its ranking. Of a
// ranking that was not cut, nothing is the lowest.
func share(score, low, high float64, cut bool) float64 {
	if !cut {
		low = 0
	}
	if high <= low {
		return 1
	}
	return max(0, (score-low)/(high-low))
}

// words adds the ranking by BM25.
func (r *run) words(ctx context.Context) error {
	if r.o.Mode == Semantic {
		return nil
	}
	m := index.Match{Weights: r.w.Columns, Filter: r.filter, Limit: r.depth()}
	for _, w := range grams(content(r.q.Words)) {
		m.Any = append(m.Any, index.Term{Words: []string{w}})
	}
	for _, w := range r.q.Words {
		// "Abdul-Aziz" is two words that had better stand together.
		if parts := pieces(w); len(parts) > 1 && len(w) <= maxPhrase {
			m.Any = append(m.Any, index.Term{Words: parts})
		}
	}
	found, err := r.s.Store.Match(ctx, m)
	if err != nil {
		return err
	}
	for rank, f := range found {
		points := 0.0
		if rank < r.w.Depth {
			low := found[min(len(found), r.w.Depth)-1].Score
			points = r.w.Words * share(f.Score, low, found[0].Score, len(found) >= r.w.Depth)
		}
		h := r.hit(f.ID, f.Path)
		h.place = min(h.place, rank)
		h.add("words", points, "rank %d in full-text search, BM25 %.2f", rank+1, f.Score)
	}
	return nil
}

// content lists the words of a question that tell notes apart: each once,
// compounds in their parts, without stop words unless nothing else is left.
func content(words []string) []string {
	var all, out []string
	for _, w := range words {
		for _, p := range pieces(w) {
			if len(all) == maxWords || slices.Contains(all, p) {
				continue
			}
			if len(p) > maxPhrase { // of an unspaced script, where every character is a word
				p = strings.TrimSuffix(cut(p, maxPhrase), "…")
			}
			all = append(all, p)
			if !stopWords[strings.ToLower(p)] {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// grams are the words as they are ranked by, each once: see [index.Grams].
func grams(words []string) []string {
	var out []string
	for _, w := range words {
		for _, g := range index.Grams(w) {
			if len(out) < maxWords && !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}

// pieces cuts a word where the full-text index does, and drops the "s" of a
// genitive: "father's" asks for the father.
func pieces(word string) []string {
	for _, s := range []string{"'s", "’s", "'S", "’S"} {
		word = strings.TrimSuffix(strings.TrimRightFunc(word, notInWord), s)
	}
	return strings.FieldsFunc(word, notInWord)
}

// meaning adds the ranking by the nearest passage of each note.
func (r *run) meaning(ctx context.Context) error {
	if r.o.Mode == Lexical {
		return nil
	}
	st, err := r.s.Store.Stats(ctx, r.s.Model.ID())
	if err != nil {
		return err
	}
	r.out.Meaning = Coverage{Embedded: st.Embedded, Passages: st.Passages}
	if st.Embedded == 0 {
		if r.o.Mode == Hybrid {
			r.out.Mode = Lexical
		}
		if r.o.Partial { // running lore index would only wait for the same build
			r.note("semantic search is not ready yet")
		} else {
			r.note("semantic search is not ready yet; run lore index")
		}
		return nil
	}
	if st.Embedded < st.Passages {
		r.note("%d of %d passages are ready for semantic search", st.Embedded, st.Passages)
	}
	vs, err := r.s.Model.Embed(ctx, embed.Query, []string{r.q.Text})
	if err != nil {
		return fmt.Errorf("embed the query: %w", err)
	}
	limit := 2 * r.depth()
	near, err := r.s.Store.Nearest(ctx, index.Near{Model: r.s.Model.ID(), Vector: vs[0], Filter: r.filter, Limit: limit})
	if err != nil || len(near) == 0 {
		return err
	}
	scored := 2 * r.w.Depth // the passages among which points are given
	low, high := float64(near[min(len(near), scored)-1].Cosine), max(float64(near[0].Cosine), r.w.Sure)
	rank := 0
	seen := map[int64]bool{}
	for i, p := range near {
		if seen[p.ID] || rank >= r.depth() || float64(p.Cosine) < r.w.Faint {
			continue
		}
		seen[p.ID] = true
		h := r.hit(p.ID, p.Path)
		h.Cosine, h.seq, h.place = p.Cosine, p.Seq, min(h.place, rank)
		points := 0.0
		if rank < r.w.Depth && i < scored {
			points = r.w.Meaning * share(float64(p.Cosine), low, high, len(near) >= scored)
		}
		h.add("meaning", points, "rank %d in semantic search, cosine %.3f", rank+1, p.Cosine)
		rank++
	}
	return nil
}

// noNote is the subject of a sentence about all notes that were searched.
func (r *run) noNote() string {
	if r.o.Partial {
		return "no note indexed so far"
	}
	return "no note"
}

func (r *run) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}

// page fills in the hits that are shown.
func (r *run) page(ctx context.Context) (Answer, error) {
	a := &r.out
	from := min(r.o.Offset, len(r.order))
	to := min(from+r.o.Limit, len(r.order))
	a.More = to < len(r.order)
	shown := r.order[from:to]
	ids := make([]int64, len(shown))
	for i, h := range shown {
		ids[i] = h.id
	}
	rows, err := r.s.Store.Notes(ctx, index.Select{IDs: ids})
	if err != nil {
		return Answer{}, err
	}
	passages, err := r.s.Store.Passages(ctx, index.PassageQuery{IDs: ids})
	if err != nil {
		return Answer{}, err
	}
	of := map[int64][]index.Passage{}
	for _, p := range passages {
		of[p.ID] = append(of[p.ID], p)
	}
	row := map[int64]*index.Row{}
	for i := range rows {
		row[rows[i].ID] = &rows[i]
	}
	asked, best := newAsked(r.q), r.best()
	for _, h := range shown {
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		n := row[h.id]
		if n == nil {
			continue // dropped since: it is not there any more
		}
		h.Title, h.Tags, h.Modified = n.Title, n.Tags, time.Unix(0, n.File.ModTime)
		asked.choose(h, of[h.id])
		h.Score /= best
		for i := range h.Why {
			h.Why[i].Points /= best
		}
		if !r.o.Explain {
			h.Why = nil
		}
		a.Hits = append(a.Hits, *h)
	}
	return *a, nil
}

// best is what scores are divided by, so that they lie between 0 and 1: the
// score of a note that is first in every ranking that counted, or of the first
// note, when its name and its links bring it beyond.
func (r *run) best() float64 {
	best := r.w.Words + r.w.Meaning
	switch {
	case len(r.q.Words)+len(r.q.Phrases) == 0:
		best = 1
	case r.out.Mode == Lexical:
		best = r.w.Words
	case r.out.Mode == Semantic:
		best = r.w.Meaning
	}
	for _, h := range r.order[:min(1, len(r.order))] {
		best = max(best, h.Score)
	}
	if best <= 0 {
		return 1
	}
	return best
}
