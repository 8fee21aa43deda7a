// Package signin lets Lore in to servers that want a person to log in: it takes
// a person through the browser once, keeps the tokens where nobody else reads
// them, and renews them. Only [Store.Interactive] ever opens anything; what runs
// in the background is told that a person is needed. It knows no tool and no
// vault.
package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"lore/internal/fault"
)

// ErrNeeded says that a person must log in.
var ErrNeeded = errors.New("it needs you to sign in")

// resting is how a server is called in the background: with the token that is
// kept, if there is one.
type resting struct {
	store   *Store
	address string
	src     *source
}

// Resting gives what the server at an address is called with in the background.
// It never asks anybody.
func (s *Store) Resting(address string) auth.OAuthHandler {
	return &resting{store: s, address: address, src: &source{store: s, address: address}}
}

// TokenSource is where the token comes from; none when nobody logged in.
func (r *resting) TokenSource(context.Context) (oauth2.TokenSource, error) {
	_, ok, err := r.store.find(r.address)
	if err != nil || !ok {
		return nil, err
	}
	return r.src, nil
}

// Authorize is called when the server refuses. A person must decide then.
func (r *resting) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<16) // what it says does not matter
	return errors.Join(ErrNeeded, resp.Body.Close())
}

// A source hands out the token that is kept, and renews it. Of several processes
// one renews; the others take what it got.
type source struct {
	store   *Store
	address string
}

// early is how long before its end a token is renewed.
const early = 30 * time.Second

// Token returns a token that is good for a while.
func (s *source) Token() (*oauth2.Token, error) {
	r, ok, err := s.store.find(s.address)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrNeeded
	case s.good(r):
		return r.token(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out *oauth2.Token
	err = s.store.locked(ctx, func() error {
		if r, ok, err = s.store.find(s.address); err != nil || !ok {
			return errors.Join(err, ErrNeeded)
		}
		if s.good(r) { // another process was quicker
			out = r.token()
			return nil
		}
		out, err = s.renew(ctx, r)
		return err
	})
	return out, err
}

func (s *source) good(r record) bool {
	return r.Expiry.IsZero() || s.store.Now().Add(early).Before(r.Expiry)
}

// renew asks the authorization server that gave the token for another one, and
// no other server. The lock is held.
func (s *source) renew(ctx context.Context, r record) (*oauth2.Token, error) {
	if r.Refresh == "" {
		return nil, ErrNeeded
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, s.store.client())
	t, err := r.config().TokenSource(ctx, &oauth2.Token{RefreshToken: r.Refresh}).Token()
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < 500:
		return nil, ErrNeeded
	case err != nil:
		return nil, fault.New(fault.Unavailable, "the sign-in cannot be renewed: %s", host(r.TokenURL))
	}
	r.take(t)
	return t, s.store.save(r)
}

// host is the part of an address that may be shown.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its authorization server does not answer"
	}
	return u.Host + " does not answer"
}

// Login is what a person's login needs.
type Login struct {
	Address string // of the server
	// What was agreed with the authorization server beforehand; may be empty.
	ClientID, ClientSecret, Metadata string
	Port                             int
	// Show tells the person where to go; Open opens it in a browser, and may be
	// nil.
	Show func(address string)
	Open func(address string) error
}

// Interactive takes a person through the browser when the server asks for it.
// The caller ends it by stop.
func (s *Store) Interactive(ctx context.Context, l Login) (h auth.OAuthHandler, stop func(), err error) {
	door, err := openDoor(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: door.address(), AuthorizationCodeFetcher: door.fetch, RequestRefreshToken: true, Client: s.client(), AcceptUnadvertisedIss: true,
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			r := record{
				Address: l.Address, Issuer: door.issuer(c.Endpoint.TokenURL), Resource: door.resource(), ClientID: c.ClientID, ClientSecret: c.ClientSecret,
				AuthURL: c.Endpoint.AuthURL, TokenURL: c.Endpoint.TokenURL, Style: int(c.Endpoint.AuthStyle), Scopes: c.Scopes,
			}
			r.take(t)
			if err := s.locked(ctx, func() error { return s.save(r) }); err != nil {
				return nil, err
			}
			return &source{store: s, address: l.Address}, nil
		},
	}
	l.register(config)
	if h, err = auth.NewAuthorizationCodeHandler(config); err != nil {
		door.close()
		return nil, nil, fmt.Errorf("prepare the sign-in: %w", err)
	}
	return h, door.close, nil
}
