package token

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// codeLife is how long a code for a browser waits to be used.
const codeLife = 10 * time.Minute

// NewCode makes a code that lets one browser in, once and soon.
func (s *Store) NewCode(ctx context.Context) (string, error) {
	code := strings.ToLower(rand.Text() + rand.Text())
	d, err := s.file.DB(ctx)
	if err != nil {
		return "", err
	}
	now := s.now()
	if _, err := d.Write.ExecContext(ctx, `DELETE FROM login WHERE expires <= ?`, now.UnixNano()); err != nil {
		return "", s.explain(err)
	}
	_, err = d.Write.ExecContext(ctx, `INSERT INTO login (hash, expires) VALUES (?, ?)`, hash(code), now.Add(codeLife).UnixNano())
	return code, s.explain(err)
}

// Spend uses a code up, and reports whether it was one. Of two that try, one is
// let in.
func (s *Store) Spend(ctx context.Context, code string) (bool, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return false, err
	}
	res, err := d.Write.ExecContext(ctx, `DELETE FROM login WHERE hash = ? AND expires > ?`, hash(code), s.now().UnixNano())
	if err != nil {
		return false, s.explain(err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
