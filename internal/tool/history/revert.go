package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"

	"lore/internal/change"
	"lore/internal/fault"
)

// A Wanted says which changes are to be taken back, or brought back.
type Wanted struct {
	// Redo brings back what was undone; otherwise what is in force is taken back.
	Redo bool
	// Operation is an id or the beginning of one. Naming an operation that
	// reverts means: turn over again what it turned over.
	Operation string
	// Run takes back everything that one run, token or session did.
	Run string
	// Path keeps the edits of this file only. Alone, it means the last change of
	// the file.
	Path string
}

// A Step is one edit on the way back, with what it turns over.
type Step struct {
	Edit  change.Edit
	Op    Operation // whose edit is taken back or brought back; the newest, if the step covers several
	First int64     // the sequence number of the oldest of these
	After int64     // the operation that left the file as the step expects it
	Redo  bool      // it brings back what was undone
	Turns []Reversal
}

// A Reversal is the edit of one file by one operation, whose state a step turns
// over.
type Reversal struct {
	Op   string
	Path string
	From string
}

// Ref is the turn as an operation names it in its Reverts. Free says that it
// needs no edit: the file is already as it should be.
func (t Reversal) Ref(free bool) string { return ref{t.Op, t.Path, free}.String() }

// Reverted names the operations that references such as [Turn.Ref] speak of,
// each once.
func Reverted(refs []string) []string {
	var out []string
	for _, text := range refs {
		if r := parseRef(text); !slices.Contains(out, r.id) {
			out = append(out, r.id)
		}
	}
	return out
}

// Back returns the steps that do what w says, in the order in which they are to
// be made. Each expects the file as the step before it, or the last recorded
// change, left it.
func (s *Store) Back(ctx context.Context, w Wanted) (steps []Step, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err := choose(ctx, tx, w)
		if err != nil {
			return err
		}
		steps, err = plan(ctx, tx, list)
		return err
	})
	return steps, err
}

// choose finds the edits that w means.
func choose(ctx context.Context, tx *sql.Tx, w Wanted) ([]editRow, error) {
	switch {
	case w.Run != "":
		return ofRun(ctx, tx, w)
	case w.Operation == "" && w.Path != "":
		return ofPath(ctx, tx, w)
	}
	op, err := wantedOperation(ctx, tx, w)
	if err != nil {
		return nil, err
	}
	held, err := heldBy(ctx, tx, op)
	if err != nil {
		return nil, err
	}
	undo := len(op.Reverts) > 0 && !w.Redo && w.Operation != "" // turn over whatever it holds
	var list []editRow
	for _, e := range held {
		if (undo || e.undone == w.Redo) && (w.Path == "" || e.at(w.Path)) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil, nothing(op, w)
	}
	return list, nil
}

func wantedOperation(ctx context.Context, tx *sql.Tx, w Wanted) (Operation, error) {
	if w.Operation == "" && !w.Redo {
		return lastApplied(ctx, tx)
	}
	if w.Operation == "" {
		op, err := one(ctx, tx, `WHERE outcome = 'applied' AND reverts <> ''
		  AND EXISTS (SELECT 1 FROM edit WHERE toggled = seq AND toggled <> 0 AND undone) ORDER BY seq DESC`)
		if errors.Is(err, sql.ErrNoRows) {
			err = fault.New(fault.NotFound, "there is nothing to redo")
		}
		return op, err
	}
	op, err := find(ctx, tx, w.Operation)
	switch {
	case err != nil:
		return op, err
	case op.Outcome == "intended":
		return op, fault.Fix(fault.Busy, "try again when it has finished", "operation %s is not finished", op.ID)
	case op.Outcome == "dropped":
		return op, fault.New(fault.Invalid, "operation %s was not applied, so there is nothing to undo", op.ID)
	}
	return op, nil
}

// nothing says why an operation has nothing to turn over.
func nothing(op Operation, w Wanted) error {
	switch {
	case op.Reason == recovered && op.Count == 0:
		return lostContents(op)
	case w.Path != "":
		return fault.Field("path", "see the operation for its files", "operation %s has no change to %q that can be undone or redone", op.ID, w.Path)
	case w.Redo:
		return fault.Fix(fault.Conflict, "use undo to undo it", "operation %s was not undone", op.ID)
	}
	return fault.Fix(fault.Conflict, "use redo to apply it again", "operation %s is already undone", op.ID)
}

// ofPath finds the last change of a file that is in force, or the last that was
// undone.
func ofPath(ctx context.Context, tx *sql.Tx, w Wanted) ([]editRow, error) {
	order := "op"
	if w.Redo {
		order = "toggled"
	}
	const of = ` AND undone = ? AND op IN (SELECT seq FROM operation WHERE reverts = '' AND outcome IN ('applied', 'undone'))`
	list, err := edits(ctx, tx, `WHERE (path = ? OR source <> '' AND source = ?)`+of+` ORDER BY `+order+` DESC LIMIT 1`, w.Path, w.Path, w.Redo)
	if err == nil && len(list) == 0 {
		err = fault.Field("path", "see the activity for recorded changes", "no recorded change to %q can be undone", w.Path)
		if w.Redo {
			err = fault.Field("path", "see the activity for recorded changes", "there is no undone change to %q to redo", w.Path)
		}
	}
	return list, err
}

// ofRun finds what a run did: its own changes that are in force, and what it
// turned over of others' changes.
func ofRun(ctx context.Context, tx *sql.Tx, w Wanted) ([]editRow, error) {
	list, err := edits(ctx, tx, `WHERE (undone = 0 AND op IN (SELECT seq FROM operation WHERE who = ? AND reverts = '' AND outcome = 'applied')
	    OR toggled IN (SELECT seq FROM operation WHERE who = ? AND reverts <> '' AND outcome = 'applied')
	      AND op NOT IN (SELECT seq FROM operation WHERE who = ?))
	  AND (? = '' OR path = ? OR source = ?) ORDER BY op, n`, w.Run, w.Run, w.Run, w.Path, w.Path, w.Path)
	if err == nil && len(list) == 0 {
		err = fault.Field("run", "see the activity for callers and their changes", "%q has no changes that can be undone", w.Run)
	}
	return list, err
}

// A move back is one edit with its place in the order.
type back struct {
	row     editRow // of the edit that is inverted, or done again
	forward bool
	turns   []editRow
}

// plan decides how each edit is turned over. Where an earlier undo or redo
// turned over exactly these, its own edit is inverted, which is right also when
// that one was merged; otherwise the edits themselves are taken.
func plan(ctx context.Context, tx *sql.Tx, list []editRow) ([]Step, error) {
	var all []back
	type key struct {
		by int64
		n  int
	}
	groups := map[key][]editRow{}
	for _, e := range list {
		k := key{e.toggled, -1}
		if e.toggled != 0 {
			if err := tx.QueryRowContext(ctx, `SELECT by_n FROM toggle WHERE by = ? AND op = ? AND n = ?`, e.toggled, e.op, e.n).Scan(&k.n); err != nil {
				return nil, err
			}
		}
		if k.n < 0 {
			all = append(all, back{row: e, forward: e.undone, turns: []editRow{e}})
			continue
		}
		groups[k] = append(groups[k], e)
	}
	for k, g := range groups {
		var size int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM toggle WHERE by = ? AND by_n = ?`, k.by, k.n).Scan(&size); err != nil {
			return nil, err
		}
		if size != len(g) {
			for _, e := range g {
				all = append(all, back{row: e, forward: e.undone, turns: []editRow{e}})
			}
			continue
		}
		rows, err := edits(ctx, tx, `WHERE op = ? AND n = ?`, k.by, k.n)
		if err != nil {
			return nil, err
		}
		all = append(all, back{row: rows[0], turns: g})
	}
	slices.SortFunc(all, func(a, b back) int {
		switch {
		case a.forward != b.forward && b.forward:
			return -1 // taking back comes before doing again
		case a.forward != b.forward:
			return 1
		case a.forward:
			return cmp.Or(cmp.Compare(a.row.op, b.row.op), cmp.Compare(a.row.n, b.row.n))
		}
		return cmp.Or(cmp.Compare(b.row.op, a.row.op), cmp.Compare(b.row.n, a.row.n))
	})
	return loadSteps(ctx, tx, all)
}

func loadSteps(ctx context.Context, tx *sql.Tx, all []back) ([]Step, error) {
	known := map[int64]Operation{}
	operation := func(seq int64) (Operation, error) {
		if op, ok := known[seq]; ok {
			return op, nil
		}
		op, err := one(ctx, tx, `WHERE seq = ?`, seq)
		known[seq] = op
		return op, err
	}
	steps := make([]Step, 0, len(all))
	for _, b := range all {
		source, err := operation(b.row.op)
		if err != nil {
			return nil, err
		}
		if !b.row.kept && source.Reason == recovered {
			return nil, lostContents(source)
		}
		edit, err := b.row.load(ctx, tx, source.ID)
		if err != nil {
			return nil, err
		}
		if !b.forward {
			edit = edit.Inverse()
		}
		st := Step{Edit: edit, After: b.row.op, Redo: b.turns[0].undone}
		if b.forward {
			st.After = b.row.toggled
		}
		for _, e := range b.turns {
			op, err := operation(e.op)
			if err != nil {
				return nil, err
			}
			if op.Seq >= st.Op.Seq {
				st.Op = op
			}
			if st.First == 0 || op.Seq < st.First {
				st.First = op.Seq
			}
			st.Turns = append(st.Turns, Reversal{Op: op.ID, Path: e.path, From: e.source})
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// A Touch is the last recorded change of a file.
type Touch struct {
	Operation
	// Hash is of the content that it left, in hexadecimal digits; "" when it
	// left none or moved the file as it was.
	Hash string
}

// Since tells the last operation after seq that touched a file and happened. It
// answers who changed what an undo finds different.
func (s *Store) Since(ctx context.Context, path string, seq int64) (touch Touch, ok bool, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		op, err := one(ctx, tx, `WHERE seq > ? AND outcome IN ('applied', 'undone')
		  AND seq IN (SELECT op FROM edit WHERE path = ? UNION SELECT op FROM edit WHERE source <> '' AND source = ?) ORDER BY seq DESC`, seq, path, path)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		list, err := edits(ctx, tx, `WHERE op = ? AND path = ?`, op.Seq, path)
		if err != nil {
			return err
		}
		touch, ok = Touch{Operation: op}, true
		if len(list) > 0 {
			touch.Hash = hex.EncodeToString(list[0].after)
		}
		return nil
	})
	return touch, ok, err
}

// InForce lists the edits of a file by operations after seq whose effect is in
// the vault, newest first.
func (s *Store) InForce(ctx context.Context, path string, seq int64) (list []Reversal, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := edits(ctx, tx, `WHERE (path = ? OR source <> '' AND source = ?) AND op > ? AND undone = 0
		  AND op IN (SELECT seq FROM operation WHERE reverts = '' AND outcome = 'applied') ORDER BY op DESC`, path, path, seq)
		if err != nil {
			return err
		}
		for _, e := range rows {
			var id string
			if err := tx.QueryRowContext(ctx, `SELECT id FROM operation WHERE seq = ?`, e.op).Scan(&id); err != nil {
				return err
			}
			list = append(list, Reversal{Op: id, Path: e.path, From: e.source})
		}
		return nil
	})
	return list, err
}
