package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/index"
)

// nodeIndexes are the ends of the names of the indexes of nodes, by the order
// that they are in. Each order has one over all nodes and one within a type.
var nodeIndexes = map[index.Order]string{
	index.ByPath: "path", index.BySure: "sure", index.ByModified: "mtime", index.ByTitle: "title",
}

const (
	// mostArms is how many types are read side by side; of more, all notes are
	// sorted.
	mostArms = 16
	// few is how many nodes are sorted rather than looked for along an order.
	few = 300
)

// nodesOnly reports whether a filter asks for nodes by type and confidence and
// by nothing else.
func nodesOnly(f *index.Filter) bool {
	rest := *f
	rest.Kinds, rest.Types, rest.Typed, rest.MinSure, rest.MaxSure = nil, nil, false, nil, nil
	return (f.Typed || len(f.Types) > 0) && !slices.Contains(f.Types, "") && !narrow(&rest)
}

// nodePage is the question for a page of nodes: each type is read along its own
// index in the order asked for, and no further than the page goes. It is ""
// when no node can fit, and ok is false when the page cannot be read like that.
// Left to itself SQLite, which does not know how many notes a type has, sorts
// all nodes for some of these pages and looks through all for others.
func (s *Store) nodePage(ctx context.Context, sel *index.Select) (query string, args []any, ok bool, err error) {
	f := sel.Filter
	by, sorted := nodeIndexes[sel.Order]
	if !sorted || sel.Limit <= 0 || !nodesOnly(&f) {
		return "", nil, false, nil
	}
	if there, err := s.isOptimized(ctx); err != nil || !there {
		return "", nil, false, err
	}
	types := []string{""}
	if len(f.Types) > 0 {
		if types, err = s.knownTypes(ctx, &f); err != nil || len(types) == 0 || len(types) > mostArms {
			return "", nil, err == nil && len(types) == 0, err
		}
	}
	var arms []string
	for _, t := range types {
		family, w := "nodes_", &where{}
		if t != "" {
			family = "nodes_type_"
			w.add("lower(n.type) = ?", t)
		}
		w.filter(&index.Filter{Typed: true, MinSure: f.MinSure, MaxSure: f.MaxSure})
		along := by
		if (f.MinSure != nil || f.MaxSure != nil) && sel.Order != index.BySure {
			// How sure a node is has nothing to do with its path: when many
			// are in the range, some of them come soon in any order.
			n, err := s.countUpTo(ctx, few, `notes n INDEXED BY `+family+`sure WHERE `+w.sql(), w.args...)
			if err != nil {
				return "", nil, true, err
			}
			if n < few {
				along = "sure"
			}
		}
		kinds := condition(&index.Filter{Kinds: f.Kinds}) // in no index: asked last
		w.add(kinds.sql(), kinds.args...)
		arms = append(arms, `SELECT `+rowColumns+`, lower(n.title) AS low FROM notes n INDEXED BY `+family+along+` WHERE `+w.sql())
		args = append(args, w.args...)
	}
	order := strings.Replace(orders[sel.Order], "lower(n.title)", "n.low", 1)
	// SQLite merges the arms only by columns that it also returns.
	return `SELECT ` + rowColumns + `, n.low FROM (` + strings.Join(arms, ` UNION ALL `) + `) n ORDER BY ` + order + ` LIMIT ? OFFSET ?`,
		append(args, sel.Limit, sel.Offset), true, nil
}

// knownTypes are the types of the vault that a filter asks for, as the indexes
// have them.
func (s *Store) knownTypes(ctx context.Context, f *index.Filter) ([]string, error) {
	conds := make([]string, len(f.Types))
	args := make([]any, len(f.Types))
	for i, t := range f.Types {
		conds[i], args[i] = "lower(type) GLOB ?", folded(t, "")
	}
	rows, err := s.db.Query(ctx, `SELECT DISTINCT lower(type) FROM types WHERE `+strings.Join(conds, " OR ")+` ORDER BY 1`, args...)
	if err != nil {
		return nil, fmt.Errorf("read types: %w", err)
	}
	return gather(rows, func(t *string) []any { return []any{t} })
}

// countUpTo counts rows and stops at most.
func (s *Store) countUpTo(ctx context.Context, most int, from string, args ...any) (int, error) {
	rows, err := s.db.Query(ctx, fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d)`, from, most), args...)
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	n, err := gather(rows, func(n *int) []any { return []any{n} })
	if err != nil {
		return 0, err
	}
	return n[0], nil
}
