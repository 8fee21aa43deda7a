package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/audit"
)

// Finish says how an operation ended: it was applied, which turns over the
// state of everything that it reverts, or dropped, which lets go of what was
// kept for it. Saying the same twice changes nothing.
func (s *Store) Finish(ctx context.Context, id string, o tool.Outcome, reason string) error {
	if o != tool.Applied && o != tool.Dropped {
		return fault.New(fault.Internal, "operation %s cannot end as %q", id, o)
	}
	return s.safe(ctx, func(tx *sql.Tx) ([]audit.Entry, error) {
		op, err := one(ctx, tx, `WHERE id = ?`, id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil, unknownOperation(id)
		case err != nil:
			return nil, err
		case op.Outcome == o, op.Outcome == tool.Undone && o == tool.Applied:
			return nil, nil
		case op.Outcome != tool.Intended:
			return nil, fault.New(fault.Conflict, "operation %s is already %s", id, op.Outcome)
		}
		list, err := edits(ctx, tx, `WHERE op = ? ORDER BY n`, op.Seq)
		if err != nil {
			return nil, err
		}
		if o == tool.Applied {
			err = toggle(ctx, tx, op, list)
		} else {
			err = dropEdits(ctx, tx, op.Seq, list)
		}
		if err != nil {
			return nil, err
		}
		now := s.opt.Now()
		_, err = tx.ExecContext(ctx, `UPDATE operation SET outcome = ?, reason = ?, finished = ? WHERE seq = ?`, string(o), reason, nanos(now), op.Seq)
		op.Outcome, op.Finished = o, now
		return []audit.Entry{operationEntry(op, list)}, err
	})
}

// dropEdits removes everything about the files of an operation that did not
// happen: plans can be large, and they can fail often. The operation itself, its
// call and the audit log still tell of it.
func dropEdits(ctx context.Context, tx *sql.Tx, seq int64, list []editRow) error {
	if err := freeImages(ctx, tx, list); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM edit WHERE op = ?`, seq)
	return err
}

// Resolve ends an operation that a crash left open. It is [Store.Finish]; the
// caller has found out what happened.
func (s *Store) Resolve(ctx context.Context, id string, o tool.Outcome, reason string) error {
	return s.Finish(ctx, id, o, reason)
}

// Outcome tells how an operation ended.
func (s *Store) Outcome(ctx context.Context, id string) (o tool.Outcome, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT outcome FROM operation WHERE id = ?`, id).Scan(&o)
		if errors.Is(err, sql.ErrNoRows) {
			return unknownOperation(id)
		}
		return err
	})
	return o, err
}

// A ref names what an operation reverts: a whole operation ("id"), the edit of
// one of its files ("id#path"), or such an edit that came back to what it was
// before without an edit of its own ("=id#path").
type ref struct {
	id, path string
	free     bool
}

func parseRef(s string) ref {
	s, free := strings.CutPrefix(s, "=")
	id, path, _ := strings.Cut(s, "#")
	return ref{id, path, free}
}

func (r ref) String() string {
	s := r.id
	if r.path != "" {
		s += "#" + r.path
	}
	if r.free {
		s = "=" + s
	}
	return s
}

// toggle turns over the state of the edits that op reverts. What a person
// left out of the plan is not touched by own, the edits of op, and stays.
func toggle(ctx context.Context, tx *sql.Tx, op Operation, own []editRow) error {
	by := map[string]int{}
	for _, e := range own {
		by[e.path] = e.n
		if e.source != "" {
			by[e.source] = e.n
		}
	}
	touched := map[int64]bool{} // operations whose state follows from their edits
	for _, text := range op.Reverts {
		r := parseRef(text)
		list, err := reverted(ctx, tx, r)
		if err != nil {
			return err
		}
		for _, e := range list {
			n, ok := by[e.path]
			if !ok && e.source != "" {
				n, ok = by[e.source]
			}
			if !ok {
				if !r.free {
					continue
				}
				n = -1
			}
			if err := toggleEdit(ctx, tx, op.Seq, n, e); err != nil {
				return err
			}
			touched[e.op] = true
			if e.toggled != 0 {
				touched[e.toggled] = true
			}
		}
	}
	for seq := range touched {
		if _, err := tx.ExecContext(ctx, deriveState, seq); err != nil {
			return err
		}
	}
	return nil
}

// deriveState derives the state of an operation from its edits, or from what it
// still holds turned over when it is one that reverts.
const deriveState = `UPDATE operation SET outcome = CASE WHEN
    CASE WHEN reverts = '' THEN EXISTS (SELECT 1 FROM edit WHERE op = operation.seq AND undone = 0)
    ELSE EXISTS (SELECT 1 FROM edit WHERE toggled = operation.seq AND toggled <> 0) END
  THEN 'applied' ELSE 'undone' END
  WHERE seq = ? AND outcome IN ('applied', 'undone')`

func toggleEdit(ctx context.Context, tx *sql.Tx, by int64, n int, e editRow) error {
	res, err := tx.ExecContext(ctx, `INSERT INTO toggle VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, by, n, e.op, e.n)
	if err != nil {
		return err
	}
	if rows, err := res.RowsAffected(); err != nil || rows == 0 {
		return err // named twice, as an operation and as one of its files
	}
	_, err = tx.ExecContext(ctx, `UPDATE edit SET undone = 1 - undone, toggled = ? WHERE op = ? AND n = ?`, by, e.op, e.n)
	return err
}

// reverted lists the edits that a reference means: those of an operation, or
// those that an operation which reverts holds turned over.
func reverted(ctx context.Context, tx *sql.Tx, r ref) ([]editRow, error) {
	op, err := one(ctx, tx, `WHERE id = ?`, r.id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, unknownOperation(r.id)
	}
	if err != nil {
		return nil, err
	}
	list, err := heldBy(ctx, tx, op)
	if err != nil || r.path == "" {
		return list, err
	}
	var out []editRow
	for _, e := range list {
		if e.at(r.path) {
			out = append(out, e)
		}
	}
	return out, nil
}

func heldBy(ctx context.Context, tx *sql.Tx, op Operation) ([]editRow, error) {
	if len(op.Reverts) == 0 {
		return edits(ctx, tx, `WHERE op = ? ORDER BY n`, op.Seq)
	}
	return edits(ctx, tx, `WHERE toggled = ? AND toggled <> 0 ORDER BY op, n`, op.Seq)
}

// Unresolved lists the operations of which nobody knows how they ended, oldest
// first. While another process changes notes, its operation in the works is
// among them: only who may write the vault can judge.
func (s *Store) Unresolved(ctx context.Context) (list []Operation, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = several(ctx, tx, `WHERE outcome = 'intended' ORDER BY seq`)
		return err
	})
	return list, err
}

// Unrecorded is the last operation, when it happened and no call tells of it:
// the program was stopped between the two.
func (s *Store) Unrecorded(ctx context.Context) (list []Operation, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = several(ctx, tx, `WHERE seq = (SELECT max(seq) FROM operation) AND outcome IN ('applied', 'undone')
		  AND NOT EXISTS (SELECT 1 FROM call WHERE call.operation <> '' AND call.operation = operation.id)`)
		return err
	})
	return list, err
}

// operationEntry is what the audit log says about a finished operation.
func operationEntry(op Operation, list []editRow) audit.Entry {
	const named = 8 // files whose hashes are told one by one
	e := audit.Entry{
		Time: op.Finished.UTC(), Event: "operation", Kind: string(op.Who.Kind), Who: op.Who.ID, Surface: op.Who.Surface,
		Tool: op.Tool, ArgsHash: op.ArgsHash, Status: string(op.Outcome), Operation: op.ID, Question: op.Question, Count: len(list),
	}
	pre, post := sha256.New(), sha256.New()
	for _, f := range list {
		_, _ = fmt.Fprintf(pre, "%q %x\n", cmpPath(f.source, f.path), f.before) // a hash never fails to be written to
		_, _ = fmt.Fprintf(post, "%q %x\n", f.path, f.after)
		if len(list) <= named {
			e.Files = append(e.Files, audit.File{Path: f.path, From: f.source, Pre: hex.EncodeToString(f.before), Post: hex.EncodeToString(f.after)})
		}
	}
	e.Pre, e.Post = hex.EncodeToString(pre.Sum(nil)), hex.EncodeToString(post.Sum(nil))
	return e
}

func cmpPath(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func decodeList(s string) (list []string, err error) {
	if s != "" {
		err = json.Unmarshal([]byte(s), &list)
	}
	return list, err
}
