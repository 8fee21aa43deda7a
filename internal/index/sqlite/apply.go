package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"lore/internal/index"
)

// Apply writes one batch in one transaction.
func (s *Store) Apply(ctx context.Context, b index.Batch) (err error) {
	defer s.notice(&err)
	s.applying.Lock()
	defer s.applying.Unlock()
	if len(b.Vectors) > 0 {
		// Vectors live outside the transaction: they are found by the hash of
		// their text, so one without a passage is only waste.
		if err := s.vectors.add(b.Model, b.Vectors); err != nil {
			return fmt.Errorf("keep vectors: %w", err)
		}
	}
	if len(b.Put)+len(b.Drop)+len(b.Touch) == 0 {
		return nil
	}
	docs := latest(b.Put)
	last := s.lastID
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		w := newWriter(ctx, tx, s)
		defer w.close()
		for _, p := range b.Drop {
			if err := w.drop(p); err != nil {
				return fmt.Errorf("drop %q: %w", p, err)
			}
		}
		for i := range b.Touch {
			if err := w.touch(&b.Touch[i]); err != nil {
				return fmt.Errorf("touch %q: %w", b.Touch[i].Path, err)
			}
		}
		ids := make([]int64, len(docs))
		for i := range docs {
			var err error
			if ids[i], err = w.put(&docs[i]); err != nil {
				return fmt.Errorf("index %q: %w", docs[i].Path, err)
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		if err := w.words(ids, docs); err != nil {
			return err
		}
		return w.finish()
	})
	s.reseal()
	if err != nil {
		s.lastID = last
	}
	return err
}

// latest keeps the last document of each path: the words of a batch are written
// after all its rows, so those of an earlier one could not be taken back.
func latest(docs []index.Document) []index.Document {
	at := make(map[string]int, len(docs))
	for i := range docs {
		at[docs[i].Path] = i
	}
	if len(at) == len(docs) {
		return docs
	}
	out := make([]index.Document, 0, len(at))
	for i := range docs {
		if at[docs[i].Path] == i {
			out = append(out, docs[i])
		}
	}
	return out
}

// A writer is one transaction's view of the tables, with its statements.
type writer struct {
	ctx     context.Context
	tx      *sql.Tx
	store   *Store
	stmts   map[string]*sql.Stmt
	changed bool
	delta   counts

	names, tags, props, links, chunks rows
}

func newWriter(ctx context.Context, tx *sql.Tx, s *Store) *writer {
	return &writer{
		ctx: ctx, tx: tx, store: s, stmts: map[string]*sql.Stmt{},
		names:  rows{head: `INSERT INTO names (key, kind, note) VALUES `, columns: 3},
		tags:   rows{head: `INSERT INTO tags (tag, note) VALUES `, columns: 2},
		props:  rows{head: `INSERT INTO props (key, note, seq, value) VALUES `, columns: 4},
		links:  rows{head: `INSERT INTO links (note, seq, key, kind, target, fragment, text, field, line, start, stop) VALUES `, columns: 11},
		chunks: rows{head: `INSERT INTO chunks (note, seq, heading, line, hash, text) VALUES `, columns: 6},
	}
}

// rows gathers rows of one table, to insert many with one statement: the call
// costs more than the row.
type rows struct {
	head    string
	columns int
	args    []any
}

const rowsAtOnce = 32

func (w *writer) add(r *rows, args ...any) error {
	r.args = append(r.args, args...)
	if len(r.args) < rowsAtOnce*r.columns {
		return nil
	}
	return w.insert(r)
}

// insert writes the rows that were gathered.
func (w *writer) insert(r *rows) error {
	n := len(r.args) / r.columns
	if n == 0 {
		return nil
	}
	row := marks(r.columns)
	query := r.head + strings.Repeat(row+",", n-1) + row
	defer func() { r.args = r.args[:0] }()
	if n < rowsAtOnce {
		_, err := w.tx.ExecContext(w.ctx, query, r.args...) // once a batch: not worth keeping
		return err
	}
	return w.exec(query, r.args...)
}

// flush writes all rows that were gathered.
func (w *writer) flush() error {
	for _, r := range []*rows{&w.names, &w.tags, &w.props, &w.links, &w.chunks} {
		if err := w.insert(r); err != nil {
			return err
		}
	}
	return nil
}

// counts are kept in one row of meta and changed with every batch, so that the
// size of the index is known without counting.
type counts struct {
	Notes, Attachments, Conflicts, Links, Passages, Problems int
	Bytes, Generation                                        int64
}

// note counts one row in (by 1) or out (by -1).
func (c *counts) note(by int, kind index.Kind, size int64, problems bool) {
	switch kind {
	case index.KindAttachment:
		c.Attachments += by
	case index.KindConflict:
		c.Conflicts += by
	default:
		c.Notes += by
		c.Bytes += int64(by) * size
	}
	if problems {
		c.Problems += by
	}
}

func (w *writer) close() {
	for _, st := range w.stmts {
		_ = st.Close() // the transaction is over
	}
}

func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if st := w.stmts[query]; st != nil {
		return st, nil
	}
	st, err := w.tx.PrepareContext(w.ctx, query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = st
	return st, nil
}

func (w *writer) exec(query string, args ...any) error {
	st, err := w.stmt(query)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(w.ctx, args...)
	return err
}

const oldSQL = `SELECT id, kind, title, size, problems <> '', tags, aliases, props FROM notes WHERE path = ?`

// old is what has to be known of a row to take away what belongs to it.
type old struct {
	id            int64
	kind          index.Kind
	title         string
	size          int64
	problems      bool
	tags, aliases string
	props         string
}

func (w *writer) old(p string) (*old, error) {
	st, err := w.stmt(oldSQL)
	if err != nil {
		return nil, err
	}
	var o old
	err = st.QueryRowContext(w.ctx, p).Scan(&o.id, &o.kind, &o.title, &o.size, &o.problems, &o.tags, &o.aliases, &o.props)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &o, err
}

func (w *writer) drop(p string) error {
	o, err := w.old(p)
	if err != nil || o == nil {
		return err
	}
	w.changed = true
	if err := w.clear(p, o); err != nil {
		return err
	}
	return w.exec(`DELETE FROM notes WHERE id = ?`, o.id)
}

// clear removes everything that hangs on a row, but not the row.
func (w *writer) clear(p string, o *old) error {
	var tags, aliases []string
	var props []index.Prop
	if err := errors.Join(decode(o.tags, &tags), decode(o.aliases, &aliases), decode(o.props, &props)); err != nil {
		return err
	}
	for _, n := range index.NamesOf(p, o.kind, o.title, aliases) {
		if err := w.exec(`DELETE FROM names WHERE key = ? AND kind = ? AND note = ?`, n.Key, int(n.Kind), o.id); err != nil {
			return err
		}
	}
	for _, t := range tags {
		if err := w.exec(`DELETE FROM tags WHERE tag = ? AND note = ?`, strings.ToLower(t), o.id); err != nil {
			return err
		}
	}
	for _, q := range props {
		if err := w.exec(`DELETE FROM props WHERE key = ? AND note = ?`, strings.ToLower(q.Key), o.id); err != nil {
			return err
		}
	}
	w.delta.note(-1, o.kind, o.size, o.problems)
	links, err := w.remove(`DELETE FROM links WHERE note = ?`, o.id)
	if err != nil {
		return err
	}
	chunks, err := w.remove(`DELETE FROM chunks WHERE note = ?`, o.id)
	if err != nil {
		return err
	}
	w.delta.Links -= links
	w.delta.Passages -= chunks
	if !searched(o.kind) {
		return nil
	}
	if err := w.exec(`DELETE FROM words WHERE rowid = ?`, o.id); err != nil {
		return err
	}
	return w.exec(`DELETE FROM spellings WHERE rowid = ?`, o.id)
}

func (w *writer) remove(query string, id int64) (int, error) {
	st, err := w.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := st.ExecContext(w.ctx, id)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

func (w *writer) touch(f *index.File) error {
	w.changed = true // the list of files did
	return w.exec(`UPDATE notes SET size = ?, mtime = ?, inode = ?, seen = ? WHERE path = ?`,
		f.Size, f.ModTime, int64(f.Inode), f.Seen, f.Path)
}

const putSQL = `INSERT OR REPLACE INTO notes (id, path, kind, title, type, date, size, mtime, inode, hash, seen, words, lines,
  tasks, done, readonly, tags, aliases, props, problems) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

func (w *writer) put(d *index.Document) (int64, error) {
	o, err := w.old(d.Path)
	if err != nil {
		return 0, err
	}
	var id int64
	if o != nil {
		id = o.id
		if err := w.clear(d.Path, o); err != nil {
			return 0, err
		}
	} else {
		w.store.lastID++
		id = w.store.lastID
	}
	w.changed = true
	problems := ""
	if len(d.Problems) > 0 {
		problems = encode(d.Problems)
	}
	err = w.exec(putSQL, id, d.Path, string(d.Kind), d.Title, d.Type, d.Date, d.Size, d.ModTime, int64(d.Inode), d.Hash[:], d.Seen,
		d.Words, d.Lines, d.Tasks, d.Done, d.ReadOnly, encodeList(d.Tags), encodeList(d.Aliases), encodeList(d.Props), problems)
	if err != nil {
		return 0, err
	}
	w.delta.note(1, d.Kind, d.Size, len(d.Problems) > 0)
	return id, w.parts(id, d)
}

// parts gathers what hangs on a row.
func (w *writer) parts(id int64, d *index.Document) error {
	for _, n := range index.NamesOf(d.Path, d.Kind, d.Title, d.Aliases) {
		if err := w.add(&w.names, n.Key, int(n.Kind), id); err != nil {
			return err
		}
	}
	for _, t := range d.Tags {
		if err := w.add(&w.tags, strings.ToLower(t), id); err != nil {
			return err
		}
	}
	for i, p := range d.Props {
		if err := w.add(&w.props, strings.ToLower(p.Key), id, i, strings.ToLower(p.Value)); err != nil {
			return err
		}
	}
	if !searched(d.Kind) {
		return nil
	}
	w.delta.Links += len(d.Links)
	w.delta.Passages += len(d.Chunks)
	for i := range d.Links {
		l := &d.Links[i]
		err := w.add(&w.links, id, i, index.TargetKey(l.Target), l.Kind, l.Target, l.Fragment, l.Text, l.Field, l.Line, l.Start, l.End)
		if err != nil {
			return err
		}
	}
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if err := w.add(&w.chunks, id, i, c.Heading, c.Line, c.Hash[:], c.Text); err != nil {
			return err
		}
	}
	return nil
}

// words writes the full text of all documents of a batch, after everything
// else: a statement on another table makes SQLite flush what the full-text
// index has gathered, and a flush for each note costs more than the note.
func (w *writer) words(ids []int64, docs []index.Document) error {
	spellings := make([]string, len(docs))
	for i := range docs {
		d := &docs[i]
		if !searched(d.Kind) {
			continue
		}
		names, spelled := nameText(d)
		spellings[i] = spelled
		err := w.exec(`INSERT INTO words (rowid, title, names, headings, tags, body) VALUES (?, ?, ?, ?, ?, ?)`,
			ids[i], index.Spaced(d.Title), index.Spaced(names), index.Spaced(strings.Join(d.Headings, "\n")),
			index.Spaced(tagText(d)), index.Spaced(d.Body))
		if err != nil {
			return fmt.Errorf("index the words of %q: %w", d.Path, err)
		}
	}
	for i := range docs {
		if !searched(docs[i].Kind) {
			continue
		}
		if err := w.exec(`INSERT INTO spellings (rowid, names) VALUES (?, ?)`, ids[i], spellings[i]); err != nil {
			return fmt.Errorf("index the names of %q: %w", docs[i].Path, err)
		}
	}
	return nil
}

// searched reports whether files of a kind have words in the index.
func searched(k index.Kind) bool { return k == index.KindNote || k == index.KindCanvas }

// nameText returns the words a note can be named by, and the same without
// repetition, for the index of spellings. Folders are names too: "path:" aside,
// people type them as words.
func nameText(d *index.Document) (names, spellings string) {
	var b, s strings.Builder
	file := strings.TrimSuffix(path.Base(d.Path), path.Ext(d.Path))
	b.WriteString(strings.ReplaceAll(path.Dir(d.Path), "/", " "))
	b.WriteByte(' ')
	b.WriteString(strings.ReplaceAll(file, ".", " "))
	for _, a := range d.Aliases {
		b.WriteByte('\n')
		b.WriteString(a)
	}
	for _, n := range index.NamesOf(d.Path, d.Kind, d.Title, d.Aliases) {
		s.WriteString(n.Key)
		s.WriteByte('\n')
	}
	return b.String(), s.String()
}

// tagText is the tags and the values of properties, which are labels too.
func tagText(d *index.Document) string {
	var b strings.Builder
	for _, t := range d.Tags {
		b.WriteString(strings.ReplaceAll(t, "/", " "))
		b.WriteByte('\n')
	}
	for _, p := range d.Props {
		switch strings.ToLower(p.Key) {
		case "tags", "tag", "aliases", "alias", "title":
			continue // they have columns of their own
		}
		b.WriteString(p.Value)
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *writer) finish() error {
	if !w.changed {
		return nil
	}
	c, err := readCounts(w.ctx, w.tx)
	if err != nil {
		return err
	}
	d := &w.delta
	c.Notes += d.Notes
	c.Attachments += d.Attachments
	c.Conflicts += d.Conflicts
	c.Links += d.Links
	c.Passages += d.Passages
	c.Problems += d.Problems
	c.Bytes += d.Bytes
	c.Generation++
	return w.exec(`INSERT OR REPLACE INTO meta (key, value) VALUES ('counts', ?)`, encode(c))
}

// A querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readCounts(ctx context.Context, q querier) (counts, error) {
	var c counts
	var s string
	err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'counts'`).Scan(&s)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	return c, decode(s, &c)
}

// Settle merges the full-text index after a bulk load (queries get two to three
// times faster), makes the indexes that a bulk load is better without, and drops
// vectors that no passage has any more.
func (s *Store) Settle(ctx context.Context) (err error) {
	defer s.notice(&err)
	s.applying.Lock()
	defer s.applying.Unlock()
	defer s.reseal()
	for _, q := range lateIndexes {
		if _, err := s.db.Write.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("make an index: %w", err)
		}
	}
	if _, err := s.db.Write.ExecContext(ctx, `INSERT INTO words (words) VALUES ('optimize')`); err != nil {
		return fmt.Errorf("merge the full-text index: %w", err)
	}
	if _, err := s.db.Write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("empty the log of the index: %w", err)
	}
	if err := s.compactVectors(ctx); err != nil {
		return err
	}
	return s.keepCoverage(ctx)
}

// lateIndexes have keys in no order. Filled row by row they touch a page for
// nearly every row, which at half a million passages is most of the writing;
// made at once they are sorted first. Until the first Settle the questions that
// use them read whole tables.
var lateIndexes = []string{
	`CREATE INDEX IF NOT EXISTS chunks_hash ON chunks (hash)`,
	`CREATE INDEX IF NOT EXISTS links_key ON links (key)`,
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return string(b)
}

func encodeList[T any](v []T) string {
	if len(v) == 0 {
		return "[]"
	}
	return encode(v)
}

func decode(s string, v any) error {
	if s == "" || s == "[]" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}
