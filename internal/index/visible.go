package index

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"lore/internal/vault/visibility"
)

// Visible returns a store that knows only the files which the context of a call
// allows ([visibility.With]). Without a limit it is the store itself.
func Visible(s Store) Store { return visible{s} }

type visible struct{ Store }

// A limited question is asked without its own limit, and cut afterwards: what is
// left out must not make a page short.

func (v visible) Notes(ctx context.Context, sel Select) ([]Row, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Notes(ctx, sel)
	}
	limit, offset := sel.Limit, sel.Offset
	sel.Limit, sel.Offset = 0, 0
	rows, err := v.Store.Notes(ctx, sel)
	if err != nil {
		return nil, err
	}
	rows = visibility.Filter(l, rows, func(r Row) string { return r.File.Path })
	return first(rows[min(offset, len(rows)):], limit), nil
}

func (v visible) Match(ctx context.Context, m Match) ([]Scored, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Match(ctx, m)
	}
	limit := m.Limit
	return widening(l, limit, func(ask int) ([]Scored, error) {
		m.Limit = ask
		return v.Store.Match(ctx, m)
	}, func(s Scored) string { return s.Path })
}

func (v visible) Nearest(ctx context.Context, n Near) ([]NearPassage, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Nearest(ctx, n)
	}
	return widening(l, n.Limit, func(ask int) ([]NearPassage, error) {
		n.Limit = ask
		return v.Store.Nearest(ctx, n)
	}, func(p NearPassage) string { return p.Path })
}

// wide is how many results a limited question looks at first.
const wide = 1000

// widening asks for more and more until enough of what was found may be seen, or
// nothing more is found.
func widening[T any](l visibility.Limit, limit int, ask func(limit int) ([]T, error), path func(T) string) ([]T, error) {
	for n := max(wide, 4*limit); ; n *= 8 {
		found, err := ask(n)
		if err != nil {
			return nil, err
		}
		all := len(found) < n
		if kept := visibility.Filter(l, found, path); all || limit > 0 && len(kept) >= limit {
			return first(kept, limit), nil
		}
	}
}

func (v visible) Passages(ctx context.Context, q PassageQuery) ([]Passage, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Passages(ctx, q)
	}
	limit := q.Limit
	q.Limit = 0
	found, err := v.Store.Passages(ctx, q)
	if err != nil {
		return nil, err
	}
	return first(visibility.Filter(l, found, func(p Passage) string { return p.Path }), limit), nil
}

func (v visible) Links(ctx context.Context, q LinkQuery) ([]Link, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Links(ctx, q)
	}
	limit := q.Limit
	q.Limit = 0
	found, err := v.Store.Links(ctx, q)
	if err != nil {
		return nil, err
	}
	return first(visibility.Filter(l, found, func(k Link) string { return k.From }), limit), nil
}

func (v visible) Relations(ctx context.Context, q RelationQuery) ([]Relation, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Relations(ctx, q)
	}
	limit := q.Limit
	q.Limit = 0
	found, err := v.Store.Relations(ctx, q)
	if err != nil {
		return nil, err
	}
	return first(visibility.Filter(l, found, func(r Relation) string { return r.From }), limit), nil
}

func (v visible) Names(ctx context.Context, q NameQuery) ([]Name, error) {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Names(ctx, q)
	}
	if q.Like != "" { // its limit counts notes, which have several names each
		q.Limit = max(wide, 4*q.Limit)
		found, err := v.Store.Names(ctx, q)
		return visibility.Filter(l, found, func(n Name) string { return n.Path }), err
	}
	limit := q.Limit
	q.Limit = 0
	found, err := v.Store.Names(ctx, q)
	if err != nil {
		return nil, err
	}
	return first(visibility.Filter(l, found, func(n Name) string { return n.Path }), limit), nil
}

// Facets counts from the rows that are left: the store's own counts include what
// the call must not know of.
func (v visible) Facets(ctx context.Context, f Facet, where Filter) ([]Count, error) {
	if visibility.From(ctx).Everything() {
		return v.Store.Facets(ctx, f, where)
	}
	rows, err := v.Notes(ctx, Select{Filter: where})
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for i := range rows {
		for _, value := range facetsOf(&rows[i], f) {
			counts[value]++
		}
	}
	out := make([]Count, 0, len(counts))
	for value, n := range counts {
		out = append(out, Count{Value: value, Notes: n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Notes, a.Notes), cmp.Compare(a.Value, b.Value)) })
	return out, nil
}

// facetsOf are the values that one note is counted under, each once.
func facetsOf(r *Row, f Facet) []string {
	switch f {
	case FacetTag:
		return r.Tags
	case FacetType:
		if r.Type == "" {
			return nil
		}
		return []string{r.Type}
	case FacetFolder:
		dir, _ := path.Split(r.File.Path)
		return []string{strings.TrimSuffix(dir, "/")}
	}
	var keys []string
	for _, p := range r.Props {
		if !slices.Contains(keys, p.Key) {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

func (v visible) Stats(ctx context.Context, model string) (Stats, error) {
	st, err := v.Store.Stats(ctx, model)
	if err != nil || visibility.From(ctx).Everything() {
		return st, err
	}
	rows, err := v.Notes(ctx, Select{})
	if err != nil {
		return Stats{}, err
	}
	// How much there is of the rest is not told.
	own := Stats{Notes: len(rows), Version: st.Version, Generation: st.Generation}
	for i := range rows {
		if strings.TrimSpace(rows[i].Type) != "" {
			own.Nodes++
		}
		if len(rows[i].Problems) > 0 {
			own.Problems++
		}
	}
	return own, nil
}

func (v visible) Files(ctx context.Context, yield func(File) error) error {
	l := visibility.From(ctx)
	if l.Everything() {
		return v.Store.Files(ctx, yield)
	}
	return v.Store.Files(ctx, func(f File) error {
		if !l.Allows(f.Path) {
			return nil
		}
		return yield(f)
	})
}

// first cuts a list; no limit is all.
func first[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// TopFolders lists the folders at the top of the vault that have notes, with a
// slash at the end; notes outside of folders are in "/".
func TopFolders(s Store) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		found, err := s.Facets(ctx, FacetFolder, Filter{})
		if err != nil {
			return nil, err
		}
		var out []string
		for _, f := range found {
			top, _, _ := strings.Cut(f.Value, "/")
			if top += "/"; !slices.Contains(out, top) {
				out = append(out, top)
			}
		}
		slices.Sort(out)
		return out, nil
	}
}
