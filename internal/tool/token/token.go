// Package token keeps the tokens that programs call with: what each may do, how
// long, and whether it still may. A secret is shown once, when it is made; only
// its hash is kept. It keeps the sessions of persons' browsers and the approval
// PIN in the same way. The package knows no surface and no tool, and no token can
// approve or administer: that is for persons.
package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// A Token is what is known of one; the secret is not.
type Token struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes"`
	Created time.Time      `json:"created"`
	Used    time.Time      `json:"last_used,omitzero"`
	Expires time.Time      `json:"expires,omitzero"`
	Revoked time.Time      `json:"revoked,omitzero"`
}

// InForce reports whether the token opens anything at that moment.
func (t Token) InForce(now time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || now.Before(t.Expires))
}

// Principal is who calls with the token, on a surface of that kind.
func (t Token) Principal(kind access.Kind) access.Principal {
	return access.Principal{Kind: kind, ID: t.ID, Name: t.Name, Surface: string(kind), Scopes: slices.Clone(t.Scopes)}
}

// Scopes lists what a token can be given.
func Scopes() []access.Scope {
	return slices.DeleteFunc(access.Scopes(), func(s access.Scope) bool { return s == access.Approve || s == access.Admin })
}

// A Store holds tokens. It may be used from several goroutines and processes: a
// token that one of them revokes opens nothing in any other from then on.
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

// A secret is written lore_ID_REST: whoever finds one somewhere can tell which
// to revoke. The rest is 260 random bits.
const (
	mark     = "lore_"
	idLength = 8
	longest  = 64 // letters of a name
)

// Check refuses what no token can be called, or be given.
func Check(name string, scopes []access.Scope) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := checkScopes(scopes)
	return err
}

// Create makes a token. Its secret is returned here and nowhere else. A zero
// life is for ever.
func (s *Store) Create(ctx context.Context, name string, scopes []access.Scope, life time.Duration) (t Token, secret string, err error) {
	if err := checkName(name); err != nil {
		return t, "", err
	}
	if scopes, err = checkScopes(scopes); err != nil {
		return t, "", err
	}
	if life < 0 {
		return t, "", fault.Field("days", "give a number above 0, or 0 for no expiry", "a token cannot expire before it is created")
	}
	id := strings.ToLower(rand.Text()[:idLength])
	secret = mark + id + "_" + strings.ToLower(rand.Text()+rand.Text())
	t = Token{ID: "token-" + id, Name: name, Scopes: scopes, Created: s.now()}
	if life > 0 {
		t.Expires = t.Created.Add(life)
	}
	list, err := json.Marshal(scopes)
	if err != nil {
		return t, "", err
	}
	d, err := s.file.DB(ctx)
	if err != nil {
		return t, "", err
	}
	res, err := d.Write.ExecContext(ctx, `INSERT INTO token (id, name, hash, scopes, created, used, expires, revoked)
	  VALUES (?, ?, ?, ?, ?, 0, ?, 0) ON CONFLICT DO NOTHING`,
		t.ID, name, hash(secret), string(list), t.Created.UnixNano(), nano(t.Expires))
	if err != nil {
		return t, "", s.explain(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return t, "", errors.Join(err, &fault.Report{Kind: fault.Conflict, Field: "name", Fix: "choose another, or revoke that one first",
			Message: "name: there is a token " + strconv.Quote(name) + " already"})
	}
	return t, secret, nil
}

func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.Field("name", "name the program that uses it, such as \"backup script\"", "a token needs a name")
	case len([]rune(name)) > longest:
		return fault.Field("name", "shorten it", "has more than %d characters", longest)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fault.Field("name", "use visible characters", "%q contains invisible characters", name)
	}
	return nil
}

// checkScopes refuses what only persons have, and puts the rest in order.
func checkScopes(scopes []access.Scope) ([]access.Scope, error) {
	may := Scopes()
	words := make([]string, len(may))
	for i, s := range may {
		words[i] = string(s)
	}
	fix := "choose from " + strings.Join(words, ", ")
	if len(scopes) == 0 {
		return nil, fault.Field("scope", fix, "a token needs at least one scope")
	}
	for _, s := range scopes {
		switch {
		case s == access.Approve || s == access.Admin:
			return nil, fault.Field("scope", fix, "%s is not available to tokens", s)
		case !slices.Contains(may, s):
			return nil, fault.Field("scope", fix, "unknown scope %q", s)
		}
	}
	return slices.DeleteFunc(may, func(s access.Scope) bool { return !slices.Contains(scopes, s) }), nil
}

const columns = `id, name, scopes, created, used, expires, revoked`

// List returns all tokens, oldest first, revoked ones too.
func (s *Store) List(ctx context.Context) (list []Token, err error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.Read.QueryContext(ctx, `SELECT `+columns+` FROM token ORDER BY seq`)
	if err != nil {
		return nil, s.explain(err)
	}
	defer func() { err = errors.Join(err, s.explain(rows.Close())) }()
	for rows.Next() {
		t, err := scan(rows.Scan)
		if err != nil {
			return nil, s.explain(err)
		}
		list = append(list, t)
	}
	return list, s.explain(rows.Err())
}

// Revoke ends the token of that id or name, at once and for good.
func (s *Store) Revoke(ctx context.Context, word string) (Token, error) {
	list, err := s.List(ctx)
	if err != nil {
		return Token{}, err
	}
	var names []string
	for _, t := range list {
		if !t.Revoked.IsZero() {
			continue
		}
		if word == t.Name || word == t.ID || "token-"+word == t.ID {
			return s.end(ctx, t)
		}
		names = append(names, t.Name, t.ID)
	}
	r := &fault.Report{Kind: fault.NotFound, Message: "there is no token " + strconv.Quote(word) + " that is active", Fix: "run lore token list to list them"}
	if near := schema.Nearest(word, names, 3); len(near) > 0 {
		r.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return Token{}, r
}

func (s *Store) end(ctx context.Context, t Token) (Token, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return t, err
	}
	t.Revoked = s.now()
	_, err = d.Write.ExecContext(ctx, `UPDATE token SET revoked = ? WHERE id = ? AND revoked = 0`, t.Revoked.UnixNano(), t.ID)
	return t, s.explain(err)
}

// errNone is the only answer to a secret that opens nothing: unknown, wrong,
// revoked and expired look the same.
func errNone() error {
	return fault.Fix(fault.Denied, "create one with lore token create", "this token is unknown, expired or revoked")
}

// Check returns the token that a secret belongs to, if it is in force now. It
// looks into the file every time, so that revoking works at once, and takes the
// same time for every wrong secret.
func (s *Store) Check(ctx context.Context, secret string) (Token, error) {
	d, err := s.file.DB(ctx)
	if err != nil {
		return Token{}, err
	}
	t, kept, err := find(ctx, d, idOf(secret))
	if err != nil {
		return Token{}, s.explain(err)
	}
	if subtle.ConstantTimeCompare(hash(secret), kept) != 1 || t.ID == "" || !t.InForce(s.now()) {
		return Token{}, errNone()
	}
	_ = s.touch(ctx, d, t) // where that cannot be written, the token opens what it opens
	return t, nil
}

// find returns the token of that id and the hash of its secret; without one, a
// hash that nothing has.
func find(ctx context.Context, d *db.DB, id string) (Token, []byte, error) {
	kept := make([]byte, sha256.Size)
	var own []byte
	row := d.Read.QueryRowContext(ctx, `SELECT hash, `+columns+` FROM token WHERE id = ?`, id)
	t, err := scan(func(dest ...any) error { return row.Scan(append([]any{&own}, dest...)...) })
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Token{}, kept, nil
	case err != nil:
		return Token{}, kept, err
	}
	return t, own, nil
}

// seenEvery is how exactly the last use is known: a write for every call would
// cost more than the call.
const seenEvery = time.Minute

func (s *Store) touch(ctx context.Context, d *db.DB, t Token) error {
	now := s.now()
	if now.Sub(t.Used) < seenEvery {
		return nil
	}
	_, err := d.Write.ExecContext(ctx, `UPDATE token SET used = ? WHERE id = ?`, now.UnixNano(), t.ID)
	return s.explain(err)
}

// idOf is the id that a secret names, or "".
func idOf(secret string) string {
	rest, ok := strings.CutPrefix(secret, mark)
	id, _, found := strings.Cut(rest, "_")
	if !ok || !found || len(id) != idLength {
		return ""
	}
	return "token-" + id
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func scan(into func(...any) error) (t Token, err error) {
	var scopes string
	var created, used, expires, revoked int64
	if err := into(&t.ID, &t.Name, &scopes, &created, &used, &expires, &revoked); err != nil {
		return t, err
	}
	t.Created, t.Used, t.Expires, t.Revoked = moment(created), moment(used), moment(expires), moment(revoked)
	return t, json.Unmarshal([]byte(scopes), &t.Scopes)
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
