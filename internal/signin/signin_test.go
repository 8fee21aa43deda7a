package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A place is an authorization server and an MCP server behind it, on this
// machine.
type place struct {
	t      *testing.T
	auth   *httptest.Server
	server *httptest.Server

	mu         sync.Mutex
	codes      map[string]url.Values // code to the request it was given for
	tokens     map[string]bool
	refreshes  map[string]bool
	registered []string
	renewed    int
	lives      int  // seconds that a token lasts
	evil       bool // the address to log in at is no address for a browser
}

func newPlace(t *testing.T) *place {
	p := &place{t: t, codes: map[string]url.Values{}, tokens: map[string]bool{}, refreshes: map[string]bool{}, lives: 3600}
	mux := http.NewServeMux()
	p.auth = httptest.NewServer(mux)
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		at := p.auth.URL + "/authorize"
		if p.evil {
			at = "http://evil.example/authorize"
		}
		answer(w, map[string]any{
			"issuer": p.auth.URL, "authorization_endpoint": at, "token_endpoint": p.auth.URL + "/token", "registration_endpoint": p.auth.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"tools", "offline_access"},
			"authorization_response_iss_parameter_supported": true, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		p.registered = append(p.registered, fmt.Sprint(in["client_name"]))
		p.mu.Unlock()
		in["client_id"] = "client-1"
		w.WriteHeader(http.StatusCreated)
		answer(w, in)
	})
	mux.HandleFunc("/token", p.token)
	inner := sdk.NewServer(&sdk.Implementation{Name: "behind", Version: "1"}, nil)
	inner.AddTool(&sdk.Tool{Name: "hello", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return inner }, nil)
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			answer(w, map[string]any{"resource": p.server.URL + "/mcp", "authorization_servers": []string{p.auth.URL}, "scopes_supported": []string{"tools"}})
			return
		}
		p.mu.Lock()
		good := p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		p.mu.Unlock()
		if !good {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+p.server.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { p.server.CloseClientConnections(); p.server.Close(); p.auth.Close() })
	return p
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// token gives tokens for codes that were given for exactly this.
func (p *place) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	bad := func() {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		q, ok := p.codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || r.Form.Get("resource") != p.server.URL+"/mcp" {
			bad()
			return
		}
	case "refresh_token":
		if !p.refreshes[r.Form.Get("refresh_token")] {
			bad()
			return
		}
		delete(p.refreshes, r.Form.Get("refresh_token")) // each works once
		p.renewed++
	}
	n := len(p.tokens)
	access, refresh := fmt.Sprintf("access-%d", n), fmt.Sprintf("refresh-%d", n)
	p.tokens[access], p.refreshes[refresh] = true, true
	answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": p.lives})
}

// browse is a person who says yes, or no.
func (p *place) browse(yes bool) func(string) error {
	return func(address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		q := u.Query()
		back := q.Get("redirect_uri") + "?state=" + url.QueryEscape(q.Get("state")) + "&iss=" + url.QueryEscape(p.auth.URL)
		if yes {
			p.mu.Lock()
			p.codes["code-1"] = q
			p.mu.Unlock()
			back += "&code=code-1"
		} else {
			back += "&error=access_denied"
		}
		go func() { // somebody else first, who knows nothing
			for _, a := range []string{q.Get("redirect_uri") + "?state=guessed&code=stolen", back} {
				if resp, err := http.Get(a); err == nil {
					_ = resp.Body.Close()
				}
			}
		}()
		return nil
	}
}

func (p *place) store() *Store {
	return &Store{Path: filepath.Join(p.t.TempDir(), "kept", "tokens.json"), Now: time.Now}
}

func (p *place) connect(h auth.OAuthHandler) error {
	c := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	cs, err := c.Connect(p.t.Context(), &sdk.StreamableClientTransport{Endpoint: p.server.URL + "/mcp", OAuthHandler: h, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	_, err = cs.CallTool(p.t.Context(), &sdk.CallToolParams{Name: "hello"})
	return errors.Join(err, cs.Close())
}

func (p *place) login(s *Store, yes bool) ([]string, error) {
	var shown []string
	h, stop, err := s.Interactive(p.t.Context(), Login{
		Address: p.server.URL + "/mcp", Show: func(a string) { shown = append(shown, a) }, Open: p.browse(yes),
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
	if err := p.connect(s.Resting(p.server.URL + "/mcp")); !errors.Is(err, ErrNeeded) {
		t.Fatalf("%v", err)
	}
	shown, err := p.login(s, true)
	if err != nil || len(shown) != 1 || !strings.HasPrefix(shown[0], p.auth.URL+"/authorize?") {
		t.Fatalf("%q, %v", shown, err)
	}
	if len(p.registered) != 1 || p.registered[0] != "Lore" {
		t.Errorf("%q", p.registered)
	}
	info, err := os.Stat(s.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	all, err := s.read()
	if _, ok := all[p.auth.URL+" "+p.server.URL+"/mcp"]; !ok || err != nil {
		t.Errorf("not kept by issuer and resource: %v, %v", all, err)
	}
	// It lasts over a restart.
	again := &Store{Path: s.Path, Now: time.Now}
	if err := p.connect(again.Resting(p.server.URL + "/mcp")); err != nil {
		t.Fatal(err)
	}
	// A token for one server is for no other.
	if src, err := again.Resting(p.server.URL + "/other").TokenSource(t.Context()); src != nil || err != nil {
		t.Errorf("another server gets a token: %v, %v", src, err)
	}
	if found, err := again.Forget(t.Context(), p.server.URL+"/mcp"); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if err := p.connect(again.Resting(p.server.URL + "/mcp")); !errors.Is(err, ErrNeeded) {
		t.Errorf("%v", err)
	}
}

func TestRenewal(t *testing.T) {
	p := newPlace(t)
	p.lives = 1 // it is old when it comes
	s := p.store()
	if _, err := p.login(s, true); err != nil {
		t.Fatal(err)
	}
	before := p.renewed
	if err := p.connect(s.Resting(p.server.URL + "/mcp")); err != nil || p.renewed <= before {
		t.Fatalf("%d renewed, %v", p.renewed, err)
	}
	p.mu.Lock()
	clear(p.refreshes)
	clear(p.tokens)
	p.mu.Unlock()
	if err := p.connect(s.Resting(p.server.URL + "/mcp")); !errors.Is(err, ErrNeeded) {
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
	if known, err := s.Known(p.server.URL + "/mcp"); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

func TestUnsafeAddressIsNotOpened(t *testing.T) {
	p := newPlace(t)
	p.evil = true
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
