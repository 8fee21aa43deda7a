package chat

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/state"
)

// A Store holds chats. It may be used from several goroutines and processes.
type Store struct {
	file *state.File
	now  func() time.Time
}

// New returns the store that lies in f. It opens nothing.
func New(f *state.File, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{file: f, now: now}
}

func (s *Store) explain(err error) error { return state.Explain(err, s.file.Path()) }

func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return 0, err
	}
	res, err := d.Write.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, s.explain(err)
	}
	return res.RowsAffected()
}

// read decodes the rows of one column of JSON.
func read[T any](ctx context.Context, s *Store, query string, args ...any) ([]T, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.Query(ctx, query, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var body string
		var v T
		if err := rows.Scan(&body); err != nil {
			return nil, s.explain(err)
		}
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return nil, fmt.Errorf("read a chat: %w", err)
		}
		out = append(out, v)
	}
	return out, s.explain(rows.Err())
}

func one[T any](list []T, err error, what, id string) (T, error) {
	var none T
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "there is no %s %s", what, id)
	}
	if err != nil {
		return none, err
	}
	return list[0], nil
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // rows of this package are made of plain values
	}
	return string(b)
}

// Put stores a chat that is new. What is to change of one that others may know
// goes through [Store.Change].
func (s *Store) Put(ctx context.Context, c Chat) error {
	return s.tx(ctx, func(tx *sql.Tx) error { return s.put(ctx, tx, &c) })
}

func (s *Store) put(ctx context.Context, tx *sql.Tx, c *Chat) error {
	c.Changed = s.now()
	if c.Created.IsZero() {
		c.Created = c.Changed
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO chat (id, changed, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET changed = excluded.changed, body = excluded.body`,
		c.ID, c.Changed.UnixNano(), encode(c))
	return err
}

// Change changes a chat, and returns it as it is then. Of two changes at once
// neither is lost: each begins with what the other left.
func (s *Store) Change(ctx context.Context, id string, f func(*Chat)) (c Chat, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		var body string
		err := tx.QueryRowContext(ctx, `SELECT body FROM chat WHERE id = ?`, id).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			return noChat(id)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			return fmt.Errorf("read a chat: %w", err)
		}
		f(&c)
		return s.put(ctx, tx, &c)
	})
	return c, err
}

// tx does something in one transaction.
func (s *Store) tx(ctx context.Context, f func(*sql.Tx) error) error {
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	return s.explain(d.Tx(ctx, f))
}

func noChat(id string) error { return fault.New(fault.NotFound, "there is no chat %s", id) }

// Get returns a chat.
func (s *Store) Get(ctx context.Context, id string) (Chat, error) {
	list, err := read[Chat](ctx, s, `SELECT body FROM chat WHERE id = ?`, id)
	return one(list, err, "chat", id)
}

// List returns chats, those that changed last first.
func (s *Store) List(ctx context.Context, limit, offset int) ([]Chat, error) {
	if limit <= 0 {
		limit = 50
	}
	return read[Chat](ctx, s, `SELECT body FROM chat ORDER BY changed DESC, id LIMIT ? OFFSET ?`, limit, offset)
}

// Delete removes a chat with all that belongs to it.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{`DELETE FROM run WHERE chat = ?`, `DELETE FROM message WHERE chat = ?`, `DELETE FROM chat WHERE id = ?`} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		// A fork has messages of the runs of others: their calls stay while it does.
		_, err := tx.ExecContext(ctx, `DELETE FROM run_call WHERE run NOT IN (SELECT id FROM run)
		  AND run NOT IN (SELECT coalesce(json_extract(body, '$.run'), '') FROM message)`)
		return err
	})
}

// Messages returns the messages of a chat, in order.
func (s *Store) Messages(ctx context.Context, chat string) ([]Message, error) {
	return read[Message](ctx, s, `SELECT body FROM message WHERE chat = ? ORDER BY seq`, chat)
}

// A Change is what one step of a run changes, all or nothing.
type Change struct {
	Run    *Run
	Holder string    // who works on it; the change fails when that is somebody else by now
	Say    []Message // new messages: their numbers are given
	Amend  []Message // messages that are known and change
	Calls  []Call    // new or changed; those without a number get one
}

// ErrTaken is a step of a run that another process works on.
var ErrTaken = fault.New(fault.Busy, "another process is working on this run")

// Apply makes a change to a chat that exists. Numbers of new messages and calls
// are set in place.
func (s *Store) Apply(ctx context.Context, chat string, c Change) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		if c.Run != nil {
			if err := putRun(ctx, tx, c.Run, c.Holder); err != nil {
				return err
			}
		}
		if err := s.say(ctx, tx, chat, c.Say); err != nil {
			return err
		}
		for _, m := range c.Amend {
			if _, err := tx.ExecContext(ctx, `UPDATE message SET body = ? WHERE chat = ? AND seq = ?`, encode(m), chat, m.Seq); err != nil {
				return err
			}
		}
		if c.Run != nil {
			if err := putCalls(ctx, tx, c.Run.ID, c.Calls); err != nil {
				return err
			}
		}
		now := s.now()
		res, err := tx.ExecContext(ctx, `UPDATE chat SET changed = ?, body = json_set(body, '$.changed', ?) WHERE id = ?`, now.UnixNano(), now.Format(time.RFC3339Nano), chat)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			err = noChat(chat) // it was deleted
		}
		return err
	})
}

func (s *Store) say(ctx context.Context, tx *sql.Tx, chat string, list []Message) error {
	if len(list) == 0 {
		return nil
	}
	var last int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM message WHERE chat = ?`, chat).Scan(&last); err != nil {
		return err
	}
	for i := range list {
		last++
		list[i].Seq = last
		if list[i].Time.IsZero() {
			list[i].Time = s.now()
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO message (chat, seq, body) VALUES (?, ?, ?)`, chat, last, encode(list[i])); err != nil {
			return err
		}
	}
	return nil
}

func putRun(ctx context.Context, tx *sql.Tx, r *Run, holder string) error {
	var have string
	err := tx.QueryRowContext(ctx, `SELECT holder FROM run WHERE id = ?`, r.ID).Scan(&have)
	switch {
	case errors.Is(err, sql.ErrNoRows) && holder != "":
		return fault.New(fault.NotFound, "run %s no longer exists", r.ID)
	case errors.Is(err, sql.ErrNoRows):
		if err := alone(ctx, tx, r); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO run (id, chat, status, holder, until, body) VALUES (?, ?, ?, '', 0, ?)`, r.ID, r.Chat, string(r.Status), encode(r))
		return err
	case err != nil:
		return err
	case have != holder:
		return ErrTaken
	}
	_, err = tx.ExecContext(ctx, `UPDATE run SET status = ?, body = ? WHERE id = ?`, string(r.Status), encode(r), r.ID)
	return err
}

// alone reports a run of the same chat that is not over yet.
func alone(ctx context.Context, tx *sql.Tx, r *Run) error {
	if r.Status.Over() {
		return nil
	}
	var other string
	err := tx.QueryRowContext(ctx, `SELECT id FROM run WHERE chat = ? AND status IN (?, ?) LIMIT 1`, r.Chat, string(Running), string(WaitingApproval)).Scan(&other)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = fault.Fix(fault.Busy, "wait for the run to finish, answer its approval requests, or stop it", "this chat has an unfinished run: %s", other)
	}
	return err
}

func putCalls(ctx context.Context, tx *sql.Tx, run string, list []Call) error {
	last := -1
	for i := range list {
		c := &list[i]
		if c.Seq == 0 {
			if last < 0 {
				if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM run_call WHERE run = ?`, run).Scan(&last); err != nil {
					return err
				}
			}
			last++
			c.Seq = last
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO run_call (run, seq, state, body) VALUES (?, ?, ?, ?)
		  ON CONFLICT (run, seq) DO UPDATE SET state = excluded.state, body = excluded.body`, run, c.Seq, string(c.State), encode(c)); err != nil {
			return err
		}
	}
	return nil
}

// Run returns a run.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	list, err := read[Run](ctx, s, `SELECT body FROM run WHERE id = ?`, id)
	return one(list, err, "run", id)
}

// Runs returns the runs of a chat, oldest first, or, without one, all that are
// not over.
func (s *Store) Runs(ctx context.Context, chat string) ([]Run, error) {
	if chat == "" {
		return read[Run](ctx, s, `SELECT body FROM run WHERE status IN (?, ?) ORDER BY id`, string(Running), string(WaitingApproval))
	}
	return read[Run](ctx, s, `SELECT body FROM run WHERE chat = ? ORDER BY json_extract(body, '$.started'), id`, chat)
}

// Calls returns the calls of a run, in order.
func (s *Store) Calls(ctx context.Context, run string) ([]Call, error) {
	return read[Call](ctx, s, `SELECT body FROM run_call WHERE run = ? ORDER BY seq`, run)
}

// Outside reports whether one of the runs read words from outside.
func (s *Store) Outside(ctx context.Context, runs []string) (bool, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return false, err
	}
	var found bool
	rows, err := d.Query(ctx, `SELECT EXISTS (SELECT 1 FROM run_call WHERE run IN (SELECT value FROM json_each(?)) AND json_extract(body, '$.untrusted'))`, encode(runs))
	if err != nil {
		return false, s.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&found); err != nil {
			return false, s.explain(err)
		}
	}
	return found, s.explain(rows.Err())
}

// ResultID names the result of a call.
func ResultID(run string, seq int) string { return fmt.Sprintf("%s/%d", run, seq) }

// Result returns the call of a result, by the id of the result.
func (s *Store) Result(ctx context.Context, id string) (Call, error) {
	run, seq, _ := strings.Cut(id, "/")
	list, err := read[Call](ctx, s, `SELECT body FROM run_call WHERE run = ? AND seq = ?`, run, seq)
	return one(list, err, "result", id)
}

// Hold takes a run for a process, or renews its hold, and reports whether it has
// it. It is over by itself after the time given.
func (s *Store) Hold(ctx context.Context, run, holder string, d time.Duration) (bool, error) {
	now := s.now()
	n, err := s.exec(ctx, `UPDATE run SET holder = ?, until = ? WHERE id = ? AND (holder IN ('', ?) OR until < ?)`,
		holder, now.Add(d).UnixNano(), run, holder, now.UnixNano())
	return n > 0, err
}

// Seize takes a run from a holder that is no more, and reports whether it did:
// gone is asked about the one that has it.
func (s *Store) Seize(ctx context.Context, run, holder string, d time.Duration, gone func(holder string) bool) (bool, error) {
	db, err := s.file.DB(ctx)
	if err != nil {
		return false, err
	}
	var has string
	err = db.Write.QueryRowContext(ctx, `SELECT holder FROM run WHERE id = ?`, run).Scan(&has)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !gone(has) {
		return false, nil
	}
	if err != nil {
		return false, s.explain(err)
	}
	n, err := s.exec(ctx, `UPDATE run SET holder = ?, until = ? WHERE id = ? AND holder = ?`, holder, s.now().Add(d).UnixNano(), run, has)
	return n > 0, err
}

// Leave gives a run back.
func (s *Store) Leave(ctx context.Context, run, holder string) error {
	_, err := s.exec(ctx, `UPDATE run SET holder = '', until = 0 WHERE id = ? AND holder = ?`, run, holder)
	return err
}
