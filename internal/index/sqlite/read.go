package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lore/internal/index"
)

const rowColumns = `n.id, n.path, n.kind, n.title, n.type, n.node, n.sure, n.date, n.size, n.mtime, n.inode, n.hash, n.seen, n.words, n.lines,
  n.tasks, n.done, n.readonly, n.tags, n.aliases, n.props, n.problems`

var orders = map[index.Order]string{
	index.ByPath:     "n.path",
	index.ByModified: "n.mtime DESC, n.path",
	index.ByTitle:    "lower(n.title), n.path",
	index.BySize:     "n.size DESC, n.path",
	index.BySure:     "n.sure DESC, n.path",
	index.ByRandom:   "random()",
}

// Notes reads rows.
func (s *Store) Notes(ctx context.Context, sel index.Select) (_ []index.Row, err error) {
	defer s.notice(&err)
	w := condition(&sel.Filter)
	if sel.IDs != nil || sel.Paths != nil {
		if len(sel.IDs)+len(sel.Paths) == 0 {
			return nil, nil
		}
		if !narrow(&sel.Filter) {
			w = &where{} // asked for by name: of any kind
		}
	}
	if len(sel.IDs) > 0 {
		in(w, "n.id", sel.IDs)
	}
	if len(sel.Paths) > 0 {
		in(w, "n.path", sel.Paths)
	}
	order, ok := orders[sel.Order]
	if !ok {
		return nil, fmt.Errorf("unknown order %q", sel.Order)
	}
	q := `SELECT ` + rowColumns + ` FROM notes n WHERE ` + w.sql() + ` ORDER BY ` + order
	if sel.Limit > 0 {
		q += fmt.Sprintf(` LIMIT %d OFFSET %d`, sel.Limit, sel.Offset)
	}
	rows, err := s.db.Query(ctx, q, w.args...)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	defer rows.Close()
	var out []index.Row
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func scanRow(rows *sql.Rows) (index.Row, error) {
	var r index.Row
	var hash sql.RawBytes
	var inode int64
	var tags, aliases, props, problems string
	err := rows.Scan(&r.ID, &r.File.Path, &r.Kind, &r.Title, &r.Type, &r.Node, &r.Sure, &r.Date, &r.File.Size, &r.File.ModTime, &inode, &hash, &r.File.Seen,
		&r.Words, &r.Lines, &r.Tasks, &r.Done, &r.ReadOnly, &tags, &aliases, &props, &problems)
	if err != nil {
		return r, err
	}
	r.File.Inode = uint64(inode)
	copy(r.File.Hash[:], hash)
	err = errors.Join(decode(tags, &r.Tags), decode(aliases, &r.Aliases), decode(props, &r.Props), decode(problems, &r.Problems))
	return r, err
}

// in asks for any of the values. A statement takes a limited number of them, so
// many go as one.
func in[T any](w *where, column string, values []T) {
	if len(values) <= group {
		w.add(column+" IN "+marks(len(values)), anys(values)...)
		return
	}
	w.add(column+" IN (SELECT value FROM json_each(?))", encode(values))
}

func anys[T any](vs []T) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

const passageColumns = `c.note, n.path, n.title, c.seq, c.heading, c.line, c.hash, c.text`

// Passages reads chunks.
func (s *Store) Passages(ctx context.Context, q index.PassageQuery) (_ []index.Passage, err error) {
	defer s.notice(&err)
	if q.Model != "" {
		return s.unembedded(ctx, q.Model, q.Limit)
	}
	if len(q.IDs) == 0 {
		return nil, nil
	}
	w := &where{}
	in(w, "c.note", q.IDs)
	rows, err := s.db.Query(ctx, `SELECT `+passageColumns+` FROM chunks c JOIN notes n ON n.id = c.note
	  WHERE `+w.sql()+` ORDER BY n.path, c.seq`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	return scanPassages(rows)
}

func scanPassages(rows *sql.Rows) ([]index.Passage, error) {
	defer rows.Close()
	var out []index.Passage
	var hash sql.RawBytes
	for rows.Next() {
		var p index.Passage
		if err := rows.Scan(&p.ID, &p.Path, &p.Title, &p.Seq, &p.Heading, &p.Line, &hash, &p.Text); err != nil {
			return nil, err
		}
		copy(p.Hash[:], hash)
		out = append(out, p)
	}
	return out, rows.Err()
}

// Links reads links. Many sources or keys are asked for in groups, because a
// statement takes a limited number of values.
func (s *Store) Links(ctx context.Context, q index.LinkQuery) (_ []index.Link, err error) {
	defer s.notice(&err)
	const head = `SELECT n.path, l.kind, l.target, l.fragment, l.text, l.field, l.line, l.start, l.stop
	  FROM links l JOIN notes n ON n.id = l.note WHERE `
	limit := ""
	if q.Limit > 0 {
		limit = fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	const order = ` ORDER BY n.path, l.seq`
	switch {
	case q.From != nil:
		return grouped(q.From, func(g []string) ([]index.Link, error) {
			return s.links(ctx, head+`n.path IN `+marks(len(g))+order+limit, anys(g)...)
		})
	case q.To != nil:
		out, err := grouped(q.To, func(g []string) ([]index.Link, error) {
			return s.links(ctx, head+`l.key IN `+marks(len(g))+order+limit, anys(g)...)
		})
		if len(q.To) > group {
			slices.SortStableFunc(out, func(a, b index.Link) int {
				if c := strings.Compare(a.From, b.From); c != 0 {
					return c
				}
				return a.Start - b.Start
			})
		}
		return out, err
	}
	return s.links(ctx, head+`1`+order+limit)
}

// Relations reads relations, in groups like links.
func (s *Store) Relations(ctx context.Context, q index.RelationQuery) (_ []index.Relation, err error) {
	defer s.notice(&err)
	const head = `SELECT n.path, r.type, r.kind, r.target, r.fragment, r.sure, r.notes, r.edge, r.form, r.line, r.start, r.stop
	  FROM relations r JOIN notes n ON n.id = r.note WHERE `
	tail := ` ORDER BY n.path, r.seq`
	var types []any
	narrow := ""
	if len(q.Types) > 0 {
		narrow, types = ` AND r.type IN `+marks(len(q.Types)), anys(q.Types)
	}
	if q.Limit > 0 {
		tail += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	by := func(column string, keys []string) ([]index.Relation, error) {
		out, err := grouped(keys, func(g []string) ([]index.Relation, error) {
			return s.relations(ctx, head+column+` IN `+marks(len(g))+narrow+tail, slices.Concat(anys(g), types)...)
		})
		if len(keys) > group {
			slices.SortStableFunc(out, func(a, b index.Relation) int {
				return cmp.Or(strings.Compare(a.From, b.From), a.Start-b.Start)
			})
		}
		return out, err
	}
	switch {
	case q.From != nil:
		return by(`n.path`, q.From)
	case q.To != nil:
		return by(`r.key`, q.To)
	case q.IDs != nil:
		return by(`r.edge <> '' AND r.edge`, q.IDs)
	}
	return s.relations(ctx, head+`1`+narrow+tail, types...)
}

func (s *Store) relations(ctx context.Context, query string, args ...any) ([]index.Relation, error) {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read relations: %w", err)
	}
	defer rows.Close()
	var out []index.Relation
	for rows.Next() {
		var r index.Relation
		if err := rows.Scan(&r.From, &r.Type, &r.Kind, &r.Target, &r.Fragment, &r.Confidence, &r.Notes, &r.ID, &r.Form, &r.Line, &r.Start, &r.End); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// group is how many values one statement gets.
const group = 500

func grouped[K, V any](keys []K, read func([]K) ([]V, error)) ([]V, error) {
	var out []V
	for g := range slices.Chunk(keys, group) {
		vs, err := read(g)
		if err != nil {
			return nil, err
		}
		out = append(out, vs...)
	}
	return out, nil
}

func (s *Store) links(ctx context.Context, query string, args ...any) ([]index.Link, error) {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	defer rows.Close()
	var out []index.Link
	for rows.Next() {
		var l index.Link
		if err := rows.Scan(&l.From, &l.Kind, &l.Target, &l.Fragment, &l.Text, &l.Field, &l.Line, &l.Start, &l.End); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

// Names reads names by key, or the names most like a word.
func (s *Store) Names(ctx context.Context, q index.NameQuery) (_ []index.Name, err error) {
	defer s.notice(&err)
	if q.Like != "" {
		return s.similarNames(ctx, q.Like, q.Limit)
	}
	if q.Prefix != "" {
		limit := q.Limit
		if limit <= 0 {
			limit = -1
		}
		return s.names(ctx, `SELECT m.key, m.kind, n.path FROM names m JOIN notes n ON n.id = m.note
		  WHERE m.key >= ? AND m.key < ? AND m.kind = ? ORDER BY m.key, n.path LIMIT ?`, q.Prefix, q.Prefix+"\U0010FFFF", int(q.Kind), limit)
	}
	if q.Keys == nil {
		return s.names(ctx, `SELECT m.key, m.kind, n.path FROM names m JOIN notes n ON n.id = m.note ORDER BY m.key, m.kind, n.path`)
	}
	keys := slices.Clone(q.Keys)
	slices.Sort(keys)
	return grouped(slices.Compact(keys), func(g []string) ([]index.Name, error) {
		return s.names(ctx, `SELECT m.key, m.kind, n.path FROM names m JOIN notes n ON n.id = m.note
		  WHERE m.key IN `+marks(len(g))+` ORDER BY m.key, m.kind, n.path`, anys(g)...)
	})
}

func (s *Store) names(ctx context.Context, query string, args ...any) ([]index.Name, error) {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	defer rows.Close()
	var out []index.Name
	for rows.Next() {
		var n index.Name
		if err := rows.Scan(&n.Key, &n.Kind, &n.Path); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// similarNames finds the notes whose names share the most groups of three
// letters with a word. The caller decides what is similar enough.
func (s *Store) similarNames(ctx context.Context, word string, limit int) ([]index.Name, error) {
	// FTS5 ends a question at a NUL.
	runes := []rune(strings.ReplaceAll(index.Key(word), "\x00", " "))
	if len(runes) < 3 {
		return nil, nil
	}
	var threes []string
	for i := 0; i+3 <= len(runes); i++ {
		t := string(runes[i : i+3])
		if !slices.Contains(threes, t) {
			threes = append(threes, t)
		}
	}
	for i, t := range threes {
		threes[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
	}
	if limit <= 0 {
		limit = 50
	}
	rows, err := s.db.Query(ctx, `SELECT s.rowid FROM spellings s JOIN notes n ON n.id = s.rowid
	  WHERE s.spellings MATCH ? ORDER BY bm25(s.spellings), n.path LIMIT ?`,
		strings.Join(threes, " OR "), limit)
	if err != nil {
		return nil, fmt.Errorf("find similar names: %w", err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := s.Notes(ctx, index.Select{IDs: ids})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b index.Row) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	var out []index.Name
	for _, r := range found {
		out = append(out, index.NamesOf(r.File.Path, r.Kind, r.Title, r.Node, r.Aliases)...)
	}
	return out, nil
}

var facets = map[index.Facet]string{
	index.FacetTag:  `SELECT t.tag, count(*) FROM tags t JOIN notes n ON n.id = t.note WHERE %s GROUP BY t.tag ORDER BY 2 DESC, 1`,
	index.FacetType: `SELECT n.type, count(*) FROM notes n WHERE n.type <> '' AND %s GROUP BY n.type ORDER BY 2 DESC, 1`,
	index.FacetProp: `SELECT q.key, count(DISTINCT q.note) FROM props q JOIN notes n ON n.id = q.note WHERE %s GROUP BY q.key ORDER BY 2 DESC, 1`,
	index.FacetFolder: `SELECT rtrim(rtrim(n.path, replace(n.path, '/', '')), '/'), count(*) FROM notes n WHERE %s
	  GROUP BY 1 ORDER BY 2 DESC, 1`,
}

// Facets counts notes by one aspect.
func (s *Store) Facets(ctx context.Context, f index.Facet, filter index.Filter) (_ []index.Count, err error) {
	defer s.notice(&err)
	query, ok := facets[f]
	if !ok {
		return nil, fmt.Errorf("unknown facet %q", f)
	}
	w := condition(&filter)
	rows, err := s.db.Query(ctx, fmt.Sprintf(query, w.sql()), w.args...)
	if err != nil {
		return nil, fmt.Errorf("count by %s: %w", f, err)
	}
	defer rows.Close()
	var out []index.Count
	for rows.Next() {
		var c index.Count
		if err := rows.Scan(&c.Value, &c.Notes); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
