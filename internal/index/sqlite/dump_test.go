package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/vault"
)

// dumpTables are the tables of the index, each as text that does not depend on
// the order in which files arrived: paths stand for ids, and the time at which
// a file was read is left out.
var dumpTables = []struct{ name, query string }{
	{"notes", `SELECT path, kind, title, type, node, sure, date, size, mtime, ctime, inode, hex(hash), words, lines, tasks, done, readonly, tags, aliases, props, problems FROM notes`},
	{"types", `SELECT type, kind, notes FROM types`},
	{"names", `SELECT n.path, m.key, m.kind FROM names m LEFT JOIN notes n ON n.id = m.note`},
	{"tags", `SELECT n.path, t.tag FROM tags t LEFT JOIN notes n ON n.id = t.note`},
	{"props", `SELECT n.path, q.key, q.seq, q.value FROM props q LEFT JOIN notes n ON n.id = q.note`},
	{"links", `SELECT n.path, l.seq, l.key, l.kind, l.target, l.fragment, l.text, l.field, l.line, l.start, l.stop FROM links l LEFT JOIN notes n ON n.id = l.note`},
	{"relations", `SELECT n.path, r.seq, r.type, r.key, r.kind, r.target, r.fragment, r.sure, r.notes, r.edge, r.form, r.line, r.start, r.stop FROM relations r LEFT JOIN notes n ON n.id = r.note`},
	{"chunks", `SELECT n.path, c.seq, c.heading, c.line, hex(c.hash), c.text FROM chunks c LEFT JOIN notes n ON n.id = c.note`},
	{"words", `SELECT n.path, v.term, v.col, v."offset" FROM temp.words_instances v LEFT JOIN notes n ON n.id = v.doc`},
	{"spellings", `SELECT n.path, v.term FROM temp.spellings_instances v LEFT JOIN notes n ON n.id = v.doc`},
	// Lengths and averages decide the ranking.
	{"words_docsize", `SELECT n.path, hex(d.sz) FROM words_docsize d LEFT JOIN notes n ON n.id = d.id`},
	{"spellings_docsize", `SELECT n.path, hex(d.sz) FROM spellings_docsize d LEFT JOIN notes n ON n.id = d.id`},
	{"words_averages", `SELECT hex(block) FROM words_data WHERE id = 1`},
	{"spellings_averages", `SELECT hex(block) FROM spellings_data WHERE id = 1`},
	{"counts", `SELECT json_remove(value, '$.Generation') FROM meta WHERE key = 'counts'`},
	{"meta", `SELECT key FROM meta`},
}

// dump writes everything that a store keeps, line by line.
func dump(t *testing.T, s *Store) map[string][]string {
	t.Helper()
	out, err := tryDump(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryDump(ctx context.Context, s *Store) (map[string][]string, error) {
	c, err := s.db.Write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, q := range []string{
		`CREATE VIRTUAL TABLE IF NOT EXISTS temp.words_instances USING fts5vocab(main, words, instance)`,
		`CREATE VIRTUAL TABLE IF NOT EXISTS temp.spellings_instances USING fts5vocab(main, spellings, instance)`,
		`INSERT INTO words (words, rank) VALUES ('integrity-check', 0)`,
		`INSERT INTO spellings (spellings, rank) VALUES ('integrity-check', 0)`,
	} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	out := map[string][]string{}
	for _, table := range dumpTables {
		out[table.name], err = dumpTable(ctx, c, table.query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return out, nil
}

func dumpTable(ctx context.Context, c *sql.Conn, query string) ([]string, error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	lines := []string{}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, v := range values {
			fmt.Fprintf(&b, "%#v\t", *v.(*any))
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	return lines, rows.Err()
}

// dumpVectors lists the hashes that a model has vectors for and some passage
// needs: what no passage needs is waste, and may stay for a while.
func dumpVectors(t *testing.T, s *Store, model string) []string {
	t.Helper()
	f, err := s.vectors.Get(model)
	if err != nil {
		t.Fatal(err)
	}
	has := f.Has()
	var out []string
	if err := s.liveHashes(t.Context(), func(h index.Hash) { out = append(out, fmt.Sprint(hex.EncodeToString(h[:]), has(h))) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// difference tells the first lines in which two dumps differ.
func difference(got, want map[string][]string) string {
	var b strings.Builder
	for _, table := range dumpTables {
		g, w := got[table.name], want[table.name]
		if slices.Equal(g, w) {
			continue
		}
		fmt.Fprintf(&b, "table %s: %d rows, want %d\n", table.name, len(g), len(w))
		b.WriteString(onlyIn("  only in the old index: ", g, w))
		b.WriteString(onlyIn("  only in a new index:   ", w, g))
	}
	return b.String()
}

func onlyIn(head string, a, b []string) string {
	const most = 5
	in := map[string]int{}
	for _, l := range b {
		in[l]++
	}
	var out strings.Builder
	n := 0
	for _, l := range a {
		if in[l]--; in[l] < 0 && n < most {
			out.WriteString(head + l[:min(len(l), 400)] + "\n")
			n++
		}
	}
	return out.String()
}

// openTemp opens a store in a folder of its own.
func openTemp(t *testing.T) *Store {
	t.Helper()
	s, _ := openAt(t, t.TempDir())
	return s
}

func openAt(t *testing.T, dir string) (*Store, Opening) {
	t.Helper()
	s, o, err := Open(t.Context(), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it before
	return s, o
}

func openVault(t *testing.T, dir string, o vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// fresh is the dump of an index that is built from the files alone.
func fresh(t *testing.T, dir string, vo vault.Options, io index.Options) map[string][]string {
	t.Helper()
	s, _, err := Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := index.New(openVault(t, dir, vo), s, io).Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dump(t, s)
}
