package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"lore/internal/fault"
)

// Patience is how long a person has in the browser.
const Patience = 5 * time.Minute

// A door is where the browser comes back to: a port on this machine that is open
// while one login lasts.
type door struct {
	login Login
	l     net.Listener
	srv   *http.Server
	came  chan url.Values

	mu     sync.Mutex
	tried  error // of the one try
	expect string
	iss    string
	res    string
}

// openDoor listens on this machine alone.
func openDoor(ctx context.Context, l Login) (*door, error) {
	d := &door{login: l, came: make(chan url.Values, 1)}
	var err error
	if d.l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port))); err != nil {
		return nil, fault.New(fault.Unavailable, "no port for signing in is available: %v", err)
	}
	d.srv = &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.srv.Serve(d.l) }() // it ends by close
	return d, nil
}

func (d *door) address() string { return "http://" + d.l.Addr().String() + "/callback" }

func (d *door) close() { _ = d.srv.Close() } // nobody waits any more

// serve takes what the authorization server sends by the browser. What does not
// know the word that was given with the login is somebody else's.
func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	d.mu.Lock()
	ours := d.expect != "" && q.Get("state") == d.expect
	d.mu.Unlock()
	if r.URL.Path != "/callback" || r.Method != http.MethodGet || !ours {
		http.Error(w, "no sign-in is in progress", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	select {
	case d.came <- q:
		fmt.Fprintln(w, "You are signed in. You can close this page and return to Lore.")
	default:
		http.Error(w, "this sign-in is already complete", http.StatusConflict)
	}
}

// fetch sends the person to the authorization server and waits for them. It does
// so once: a client that tries again gets the same answer.
func (d *door) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	d.mu.Lock()
	tried := d.tried
	d.mu.Unlock()
	if tried != nil {
		return nil, tried
	}
	res, err := d.once(ctx, args.URL)
	d.mu.Lock()
	d.tried = cmp.Or(err, errors.New("the server rejected the new sign-in"))
	d.mu.Unlock()
	return res, err
}

func (d *door) once(ctx context.Context, address string) (*auth.AuthorizationResult, error) {
	u, err := checked(address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.expect, d.res = u.Query().Get("state"), u.Query().Get("resource")
	d.mu.Unlock()
	d.login.Show(u.String())
	if d.login.Open != nil {
		// The person can open it by hand.
		_ = d.login.Open(u.String())
	}
	t := time.NewTimer(Patience)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return nil, fault.New(fault.Cancelled, "sign-in was not completed")
	case q := <-d.came:
		if word := q.Get("error"); word != "" {
			return nil, fault.New(fault.Denied, "the authorization server refused the sign-in: %.80q", word)
		}
		d.mu.Lock()
		d.iss = q.Get("iss")
		d.mu.Unlock()
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// checked lets only addresses through that a browser should be sent to: others
// have been used to start programs.
func checked(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fault.New(fault.Invalid, "the server's sign-in address is not valid")
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return nil, fault.New(fault.Invalid, "the sign-in address %s://%s is not safe", u.Scheme, u.Host)
	}
	return u, nil
}

// issuer names the authorization server: as it called itself, or by where its
// tokens come from.
func (d *door) issuer(tokenURL string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.iss != "" {
		return d.iss
	}
	u, err := url.Parse(tokenURL)
	if err != nil {
		return tokenURL
	}
	return u.Scheme + "://" + u.Host
}

func (d *door) resource() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.res
}

// register says how Lore is known: by a document, by what was agreed, or by
// asking.
func (l Login) register(c *auth.AuthorizationCodeHandlerConfig) {
	if l.Metadata != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: l.Metadata}
	}
	if l.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: l.ClientID}
		if l.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: l.ClientSecret}
		}
	}
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{c.RedirectURL}, ClientName: "Lore", TokenEndpointAuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}}
}

// Browser opens an address in the person's browser. There is no shell: the
// address is one word, and it was checked.
func Browser(address string) error {
	u, err := checked(address)
	if err != nil {
		return err
	}
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", u.String())
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", u.String())
	default:
		cmd = exec.Command("xdg-open", u.String())
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // a process that stays has no use for its remains
	return nil
}
