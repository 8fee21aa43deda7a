package history

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/audit"
	"lore/internal/tool/schema"
)

const addOperation = `INSERT INTO operation
  (id, time, finished, kind, who, principal, tool, args, args_hash, summary, question, reverts, outcome, reason)
  VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'intended', '')`

const addEdit = `INSERT INTO edit (op, n, path, source, before, after, kept) VALUES (?, ?, ?, ?, ?, ?, ?)`

// Begin records the intent of a change with both sides of every edit. When it
// returns nil, that is safe on disk; when it does not, nothing is recorded.
func (s *Store) Begin(ctx context.Context, op tool.Operation) error {
	if op.ID == "" {
		return fault.New(fault.Internal, "an operation has no ID")
	}
	if s.refused != nil {
		return s.refused
	}
	if err := s.Flush(ctx); err != nil {
		return err
	}
	d, err := s.db(ctx)
	if err != nil {
		return err
	}
	sides, err := s.sides(ctx, d, op.Edits)
	if err != nil {
		return s.explain(err)
	}
	who, err := json.Marshal(op.Who)
	if err != nil {
		return err
	}
	reverts := ""
	if len(op.Reverts) > 0 {
		b, err := json.Marshal(op.Reverts)
		if err != nil {
			return err
		}
		reverts = string(b)
	}
	return s.safe(ctx, func(tx *sql.Tx) ([]audit.Entry, error) {
		res, err := tx.ExecContext(ctx, addOperation, op.ID, nanos(op.Time), string(op.Who.Kind), op.Who.ID, string(who),
			op.Tool, schema.Shorten(op.Args), op.ArgsHash, op.Summary, op.Question, reverts)
		if err != nil {
			return nil, taken(ctx, tx, op.ID, err)
		}
		seq, err := res.LastInsertId()
		if err != nil {
			return nil, err
		}
		if err := s.putImages(ctx, tx, sides); err != nil {
			return nil, err
		}
		return nil, putEdits(ctx, tx, seq, op.Edits, sides)
	})
}

// taken says so when an insert failed because the id is in use.
func taken(ctx context.Context, tx *sql.Tx, id string, err error) error {
	var n int
	if tx.QueryRowContext(ctx, `SELECT count(*) FROM operation WHERE id = ?`, id).Scan(&n) == nil && n > 0 {
		return fault.New(fault.Conflict, "operation %s is already recorded", id)
	}
	return err
}

func putEdits(ctx context.Context, tx *sql.Tx, seq int64, set change.Set, sides []*side) error {
	st, err := tx.PrepareContext(ctx, addEdit)
	if err != nil {
		return err
	}
	defer st.Close()
	hash := func(c *side) []byte {
		if c == nil {
			return nil
		}
		return c.hash[:]
	}
	for i, e := range set {
		if _, err := st.ExecContext(ctx, seq, i, e.Path, e.From, hash(sides[2*i]), hash(sides[2*i+1]), true); err != nil {
			return err
		}
	}
	return nil
}

// rawArgs is what was kept of arguments.
func rawArgs(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func parseSum(s string) ([]byte, bool) {
	b, err := hex.DecodeString(s)
	return b, err == nil && len(b) == len(sum{})
}

// An editRow is the edit of one file as it is stored.
type editRow struct {
	op            int64
	n             int
	path, source  string
	before, after []byte
	kept, undone  bool
	toggled       int64
}

const editColumns = `SELECT op, n, path, source, before, after, kept, undone, toggled FROM edit `

// edits reads rows of the table of edits; where is the rest of the query.
func edits(ctx context.Context, tx *sql.Tx, where string, args ...any) (list []editRow, err error) {
	rows, err := tx.QueryContext(ctx, editColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e editRow
		if err := rows.Scan(&e.op, &e.n, &e.path, &e.source, &e.before, &e.after, &e.kept, &e.undone, &e.toggled); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, rows.Err()
}

// at reports whether the edit touches the file of that path.
func (e *editRow) at(path string) bool { return e.path == path || e.source != "" && e.source == path }
