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

const rowColumns = `n.id, n.path, n.kind, n.title, n.type, n.node, n.sure, n.date, n.size, n.mtime, n.ctime, n.inode, n.hash, n.seen, n.words, n.lines,
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
	if sel.IDs == nil && sel.Paths == nil {
		q, args, ok, err := s.nodePage(ctx, &sel)
		if err != nil || ok && q == "" {
			return nil, err
		}
		if ok {
			return s.rows(ctx, new(string), q, args...)
		}
	}
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
		q += ` LIMIT ? OFFSET ?`
		w.args = append(w.args, sel.Limit, sel.Offset)
	}
	return s.rows(ctx, nil, q, w.args...)
}

// rows reads rows, and into more what the question returns beside them.
func (s *Store) rows(ctx context.Context, more any, q string, args ...any) ([]index.Row, error) {
	rows, err := s.db.Query(ctx, q, args...)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	defer rows.Close()
	var out []index.Row
	for rows.Next() {
		r, err := scanRow(rows, more)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func scanRow(rows *sql.Rows, more any) (index.Row, error) {
	var r index.Row
	var hash sql.RawBytes
	var inode int64
	var tags, aliases, props, problems string
	into := []any{
		&r.ID, &r.File.Path, &r.Kind, &r.Title, &r.Type, &r.Node, &r.Sure, &r.Date, &r.File.Size, &r.File.ModTime, &r.File.ChangeTime, &inode, &hash, &r.File.Seen,
		&r.Words, &r.Lines, &r.Tasks, &r.Done, &r.ReadOnly, &tags, &aliases, &props, &problems,
	}
	if more != nil {
		into = append(into, more)
	}
	err := rows.Scan(into...)
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
		values = padded(values)
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
	tail := ` ORDER BY n.path, l.seq`
	if q.Untyped {
		tail = ` AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.note = l.note AND r.start <= l.start AND l.stop <= r.stop)` + tail
	}
	if q.Limit > 0 {
		tail += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	switch {
	case q.From != nil:
		return grouped(q.From, func(g []string) ([]index.Link, error) {
			return s.links(ctx, head+`n.path IN `+marks(len(g))+tail, anys(g)...)
		})
	case q.To != nil:
		out, err := grouped(q.To, func(g []string) ([]index.Link, error) {
			return s.links(ctx, head+`l.key IN `+marks(len(g))+tail, anys(g)...)
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
	return s.links(ctx, head+`1`+tail)
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
		// The plus keeps SQLite from beginning with all relations of a type.
		narrow, types = ` AND +r.type IN `+marks(len(q.Types)), anys(q.Types)
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
	if len(types) > 0 {
		return s.relationsOfTypes(ctx, head, tail, q.Limit, types)
	}
	return s.relations(ctx, head+`1`+tail)
}

// relationsOfTypes reads relations wherever they stand. A few of many are looked
// for along the paths, where they come soon; otherwise all are read and sorted.
func (s *Store) relationsOfTypes(ctx context.Context, head, tail string, limit int, types []any) ([]index.Relation, error) {
	among := marks(len(types))
	if limit > 0 {
		n, err := s.countUpTo(ctx, few, `relations WHERE type IN `+among, types...)
		if err != nil {
			return nil, err
		}
		if n == few {
			head = strings.Replace(head, `FROM relations r JOIN notes n ON`, `FROM notes n CROSS JOIN relations r ON`, 1)
			return s.relations(ctx, head+`+r.type IN `+among+tail, types...)
		}
	}
	return s.relations(ctx, head+`r.type IN `+among+tail, types...)
}

func (s *Store) relations(ctx context.Context, query string, args ...any) ([]index.Relation, error) {
	rows, err := s.db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read relations: %w", err)
	}
	return gather(rows, func(r *index.Relation) []any {
		return []any{&r.From, &r.Type, &r.Kind, &r.Target, &r.Fragment, &r.Confidence, &r.Notes, &r.ID, &r.Form, &r.Line, &r.Start, &r.End}
	})
}

// gather reads all rows of an answer, each into the places that into tells.
func gather[T any](rows *sql.Rows, into func(*T) []any) ([]T, error) {
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(into(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// group is how many values one statement gets.
const group = 512

// padded repeats the last value until there are 1, 2, 4, 8 and so on: lists of all
// lengths would be as many questions to prepare, and too many to keep ready.
func padded[T any](vs []T) []T {
	want := 1
	for want < len(vs) {
		want *= 2
	}
	if len(vs) == 0 || want == len(vs) {
		return vs
	}
	return append(slices.Clone(vs), slices.Repeat(vs[len(vs)-1:], want-len(vs))...)
}

func grouped[K, V any](keys []K, read func([]K) ([]V, error)) ([]V, error) {
	var out []V
	for g := range slices.Chunk(keys, group) {
		vs, err := read(padded(g))
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
	return gather(rows, func(l *index.Link) []any {
		return []any{&l.From, &l.Kind, &l.Target, &l.Fragment, &l.Text, &l.Field, &l.Line, &l.Start, &l.End}
	})
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
		// The kind is written out: only so is the index of ids known to hold all.
		return s.names(ctx, fmt.Sprintf(`SELECT m.key, m.kind, n.path FROM names m JOIN notes n ON n.id = m.note
		  WHERE m.key >= ? AND m.key < ? AND m.kind = %d ORDER BY m.key, n.path LIMIT ?`, q.Kind), q.Prefix, q.Prefix+"\U0010FFFF", limit)
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
	return gather(rows, func(n *index.Name) []any { return []any{&n.Key, &n.Kind, &n.Path} })
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
	ids, err := gather(rows, func(id *int64) []any { return []any{id} })
	if err != nil || len(ids) == 0 {
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
	rest := filter
	if rest.Kinds = nil; f == index.FacetType && !narrow(&rest) {
		query = `SELECT n.type, sum(n.notes) FROM types n WHERE %s GROUP BY n.type ORDER BY 2 DESC, 1`
	}
	rows, err := s.db.Query(ctx, fmt.Sprintf(query, w.sql()), w.args...)
	if err != nil {
		return nil, fmt.Errorf("count by %s: %w", f, err)
	}
	return gather(rows, func(c *index.Count) []any { return []any{&c.Value, &c.Notes} })
}
