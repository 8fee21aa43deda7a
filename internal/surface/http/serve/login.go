package serve

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// SessionHeader carries the word of a session: the secret that the page keeps for
// its own origin. The cookie alone opens nothing, because a browser sends it to
// every port of this machine.
const SessionHeader = "Lore-Session"

// The parameters of an address that a session signed, for what cannot send a
// header: pictures, sound, film and links to attachments.
const (
	untilParameter     = "until"
	signatureParameter = "signature"
)

// SignedIn is what the page gets for a code, once.
type SignedIn struct {
	// Session is sent as the header Lore-Session with every request.
	Session string `json:"session"`
	// Files signs the addresses of attachments: HMAC-SHA256 of the time until
	// which it holds, a line feed and the path.
	Files string `json:"files"`
}

// session is the person behind a cookie and the word that belongs to it; for a
// route that takes signed addresses, behind a cookie and a signature.
func (s *Server) session(r *http.Request, route Route) (access.Principal, error) {
	none := fault.Fix(fault.Denied, "run lore login in a terminal and open the link it prints, or send a token: Authorization: Bearer lore_…", "you're signed out")
	c, err := r.Cookie(s.cookie())
	if err != nil || s.tokens == nil {
		return access.Principal{}, none
	}
	words := r.Header.Values(SessionHeader)
	var in token.Session
	switch q := r.URL.Query(); {
	case len(words) == 1:
		in, err = s.tokens.Session(r.Context(), c.Value, words[0])
	case len(words) == 0 && route.Signed && isRead(r.Method) && q.Has(signatureParameter):
		in, err = s.tokens.FileSession(r.Context(), c.Value, r.PathValue("path"), q.Get(untilParameter), q.Get(signatureParameter))
	default:
		return access.Principal{}, none
	}
	if err != nil {
		return access.Principal{}, err
	}
	return in.Principal(), nil
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// cookie is the name of the session's cookie. Cookies do not know ports, so the
// name does: two vaults are served beside each other.
func (s *Server) cookie() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "lore_session_" + s.port
}

// longestCode is more than a code has.
const longestCode = 200

// signIn takes a code and gives a session. It is sent by the page, which keeps
// what it gets: opening the link alone uses nothing up, so that what fetches
// links ahead of a person does no harm.
func (s *Server) signIn(w *answer, r *http.Request) {
	if status, err := body(w, r); err != nil {
		s.refuse(w, status, err)
		return
	}
	var said struct {
		Code string `json:"code"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		s.problem(w, r, fault.Fix(fault.Invalid, `send {"code": "…"}`, "the request body is not valid: %v", err))
		return
	}
	used := fault.Fix(fault.Denied, "run lore login in a terminal for a new link", "this sign-in link was already used, has expired, or belongs to another server")
	if s.tokens == nil || said.Code == "" || len(said.Code) > longestCode {
		s.refuse(w, http.StatusUnauthorized, used)
		return
	}
	in, secrets, err := s.tokens.SignIn(r.Context(), said.Code, browserName(r.UserAgent()))
	switch {
	case err != nil:
		s.unsure(w, r, err)
	case in == nil:
		s.refuse(w, http.StatusUnauthorized, used)
	default:
		s.log.Info("a browser signed in")
		http.SetCookie(w, s.sessionCookie(secrets.Cookie, int(token.SessionLife.Seconds())))
		if err := JSON(w, http.StatusOK, SignedIn{Session: secrets.Word, Files: secrets.Files}); err != nil {
			s.problem(w, r, err)
		}
	}
}

// browserName is what a person knows a browser by, taken from what it says of
// itself.
func browserName(agent string) string {
	name, system := "A browser", ""
	for _, b := range [][2]string{{"Firefox/", "Firefox"}, {"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"Go-http-client", "A program"}} {
		if strings.Contains(agent, b[0]) {
			name = b[1]
			break
		}
	}
	for _, b := range [][2]string{{"Windows", "Windows"}, {"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, b[0]) {
			system = " on " + b[1]
			break
		}
	}
	return name + system
}

func (s *Server) sessionCookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: s.cookie(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// logout ends the session of a request.
func (s *Server) logout(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	if err := s.tokens.SignOut(r.Context(), who.ID); err != nil {
		return err
	}
	http.SetCookie(w, s.sessionCookie("", -1))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// SignedPath is the address of an attachment below prefix, signed with the key of
// a session. The page does the same.
func SignedPath(prefix, path, key, until string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return prefix + strings.Join(parts, "/") + "?" + untilParameter + "=" + until + "&" + signatureParameter + "=" + hex.EncodeToString(token.SignFile(key, path, until))
}
