package token

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/tool/access"
)

// A Session is a browser that a person signed in. It is known by two secrets:
// a cookie, which the browser also sends to other ports of this machine, and a
// word that only the page of this origin holds. Neither is kept.
type Session struct {
	ID      string    `json:"id"`
	Browser string    `json:"browser"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"last_used"`

	files    string
	line     string
	unlocked time.Time
}

// SessionLife is how long a session lasts without being used.
const SessionLife = 30 * 24 * time.Hour

// sessionsMost is how many there may be; the one that was used longest ago gives
// way.
const sessionsMost = 100

// Secrets are what a browser gets when it is signed in, once.
type Secrets struct {
	Cookie string // never seen by the page
	Word   string // kept by the page, sent as a header
	Files  string // signs the addresses of attachments
}

// SignIn turns a code into a session, once. Without a session, the code was
// none, or was used.
func (s *Store) SignIn(ctx context.Context, code, browser string) (*Session, Secrets, error) {
	line, ok, err := s.spend(ctx, code)
	if err != nil || !ok {
		return nil, Secrets{}, err
	}
	now := s.now()
	in := &Session{ID: "session-" + strings.ToLower(rand.Text()[:idLength]), Browser: browser, Created: now, Used: now, line: line}
	sec := Secrets{Cookie: newSecret(), Word: newSecret(), Files: newSecret()}
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, Secrets{}, err
	}
	err = d.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM session WHERE used <= ? OR seq IN (SELECT seq FROM session ORDER BY used DESC LIMIT -1 OFFSET ?)`,
			now.Add(-SessionLife).UnixNano(), sessionsMost-1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO session (id, cookie, secret, files, browser, line, created, used, unlocked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)`,
			in.ID, hash(sec.Cookie), hash(sec.Word), sec.Files, browser, line, now.UnixNano(), now.UnixNano())
		return err
	})
	return in, sec, s.explain(err)
}

const sessionColumns = `id, files, browser, line, created, used, unlocked`

func scanSession(into func(...any) error) (in Session, err error) {
	var created, used, unlocked int64
	err = into(&in.ID, &in.files, &in.Browser, &in.line, &created, &used, &unlocked)
	in.Created, in.Used, in.unlocked = moment(created), moment(used), moment(unlocked)
	return in, err
}

// findSession returns the session of a cookie and the hash of its word; without
// one, a hash that nothing has.
func (s *Store) findSession(ctx context.Context, d *db.DB, cookie string) (Session, []byte, error) {
	kept := make([]byte, sha256.Size)
	row := d.Read.QueryRowContext(ctx, `SELECT secret, `+sessionColumns+` FROM session WHERE cookie = ? AND used > ?`, hash(cookie), s.now().Add(-SessionLife).UnixNano())
	in, err := scanSession(func(dest ...any) error { return row.Scan(append([]any{&kept}, dest...)...) })
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, kept, nil
	}
	return in, kept, s.explain(err)
}

// errSignedOut is the only answer to a browser that is not signed in.
func errSignedOut() error {
	return fault.Fix(fault.Denied, "run lore login in a terminal and open the link it prints, or send a token: Authorization: Bearer lore_…", "you're signed out")
}

// Session returns the session that a cookie and a word belong to. It looks into
// the file every time, so that ending one works at once.
func (s *Store) Session(ctx context.Context, cookie, word string) (Session, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return Session{}, err
	}
	in, kept, err := s.findSession(ctx, d, cookie)
	if err != nil {
		return Session{}, err
	}
	if subtle.ConstantTimeCompare(hash(word), kept) != 1 || in.ID == "" || word == "" {
		return Session{}, errSignedOut()
	}
	_ = s.touchSession(ctx, d, in) // where that cannot be written, the session opens what it opens
	return in, nil
}

// FileSession returns the session that a cookie and a signed address belong to:
// a picture in a page cannot send the word. The signature holds for one path and
// until a time.
func (s *Store) FileSession(ctx context.Context, cookie, path, until, signature string) (Session, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return Session{}, err
	}
	in, _, err := s.findSession(ctx, d, cookie)
	if err != nil {
		return Session{}, err
	}
	end, e := strconv.ParseInt(until, 10, 64)
	given, e2 := hex.DecodeString(signature)
	if e != nil || e2 != nil || in.ID == "" || in.files == "" || !hmac.Equal(given, SignFile(in.files, path, until)) || s.now().Unix() > end {
		return Session{}, errSignedOut()
	}
	return in, nil
}

// SignFile signs the path of an attachment until a time (in seconds, as text),
// with the key that a session got for that.
func SignFile(key, path, until string) []byte {
	m := hmac.New(sha256.New, []byte(key))
	_, _ = m.Write([]byte(until + "\n" + path)) // a hash takes everything
	return m.Sum(nil)
}

func (s *Store) touchSession(ctx context.Context, d *db.DB, in Session) error {
	now := s.now()
	if now.Sub(in.Used) < seenEvery {
		return nil
	}
	_, err := d.Write.ExecContext(ctx, `UPDATE session SET used = ? WHERE id = ?`, now.UnixNano(), in.ID)
	return s.explain(err)
}

// Principal is the person behind the browser.
func (in Session) Principal() access.Principal {
	p := access.Principal{Kind: access.Person, ID: in.ID, Surface: access.Page, Scopes: access.Scopes()}
	_ = json.Unmarshal([]byte(in.line), &p.Line) // one that cannot be read is not known
	return p
}

// Sessions lists the browsers that are signed in, used last first.
func (s *Store) Sessions(ctx context.Context) (list []Session, err error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.Read.QueryContext(ctx, `SELECT `+sessionColumns+` FROM session WHERE used > ? ORDER BY used DESC, seq DESC`, s.now().Add(-SessionLife).UnixNano())
	if err != nil {
		return nil, s.explain(err)
	}
	defer func() { err = errors.Join(err, s.explain(rows.Close())) }()
	for rows.Next() {
		in, err := scanSession(rows.Scan)
		if err != nil {
			return nil, s.explain(err)
		}
		list = append(list, in)
	}
	return list, s.explain(rows.Err())
}

// SignOut ends a session, at once and in every process.
func (s *Store) SignOut(ctx context.Context, id string) error {
	d, err := s.file.DB(ctx)
	if err != nil {
		return err
	}
	res, err := d.Write.ExecContext(ctx, `DELETE FROM session WHERE id = ? OR id = 'session-' || ?`, id, id)
	if err != nil {
		return s.explain(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fault.Fix(fault.NotFound, "lore sessions lists them", "there is no session %q", id))
	}
	return nil
}
