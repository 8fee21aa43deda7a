package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/app"
	"lore/internal/machine/state"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool/token"
)

// TestServe plays a day of `lore serve`: a program asks with a token that was
// made beside it, the person answers in a browser, and Ctrl-C ends it in order.
func TestServe(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_DATA_HOME": data, "XDG_CONFIG_HOME": t.TempDir(), "LORE_EMBED_MODEL": "none", "LORE_VAULT": dir,
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
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()

	var made strings.Builder
	if c := app.Run(t.Context(), []string{"token", "create", "--yes", "--name", "x", "--scope", "read,write"}, strings.NewReader(""), &made, io.Discard); c != 0 {
		t.Fatalf("token: exit code %d", c)
	}
	secret := strings.TrimSpace(made.String())
	names, err := mcpTools(t, where.Address+"/mcp", secret)
	if err != nil || len(names) != 16 {
		t.Errorf("over MCP: %q, %v", names, err)
	}
	if names, err = mcpTools(t, where.Address+"/mcp/readonly", secret); err != nil || slices.Contains(names, "write_note") || len(names) == 0 {
		t.Errorf("over MCP, read only: %q, %v", names, err)
	}
	if _, err := mcpTools(t, where.Address+"/mcp", "lore_wrong"); err == nil {
		t.Error("a wrong token came in")
	}
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
	browser := servetest.SignIn(t, signInLink(t, data, where.Address))
	api := where.Address + "/api/v1"
	status, m := ask(http.DefaultClient, strings.TrimSpace(made.String()), "POST", api+"/tools/write_note", `{"path":"New.md","content":"new\n"}`)
	id, _ := m["pending_operation_id"].(string)
	if status != http.StatusAccepted || id == "" {
		t.Fatalf("call: %d %v", status, m)
	}
	for path, want := range map[string]int{m["approve_url"].(string): http.StatusOK, where.Address + "/": http.StatusOK, where.Address + "/nothing": http.StatusNotFound} {
		if status, _ := ask(browser, "", "GET", path, ""); status != want {
			t.Errorf("%s: %d", path, status)
		}
		if _, m := ask(http.DefaultClient, "", "GET", path, ""); len(m) > 0 && m["path"] != nil {
			t.Errorf("%s: a stranger is told something: %v", path, m)
		}
	}
	if status, m = ask(browser, "", "POST", api+"/approvals/"+id+"/answer", `{"approve":true,"revision":0}`); status != http.StatusOK {
		t.Fatalf("answer: %d %v", status, m)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "New.md")); err != nil || string(b) != "new\n" {
		t.Errorf("the vault: %q, %v", b, err)
	}
	if status, m = ask(browser, "", "GET", api+"/doctor", ""); status != http.StatusOK || len(m["findings"].([]any)) < 5 {
		t.Errorf("doctor: %d %v", status, m)
	}
	if _, m = ask(browser, "", "GET", api+"/status", ""); m["vault"] != filepath.Base(dir) {
		t.Errorf("status: %v", m)
	}
	interrupt()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
}

// signInLink is one that nobody is known to have made, for the server of the only
// vault whose data lies in a folder.
func signInLink(t *testing.T, data, address string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "lore", "*", "state.db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	file := state.In(filepath.Dir(found[0]))
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	code, err := token.New(file, nil).NewCode(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return address + serve.LoginPath + code
}

// bearer adds a token to every request.
type bearer struct{ secret string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.secret != "" {
		r.Header.Set("Authorization", "Bearer "+b.secret)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// mcpTools asks the endpoint at url for its tools, and calls one by its name.
func mcpTools(t *testing.T, url, secret string) (names []string, err error) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{secret}}}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		return nil, err
	}
	for _, tl := range list.Tools {
		names = append(names, tl.Name)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_note", Arguments: map[string]any{"path": "Tea"}})
	if err == nil && res.IsError {
		t.Errorf("read_note: %+v", res.Content)
	}
	return names, err
}
