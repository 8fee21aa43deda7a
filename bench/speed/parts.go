package main

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	_ "modernc.org/sqlite" // the floors speak to SQLite directly

	"lore/internal/embed/builtin"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/vault"
)

// floor reads every file, parses it with goldmark, and inserts its text into
// one FTS5 table: the least that an index of the same text can cost.
func floor(dir, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	db, err := floorTable(filepath.Join(to, "floor.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	var batch [][2]string
	n, size := 0, 0
	flush := func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		st, err := tx.Prepare(`INSERT INTO w (rowid, title, body) VALUES (?, ?, ?)`)
		if err != nil {
			return err
		}
		for _, b := range batch {
			n++
			if _, err := st.Exec(n, b[0], b[1]); err != nil {
				return err
			}
		}
		batch, size = batch[:0], 0
		return tx.Commit()
	}
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		md.Parser().Parse(text.NewReader(b))
		batch = append(batch, [2]string{filepath.Base(p), string(b)})
		if size += len(b); len(batch) == 1000 || size > 8<<20 {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	_, err = db.Exec(`INSERT INTO w (w) VALUES ('optimize')`)
	return err
}

func floorTable(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-16384)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE VIRTUAL TABLE w USING fts5 (title, body, content = '', contentless_delete = 1,
	  tokenize = 'porter unicode61 remove_diacritics 2')`)
	return db, err
}

// indexOnce brings the index in a folder up to date, without vectors.
func indexOnce(dir, to string) error {
	ctx := context.Background()
	if p := os.Getenv("CPUPROFILE"); p != "" {
		f, err := os.Create(p)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		return err
	}
	defer v.Close()
	s, _, err := sqlite.Open(ctx, to, time.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	sum, err := index.New(v, s, index.Options{}).Sync(ctx)
	if err != nil {
		return err
	}
	st, err := s.Stats(ctx, "")
	if err != nil {
		return err
	}
	fmt.Printf("%d files, %d added, %d changed, %d failed; %d notes, %d links, %d passages\n",
		sum.Files, sum.Added, sum.Changed, sum.Failed, st.Notes, st.Links, st.Passages)
	return nil
}

// walk visits and stats every file, and does nothing with it.
func walk(dir string) error {
	n := 0
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		_, err = d.Info()
		return err
	})
}

// bareQuery opens a database and asks it one thing.
func bareQuery(db, word string) error {
	d, err := sql.Open("sqlite", "file:"+db+"?mode=ro")
	if err != nil {
		return err
	}
	defer d.Close()
	rows, err := d.Query(`SELECT n.path FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10) h JOIN notes n ON n.id = h.rowid`, `"`+word+`"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p string
		if err := rows.Scan(&p); err != nil {
			return err
		}
		fmt.Println(p)
	}
	return rows.Err()
}

// fillVectors gives every passage a vector of random numbers, which cost a
// search what real ones do, and are made in seconds.
func fillVectors(dir string) error {
	ctx := context.Background()
	s, _, err := sqlite.Open(ctx, dir, time.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	model := builtin.New()
	r := rand.New(rand.NewPCG(3, 3))
	ps, err := s.Passages(ctx, index.PassageQuery{Model: model.ID()})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(ps, 10_000) {
		vs := make([]index.Vector, len(some))
		for i, p := range some {
			vs[i] = index.Vector{Hash: p.Hash, Vector: make([]float32, model.Dim())}
			for j := range vs[i].Vector {
				vs[i].Vector[j] = float32(r.NormFloat64())
			}
		}
		if err := s.Apply(ctx, index.Batch{Model: model.ID(), Vectors: vs}); err != nil {
			return err
		}
	}
	return s.Optimize(ctx)
}
