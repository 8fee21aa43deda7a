package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/audit"
)

var _ state.Guard = (*Store)(nil)

// recovered is the reason of operations of which state.db lost something that
// the audit log does not have: the contents of files.
const recovered = "recovered after state.db was lost or damaged"

// Reconcile compares the database with the audit log. Every finished operation
// stands in the database before it stands in the log, so one that only the log
// knows was lost. The quick look reads the end of the log; the full one compares
// everything and adds what is missing.
func (s *Store) Reconcile(ctx context.Context, d *db.DB, full bool) (told []string, err error) {
	end, problem, err := s.audit.Head()
	if err != nil {
		return nil, err
	}
	var known audit.End
	var seen int64
	err = d.View(ctx, func(tx *sql.Tx) error {
		if known, err = lastSynced(ctx, tx); err != nil {
			return err
		}
		seen, err = fact(ctx, tx, "log_seq")
		return err
	})
	if err != nil {
		return nil, err
	}
	// What the database itself has seen, not what the anchor of the log knows: a
	// lost one has seen nothing.
	seen = min(max(seen, known.Seq), end.Seq)
	told = headProblems(end, s.audit.Must(known), problem)
	if seen == 0 && end.Seq > 0 {
		full = true // nothing was ever recorded here, and the log knows better
	}
	if !full && seen == end.Seq {
		return told, nil
	}
	if full {
		seen = 0
	}
	list, err := s.audit.Since(ctx, seen)
	if err != nil || len(list) == 0 {
		return told, err
	}
	r := rebuild{full: full, now: s.opt.Now(), keep: s.opt.Calls}
	err = d.Tx(ctx, func(tx *sql.Tx) error { return r.run(ctx, tx, list, end) })
	return append(told, r.told()...), err
}

// headProblems tells what the end of the log shows.
func headProblems(end, known audit.End, problem error) (told []string) {
	var r *fault.Report
	switch {
	case known.Seq > end.Seq && end.Seq == 0:
		told = append(told, fmt.Sprintf("the audit log is missing or empty; it had %d entries", known.Seq))
	case known.Seq > end.Seq:
		told = append(told, fmt.Sprintf("the end of the audit log was cut off: entries %d to %d are missing", end.Seq+1, known.Seq))
	case known.Seq == end.Seq && known.MAC != end.MAC:
		told = append(told, fmt.Sprintf("entry %d of the audit log is not the one that was written", end.Seq))
	}
	if errors.As(problem, &r) {
		told = append(told, r.Message)
	}
	return told
}

// A rebuild adds to the database what the audit log knows and the database lacks.
type rebuild struct {
	full bool
	now  time.Time
	keep time.Duration

	operations, calls, changed int
	// orphans are the rows of lost operations whose files are still there, by
	// what the audit log says of these.
	orphans map[[2]string]int64
}

func (r *rebuild) told() (out []string) {
	if r.operations+r.calls > 0 {
		out = append(out, fmt.Sprintf("records were lost: %d changes and %d calls were recovered from the audit log; these changes cannot be undone unless their contents were found", r.operations, r.calls))
	}
	if r.changed > 0 {
		out = append(out, fmt.Sprintf("%d changes in state.db differed from the audit log and were corrected", r.changed))
	}
	return out
}

func (r *rebuild) run(ctx context.Context, tx *sql.Tx, list []audit.Entry, end audit.End) error {
	if r.full {
		if err := repairImages(ctx, tx); err != nil {
			return err
		}
	}
	if err := r.findOrphans(ctx, tx); err != nil {
		return err
	}
	var last int64 // the row of the operation before
	for _, e := range list {
		if e.Event != "operation" || e.Operation == "" {
			continue
		}
		seq, err := r.operation(ctx, tx, e, last)
		if err != nil {
			return err
		}
		last = seq
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM edit WHERE op NOT IN (SELECT seq FROM operation)`); err != nil {
		return err
	}
	if r.operations > 0 || r.full {
		if err := r.addCalls(ctx, tx, list); err != nil {
			return err
		}
		if err := repairImages(ctx, tx); err != nil {
			return err
		}
	}
	if r.operations == 0 && !r.full {
		// Only calls that a killed process did not get to store. The next entry of
		// the log says so, because the database does not claim to have seen them.
		return nil
	}
	// Another process may have written more since the end of the log was read.
	seen, err := fact(ctx, tx, "log_seq")
	if err != nil {
		return err
	}
	if err := setFact(ctx, tx, "log_seq", max(seen, end.Seq)); err != nil {
		return err
	}
	known, err := lastSynced(ctx, tx)
	if err != nil || known.Seq > 0 {
		return err
	}
	return errors.Join(setFact(ctx, tx, "audit_seq", end.Seq), setFact(ctx, tx, "audit_mac", end.MAC))
}

// operation makes sure that an operation of the log is in the database, and
// returns its row.
func (r *rebuild) operation(ctx context.Context, tx *sql.Tx, e audit.Entry, last int64) (int64, error) {
	op, err := one(ctx, tx, `WHERE id = ?`, e.Operation)
	switch {
	case err == nil && r.full:
		return op.Seq, r.compare(ctx, tx, op, e)
	case err == nil:
		return op.Seq, nil
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	who, err := json.Marshal(access.Principal{Kind: access.Kind(e.Kind), ID: e.Who, Surface: e.Surface})
	if err != nil {
		return 0, err
	}
	place, found, err := r.place(ctx, tx, e, last)
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO operation (seq, id, time, finished, kind, who, principal, tool, args, args_hash, summary, question, reverts, outcome, reason)
	  VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, '', ?, ?)`, place, e.Operation, nanos(e.Time), nanos(e.Time), e.Kind, e.Who, string(who), e.Tool, e.ArgsHash,
		fmt.Sprintf("%s: %d files (recovered)", e.Tool, e.Count), e.Question, e.Status, recovered)
	if err != nil {
		return 0, err
	}
	r.operations++
	seq, err := res.LastInsertId()
	if err != nil || found || e.Status != string(tool.Applied) {
		return seq, err
	}
	return seq, addFiles(ctx, tx, seq, e.Files)
}

// findOrphans looks for files whose operation was lost.
func (r *rebuild) findOrphans(ctx context.Context, tx *sql.Tx) error {
	r.orphans = map[[2]string]int64{}
	list, err := edits(ctx, tx, `WHERE op NOT IN (SELECT seq FROM operation) ORDER BY op, n`)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].op == list[0].op {
			n++
		}
		e := operationEntry(Operation{}, list[:n])
		r.orphans[[2]string{e.Pre, e.Post}] = list[0].op
		list = list[n:]
	}
	return err
}

// place chooses the row of a recovered operation: that of its files when they
// are still there, else in the order of the log where there is room.
func (r *rebuild) place(ctx context.Context, tx *sql.Tx, e audit.Entry, last int64) (seq any, found bool, err error) {
	key := [2]string{e.Pre, e.Post}
	if seq, ok := r.orphans[key]; ok && e.Status == string(tool.Applied) {
		delete(r.orphans, key)
		return seq, true, nil
	}
	var taken int
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM operation WHERE seq = ?1) OR EXISTS (SELECT 1 FROM edit WHERE op = ?1)`, last+1).Scan(&taken)
	if err != nil || taken == 0 {
		return last + 1, false, err
	}
	err = tx.QueryRowContext(ctx, `SELECT 1 + max(coalesce((SELECT max(seq) FROM operation), 0), coalesce((SELECT max(op) FROM edit), 0))`).Scan(&last)
	return last, false, err
}

// addFiles stores what the log says about the files of an operation. Their
// contents are kept when the database still has them.
func addFiles(ctx context.Context, tx *sql.Tx, seq int64, list []audit.File) error {
	hash := func(s string) any {
		if b, ok := parseSum(s); ok {
			return b
		}
		return nil
	}
	for i, f := range list {
		before, after := hash(f.Pre), hash(f.Post)
		_, err := tx.ExecContext(ctx, `INSERT INTO edit (op, n, path, source, before, after, kept) VALUES (?, ?, ?, ?, ?, ?,
		    (?5 IS NULL OR EXISTS (SELECT 1 FROM image WHERE hash = ?5)) AND (?6 IS NULL OR EXISTS (SELECT 1 FROM image WHERE hash = ?6)))`,
			seq, i, f.Path, f.From, before, after)
		if err != nil {
			return err
		}
	}
	return nil
}

// compare corrects the files of an operation that are not those of the log.
func (r *rebuild) compare(ctx context.Context, tx *sql.Tx, op Operation, e audit.Entry) error {
	if op.Outcome == tool.Intended { // its end was lost
		r.changed++
		_, err := tx.ExecContext(ctx, `UPDATE operation SET outcome = ?, finished = ? WHERE seq = ?`, e.Status, nanos(e.Time), op.Seq)
		if err != nil {
			return err
		}
	}
	same, err := agrees(ctx, tx, op, e)
	if same || err != nil {
		return err
	}
	r.changed++
	if len(e.Files) == 0 {
		_, err := tx.ExecContext(ctx, `UPDATE edit SET kept = 0 WHERE op = ?`, op.Seq)
		return errors.Join(err, markRecovered(ctx, tx, op.Seq))
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM edit WHERE op = ?`, op.Seq); err != nil {
		return err
	}
	return errors.Join(addFiles(ctx, tx, op.Seq, e.Files), markRecovered(ctx, tx, op.Seq))
}

// agrees reports whether the files of an operation are those of the log.
func agrees(ctx context.Context, tx *sql.Tx, op Operation, e audit.Entry) (bool, error) {
	if op.Reason == recovered || e.Status != string(tool.Applied) {
		return true, nil
	}
	list, err := edits(ctx, tx, `WHERE op = ? ORDER BY n`, op.Seq)
	have := operationEntry(op, list)
	return have.Pre == e.Pre && have.Post == e.Post, err
}

func markRecovered(ctx context.Context, tx *sql.Tx, seq int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE operation SET reason = ? WHERE seq = ?`, recovered, seq)
	return err
}

// addCalls lists the calls again that the log tells of, when there are fewer in
// the database: the log names no call, so they are compared by moment and tool.
func (r *rebuild) addCalls(ctx context.Context, tx *sql.Tx, list []audit.Entry) error {
	for _, e := range list {
		if e.Event != "call" || e.Time.Before(r.now.Add(-r.keep)) {
			continue
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO call (id, time, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error,
		    duration, tokens, cost, operation, question)
		  SELECT ?, ?, ?, ?, ?, ?, '', '', ?, ?, ?, ?, ?, ?, '', 0, 0, -1, ?, ? WHERE NOT EXISTS (SELECT 1 FROM call WHERE id = ?1 OR time = ?2 AND tool = ?6 AND ?1 LIKE 'call-audit-%')`,
			cmp.Or(e.Call, fmt.Sprintf("call-audit-%d", e.Seq)), nanos(e.Time), e.Kind, e.Who, e.Surface, e.Tool, e.ArgsHash, e.Decision, recovered, e.Status, "(recovered)", e.Fault,
			e.Operation, e.Question)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		r.calls += int(n)
	}
	return nil
}

// repairImages makes the contents fit the edits again, after rows of either were
// lost.
func repairImages(ctx context.Context, tx *sql.Tx) error {
	var steps []string
	for range maxDepth {
		steps = append(steps, `DELETE FROM image WHERE base <> 0 AND base NOT IN (SELECT id FROM image)`)
	}
	const lost = `kept AND (before IS NOT NULL AND before NOT IN (SELECT hash FROM image) OR after IS NOT NULL AND after NOT IN (SELECT hash FROM image))`
	steps = append(steps, `CREATE TEMP TABLE used (hash BLOB PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`,
		`UPDATE operation SET reason = '`+recovered+`' WHERE outcome <> 'intended' AND seq IN (SELECT op FROM edit WHERE `+lost+`)`,
		`UPDATE edit SET kept = 0 WHERE `+lost,
		`INSERT INTO used SELECT before, count(*) FROM edit WHERE kept AND before IS NOT NULL GROUP BY before`,
		`INSERT INTO used SELECT after, count(*) FROM edit WHERE kept AND after IS NOT NULL GROUP BY after ON CONFLICT DO UPDATE SET n = n + excluded.n`)
	for range maxDepth + 1 {
		steps = append(steps,
			`UPDATE image SET uses = coalesce((SELECT n FROM used WHERE used.hash = image.hash), 0) + (SELECT count(*) FROM image AS other WHERE other.base = image.id)`,
			`DELETE FROM image WHERE uses = 0`)
	}
	steps = append(steps, `DROP TABLE used`)
	for _, q := range steps {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("repair contents: %w", err)
		}
	}
	var bytes int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(length(data)), 0) FROM image`).Scan(&bytes); err != nil {
		return err
	}
	return setFact(ctx, tx, "image_bytes", bytes)
}

// lostContents says why a recovered operation cannot be undone.
func lostContents(op Operation) error {
	return fault.New(fault.Unavailable, "operation %s was %s; the contents of its files are lost, so it cannot be undone", op.ID, recovered)
}

// Lost reports that there is an audit log, and so must be a database.
func (s *Store) Lost() bool {
	end, _, err := s.audit.Head()
	return err != nil || end.Seq > 0
}

// BrokenLogs lists audit logs that were kept because their key was lost.
func (s *Store) BrokenLogs() []string { return s.audit.Broken() }

// CheckState reads the whole database and compares it with the audit log. It
// changes nothing.
func (s *Store) CheckState(ctx context.Context) error {
	if err := s.file.Check(ctx); err != nil {
		return err
	}
	list, err := s.audit.Since(ctx, 0)
	if err != nil {
		return err
	}
	bad := 0
	err = s.view(ctx, func(tx *sql.Tx) error {
		for _, e := range list {
			if e.Event != "operation" {
				continue
			}
			op, err := one(ctx, tx, `WHERE id = ?`, e.Operation)
			same := false
			if err == nil {
				same, err = agrees(ctx, tx, op, e)
			}
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if !same {
				bad++
			}
		}
		return nil
	})
	if err == nil && bad > 0 {
		err = fault.New(fault.Conflict, "%d changes in state.db differ from the audit log", bad)
	}
	return err
}
