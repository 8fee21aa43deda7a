package sqlite

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"lore/internal/index"
)

// Match asks the full-text index.
func (s *Store) Match(ctx context.Context, m index.Match) (_ []index.Scored, err error) {
	defer s.notice(&err)
	expr := expression(&m)
	if expr == "" {
		return nil, nil
	}
	var q strings.Builder
	args := []any{expr}
	inside := ""
	if narrow(&m.Filter) {
		w := condition(&m.Filter)
		inside = ` AND rowid IN (SELECT n.id FROM notes n WHERE ` + w.sql() + `)`
		args = append(args, w.args...)
	}
	args = append(args, max(m.Limit, 1))
	// bm25 is negative, best lowest. The cut is made on the bare row ids, before
	// any row of notes is touched; equal scores go by path afterwards.
	if m.Weights == [index.Columns]float64{} {
		q.WriteString(`SELECT h.rowid, n.path, 0.0 FROM (SELECT rowid, 0 AS score FROM words WHERE words MATCH ?` + inside + ` LIMIT ?) h`)
	} else {
		q.WriteString(`SELECT h.rowid, n.path, h.score FROM (SELECT rowid, bm25(words`)
		for _, w := range m.Weights {
			fmt.Fprintf(&q, ", %g", w)
		}
		q.WriteString(`) AS score FROM words WHERE words MATCH ?` + inside + ` ORDER BY score LIMIT ?) h`)
	}
	q.WriteString(` JOIN notes n ON n.id = h.rowid ORDER BY h.score, n.path`)
	rows, err := s.db.Read.QueryContext(ctx, q.String(), args...)
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

// expression writes m in FTS5's language. Every word is quoted, so nothing a
// user types can be syntax.
func expression(m *index.Match) string {
	all, anyOf, none := terms(m.All), terms(m.Any), terms(m.None)
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
		words := Words(strings.Join(t.Words, " "))
		if len(words) == 0 {
			continue
		}
		s := `"` + strings.Join(words, " ") + `"`
		if t.Prefix {
			s += " *"
		}
		out = append(out, s)
	}
	return out
}

// Words cuts text into the words that the full-text index knows: runs of
// letters, digits and marks, and single characters of unspaced scripts.
func Words(text string) []string {
	return strings.FieldsFunc(index.Spaced(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Co, r)
	})
}
