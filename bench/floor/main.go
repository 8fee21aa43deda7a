// Command floor measures the least that indexing a folder of Markdown can cost
// with the same parts: read every file, parse it with goldmark, insert its text
// into one FTS5 table. It prints the CPU seconds it took.
package main

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	_ "modernc.org/sqlite"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	os.RemoveAll(os.Args[2])
	check(os.MkdirAll(os.Args[2], 0o700))
	c0 := cpu()
	d, err := sql.Open("sqlite", "file:"+os.Args[2]+"/floor.db?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-16384)&_txlock=immediate")
	check(err)
	d.SetMaxOpenConns(1)
	_, err = d.Exec(`CREATE VIRTUAL TABLE w USING fts5(title, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`)
	check(err)
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	n, parse := 0, time.Duration(0)
	tx, err := d.Begin()
	check(err)
	st, err := tx.Prepare(`INSERT INTO w(rowid, title, body) VALUES(?,?,?)`)
	check(err)
	check(filepath.WalkDir(os.Args[1], func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		b, err := os.ReadFile(p)
		check(err)
		c := cpu()
		md.Parser().Parse(text.NewReader(b))
		parse += cpu() - c
		n++
		_, err = st.Exec(n, filepath.Base(p), string(b))
		check(err)
		if n%400 == 0 {
			check(tx.Commit())
			tx, err = d.Begin()
			check(err)
			st, err = tx.Prepare(`INSERT INTO w(rowid, title, body) VALUES(?,?,?)`)
			check(err)
		}
		return nil
	}))
	check(tx.Commit())
	before := cpu()
	_, err = d.Exec(`INSERT INTO w(w) VALUES('optimize')`)
	check(err)
	opt := cpu() - before
	check(d.Close())
	fmt.Printf("floor: %d notes, %.2f CPU s (goldmark %.2f, optimize %.2f)\n", n, (cpu() - c0).Seconds(), parse.Seconds(), opt.Seconds())
}
