package external

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/mcpclient/serverlist"
	"lore/internal/mcpclient/signin"
)

// TestNeedsLogin asks nobody in the background.
func TestNeedsLogin(t *testing.T) {
	b := newBench(t)
	store := &signin.Store{Path: filepath.Join(b.dir, "tokens.json"), Now: time.Now}
	b.hub.o.Auth = func(_ serverlist.Entry, address string) (auth.OAuthHandler, error) {
		return store.Resting(address), nil
	}
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "who are you", http.StatusUnauthorized)
	}))
	defer web.Close()
	b.servers("shut", fmt.Sprintf(`{"url": %q}`, web.URL), "one", entry("plain"))
	b.run()
	s := b.until("shut", is(NeedsLogin))
	if !strings.Contains(s.Why, "lore servers login shut") {
		t.Errorf("%+v", s)
	}
	b.connected("one")
	b.says("mcp__one__echo", `{"text":"hi"}`, "hi")
	if n := asked.Load(); n > 10 {
		t.Errorf("it was tried %d times", n)
	}
}

// TestHeadersGoToTheirServerAlone sends a caller elsewhere.
func TestHeadersGoToTheirServerAlone(t *testing.T) {
	b := newBench(t)
	b.hub.o.Times.First = time.Hour
	var stolen atomic.Value
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Store(r.Header.Clone()) }))
	defer thief.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	b.servers("far", fmt.Sprintf(`{"url": %q, "headers": {"X-Key": "CANARY-header"}}`, web.URL))
	b.run()
	s := b.until("far", is(Waiting))
	if stolen.Load() != nil || !strings.Contains(s.Why, "redirects to") {
		t.Errorf("%+v; the other got %v", s, stolen.Load())
	}
}

func TestHeadersAreSent(t *testing.T) {
	b := newBench(t)
	b.env["KEY"] = "CANARY-key"
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server("far") }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer CANARY-key" {
			http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer web.Close()
	b.servers("far", fmt.Sprintf(`{"url": %q, "headers": {"Authorization": "Bearer ${KEY}"}}`, web.URL), "bad", fmt.Sprintf(`{"url": %q, "headers": {"Authorization": "Bearer CANARY-wrong"}}`, web.URL))
	b.run()
	b.connected("far")
	s := b.until("bad", is(Waiting))
	if strings.Contains(s.Why, "CANARY") || strings.Contains(b.log.String(), "CANARY") {
		t.Errorf("a secret is told: %+v", s)
	}
	if err := b.hub.Close(); err != nil { // or the server waits for it
		t.Error(err)
	}
}

// TestHugeBody reads no more than a message may have.
func TestHugeBody(t *testing.T) {
	b := newBench(t)
	b.hub.o.Times.First = time.Hour
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		part := []byte(strings.Repeat("x", 1<<16))
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer web.Close()
	b.servers("far", fmt.Sprintf(`{"url": %q}`, web.URL))
	b.run()
	if s := b.until("far", is(Waiting)); !strings.Contains(s.Why, "8 MB") {
		t.Errorf("%+v", s)
	}
}
