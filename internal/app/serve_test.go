package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/app"
)

// TestServe plays a day of `lore serve`: a program asks with a token that was
// made beside it, the person answers in a browser, and Ctrl-C ends it in order.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_DATA_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "LORE_EMBED_MODEL": "none", "LORE_VAULT": dir,
	} {
		t.Setenv(name, value)
	}
	if err := os.WriteFile(filepath.Join(dir, "Tea.md"), []byte("tea\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(context.WithoutCancel(t.Context()))
	defer interrupt()
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- app.Run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--json"}, strings.NewReader(""), in, io.Discard)
		_ = in.Close()
	}()
	var where struct{ Address, Login string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()

	var made strings.Builder
	if c := app.Run(t.Context(), []string{"token", "create", "--name", "x", "--scope", "read,write"}, strings.NewReader(""), &made, io.Discard); c != 0 {
		t.Fatalf("token: exit code %d", c)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(client *http.Client, secret, method, path, body string) (int, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		m := map[string]any{}
		_ = json.NewDecoder(res.Body).Decode(&m) // a redirect has none
		return res.StatusCode, m
	}
	if status, _ := ask(browser, "", "GET", where.Login, ""); status != http.StatusSeeOther {
		t.Fatalf("login: %d", status)
	}
	api := where.Address + "/api/v1"
	status, m := ask(http.DefaultClient, strings.TrimSpace(made.String()), "POST", api+"/tools/write_note", `{"path":"New.md","content":"new\n"}`)
	id, _ := m["pending_operation_id"].(string)
	if status != http.StatusAccepted || id == "" {
		t.Fatalf("call: %d %v", status, m)
	}
	if status, m = ask(browser, "", "POST", api+"/approvals/"+id+"/answer", `{"approve":true,"revision":0}`); status != http.StatusOK {
		t.Fatalf("answer: %d %v", status, m)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "New.md")); err != nil || string(b) != "new\n" {
		t.Errorf("the vault: %q, %v", b, err)
	}
	if _, m = ask(browser, "", "GET", api+"/status", ""); m["vault"] != filepath.Base(dir) {
		t.Errorf("status: %v", m)
	}
	interrupt()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
}
