package token

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"lore/internal/fault"
)

// pinRounds makes one try cost about a quarter of a second: a PIN is short.
const pinRounds = 1_000_000

// The shortest and longest PIN, in bytes.
const (
	pinShortest = 4
	pinLongest  = 128
)

// After freeTries wrong tries each further one has to wait, twice as long every
// time, up to longestWait.
const (
	freeTries   = 5
	firstWait   = 30 * time.Second
	longestWait = time.Hour
)

// UnlockTime is how long a browser need not give the PIN again.
const UnlockTime = 10 * time.Minute

// HasPIN reports whether approvals need a PIN.
func (s *Store) HasPIN(ctx context.Context) (bool, error) {
	p, err := s.readPIN(ctx)
	return p != nil, err
}

type pin struct {
	salt, hash    []byte
	rounds, wrong int
	until         time.Time
}

func (s *Store) readPIN(ctx context.Context) (*pin, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	var p pin
	var until int64
	err = d.Read.QueryRowContext(ctx, `SELECT salt, hash, rounds, wrong, until FROM pin`).Scan(&p.salt, &p.hash, &p.rounds, &p.wrong, &until)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	p.until = moment(until)
	return &p, s.explain(err)
}

// SetPIN sets the PIN, or takes it away when it is empty. Whoever calls has
// checked the old one.
func (s *Store) SetPIN(ctx context.Context, word string) error {
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	if word == "" {
		_, err = d.Write.ExecContext(ctx, `DELETE FROM pin`)
		return s.explain(err)
	}
	if len(word) < pinShortest || len(word) > pinLongest {
		return fault.Field("pin", fmt.Sprintf("use %d to %d characters", pinShortest, pinLongest), "the PIN is too short or too long")
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	key, err := pbkdf2.Key(sha256.New, word, salt, pinRounds, sha256.Size)
	if err != nil {
		return err
	}
	_, err = d.Write.ExecContext(ctx, `INSERT INTO pin (one, salt, hash, rounds, wrong, until) VALUES (1, ?, ?, ?, 0, 0)
	  ON CONFLICT DO UPDATE SET salt = excluded.salt, hash = excluded.hash, rounds = excluded.rounds, wrong = 0, until = 0`, salt, key, pinRounds)
	if err == nil {
		_, err = d.Write.ExecContext(ctx, `UPDATE session SET unlocked = 0`)
	}
	return s.explain(err)
}

// CheckPIN refuses a wrong PIN, and every PIN for a while after several wrong
// ones, in all processes together. Without a PIN everything passes.
func (s *Store) CheckPIN(ctx context.Context, word string) error {
	p, err := s.readPIN(ctx)
	if err != nil || p == nil {
		return err
	}
	if err := s.takeTry(ctx, p); err != nil {
		return err
	}
	key, err := pbkdf2.Key(sha256.New, word, p.salt, p.rounds, len(p.hash))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(key, p.hash) != 1 {
		return fault.New(fault.Denied, "wrong PIN")
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	_, err = d.Write.ExecContext(ctx, `UPDATE pin SET wrong = 0, until = 0`)
	return s.explain(err)
}

// takeTry counts a try before it is made, so that many at once are many.
func (s *Store) takeTry(ctx context.Context, p *pin) error {
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	now := s.now()
	wait := time.Duration(0)
	if p.wrong+1 >= freeTries {
		wait = min(firstWait<<min(p.wrong+1-freeTries, 10), longestWait)
	}
	until := int64(0)
	if wait > 0 {
		until = now.Add(wait).UnixNano()
	}
	res, err := d.Write.ExecContext(ctx, `UPDATE pin SET wrong = wrong + 1, until = ? WHERE wrong = ? AND until <= ?`, until, p.wrong, now.UnixNano())
	if err != nil {
		return s.explain(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	left := max(p.until.Sub(now), time.Second).Round(time.Second)
	return fault.Fix(fault.Busy, fmt.Sprintf("wait %s and try again", left), "too many wrong PINs")
}

// Unlock lets a session answer for [UnlockTime], when the PIN is right.
func (s *Store) Unlock(ctx context.Context, id, word string) error {
	if err := s.CheckPIN(ctx, word); err != nil {
		return err
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	_, err = d.Write.ExecContext(ctx, `UPDATE session SET unlocked = ? WHERE id = ?`, s.now().Add(UnlockTime).UnixNano(), id)
	return s.explain(err)
}

// Unlocked reports whether a session may answer now: there is no PIN, or it was
// given a short while ago.
func (s *Store) Unlocked(ctx context.Context, id string) (bool, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return false, err
	}
	if has, err := s.HasPIN(ctx); err != nil || !has {
		return err == nil, err
	}
	var n int
	err = d.Read.QueryRowContext(ctx, `SELECT count(*) FROM session WHERE id = ? AND unlocked > ?`, id, s.now().UnixNano()).Scan(&n)
	return n > 0, s.explain(err)
}
