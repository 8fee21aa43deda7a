// Package approval keeps the questions that wait for a person, and the standing
// rules that persons made of their answers. Both outlive the process, and of
// several processes that answer one question, one wins. It decides nothing:
// policy and persons do.
package approval

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// A Store holds questions and rules. It may be used from several goroutines and
// processes.
type Store struct {
	file *state.File
	now  func() time.Time
}

var _ tool.Questions = (*Store)(nil)

// New returns the store that lies in f. It opens nothing.
func New(f *state.File, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{file: f, now: now}
}

func (s *Store) explain(err error) error { return state.Explain(err, s.file.Path()) }

// Changes tells when something may have changed, see [state.File.Changes].
func (s *Store) Changes() (<-chan struct{}, func()) { return s.file.Changes() }

// Ask stores a new question.
func (s *Store) Ask(ctx context.Context, q tool.Question) error {
	if q.ID == "" {
		return fault.New(fault.Internal, "an approval has no ID")
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	res, err := d.Write.ExecContext(ctx, `INSERT INTO question (id, state, revision, changed, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		q.ID, string(q.State), q.Revision, s.now().UnixNano(), string(body))
	if err != nil {
		return s.explain(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fault.New(fault.Conflict, "%s was already requested", q.ID))
	}
	return nil
}

// Update stores q if the stored state and revision are still the given ones,
// and reports whether it did.
func (s *Store) Update(ctx context.Context, q tool.Question, was tool.State, revision int) (bool, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return false, err
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return false, err
	}
	won := false
	err = d.Tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE question SET state = ?, revision = ?, changed = ?, body = ? WHERE id = ? AND state = ? AND revision = ?`,
			string(q.State), q.Revision, s.now().UnixNano(), string(body), q.ID, string(was), revision)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil || n > 0 {
			won = n > 0
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM question WHERE id = ?`, q.ID).Scan(&n); err == nil && n == 0 {
			return fault.New(fault.NotFound, "unknown approval %q", q.ID)
		}
		return err
	})
	return won && err == nil, s.explain(err)
}

// prefix is how the ids of questions begin; nobody has to type it.
const prefix = "pending-"

// listed is how many candidates an error names.
const listed = 5

// Get returns the question of that id, or of the one id that begins so, with or
// without "pending-".
func (s *Store) Get(ctx context.Context, id string) (q tool.Question, err error) {
	if id == "" {
		return q, fault.Field("id", "see the list of pending approvals", "give the ID of an approval")
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return q, err
	}
	for _, p := range []string{id, prefix + id} {
		found, err := beginning(ctx, d, `question`, p)
		if err != nil {
			return q, s.explain(err)
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && found[0].id != p:
			return q, ambiguous("question", id, found)
		}
		return q, json.Unmarshal([]byte(found[0].body), &q)
	}
	return q, s.missing(ctx, d, "question", id)
}

type row struct{ id, body string }

// beginning lists rows whose id begins so, the exact one first.
func beginning(ctx context.Context, d *db.DB, table, p string) ([]row, error) {
	return rows(ctx, d, `SELECT id, body FROM `+table+` WHERE id >= ? AND id < ? ORDER BY id = ? DESC, seq DESC LIMIT ?`, p, p+"\U0010FFFF", p, listed+1)
}

func rows(ctx context.Context, d *db.DB, query string, args ...any) (list []row, err error) {
	rs, err := d.Read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	for rs.Next() {
		var r row
		if err := rs.Scan(&r.id, &r.body); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rs.Err()
}

func ambiguous(what, id string, found []row) error {
	var names []string
	for i, r := range found {
		if i == listed {
			names = append(names, "…")
			break
		}
		names = append(names, r.id)
	}
	return &fault.Report{Kind: fault.Ambiguous, Field: "id", Fix: "give more characters",
		Message: fmt.Sprintf("id: %q matches several %ss: %s", id, what, strings.Join(names, ", "))}
}

// missing says that there is no such id, and which were meant perhaps.
func (s *Store) missing(ctx context.Context, d *db.DB, table, id string) error {
	found, err := rows(ctx, d, `SELECT id, '' FROM `+table+` ORDER BY seq DESC LIMIT 200`)
	if err != nil {
		return s.explain(err)
	}
	var names []string
	for _, r := range found {
		names = append(names, r.id)
	}
	r := &fault.Report{Kind: fault.NotFound, Field: "id", Message: fmt.Sprintf("id: there is no %s %q", table, id)}
	near := schema.Nearest(id, names, 3)
	if table == "question" && len(near) == 0 {
		near = schema.Nearest(prefix+id, names, 3)
	}
	if len(near) > 0 {
		r.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return r
}

// List returns questions in the order in which they were asked; with states,
// only of those.
func (s *Store) List(ctx context.Context, states ...tool.State) ([]tool.Question, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	query, args := `SELECT id, body FROM question`, []any(nil)
	if len(states) > 0 {
		for _, st := range states {
			args = append(args, string(st))
		}
		query += ` WHERE state IN (?` + strings.Repeat(", ?", len(states)-1) + `)`
	}
	found, err := rows(ctx, d, query+` ORDER BY seq`, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	var list []tool.Question
	for _, r := range found {
		var q tool.Question
		if err := json.Unmarshal([]byte(r.body), &q); err != nil {
			return nil, fault.New(fault.Unavailable, "approval %s cannot be read: %v", r.id, err)
		}
		list = append(list, q)
	}
	return list, nil
}

// Rules returns the standing rules in force, oldest first.
func (s *Store) Rules(ctx context.Context) ([]policy.Rule, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	found, err := rows(ctx, d, `SELECT id, body FROM rule WHERE until = 0 OR until >= ? ORDER BY seq`, s.now().UnixNano())
	if err != nil {
		return nil, s.explain(err)
	}
	var list []policy.Rule
	for _, r := range found {
		var rule policy.Rule
		if err := json.Unmarshal([]byte(r.body), &rule); err != nil {
			return nil, fault.New(fault.Unavailable, "rule %s cannot be read: %v", r.id, err)
		}
		list = append(list, rule)
	}
	return list, nil
}

// AddRule makes a standing rule. The same id again replaces it.
func (s *Store) AddRule(ctx context.Context, r policy.Rule) error {
	if r.ID == "" {
		return fault.New(fault.Internal, "a rule has no ID")
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	until := int64(0)
	if !r.Until.IsZero() {
		until = r.Until.UnixNano()
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	_, err = d.Write.ExecContext(ctx, `INSERT INTO rule (id, until, body) VALUES (?, ?, ?)
	  ON CONFLICT DO UPDATE SET until = excluded.until, body = excluded.body`, r.ID, until, string(body))
	return s.explain(err)
}

// NewRule makes a standing rule, under an id of its own.
func (s *Store) NewRule(ctx context.Context, r policy.Rule) error {
	r.ID = "rule-" + strings.ToLower(rand.Text())
	return s.AddRule(ctx, r)
}

// DropRule ends the rule of that id, or of the one id that begins so.
func (s *Store) DropRule(ctx context.Context, id string) error {
	if id == "" {
		return fault.Field("id", "see the list of rules", "give the ID of a rule")
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	for _, p := range []string{id, "rule-" + id} {
		found, err := beginning(ctx, d, `rule`, p)
		if err != nil {
			return s.explain(err)
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && found[0].id != p:
			return ambiguous("rule", id, found)
		}
		_, err = d.Write.ExecContext(ctx, `DELETE FROM rule WHERE id = ?`, found[0].id)
		return s.explain(err)
	}
	return s.missing(ctx, d, "rule", id)
}

// kept is how long a question stays after it is over, and a rule after its end.
const kept = 90 * 24 * time.Hour

// Prune removes what has been over for ninety days.
func (s *Store) Prune(ctx context.Context, now time.Time) error {
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	before := now.Add(-kept).UnixNano()
	var n int
	err = d.Read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM question WHERE changed < ? AND state NOT IN ('pending', 'approved', 'running'))
	    OR EXISTS (SELECT 1 FROM rule WHERE until <> 0 AND until < ?)`, before, before).Scan(&n)
	if err != nil || n == 0 {
		return s.explain(err)
	}
	return s.explain(d.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM question WHERE changed < ? AND state NOT IN ('pending', 'approved', 'running')`, before)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM rule WHERE until <> 0 AND until < ?`, before)
		return err
	}))
}
