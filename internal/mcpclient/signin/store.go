package signin

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"

	"lore/internal/fault"
	"lore/internal/machine/home"
)

// A Store keeps tokens in a file that nobody else can read.
type Store struct {
	Path string
	Now  func() time.Time
	// HTTP is what requests to authorization servers go through; nil is the
	// ordinary one.
	HTTP http.RoundTripper
}

// A record is one login: at one authorization server, for one resource.
type record struct {
	Issuer       string    `json:"issuer"`
	Resource     string    `json:"resource"`
	Address      string    `json:"address"` // of the MCP server
	ClientID     string    `json:"client_id"`
	ClientSecret string    `json:"client_secret,omitempty"`
	AuthURL      string    `json:"authorization_endpoint"`
	TokenURL     string    `json:"token_endpoint"`
	Style        int       `json:"auth_style"`
	Scopes       []string  `json:"scopes,omitempty"`
	Access       string    `json:"access_token"`
	Refresh      string    `json:"refresh_token,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"`
}

func (r record) key() string { return r.Issuer + " " + r.Resource }

func (r *record) take(t *oauth2.Token) {
	r.Access, r.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		r.Refresh = t.RefreshToken
	}
}

func (r record) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: r.Access, TokenType: "Bearer", Expiry: r.Expiry}
}

func (r record) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret, Scopes: r.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: r.AuthURL, TokenURL: r.TokenURL, AuthStyle: oauth2.AuthStyle(r.Style)},
	}
}

// client talks to authorization servers. It follows no redirect: a token
// endpoint has no business sending a secret elsewhere.
func (s *Store) client() *http.Client {
	return &http.Client{
		Transport: s.HTTP, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (s *Store) read() (map[string]record, error) {
	out := map[string]record{}
	b, err := os.ReadFile(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, err
	case json.Unmarshal(b, &out) != nil:
		return nil, fault.Fix(fault.Invalid, "delete it, and sign in again", "%s is damaged", s.Path)
	}
	return out, nil
}

// find returns the login for a server. Of several at different authorization
// servers the last one counts: the others are removed when it is saved.
func (s *Store) find(address string) (record, bool, error) {
	all, err := s.read()
	for _, r := range all {
		if r.Address == address {
			return r, true, nil
		}
	}
	return record{}, false, err
}

// save keeps a login, in the place of any other for the same server. The lock is
// held.
func (s *Store) save(r record) error {
	return s.change(func(all map[string]record) {
		for k, old := range all {
			if old.Address == r.Address {
				delete(all, k)
			}
		}
		all[r.key()] = r
	})
}

func (s *Store) change(f func(map[string]record)) error {
	all, err := s.read()
	if err != nil {
		return err
	}
	f(all)
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := home.Replace(s.Path, append(b, '\n')); err != nil {
		return err
	}
	return os.Chmod(s.Path, 0o600) // whatever someone made of it
}

// locked does something to the file, one process at a time.
func (s *Store) locked(ctx context.Context, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	release, err := home.AwaitLock(ctx, s.Path+".lock", func() bool { return true })
	if err != nil {
		return err
	}
	return errors.Join(f(), release())
}

// Known reports whether somebody logged in to the server at an address.
func (s *Store) Known(address string) (bool, error) {
	_, ok, err := s.find(address)
	return ok, err
}

// Forget removes the login for a server, and reports whether there was one.
func (s *Store) Forget(ctx context.Context, address string) (bool, error) {
	found := false
	err := s.locked(ctx, func() error {
		return s.change(func(all map[string]record) {
			for k, r := range all {
				if r.Address == address {
					found = true
					delete(all, k)
				}
			}
		})
	})
	return found, err
}
