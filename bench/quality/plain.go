package main

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite" // the floor speaks to SQLite directly
)

// plain is the floor: one FTS5 table of title and body, and a query that joins
// the words of the question by OR.
type plain struct{ db *sql.DB }

var (
	frontMatter = regexp.MustCompile(`(?s)^---\n.*?\n---\n`)
	firstTitle  = regexp.MustCompile(`^# (.*)\n`)
	word        = regexp.MustCompile(`[\p{L}\p{N}_]+`)
)

func newPlain(notes string) (*plain, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE VIRTUAL TABLE f USING fts5 (id UNINDEXED, title, body, tokenize = 'porter unicode61')`); err != nil {
		return nil, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(notes, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		body := frontMatter.ReplaceAllString(string(b), "")
		title := ""
		if m := firstTitle.FindStringSubmatch(body); m != nil {
			title, body = m[1], body[len(m[0]):]
		}
		rel, err := filepath.Rel(notes, path)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO f VALUES (?, ?, ?)`, strings.TrimSuffix(filepath.ToSlash(rel), ".md"), title, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &plain{db}, tx.Commit()
}

func (p *plain) close() { _ = p.db.Close() } // in memory

var stop = strings.Fields(`a an and are as at be but by for if in into is it no not of on or such that the their then there these
	they this to was will with what which who how did does do i am has have had from were been can could would should about`)

func (p *plain) find(text string) ([]string, error) {
	stopped := map[string]bool{}
	for _, w := range stop {
		stopped[w] = true
	}
	var terms, all []string
	seen := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if seen[w] {
			continue
		}
		seen[w] = true
		all = append(all, `"`+w+`"`)
		if !stopped[w] {
			terms = append(terms, `"`+w+`"`)
		}
	}
	if len(terms) == 0 {
		terms = all
	}
	rows, err := p.db.Query(`SELECT id FROM f WHERE f MATCH ? ORDER BY bm25(f, 0, 2.0, 1.0) LIMIT 100`, strings.Join(terms, " OR "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
