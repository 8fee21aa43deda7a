package attacks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// everywhere are paths of every kind: known and unknown, of tools, streams, MCP
// and pages.
var everywhere = []string{
	"/", "/login?code=x", "/api/v1/status", "/api/v1/tools", "/api/v1/tools/read_note", "/api/v1/approvals", "/api/v1/events", "/api/v1/openapi.json",
	"/mcp", "/mcp/readonly", "/mcp/x/all", "/approvals/x", "/nothing", "/favicon.ico", "/debug/pprof/", "/files/..%2f..%2fetc/passwd", "/files/%5c..", "/../../etc/passwd",
}

// TestForeignNamesAndOrigins: D01, D02, D04, D05, D06. A page of another site, or
// a foreign name for this machine, gets nothing, with a token or without.
func TestForeignNamesAndOrigins(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	before := w.snapshot(true)
	host := strings.TrimPrefix(w.base, "http://")
	port := host[strings.LastIndex(host, ":")+1:]
	auth := "Bearer " + w.tokens["all"]
	for _, path := range everywhere {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodPut, http.MethodHead} {
			for _, name := range []string{"evil.test:" + port, "evil.test", "127.0.0.1.evil.test:" + port, "127.0.0.1", "localhost", "0.0.0.0:" + port, "127.0.0.1:1", "127.0.0.2:" + port, "[::ffff:127.0.0.1]:" + port, "LOCALHOST.:" + port} {
				status, head, _ := w.send(w.person, method, path, `{"path":"Tea.md"}`, http.Header{"Host": {name}, "Authorization": {auth}, "Content-Type": {"application/json"}})
				if status != http.StatusMisdirectedRequest || head.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s called %s: %d", method, path, name, status)
				}
			}
		}
		for _, origin := range []string{
			"http://evil.test", "null", "chrome-extension://abc", "http://localhost:1", "http://" + host + ".evil.test", "https://evil.test:" + port, "file://", "http://127.0.0.1", "",
			"http://" + host + "@evil.test", "HTTP://evil.test",
		} {
			for _, head := range []http.Header{{"Origin": {origin}}, {"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"http://" + host, origin}}} {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					head := head.Clone()
					head.Set("Authorization", auth)
					head.Set("Content-Type", "application/json")
					status, got, _ := w.send(w.person, method, path, `{"path":"Tea.md"}`, head)
					if status != http.StatusForbidden || got.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("%s %s from %v: %d", method, path, head, status)
					}
				}
			}
		}
	}
	// What a form or a beacon of another site can send, even with the cookie.
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", "application/json; charset=utf-7"} {
		status, _, body := w.send(w.person, http.MethodPost, "/api/v1/tools/delete_note", `{"path":"Tea.md"}`, http.Header{"Content-Type": {kind}})
		if status != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %d %s", kind, status, body)
		}
	}
	w.unchanged(before, true)
}

// TestWhoIsThere: D07, D08, D13, D16, D18. Absent is never allowed.
func TestWhoIsThere(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	good := w.tokens["all"]
	last := "a"
	if strings.HasSuffix(good, "a") {
		last = "b"
	}
	foreign := newWorld(t, nil).tokens["all"] // of another vault
	cookie := ""
	for _, c := range w.person.Jar.Cookies(w.address()) {
		cookie = c.Name
	}
	if !strings.HasPrefix(cookie, "lore_session") {
		t.Fatalf("the cookie is called %q", cookie)
	}
	if out, code := w.lore("token", "revoke", "other", "--yes"); code != 0 {
		t.Fatal(out)
	}
	for name, head := range map[string]http.Header{
		"missing": {}, "empty": {"Authorization": {""}}, "no token": {"Authorization": {"Bearer"}}, "a space": {"Authorization": {"Bearer "}},
		"null": {"Authorization": {"Bearer null"}}, "undefined": {"Authorization": {"Bearer undefined"}}, "wrong": {"Authorization": {"Bearer lore_wrong"}},
		"a wrong byte": {"Authorization": {"Bearer " + good[:len(good)-1] + last}}, "shorter": {"Authorization": {"Bearer " + good[:len(good)-1]}},
		"longer": {"Authorization": {"Bearer " + good + "a"}}, "upper case": {"Authorization": {"Bearer " + strings.ToUpper(good)}},
		"another scheme": {"Authorization": {"Basic " + good}}, "two": {"Authorization": {"Bearer " + good, "Bearer " + good}}, "NUL": {"Authorization": {"Bearer " + good + "%00"}},
		"revoked": {"Authorization": {"Bearer " + w.tokens["other"]}}, "another vault's": {"Authorization": {"Bearer " + foreign}},
		"as a cookie": {"Cookie": {cookie + "=" + good + "; token=" + good}}, "an empty session": {"Cookie": {cookie + "="}}, "another header": {"X-Api-Key": {good}},
	} {
		for _, path := range everywhere[2:11] {
			for _, query := range []string{"", "?token=" + good + "&access_token=" + good} {
				head := head.Clone()
				head.Set("Content-Type", "application/json")
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					status, _, body := w.send(http.DefaultClient, method, path+query, "{}", head)
					if status != http.StatusUnauthorized && status != http.StatusMethodNotAllowed {
						t.Errorf("%s: %s %s: %d %.200s", name, method, path, status, body)
					}
				}
			}
		}
	}
	// The address for a browser works once, and cannot be guessed.
	u, err := url.Parse(w.login)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{u.Query().Get("code"), "", "x", u.Query().Get("code")[1:]} {
		status, head, _ := w.send(http.DefaultClient, http.MethodPost, "/login", `{"code":"`+code+`"}`, http.Header{"Content-Type": {"application/json"}})
		if status != http.StatusUnauthorized || head.Get("Set-Cookie") != "" {
			t.Errorf("code %q: %d %v", code, status, head)
		}
	}
	if len(u.Query().Get("code")) < 52 {
		t.Error("the code is short")
	}
	for _, c := range w.person.Jar.Cookies(&url.URL{Scheme: "http", Host: u.Host}) {
		if len(c.Value) < 52 {
			t.Error("the session is short")
		}
	}
	if strings.Contains(w.heard(), u.Query().Get("code")) || strings.Contains(w.heard(), good) {
		t.Error("a secret stands in a log")
	}
}

func (w *world) address() *url.URL {
	w.Helper()
	u, err := url.Parse(w.base)
	if err != nil {
		w.Fatal(err)
	}
	return u
}

// TestRevokedInTheMiddle: D18. A stream ends when its token does, and so does a
// session of MCP.
func TestRevokedInTheMiddle(t *testing.T) {
	w := newWorld(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/api/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.tokens["all"])
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	if _, err := stream.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	session := w.connect(w.streamable("/mcp", w.tokens["all"]))
	if a := w.overMCP(session, "read_note", `{"path":"Tea.md"}`); a.refused {
		t.Fatal(a.text)
	}
	if out, code := w.lore("token", "revoke", "all", "--yes"); code != 0 {
		t.Fatal(out)
	}
	if a := w.overMCP(session, "read_note", `{"path":"Tea.md"}`); !a.refused {
		t.Error("a revoked token reads")
	}
	if _, err := io.Copy(io.Discard, stream); err != nil { // ends by itself
		t.Log(err)
	}
}

// TestSessionsOfOthers: D12. The id of a session is worth nothing without its
// token.
func TestSessionsOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	transport := w.streamable("/mcp", w.tokens["all"])
	c := sdk.NewClient(&sdk.Implementation{Name: "x", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), transport, &sdk.ClientSessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	status, head, body := w.send(http.DefaultClient, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, w.mcpHead("all", ""))
	id := head.Get("Mcp-Session-Id")
	if status != http.StatusOK || len(id) < 20 {
		t.Fatalf("%d %q %s", status, id, body)
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, _, body := w.send(http.DefaultClient, http.MethodPost, "/mcp", call, w.mcpHead("all", id)); status != http.StatusOK {
		t.Fatalf("its own: %d %s", status, body)
	}
	for _, token := range []string{"other", "read"} {
		if status, _, body := w.send(http.DefaultClient, http.MethodPost, "/mcp", call, w.mcpHead(token, id)); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", token, status, body)
		}
		if status, _, _ := w.send(http.DefaultClient, http.MethodDelete, "/mcp", "{}", w.mcpHead(token, id)); status == http.StatusNoContent || status == http.StatusOK {
			t.Errorf("%s ended it", token)
		}
	}
	if status, _, body := w.send(http.DefaultClient, http.MethodPost, "/mcp", call, w.mcpHead("all", id+"x")); status != http.StatusNotFound {
		t.Errorf("a guess: %d %s", status, body)
	}
	if status, _, body := w.send(http.DefaultClient, http.MethodPost, "/mcp", call, w.mcpHead("all", id)); status != http.StatusOK {
		t.Errorf("its own, after all that: %d %s", status, body)
	}
}

func (w *world) mcpHead(token, session string) http.Header {
	h := http.Header{"Authorization": {"Bearer " + w.tokens[token]}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
		h.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return h
}

// TestScopes: D11 over everything that the description names, and what a reading
// token may reach of MCP.
func TestScopes(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	status, _, body := w.send(w.person, http.MethodGet, "/api/v1/openapi.json", "", nil)
	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if status != http.StatusOK || json.Unmarshal([]byte(body), &api) != nil || len(api.Paths) < 10 {
		t.Fatal(status, len(api.Paths))
	}
	for path, methods := range api.Paths {
		for method := range methods {
			at := strings.NewReplacer("{name}", "write_note", "{id}", "x").Replace(path)
			status, _, body := w.send(http.DefaultClient, strings.ToUpper(method), at, "{}", http.Header{"Content-Type": {"application/json"}})
			if status != http.StatusUnauthorized {
				t.Errorf("nobody: %s %s: %d %.100s", method, at, status, body)
			}
		}
	}
	for _, path := range []string{"/mcp", "/mcp/x/all", "/mcp/readonly"} {
		s := w.connect(w.streamable(path, w.tokens["read"]))
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if !tool.Annotations.ReadOnlyHint {
				t.Errorf("%s offers %s to a reader", path, tool.Name)
			}
		}
		if a := w.overMCP(s, "write_note", `{"path":"x.md","content":"x"}`); !a.refused || w.exists("x.md") {
			t.Errorf("%s: %s", path, a.text)
		}
	}
	if status, _, body := w.post("/api/v1/tools/write_note", `{"path":"x.md","content":"x"}`, w.tokens["read"]); status != http.StatusForbidden {
		t.Errorf("%d %s", status, body)
	}
}

// TestBombs: D15, B18. What is too large, too deep, too slow or too many is sent
// away, and the server goes on answering.
func TestBombs(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"large": {`{"path":"` + strings.Repeat("x", 5<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"deep":  {strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), http.StatusBadRequest},
		"lists": {strings.Repeat("[", 100000), http.StatusBadRequest},
		"cut":   {`{"path":`, http.StatusBadRequest},
	} {
		for _, path := range []string{"/api/v1/tools/read_note", "/mcp"} {
			head := w.mcpHead("all", "")
			if status, _, body := w.send(http.DefaultClient, http.MethodPost, path, c.body, head); status != c.status {
				t.Errorf("%s at %s: %d %.200s", name, path, status, body)
			}
		}
	}
	host := strings.TrimPrefix(w.base, "http://")
	// A header that never ends.
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nX: ", host)
	_, _ = conn.Write([]byte(strings.Repeat("x", 1<<20))) // it may be cut off before the end
	fmt.Fprint(conn, "\r\n\r\n")
	if line, _ := bufio.NewReader(conn).ReadString('\n'); line != "" && !strings.Contains(line, "431") {
		t.Errorf("an endless header: %q", line)
	}
	// Half requests by the hundred, and more streams than there may be.
	var open []io.Closer
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for range 200 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		fmt.Fprint(c, "POST /api/v1/tools/read_note HTTP/1.1\r\nHost: "+host+"\r\nX-Slow: ")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	streams := map[int]int{}
	var wg sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/api/v1/events", http.NoBody)
			if err != nil {
				w.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+w.tokens["all"])
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				w.Error(err)
				return
			}
			mu.Lock()
			streams[res.StatusCode]++
			open = append(open, res.Body)
			mu.Unlock()
		})
	}
	wg.Wait()
	if streams[http.StatusOK] < 200 || streams[http.StatusOK] > 256 || len(streams) != 2 {
		t.Errorf("streams: %v", streams)
	}
	for range 20 {
		if status, _, body := w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens["all"]); status != http.StatusOK {
			t.Errorf("under siege: %d %s", status, body)
		}
	}
}

// TestHeaders: C10, D05, D08. Every answer forbids what a page could be used for.
func TestHeaders(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	for _, path := range everywhere {
		if path == "/api/v1/events" {
			continue
		}
		_, head, _ := w.send(w.person, http.MethodGet, path, "", nil)
		csp := head.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: %s is missing in %q", path, want, csp)
			}
		}
		if strings.Contains(csp, "script-src") && strings.Contains(csp[strings.Index(csp, "script-src"):], "script-src 'self' 'unsafe-inline'") {
			t.Errorf("%s: %s", path, csp)
		}
		if head.Get("Referrer-Policy") != "no-referrer" || head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, head)
		}
	}
}

// TestOthersOnThisMachine: D19. What another user could read tells nothing.
func TestOthersOnThisMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are kept otherwise")
	}
	w := newWorld(t, nil)
	if out, code := w.lore("write", "x", "--content", "x", "--yes"); code != 0 {
		t.Fatal(out)
	}
	err := filepath.WalkDir(filepath.Join(w.around, "data", "lore"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", p, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "0.0.0.0:0"}, {"serve", "--listen", ":0"}, {"serve", "--listen", "[::]:0"}, {"serve", "--listen", "0.0.0.0:0", "--expose"}} {
		if out, code := w.lore(args...); code != 2 { // D10
			t.Errorf("%v: %d %s", args, code, out)
		}
	}
}

// TestAStrangeParent: D20. The vault comes from the arguments alone, and the
// process ends with its input.
func TestAStrangeParent(t *testing.T) {
	w := newWorld(t, nil)
	cmd := w.stdio("--vault", w.vault)
	cmd.Dir = os.TempDir()
	cmd.Env = append(cmd.Env, "LORE_VAULT="+filepath.Join(w.around, "vault-evil"), "GIANT="+strings.Repeat("x", 100<<10), "LD_PRELOAD=/nowhere.so", "PWD=/etc")
	s := w.connect(&sdk.CommandTransport{Command: cmd})
	if a := w.overMCP(s, "search_notes", fmt.Sprintf(`{"query":%q}`, w.canary)); a.has("x.md") {
		t.Error(a.text)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	closed := w.stdio()
	closed.Stdin = nil // nothing to read at all
	if err := closed.Run(); err != nil {
		t.Errorf("without input: %v", err)
	}
}
