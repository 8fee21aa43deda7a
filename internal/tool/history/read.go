package history

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// An Operation is a recorded change. Its Edits are not loaded: see
// [Store.Edits] and [Store.Files].
type Operation struct {
	tool.Operation
	Seq      int64
	Outcome  tool.Outcome
	Finished time.Time // zero while nobody knows how it ended
	Reason   string
	Count    int  // files
	Undone   int  // files whose edit is out of the vault again
	Kept     bool // the contents of all files are still there
}

// A FileEdit is what an operation did to one file, by hashes.
type FileEdit struct {
	Path   string
	From   string
	Before string // in hexadecimal digits; "" for no file, or one that moved as it was
	After  string
	Undone bool // its effect is out of the vault again
	Kept   bool // both contents are still there
}

const operationColumns = `SELECT seq, id, time, finished, principal, tool, args, args_hash, summary, question, reverts, outcome, reason,
    (SELECT count(*) FROM edit WHERE op = seq), (SELECT count(*) FROM edit WHERE op = seq AND undone),
    NOT EXISTS (SELECT 1 FROM edit WHERE op = seq AND NOT kept)
  FROM operation `

// several reads operations; where is the rest of the query.
func several(ctx context.Context, tx *sql.Tx, where string, args ...any) (list []Operation, err error) {
	rows, err := tx.QueryContext(ctx, operationColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var op Operation
		var at, finished int64
		var who, arguments, reverts string
		err := rows.Scan(&op.Seq, &op.ID, &at, &finished, &who, &op.Tool, &arguments, &op.ArgsHash, &op.Summary, &op.Question,
			&reverts, &op.Outcome, &op.Reason, &op.Count, &op.Undone, &op.Kept)
		if err != nil {
			return nil, err
		}
		op.Time, op.Finished, op.Args = moment(at), moment(finished), rawArgs(arguments)
		if err := json.Unmarshal([]byte(who), &op.Who); err != nil {
			return nil, err
		}
		if op.Reverts, err = decodeList(reverts); err != nil {
			return nil, err
		}
		list = append(list, op)
	}
	return list, rows.Err()
}

// one is [several] for one; sql.ErrNoRows when there is none.
func one(ctx context.Context, tx *sql.Tx, where string, args ...any) (Operation, error) {
	list, err := several(ctx, tx, where+` LIMIT 1`, args...)
	if err == nil && len(list) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return Operation{}, err
	}
	return list[0], nil
}

// Operation returns the operation of that id, or of the one id that begins so;
// with "", the last one that put something into the vault which is still there.
func (s *Store) Operation(ctx context.Context, id string) (op Operation, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		if id == "" {
			op, err = lastApplied(ctx, tx)
		} else {
			op, err = find(ctx, tx, id)
		}
		return err
	})
	return op, err
}

// lastApplied finds what an undo without a name takes back: the operation that
// last put something into the vault. For what was undone and redone that is the
// redo.
func lastApplied(ctx context.Context, tx *sql.Tx) (Operation, error) {
	op, err := one(ctx, tx, `WHERE outcome = 'applied' AND CASE WHEN reverts = ''
	    THEN EXISTS (SELECT 1 FROM edit WHERE op = seq AND undone = 0 AND toggled = 0) OR reason = '`+recovered+`' AND NOT EXISTS (SELECT 1 FROM edit WHERE op = seq)
	    ELSE EXISTS (SELECT 1 FROM edit WHERE toggled = seq AND toggled <> 0 AND undone = 0) END
	  ORDER BY seq DESC`)
	if errors.Is(err, sql.ErrNoRows) {
		err = fault.New(fault.NotFound, "there is no change to undo")
	}
	return op, err
}

// listed is how many candidates an error names.
const listed = 5

func find(ctx context.Context, tx *sql.Tx, id string) (Operation, error) {
	for _, p := range []string{id, "op-" + id} {
		list, err := several(ctx, tx, `WHERE id >= ? AND id < ? ORDER BY id = ? DESC, seq DESC LIMIT ?`, p, p+"\U0010FFFF", p, listed+1)
		switch {
		case err != nil:
			return Operation{}, err
		case len(list) == 1, len(list) > 1 && list[0].ID == p:
			return list[0], nil
		case len(list) > 1:
			return Operation{}, &fault.Report{Kind: fault.Ambiguous, Field: "operation", Fix: "give more characters",
				Message: fmt.Sprintf("operation: %q matches several: %s", id, strings.Join(ids(list), ", "))}
		}
	}
	return Operation{}, notFound(ctx, tx, id)
}

func ids(list []Operation) []string {
	var out []string
	for _, op := range list {
		if len(out) == listed {
			return append(out, "…")
		}
		out = append(out, op.ID)
	}
	return out
}

func notFound(ctx context.Context, tx *sql.Tx, id string) error {
	list, err := several(ctx, tx, `ORDER BY seq DESC LIMIT 200`)
	if err != nil {
		return err
	}
	var names []string
	for _, op := range list {
		names = append(names, op.ID)
	}
	r := &fault.Report{Kind: fault.NotFound, Field: "operation", Message: fmt.Sprintf("operation: there is no operation with the ID %q", id)}
	if near := schema.Nearest(id, names, 3); len(near) > 0 {
		r.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return r
}

// A Filter chooses among operations or calls; what is left empty chooses all.
type Filter struct {
	Run    string // the id of the principal: a run, a token, a session
	Kind   access.Kind
	Tool   string
	Path   string // a file, or a folder with all that is in it
	Status string // how a call ended, or the outcome of an operation
	Since  time.Time
	Until  time.Time
	// Quiet leaves out, of calls, what a person's page only looked up.
	Quiet bool
	// After asks for what came after this sequence number, oldest first. Without
	// it the newest come first.
	After  int64
	Limit  int // 0 is 50
	Offset int
}

// quiet keeps everything but what a page read, planned to show it, or no longer
// wanted when it was left. What failed there is kept: a change may have.
const quiet = `NOT (surface = 'web' AND kind = 'person' AND operation = '' AND question = '' AND status IN ('done', 'dry_run', 'cancelled'))`

// clause is the part of a query that f means. path is the condition on a path,
// with its arguments left to [inside].
func (f Filter) clause(status, path string, paths int) (string, []any) {
	text, args := "WHERE 1", []any(nil)
	add := func(on bool, condition string, values ...any) {
		if on {
			text, args = text+" AND "+condition, append(args, values...)
		}
	}
	add(f.Run != "", "who = ?", f.Run)
	add(f.Kind != "", "kind = ?", string(f.Kind))
	add(f.Tool != "", "tool = ?", f.Tool)
	add(f.Status != "", status+" = ?", f.Status)
	add(f.Quiet, quiet)
	add(!f.Since.IsZero(), "time >= ?", nanos(f.Since))
	add(!f.Until.IsZero(), "time <= ?", nanos(f.Until))
	var at []any
	for range paths {
		at = append(at, f.Path, f.Path+"/", f.Path+"0") // "0" is the character after "/"
	}
	add(f.Path != "", path, at...)
	add(f.After > 0, "seq > ?", f.After)
	order := " ORDER BY seq DESC"
	if f.After > 0 {
		order = " ORDER BY seq"
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	return text + order + " LIMIT ? OFFSET ?", append(args, limit, f.Offset)
}

// inside is the condition that a column is a path or lies in it.
func inside(column string) string {
	return "(" + column + " = ? OR " + column + " >= ? AND " + column + " < ?)"
}

// Operations lists operations, newest first, or in order after f.After.
func (s *Store) Operations(ctx context.Context, f Filter) (list []Operation, err error) {
	f.Quiet = false // it is about calls
	where, args := f.clause("outcome",
		"(seq IN (SELECT op FROM edit WHERE "+inside("path")+") OR seq IN (SELECT op FROM edit WHERE source <> '' AND "+inside("source")+"))", 2)
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = several(ctx, tx, where, args...)
		return err
	})
	return list, err
}

// Files lists what an operation did to each file, without the contents.
func (s *Store) Files(ctx context.Context, id string) (list []FileEdit, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := rowsOf(ctx, tx, id)
		if errors.Is(err, errDropped) {
			return nil
		}
		for _, e := range rows {
			list = append(list, FileEdit{
				Path: e.path, From: e.source, Before: hex.EncodeToString(e.before), After: hex.EncodeToString(e.after), Undone: e.undone, Kept: e.kept,
			})
		}
		return err
	})
	return list, err
}

// Edits returns the edits of an operation with their contents. Contents that
// are no longer kept are an error that says so.
func (s *Store) Edits(ctx context.Context, id string) (set change.Set, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := rowsOf(ctx, tx, id)
		if errors.Is(err, errDropped) {
			return fault.New(fault.Unavailable, "operation %s was never applied, so its contents were not stored", id)
		}
		if err != nil {
			return err
		}
		for _, e := range rows {
			edit, err := e.load(ctx, tx, id)
			if err != nil {
				return err
			}
			set = append(set, edit)
		}
		return nil
	})
	return set, err
}

func rowsOf(ctx context.Context, tx *sql.Tx, id string) ([]editRow, error) {
	var seq int64
	var outcome tool.Outcome
	err := tx.QueryRowContext(ctx, `SELECT seq, outcome FROM operation WHERE id = ?`, id).Scan(&seq, &outcome)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, unknownOperation(id)
	}
	if err != nil {
		return nil, err
	}
	list, err := edits(ctx, tx, `WHERE op = ? ORDER BY n`, seq)
	if err == nil && outcome == tool.Dropped && len(list) == 0 {
		err = errDropped
	}
	return list, err
}

// errDropped says that an operation has no files because it did not happen.
var errDropped = errors.New("it did not happen")

// load reads the contents of an edit; op names its operation in errors.
func (e *editRow) load(ctx context.Context, tx *sql.Tx, op string) (change.Edit, error) {
	out := change.Edit{Path: e.path, From: e.source}
	for _, side := range []struct {
		hash []byte
		to   **string
	}{{e.before, &out.Before}, {e.after, &out.After}} {
		if side.hash == nil {
			continue
		}
		if !e.kept {
			return out, fault.New(fault.Unavailable, "the contents of %s in operation %s are no longer kept", e.path, op)
		}
		text, err := readImage(ctx, tx, side.hash)
		if err != nil {
			return out, err
		}
		*side.to = text
	}
	return out, nil
}
