// Package signintest is an authorization server and an MCP server behind it, on
// this machine, for tests alone. It knows nothing of how Lore logs in.
package signintest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Place is an authorization server and an MCP server behind it, on this
// machine.
type Place struct {
	t      testing.TB
	auth   *httptest.Server
	server *httptest.Server

	mu         sync.Mutex
	codes      map[string]url.Values // code to the request it was given for
	tokens     map[string]bool
	refreshes  map[string]bool
	registered []string
	renewed    int
	// Lives is how many seconds a token lasts; Evil makes the address to log in at
	// one that no browser should be sent to.
	Lives int
	Evil  bool
}

// New opens a place that is closed with the test.
func New(t testing.TB) *Place {
	p := &Place{t: t, codes: map[string]url.Values{}, tokens: map[string]bool{}, refreshes: map[string]bool{}, Lives: 3600}
	mux := http.NewServeMux()
	p.auth = httptest.NewServer(mux)
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		at := p.auth.URL + "/authorize"
		if p.Evil {
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
func (p *Place) token(w http.ResponseWriter, r *http.Request) {
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
	answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": p.Lives})
}

// Browse is a person who says yes, or no, at the address that they are sent to.
func (p *Place) Browse(yes bool) func(string) error {
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

// Address is that of the MCP server.
func (p *Place) Address() string { return p.server.URL + "/mcp" }

// Issuer is the authorization server.
func (p *Place) Issuer() string { return p.auth.URL }

// Registered lists the names of the clients that registered.
func (p *Place) Registered() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.registered)
}

// Renewed counts the tokens that were given for older ones.
func (p *Place) Renewed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed
}

// Revoke ends all tokens.
func (p *Place) Revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.refreshes)
	clear(p.tokens)
}
