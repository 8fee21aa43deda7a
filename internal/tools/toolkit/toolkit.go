// Package toolkit holds what the toolsets share: finding notes and folders by
// name, counting in words, and the line below an answer.
//
// It has no tools of its own and knows no toolset.
package toolkit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/vault"
)

// Count writes a number with its noun: "1 note", "3 notes".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Sentence is a text with a capital at its start.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// OneLine puts a text on one line, with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Truncate shortens a text to about n bytes, at a whole character, and marks the
// end.
func Truncate(s string, n int) string {
	for i := range s {
		if i >= n {
			return s[:i] + "…"
		}
	}
	return s
}

// Foot joins the remarks about a whole answer, and says when the index lags
// behind the vault.
func Foot(f index.Freshness, remarks ...string) string {
	var out []string
	for _, r := range remarks {
		if r != "" {
			out = append(out, r)
		}
	}
	if !f.Fresh && f.Reason != "" {
		out = append(out, "index: "+f.Reason)
	}
	return strings.Join(out, "; ")
}

// Round keeps four digits of a score: more would differ between machines.
func Round(f float64) float64 { return float64(int(f*1e4+0.5)) / 1e4 }

// Stamp writes a time of the index, in nanoseconds, as people and programs read it.
func Stamp(ns int64) string { return time.Unix(0, ns).Local().Format(time.RFC3339) }

// Locate is [search.Locate] for an argument that is not called path.
func Locate(ctx context.Context, s index.Store, field, name string) (index.Row, error) {
	row, err := search.Locate(ctx, s, name)
	return row, fault.Rename(err, "path", field)
}

// Folder checks that a folder exists, so that a wrong name is not taken for an
// empty answer. It returns the filter for the notes in it.
func Folder(ctx context.Context, v *vault.Vault, s index.Store, name string) ([]string, error) {
	return search.Folder(ctx, s, name, func(name string) (string, func() bool, error) {
		clean, err := vault.Clean(name)
		exists := func() bool {
			_, err := v.Stat(ctx, clean)
			return fault.Of(err) == fault.Invalid // it is not a file, but a folder
		}
		return clean, exists, err
	})
}

// IsInFolder reports whether a path is in the folder that [Folder] returned.
func IsInFolder(path string, folder []string) bool {
	return len(folder) == 0 || strings.HasPrefix(strings.ToLower(path), strings.ToLower(folder[0])+"/")
}

// CountNotes is the number of notes that a filter lets through. Counting by
// folder is the cheapest question that answers it.
func CountNotes(ctx context.Context, s index.Store, f index.Filter) (int, error) {
	folders, err := s.Facets(ctx, index.FacetFolder, f)
	n := 0
	for _, c := range folders {
		n += c.Notes
	}
	return n, err
}

// Planner plans changes of links, from files as they are now.
func Planner(v *vault.Vault, s index.Store, parse note.Options) *relink.Planner {
	return &relink.Planner{
		Store: s, Parse: parse,
		Read: func(ctx context.Context, p string) (string, error) {
			f, err := v.Read(ctx, p)
			return string(f.Data), err
		},
		Told: func(ctx context.Context, done, total int) {
			tool.Progress(ctx, done, total, "Reading notes with links")
		},
	}
}

// BrokenLinks lists the links without a target: in one note, or in the notes of
// a folder, or in all notes.
func BrokenLinks(ctx context.Context, v *vault.Vault, s index.Store, path, folder string) ([]graph.Link, error) {
	in, err := Folder(ctx, v, s, folder)
	if err != nil {
		return nil, err
	}
	var links []graph.Link
	if path != "" {
		row, err := Locate(ctx, s, "path", path)
		if err != nil {
			return nil, err
		}
		if links, err = graph.Forward(ctx, s, row.File.Path); err != nil {
			return nil, err
		}
	} else {
		g, err := graph.Load(ctx, s)
		if err != nil {
			return nil, err
		}
		links = g.Broken
	}
	var out []graph.Link
	for i, l := range links {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		if l.To == "" && IsInFolder(l.From, in) {
			out = append(out, l)
		}
	}
	return out, nil
}
