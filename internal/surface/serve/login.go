package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"lore/internal/access"
	"lore/internal/fault"
)

// A login turns codes that were printed where only the person reads them into
// sessions of browsers. Both live in this process alone.
type login struct {
	now func() time.Time

	mu       sync.Mutex
	codes    map[key]bool
	sessions map[key]session
}

// A key is the hash of a secret: looking it up tells nothing about the secret,
// however long it takes.
type key [sha256.Size]byte

type session struct {
	id  string
	end time.Time
}

// How long a session lasts, and how many there may be.
const (
	sessionLife = 12 * time.Hour
	sessionsMax = 100
)

func newLogin(now func() time.Time) *login {
	return &login{now: now, codes: map[key]bool{}, sessions: map[key]session{}}
}

func keyOf(secret string) key { return sha256.Sum256([]byte(secret)) }

// secret is 260 random bits.
func secret() string { return strings.ToLower(rand.Text() + rand.Text()) }

// newCode makes a code that opens one session.
func (l *login) newCode() string {
	c := secret()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.codes[keyOf(c)] = true
	return c
}

// spend turns a code into a session, once.
func (l *login) spend(code string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.codes[keyOf(code)] {
		return "", false
	}
	delete(l.codes, keyOf(code))
	return l.admit(), true
}

// admit opens a session. Where there are too many, the oldest gives way. The
// caller holds the lock.
func (l *login) admit() string {
	now := l.now()
	var oldest key
	for k, s := range l.sessions {
		if !now.Before(s.end) {
			delete(l.sessions, k)
			continue
		}
		if o, ok := l.sessions[oldest]; !ok || s.end.Before(o.end) {
			oldest = k
		}
	}
	if len(l.sessions) >= sessionsMax {
		delete(l.sessions, oldest)
	}
	word := secret()
	l.sessions[keyOf(word)] = session{id: "session-" + strings.ToLower(rand.Text()[:8]), end: now.Add(sessionLife)}
	return word
}

// who is the person behind a cookie.
func (l *login) who(r *http.Request, name string) (access.Principal, error) {
	none := fault.Fix(fault.Denied, "open the address that lore serve printed, or send a token: Authorization: Bearer lore_…", "who is there?")
	c, err := r.Cookie(name)
	if err != nil {
		return access.Principal{}, none
	}
	l.mu.Lock()
	s, ok := l.sessions[keyOf(c.Value)]
	l.mu.Unlock()
	if !ok || !l.now().Before(s.end) {
		return access.Principal{}, none
	}
	return access.Principal{Kind: access.Person, ID: s.id, Surface: "web", Scopes: access.Scopes()}, nil
}

func (l *login) end(word string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, keyOf(word))
}

// cookie is the name of the session's cookie. Cookies do not know ports, so the
// name does: two vaults are served beside each other.
func (s *Server) cookie() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "lore_session_" + s.port
}

// enter takes a code and gives a session.
func (s *Server) enter(w *answer, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.refuse(w, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "open it in a browser"))
		return
	}
	word, ok, err := s.spend(r)
	if err != nil {
		s.unsure(w, r, err)
		return
	}
	if !ok {
		if _, err := s.login.who(r, s.cookie()); err == nil { // it was used by this very browser
			home(w)
			return
		}
		s.refuse(w, http.StatusUnauthorized, fault.Fix(fault.Denied, "lore login gives a new one", "this address was used, or is not one of this server"))
		return
	}
	s.log.Info("a browser was let in")
	http.SetCookie(w, s.sessionCookie(word, int(sessionLife/time.Second)))
	home(w)
}

// home sends a browser to the first page.
func home(w http.ResponseWriter) {
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// spend takes the code of a request: one of our own, or one that another process
// of the same user made.
func (s *Server) spend(r *http.Request) (word string, ok bool, err error) {
	code := r.URL.Query().Get("code")
	if word, ok = s.login.spend(code); ok || s.tokens == nil || len(code) != len(secret()) {
		return word, ok, nil
	}
	if ok, err = s.tokens.Spend(r.Context(), code); err != nil || !ok {
		return "", false, err
	}
	s.login.mu.Lock()
	defer s.login.mu.Unlock()
	return s.login.admit(), true, nil
}

func (s *Server) sessionCookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: s.cookie(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// logout ends the session of a request.
func (s *Server) logout(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if c, err := r.Cookie(s.cookie()); err == nil {
		s.login.end(c.Value)
	}
	http.SetCookie(w, s.sessionCookie("", -1))
	w.WriteHeader(http.StatusNoContent)
	return nil
}
