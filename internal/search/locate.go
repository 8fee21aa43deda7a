package search

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
)

// Locate finds the one note that a person or a model means: by its path, with
// or without ".md", by its file name, by an alias, by its title or by its id. A name that
// fits several notes is an error that lists them; one that fits none is an
// error with the nearest names.
func Locate(ctx context.Context, s index.Store, name string) (index.Row, error) {
	clean := strings.Trim(strings.TrimSpace(name), "/")
	clean = strings.TrimSuffix(strings.TrimPrefix(clean, "[["), "]]")
	if clean == "" {
		return index.Row{}, fault.Field("path", "name a note", "is empty")
	}
	rows, err := s.Notes(ctx, index.Select{Paths: []string{clean, clean + ".md"}})
	if err != nil {
		return index.Row{}, err
	}
	if len(rows) > 0 {
		return rows[0], nil
	}
	names, err := s.Names(ctx, index.NameQuery{Keys: []string{index.TargetKey(clean)}})
	if err != nil {
		return index.Row{}, err
	}
	paths := candidates(clean, names)
	switch len(paths) {
	case 0:
		return index.Row{}, notFound(ctx, s, name, clean)
	case 1:
		rows, err := s.Notes(ctx, index.Select{Paths: paths})
		if err == nil && len(rows) == 0 {
			err = notFound(ctx, s, name, clean)
		}
		if err != nil {
			return index.Row{}, err
		}
		return rows[0], nil
	}
	return index.Row{}, &fault.Report{
		Kind: fault.Ambiguous, Field: "path",
		Message: fmt.Sprintf("%q matches several files: %s", name, quoteList(paths)),
		Fix:     "give the full path",
	}
}

// candidates keeps the files of the strongest kind of name that fits.
func candidates(name string, names []index.Name) []string {
	deep := strings.Contains(name, "/")
	want := "/" + index.Key(name)
	for kind := index.NameFile; kind <= index.NameNode; kind++ {
		var out []string
		for _, n := range names {
			if n.Kind != kind || deep && !strings.HasSuffix("/"+index.Key(n.Path), want) {
				continue
			}
			out = append(out, n.Path)
		}
		if len(out) > 0 {
			slices.Sort(out)
			return slices.Compact(out)
		}
	}
	return nil
}

func notFound(ctx context.Context, s index.Store, name, clean string) error {
	report := &fault.Report{Kind: fault.NotFound, Field: "path", Message: fmt.Sprintf("note not found: %q", name)}
	near, rest, err := near(ctx, s, clean)
	if err != nil {
		return err
	}
	if len(near) == 0 {
		near = rest
	}
	if len(near) > 0 {
		report.Fix = "did you mean " + quoteList(near) + "?"
	}
	return report
}

// Near returns the files that someone who wrote the name may have meant but for
// a typing mistake, most likely first.
func Near(ctx context.Context, s index.Store, name string) ([]string, error) {
	found, _, err := near(ctx, s, name)
	return found, err
}

// near is Near with at most three files whose names share letters with the name
// as the rest.
func near(ctx context.Context, s index.Store, name string) (near, rest []string, err error) {
	word := path.Base(strings.TrimSuffix(name, "/"))
	names, err := s.Names(ctx, index.NameQuery{Like: word, Limit: 20})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		if _, ok := likeness(word, n.Key); ok && !slices.Contains(near, n.Path) {
			near = append(near, n.Path)
		}
		if len(rest) < 3 && !slices.Contains(rest, n.Path) {
			rest = append(rest, n.Path)
		}
	}
	return near, rest, nil
}

func quoteList(paths []string) string {
	const most = 8
	var b strings.Builder
	for i, p := range paths[:min(most, len(paths))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", p)
	}
	if len(paths) > most {
		fmt.Fprintf(&b, " or %d more", len(paths)-most)
	}
	return b.String()
}
