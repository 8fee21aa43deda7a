package sqlite

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/vault/visibility"
)

// A limited caller gets the answers of a vault that has no other files.
func TestVisibleKnowsNoOtherFiles(t *testing.T) {
	doc := func(path string, i int) index.Document {
		d := indextest.Note(path, fmt.Sprintf("Tea %d", i), fmt.Sprintf("green tea number %d from [[Tea %d]]", i, i+1))
		d.Tags = []string{"tea", fmt.Sprintf("t%d", i%3)}
		d.Type = []string{"", "Claim", "Source"}[i%3]
		d.Props = []index.Prop{{Key: "origin", Value: "Uji"}, {Key: fmt.Sprintf("p%d", i%2), Value: "x"}}
		d.Links = []index.Link{{Target: "Tea 1", Kind: "wiki", Line: 1, Start: 5 + i, End: 9 + i}}
		d.Relations = []index.Relation{{Type: "SUPPORTS", Kind: "wiki", Target: "Tea 1", Line: 2, Start: 20 + i, End: 30 + i}}
		return d
	}
	all, few := openTemp(t), openTemp(t)
	var everything, shared []index.Document
	for i := range 60 {
		d := doc(fmt.Sprintf("%s/note %02d.md", []string{"Private", "Work", "Work/deep"}[i%3], i), i)
		everything = append(everything, d)
		if strings.HasPrefix(d.Path, "Work/") && d.Path != "Work/note 01.md" {
			shared = append(shared, d)
		}
	}
	for s, docs := range map[*Store][]index.Document{all: everything, few: shared} {
		if err := s.Apply(t.Context(), index.Batch{Put: docs}); err != nil {
			t.Fatal(err)
		}
	}
	limit, err := visibility.Limit{}.Only([]string{"Work/**"})
	if err != nil {
		t.Fatal(err)
	}
	if limit, err = limit.Without([]string{"Work/note 01.md"}); err != nil {
		t.Fatal(err)
	}
	ctx := visibility.With(t.Context(), limit)
	for name, ask := range map[string]func(context.Context, index.Store) any{
		"notes": func(ctx context.Context, s index.Store) any { return rowPaths(t, ctx, s, index.Select{}) },
		"a page of notes": func(ctx context.Context, s index.Store) any {
			return rowPaths(t, ctx, s, index.Select{Limit: 7, Offset: 5, Order: index.ByTitle})
		},
		"notes by path": func(ctx context.Context, s index.Store) any {
			return rowPaths(t, ctx, s, index.Select{Paths: []string{"Private/note 00.md", "Work/note 04.md"}})
		},
		"words": func(ctx context.Context, s index.Store) any {
			found, err := s.Match(ctx, index.Match{All: []index.Term{{Words: []string{"green"}}}, Limit: 100})
			return pathsOf(t, found, err, func(x index.Scored) string { return x.Path })
		},
		"links": func(ctx context.Context, s index.Store) any {
			found, err := s.Links(ctx, index.LinkQuery{})
			return pathsOf(t, found, err, func(x index.Link) string { return x.From })
		},
		"relations": func(ctx context.Context, s index.Store) any {
			found, err := s.Relations(ctx, index.RelationQuery{Limit: 9})
			return pathsOf(t, found, err, func(x index.Relation) string { return x.From })
		},
		"names": func(ctx context.Context, s index.Store) any {
			found, err := s.Names(ctx, index.NameQuery{})
			return pathsOf(t, found, err, func(x index.Name) string { return x.Key + " " + x.Path })
		},
		"similar names": func(ctx context.Context, s index.Store) any {
			found, err := s.Names(ctx, index.NameQuery{Like: "note 0", Limit: 100})
			return pathsOf(t, found, err, func(x index.Name) string { return x.Path })
		},
		"tags":       func(ctx context.Context, s index.Store) any { return facetCounts(t, ctx, s, index.FacetTag) },
		"types":      func(ctx context.Context, s index.Store) any { return facetCounts(t, ctx, s, index.FacetType) },
		"folders":    func(ctx context.Context, s index.Store) any { return facetCounts(t, ctx, s, index.FacetFolder) },
		"properties": func(ctx context.Context, s index.Store) any { return facetCounts(t, ctx, s, index.FacetProp) },
		"files": func(ctx context.Context, s index.Store) any {
			var out []string
			err := s.Files(ctx, func(f index.File) error { out = append(out, f.Path); return nil })
			return pathsOf(t, out, err, func(x string) string { return x })
		},
		"stats": func(ctx context.Context, s index.Store) any {
			st, err := s.Stats(ctx, "")
			if err != nil {
				t.Fatal(err)
			}
			return []int{st.Notes, st.Nodes, st.Problems}
		},
		"passages": func(ctx context.Context, s index.Store) any {
			rows, err := all.Notes(t.Context(), index.Select{})
			if err != nil {
				t.Fatal(err)
			}
			if s == index.Store(few) {
				if rows, err = few.Notes(t.Context(), index.Select{}); err != nil {
					t.Fatal(err)
				}
			}
			var ids []int64
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			found, err := s.Passages(ctx, index.PassageQuery{IDs: ids})
			return pathsOf(t, found, err, func(x index.Passage) string { return x.Path })
		},
	} {
		got, want := ask(ctx, index.Visible(all)), ask(t.Context(), few)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if whole, free := ask(t.Context(), all), ask(t.Context(), index.Visible(all)); !reflect.DeepEqual(whole, free) {
			t.Errorf("%s, without a limit:\n got %v\nwant %v", name, free, whole)
		}
	}
}

func rowPaths(t *testing.T, ctx context.Context, s index.Store, sel index.Select) []string {
	t.Helper()
	rows, err := s.Notes(ctx, sel)
	return pathsOf(t, rows, err, func(r index.Row) string { return r.File.Path })
}

func pathsOf[T any](t *testing.T, list []T, err error, path func(T) string) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range list {
		out = append(out, path(x))
	}
	slices.Sort(out)
	return out
}

func facetCounts(t *testing.T, ctx context.Context, s index.Store, f index.Facet) []index.Count {
	t.Helper()
	out, err := s.Facets(ctx, f, index.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
