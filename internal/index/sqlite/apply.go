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
		if err := s.vectors.Add(b.Model, b.Vectors); err != nil {
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

const oldSQL = `SELECT id, kind, title, type, node, size, problems <> '', tags, aliases, props FROM notes WHERE path = ?`

// old is what has to be known of a row to take away what belongs to it.
type old struct {
	id            int64
	kind          index.Kind
	title         string
	typ           string
	node          string
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
	err = st.QueryRowContext(w.ctx, p).Scan(&o.id, &o.kind, &o.title, &o.typ, &o.node, &o.size, &o.problems, &o.tags, &o.aliases, &o.props)
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
	for _, n := range index.NamesOf(p, o.kind, o.title, o.node, aliases) {
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
	relations, err := w.remove(`DELETE FROM relations WHERE note = ?`, o.id)
	if err != nil {
		return err
	}
	chunks, err := w.remove(`DELETE FROM chunks WHERE note = ?`, o.id)
	if err != nil {
		return err
	}
	w.delta.Links -= links
	w.delta.Relations -= relations
	w.typed(-1, o.typ, o.kind)
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
	return w.exec(`UPDATE notes SET size = ?, mtime = ?, ctime = ?, inode = ?, seen = ? WHERE path = ?`,
		f.Size, f.ModTime, f.ChangeTime, int64(f.Inode), f.Seen, f.Path)
}

const putSQL = `INSERT OR REPLACE INTO notes (id, path, kind, title, type, node, sure, date, size, mtime, ctime, inode, hash, seen, words, lines,
  tasks, done, readonly, tags, aliases, props, problems) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

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
	err = w.exec(putSQL, id, d.Path, string(d.Kind), d.Title, d.Type, d.Node, d.Sure, d.Date, d.Size, d.ModTime, d.ChangeTime, int64(d.Inode), d.Hash[:], d.Seen,
		d.Words, d.Lines, d.Tasks, d.Done, d.ReadOnly, encodeList(d.Tags), encodeList(d.Aliases), encodeList(d.Props), problems)
	if err != nil {
		return 0, err
	}
	w.typed(1, d.Type, d.Kind)
	w.delta.note(1, d.Kind, d.Size, len(d.Problems) > 0)
	return id, w.parts(id, d)
}

// parts gathers what hangs on a row.
func (w *writer) parts(id int64, d *index.Document) error {
	for _, n := range index.NamesOf(d.Path, d.Kind, d.Title, d.Node, d.Aliases) {
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
	w.delta.Relations += len(d.Relations)
	for i := range d.Links {
		l := &d.Links[i]
		err := w.add(&w.links, id, i, index.TargetKey(l.Target), l.Kind, l.Target, l.Fragment, l.Text, l.Field, l.Line, l.Start, l.End)
		if err != nil {
			return err
		}
	}
	for i := range d.Relations {
		r := &d.Relations[i]
		err := w.add(&w.relations, id, i, r.Type, index.TargetKey(r.Target), r.Kind, r.Target, r.Fragment, r.Confidence, r.Notes, r.ID, r.Form, r.Line, r.Start, r.End)
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
	for _, n := range index.NamesOf(d.Path, d.Kind, d.Title, d.Node, d.Aliases) {
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
