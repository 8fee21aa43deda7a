package history

import (
	"bytes"
	"context"
	"database/sql"
	"time"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/tool"
)

// mostSteps is how many operations of a caller are looked at.
const mostSteps = 1000

// DoneBy returns what a caller has done to the vault since a time, as one set:
// each file with what it held before and what the caller left there. What a
// person approved is no part of it: its outcome is where counting begins anew.
// Files of which a content is no longer kept are left out.
func (s *Store) DoneBy(ctx context.Context, who access.Principal, since time.Time) (set change.Set, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		approved, rows, err := steps(ctx, tx, who, since)
		if err != nil || len(rows) == 0 {
			return err
		}
		set, err = net(approved, rows).load(ctx, tx)
		return err
	})
	return set, err
}

// steps are the edits of the caller's operations in order, and which operations
// a person approved.
func steps(ctx context.Context, tx *sql.Tx, who access.Principal, since time.Time) (map[int64]bool, []editRow, error) {
	list, err := several(ctx, tx, `WHERE who = ? AND kind = ? AND outcome = ? AND time >= ? ORDER BY seq DESC LIMIT ?`,
		who.ID, string(who.Kind), string(tool.Applied), nanos(since), mostSteps)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	approved := make(map[int64]bool, len(list))
	for _, op := range list {
		approved[op.Seq] = op.Question != ""
	}
	all, err := edits(ctx, tx, `WHERE op >= ? AND op <= ? ORDER BY op, n`, list[len(list)-1].Seq, list[0].Seq)
	var rows []editRow
	for _, e := range all {
		if _, own := approved[e.op]; own {
			rows = append(rows, e)
		}
	}
	return approved, rows, err
}

// A course is what became of one file.
type course struct {
	before, after []byte // hashes; nil for no such file
}

type courses map[string]*course // by the path that the file has now

// net joins the edits of each file into one.
func net(approved map[int64]bool, rows []editRow) courses {
	out := courses{}
	for _, e := range rows {
		at := e.path
		if e.source != "" {
			at = e.source
		}
		c := out[at]
		if c == nil {
			c = &course{before: e.before}
		}
		delete(out, at)
		switch {
		case e.source == "" && e.after == nil:
			continue // it was removed, which a person has approved
		case approved[e.op]:
			c = &course{before: e.after}
		case c.before == nil && c.after == nil:
			c.before = e.before // it only moved before
		}
		if e.after != nil {
			c.after = e.after
		}
		out[e.path] = c
	}
	return out
}

func (cs courses) load(ctx context.Context, tx *sql.Tx) (change.Set, error) {
	var set change.Set
	for path, c := range cs {
		if c.after == nil || bytes.Equal(c.before, c.after) {
			continue
		}
		e := change.Edit{Path: path}
		var err error
		if e.After, err = readImage(ctx, tx, c.after); err != nil {
			continue // it is kept no longer
		}
		if c.before != nil {
			if e.Before, err = readImage(ctx, tx, c.before); err != nil {
				continue
			}
		}
		set = append(set, e)
	}
	return set, ctx.Err()
}
