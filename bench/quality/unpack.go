package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A line is a document or a question of a set in lines of JSON.
type line struct {
	Kind string   `json:"kind"` // "doc" or "query"
	ID   string   `json:"id"`
	Text string   `json:"text"`
	Rel  []string `json:"rel"` // the documents that answer a question
}

// unpackAll makes folders of the sets in lines of JSON below data, those that
// are not there yet.
func unpackAll(data, to string) error {
	files, err := filepath.Glob(filepath.Join(data, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, f := range files {
		dir := filepath.Join(to, filepath.Base(data), strings.TrimSuffix(filepath.Base(f), ".jsonl"))
		if _, err := os.Stat(filepath.Join(dir, "queries.tsv")); err == nil {
			continue
		}
		if err := unpack(f, dir); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

func unpack(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.MkdirAll(filepath.Join(dir, "notes"), 0o755); err != nil {
		return err
	}
	var queries, qrels strings.Builder
	for d := json.NewDecoder(f); ; {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		text := strings.Join(strings.Fields(l.Text), " ")
		if l.Kind == "doc" {
			if err := os.WriteFile(filepath.Join(dir, "notes", l.ID+".md"), []byte(text+"\n"), 0o644); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(&queries, "%s\t%s\n", l.ID, text)
		for _, r := range l.Rel {
			fmt.Fprintf(&qrels, "%s\t%s\t1\n", l.ID, r)
		}
	}
	// The questions come last: a folder that has them is whole.
	return errors.Join(os.WriteFile(filepath.Join(dir, "qrels.tsv"), []byte(qrels.String()), 0o644),
		os.WriteFile(filepath.Join(dir, "queries.tsv"), []byte(queries.String()), 0o644))
}
