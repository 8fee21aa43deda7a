package token

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"lore/internal/tool/access"
)

// codeLife is how long a code for a browser waits to be used.
const codeLife = 10 * time.Minute

// newSecret is 260 random bits.
func newSecret() string { return strings.ToLower(rand.Text() + rand.Text()) }

// NewCode makes a code that signs one browser in, once and soon. Line is the
// process that makes it and its ancestors: the session remembers them.
func (s *Store) NewCode(ctx context.Context, line []access.Process) (string, error) {
	code := newSecret()
	from, err := json.Marshal(line)
	if err != nil {
		return "", err
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return "", err
	}
	now := s.now()
	if _, err := d.Write.ExecContext(ctx, `DELETE FROM login WHERE expires <= ?`, now.UnixNano()); err != nil {
		return "", s.explain(err)
	}
	_, err = d.Write.ExecContext(ctx, `INSERT INTO login (hash, expires, line) VALUES (?, ?, ?)`, hash(code), now.Add(codeLife).UnixNano(), string(from))
	return code, s.explain(err)
}

// spend uses a code up, and reports whether it was one. Of two that try, one is
// let in.
func (s *Store) spend(ctx context.Context, code string) (line string, ok bool, err error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return "", false, err
	}
	err = d.Write.QueryRowContext(ctx, `DELETE FROM login WHERE hash = ? AND expires > ? RETURNING line`, hash(code), s.now().UnixNano()).Scan(&line)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return line, err == nil, s.explain(err)
}
