package signin

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/mcpclient/signin/signintest"
)

// A place with a store beside it.
type place struct {
	*signintest.Place
	t *testing.T
}

func newPlace(t *testing.T) *place { return &place{signintest.New(t), t} }

func (p *place) store() *Store {
	return &Store{Path: filepath.Join(p.t.TempDir(), "kept", "tokens.json"), Now: time.Now}
}

func (p *place) connect(h auth.OAuthHandler) error {
	c := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	cs, err := c.Connect(p.t.Context(), &sdk.StreamableClientTransport{Endpoint: p.Address(), OAuthHandler: h, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	_, err = cs.CallTool(p.t.Context(), &sdk.CallToolParams{Name: "hello"})
	return errors.Join(err, cs.Close())
}

func (p *place) login(s *Store, yes bool) ([]string, error) {
	var shown []string
	h, stop, err := s.Interactive(p.t.Context(), Login{
		Address: p.Address(), Show: func(a string) { shown = append(shown, a) }, Open: p.Browse(yes),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	defer stop()
	return shown, p.connect(h)
}

func TestLogin(t *testing.T) {
	p := newPlace(t)
	s := p.store()
	// In the background nobody is asked.
	if err := p.connect(s.Resting(p.Address())); !errors.Is(err, ErrNeeded) {
		t.Fatalf("%v", err)
	}
	shown, err := p.login(s, true)
	if err != nil || len(shown) != 1 || !strings.HasPrefix(shown[0], p.Issuer()+"/authorize?") {
		t.Fatalf("%q, %v", shown, err)
	}
	if !slices.Equal(p.Registered(), []string{"Lore"}) {
		t.Errorf("%q", p.Registered())
	}
	info, err := os.Stat(s.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	all, err := s.read()
	if _, ok := all[p.Issuer()+" "+p.Address()]; !ok || err != nil {
		t.Errorf("not kept by issuer and resource: %v, %v", all, err)
	}
	// It lasts over a restart.
	again := &Store{Path: s.Path, Now: time.Now}
	if err := p.connect(again.Resting(p.Address())); err != nil {
		t.Fatal(err)
	}
	// A token for one server is for no other.
	if src, err := again.Resting(p.Address() + "/other").TokenSource(t.Context()); src != nil || err != nil {
		t.Errorf("another server gets a token: %v, %v", src, err)
	}
	if found, err := again.Forget(t.Context(), p.Address()); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if err := p.connect(again.Resting(p.Address())); !errors.Is(err, ErrNeeded) {
		t.Errorf("%v", err)
	}
}

func TestRenewal(t *testing.T) {
	p := newPlace(t)
	p.Lives = 1 // it is old when it comes
	s := p.store()
	if _, err := p.login(s, true); err != nil {
		t.Fatal(err)
	}
	before := p.Renewed()
	if err := p.connect(s.Resting(p.Address())); err != nil || p.Renewed() <= before {
		t.Fatalf("%d renewed, %v", p.Renewed(), err)
	}
	p.Revoke()
	if err := p.connect(s.Resting(p.Address())); !errors.Is(err, ErrNeeded) {
		t.Errorf("%v", err)
	}
}

func TestNobodyLogsIn(t *testing.T) {
	p := newPlace(t)
	s := p.store()
	shown, err := p.login(s, false)
	if err == nil || !strings.Contains(err.Error(), "access_denied") || len(shown) != 1 {
		t.Errorf("%q, %v", shown, err)
	}
	if known, err := s.Known(p.Address()); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

func TestUnsafeAddressIsNotOpened(t *testing.T) {
	p := newPlace(t)
	p.Evil = true
	shown, err := p.login(p.store(), true)
	if err == nil || len(shown) > 0 {
		t.Errorf("%q, %v", shown, err)
	}
	for _, a := range []string{"javascript:alert(1)", "file:///etc/passwd", "http://evil.example/x", "-flag", "https:///x", "vscode://x/y"} {
		if _, err := checked(a); err == nil {
			t.Errorf("%q would be opened", a)
		}
	}
	for _, a := range []string{"https://a.example/x?y=1", "http://127.0.0.1:9/x", "http://localhost/x"} {
		if _, err := checked(a); err != nil {
			t.Errorf("%q: %v", a, err)
		}
	}
}
