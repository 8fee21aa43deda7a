package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"lore/internal/index"
)

// A writer is one transaction's view of the tables, with its statements.
type writer struct {
	ctx     context.Context
	tx      *sql.Tx
	store   *Store
	stmts   map[string]*sql.Stmt
	changed bool
	delta   counts
	types   map[typeKind]int // how many notes more or fewer state a type

	names, tags, props, links, relations, chunks rows
}

func newWriter(ctx context.Context, tx *sql.Tx, s *Store) *writer {
	return &writer{
		ctx: ctx, tx: tx, store: s, stmts: map[string]*sql.Stmt{}, types: map[typeKind]int{},
		names:     rows{head: `INSERT INTO names (key, kind, note) VALUES `, columns: 3},
		tags:      rows{head: `INSERT INTO tags (tag, note) VALUES `, columns: 2},
		props:     rows{head: `INSERT INTO props (key, note, seq, value) VALUES `, columns: 4},
		links:     rows{head: `INSERT INTO links (note, seq, key, kind, target, fragment, text, field, line, start, stop) VALUES `, columns: 11},
		relations: rows{head: `INSERT INTO relations (note, seq, type, key, kind, target, fragment, sure, notes, edge, form, line, start, stop) VALUES `, columns: 14},
		chunks:    rows{head: `INSERT INTO chunks (note, seq, heading, line, hash, text) VALUES `, columns: 6},
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
	for _, r := range []*rows{&w.names, &w.tags, &w.props, &w.links, &w.relations, &w.chunks} {
		if err := w.insert(r); err != nil {
			return err
		}
	}
	return nil
}

// counts are kept in one row of meta and changed with every batch, so that the
// size of the index is known without counting.
type counts struct {
	Notes, Attachments, Conflicts, Links, Relations, Nodes, Passages, Problems int
	Bytes, Generation                                                          int64
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

type typeKind struct {
	typ  string
	kind index.Kind
}

// typed counts a note that states a type in (by 1) or out (by -1).
func (w *writer) typed(by int, typ string, kind index.Kind) {
	if typ == "" {
		return
	}
	w.delta.Nodes += by
	w.types[typeKind{typ, kind}] += by
}

// keepTypes adds what changed to the table of types.
func (w *writer) keepTypes() error {
	for t, by := range w.types {
		if by == 0 {
			continue
		}
		err := w.exec(`INSERT INTO types (type, kind, notes) VALUES (?, ?, ?)
		  ON CONFLICT (type, kind) DO UPDATE SET notes = notes + excluded.notes`, t.typ, string(t.kind), by)
		if err == nil && by < 0 {
			err = w.exec(`DELETE FROM types WHERE type = ? AND kind = ? AND notes = 0`, t.typ, string(t.kind))
		}
		if err != nil {
			return fmt.Errorf("count types: %w", err)
		}
	}
	return nil
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

func (w *writer) finish() error {
	if !w.changed {
		return nil
	}
	if err := w.keepTypes(); err != nil {
		return err
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
	c.Relations += d.Relations
	c.Nodes += d.Nodes
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
