package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/index"
)

// Match asks the full-text index. The cut is made on the bare row ids, before
// any row of notes is touched. Equals go by path, so some more rows are taken
// than asked for; only when the cut falls among more equals than that are the
// paths of all of them looked at.
func (s *Store) Match(ctx context.Context, m index.Match) (_ []index.Scored, err error) {
	defer s.notice(&err)
	expr := expression(&m, m.Filter.TakeWords())
	if expr == "" {
		return nil, nil
	}
	limit := max(m.Limit, 1)
	const order = ` ORDER BY h.score, n.path`
	found, args := matching(&m, expr)
	ranked := m.Weights != [index.Columns]float64{}
	cut, take := ` LIMIT ?`, limit
	if ranked {
		cut, take = ` ORDER BY score LIMIT ?`, limit+equals
	}
	out, err := s.scored(ctx, `SELECT h.rowid, n.path, h.score FROM (`+found+cut+`) h JOIN notes n ON n.id = h.rowid`+order, append(args, take)...)
	if err != nil || len(out) <= limit {
		return out, err
	}
	if len(out) == take && out[take-1].Score == out[limit-1].Score {
		return s.scored(ctx, `SELECT h.rowid, n.path, h.score FROM (`+found+`) h JOIN notes n ON n.id = h.rowid`+order+` LIMIT ?`, append(args, limit)...)
	}
	return out[:limit], nil
}

// equals is how many notes of one score are sorted without a second question.
const equals = 100

// matching is the question for row ids and scores. bm25 is negative, best
// lowest.
func matching(m *index.Match, expr string) (string, []any) {
	score := "0.0"
	if m.Weights != [index.Columns]float64{} {
		score = "bm25(words"
		for _, w := range m.Weights {
			score += fmt.Sprintf(", %g", w)
		}
		score += ")"
	}
	query, args := `SELECT rowid, `+score+` AS score FROM words WHERE words MATCH ?`, []any{expr}
	if narrow(&m.Filter) {
		w := condition(&m.Filter)
		query += ` AND rowid IN (SELECT n.id FROM notes n WHERE ` + w.sql() + `)`
		args = append(args, w.args...)
	}
	return query, slices.Clip(args)
}

func (s *Store) scored(ctx context.Context, query string, args ...any) ([]index.Scored, error) {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("match words: %w", err)
	}
	defer rows.Close()
	var out []index.Scored
	for rows.Next() {
		var h index.Scored
		if err := rows.Scan(&h.ID, &h.Path, &h.Score); err != nil {
			return nil, err
		}
		h.Score = -h.Score
		out = append(out, h)
	}
	return out, rows.Err()
}

// expression writes m, with the conditions on words of its filter, in FTS5's
// language. Every word is quoted, so nothing a user types can be syntax.
func expression(m *index.Match, words index.Filter) string {
	all, anyOf, none := terms(slices.Concat(m.All, words.Has)), terms(m.Any), terms(words.Without)
	var e string
	switch {
	case len(all) > 0:
		e = "(" + strings.Join(all, " AND ") + ")"
		if len(anyOf) > 0 {
			// FTS5 has no "should": the optional words are made to match where
			// the required ones do, and add to the score where they occur.
			e = "((" + e + " AND (" + strings.Join(anyOf, " OR ") + ")) OR " + e + ")"
		}
	case len(anyOf) > 0:
		e = "(" + strings.Join(anyOf, " OR ") + ")"
	default:
		return ""
	}
	for _, n := range none {
		e += " NOT " + n
	}
	return e
}

func terms(ts []index.Term) []string {
	var out []string
	for _, t := range ts {
		words, open := index.Phrase(strings.Join(t.Words, " "))
		if len(words) == 0 {
			continue
		}
		s := `"` + strings.Join(words, " ") + `"`
		if t.Prefix || open {
			s += " *"
		}
		out = append(out, s)
	}
	return out
}
