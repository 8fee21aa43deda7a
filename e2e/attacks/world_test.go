// Package attacks tries to make Lore do what it must not, through every surface
// at once: a command, HTTP, and the Model Context Protocol on both of its
// transports. The caller is taken to be hostile. Whatever a row says, nothing
// around the vault may change, and no secret may come out.
package attacks

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/app"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/workspace/process/ptytest"
)

// TestMain makes the program of this binary, so that the tests attack the real
// one.
func TestMain(m *testing.M) {
	if os.Getenv("ATTACKED") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 2 && os.Args[1] == "stranger" {
		os.Exit(beStranger(ctx))
	}
	code := app.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if file := os.Getenv("ATTACKED_STATUS"); file != "" {
		if b, err := os.ReadFile("/proc/self/status"); err == nil {
			_ = os.WriteFile(file, b, 0o600) // without it the test says so
		}
	}
	os.Exit(code)
}

// long leaves a test out of short runs: it makes thousands of calls one after
// another, which tell nothing more to a race detector. Each has a world of its own,
// so they run side by side.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
}

// A world is a vault with things around it that are nobody's business, and one
// server that holds it.
type world struct {
	*testing.T
	around string // vault, vault-evil, secret.txt, home
	vault  string
	env    []string
	canary string // stands in everything that must not come out
	base   string // of the server
	login  string
	server *exec.Cmd
	tokens map[string]string
	person *http.Client

	mu   sync.Mutex
	said bytes.Buffer // by all processes, on standard error
}

func newWorld(t *testing.T, fill func(w *world)) *world {
	t.Helper()
	w := &world{T: t, around: t.TempDir(), canary: "canary" + strings.ToLower(rand.Text()), tokens: map[string]string{}}
	w.vault = filepath.Join(w.around, "vault")
	w.put("vault/Tea.md", "# Tea\n\nGreen. See [[Milk]].\n")
	w.put("vault/Milk.md", "# Milk\n\nWhite.\n")
	w.put("vault/Notes/Cup.md", "# Cup\n")
	w.put("vault-evil/x.md", w.canary)
	w.put("secret.txt", w.canary)
	w.put("secret.md", w.canary)
	w.put("home/.ssh/id", w.canary)
	w.env = append(os.Environ(), "ATTACKED=1", "HOME="+filepath.Join(w.around, "home"), "XDG_DATA_HOME="+filepath.Join(w.around, "data"), "LORE_LIMITS_WAIT=60",
		"XDG_CONFIG_HOME="+filepath.Join(w.around, "config"), "LORE_VAULT="+w.vault, "LORE_EMBED_MODEL=none", "NO_COLOR=1", "LORE_KEYRING=off",
		"LORE_LIMITS_CALLS=100000", "LORE_LIMITS_CHANGES=100000", "LORE_LOG_LEVEL=debug",
		"SOME_API_KEY="+w.canary, "LORE_EMBED_KEY_ENV=SOME_API_KEY")
	if fill != nil {
		fill(w)
	}
	if len(t.Name())%2 == 0 {
		w.lean()
	}
	for name, scope := range map[string]string{"all": "read,write,destroy", "read": "read", "other": "read,write,destroy"} {
		out, code := w.lore("token", "create", "--yes", "--name", name, "--scope", scope)
		if code != 0 {
			t.Fatal(out)
		}
		w.tokens[name], _, _ = strings.Cut(out, "\n")
	}
	w.serve()
	return w
}

// lean lets another process hold the vault, so that everything that is attacked
// works through it. Half of the tests do, whichever: an attack must fail in both
// worlds.
func (w *world) lean() {
	w.Helper()
	cmd := w.stdio()
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	for range 6000 {
		if found, _ := filepath.Glob(filepath.Join(w.around, "data", "lore", "*", "holder.json")); len(found) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.Fatal("nobody holds the vault")
}

// serve starts the server and lets a person's browser in.
func (w *world) serve(flags ...string) {
	w.Helper()
	w.server = w.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--json", "--hold", "0s"}, flags...)...)
	out, err := w.server.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	w.server.Stderr = writer(w.keep)
	if err := w.server.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = w.server.Process.Kill() // it may have ended
		_ = w.server.Wait()
	})
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		w.Fatal(err, w.heard())
	}
	w.base = where.Address
	w.login = w.signInLink()
	w.person = servetest.SignIn(w.T, w.login)
}

// signInLink is what a person gets who asks for one in a terminal of their own.
func (w *world) signInLink() string {
	w.Helper()
	r := ptytest.Run(w.T, w.command("login"))
	if r.Code != 0 {
		w.Fatal(r)
	}
	return strings.TrimSpace(r.Out)
}

type writer func([]byte)

func (f writer) Write(b []byte) (int, error) { f(b); return len(b), nil }

func (w *world) keep(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said.Write(b)
}

func (w *world) heard() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

func (w *world) put(name, text string) {
	w.Helper()
	at := filepath.Join(w.around, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.Context(), os.Args[0], args...)
	cmd.Env, cmd.Dir = w.env, w.around
	return cmd
}

// lore runs one command to its end.
func (w *world) lore(args ...string) (string, int) {
	w.Helper()
	cmd := w.command(args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = writer(w.keep)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// An answer is what a surface said to a call.
type answer struct {
	text    string
	refused bool // it was an error
	pending string
}

func (a answer) has(s string) bool { return strings.Contains(a.text, s) }

// A hand is one way to call a tool.
type hand struct {
	name string
	call func(tool, args string) answer
}

// hands are all surfaces, with as many rights as each can have.
func (w *world) hands() []hand {
	w.Helper()
	stdio := w.connect(&sdk.CommandTransport{Command: w.stdio("--toolsets", "all")})
	web := w.connect(w.streamable("/mcp/x/all", w.tokens["all"]))
	return []hand{
		{"command", func(tool, args string) answer {
			out, code := w.lore("call", tool, args)
			return judged(out, code != 0 && code != 3)
		}},
		{"rest", func(tool, args string) answer {
			status, _, body := w.post("/api/v1/tools/"+tool, args, w.tokens["all"])
			return judged(body, status >= 400)
		}},
		{"mcp stdio", func(tool, args string) answer { return w.overMCP(stdio, tool, args) }},
		{"mcp http", func(tool, args string) answer { return w.overMCP(web, tool, args) }},
	}
}

func judged(text string, refused bool) answer {
	var waits struct {
		ID string `json:"pending_operation_id"`
	}
	_ = json.Unmarshal([]byte(text), &waits) // most answers have none
	return answer{text, refused, waits.ID}
}

func (w *world) stdio(flags ...string) *exec.Cmd {
	cmd := w.command(append([]string{"mcp", "--hold", "0s"}, flags...)...)
	cmd.Stderr = writer(w.keep)
	return cmd
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) streamable(path, token string) *sdk.StreamableClientTransport {
	return &sdk.StreamableClientTransport{Endpoint: w.base + path, HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}
}

func (w *world) connect(t sdk.Transport) *sdk.ClientSession {
	w.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "attacker", Version: "1"}, nil).Connect(w.Context(), t, nil)
	if err != nil {
		w.Fatal(err, w.heard())
	}
	w.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) overMCP(s *sdk.ClientSession, tool, args string) answer {
	res, err := s.CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return answer{text: err.Error(), refused: true}
	}
	b, err := json.Marshal(res)
	if err != nil {
		w.Fatal(err)
	}
	a := answer{text: string(b), refused: res.IsError}
	for _, part := range res.Content {
		if t, ok := part.(*sdk.TextContent); ok && a.pending == "" {
			a.pending = judged(t.Text, false).pending
		}
	}
	return a
}

// post sends JSON with a token, as a program does.
func (w *world) post(path, body, token string) (status int, head http.Header, text string) {
	w.Helper()
	return w.send(http.DefaultClient, http.MethodPost, path, body, http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
	})
}

// send makes any request. A Host in the header becomes that of the request.
func (w *world) send(c *http.Client, method, path, body string, head http.Header) (status int, got http.Header, text string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for k, v := range head {
		if req.Header[k] = v; k == "Host" {
			req.Host = v[0]
			delete(req.Header, k)
		}
	}
	res, err := c.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

// approve answers a question as a person, at a terminal.
func (w *world) approve(id string) string {
	w.Helper()
	return ptytest.Run(w.T, w.command("approvals", "approve", id)).Out
}

// snapshot is every name around the vault with its kind, mode and content. The
// data folder is Lore's own, and so is .lore in the vault.
func (w *world) snapshot(inside bool) map[string]string {
	w.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.around, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.around, p)
		if d.IsDir() && (rel == "data" || rel == "config" || rel == filepath.Join("vault", ".lore") || !inside && rel == "vault") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(b)
			text += " " + hex.EncodeToString(sum[:])
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " -> " + to
		}
		out[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// unchanged compares with an earlier snapshot.
func (w *world) unchanged(before map[string]string, inside bool) {
	w.Helper()
	after := w.snapshot(inside)
	var diff []string
	for name, was := range before {
		if now := after[name]; now != was {
			diff = append(diff, fmt.Sprintf("%s: %q was %q", name, now, was))
		}
	}
	for name := range after {
		if before[name] == "" {
			diff = append(diff, name+" is new")
		}
	}
	slices.Sort(diff)
	if len(diff) > 0 {
		w.Errorf("the world changed:\n%s", strings.Join(diff, "\n"))
	}
}

// silent looks for the canary in everything that was said and kept.
func (w *world) silent() {
	w.Helper()
	if strings.Contains(w.heard(), w.canary) {
		w.Errorf("a secret stands in a log")
	}
	for _, dir := range []string{"data", "config"} {
		_ = filepath.WalkDir(filepath.Join(w.around, dir), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if b, err := os.ReadFile(p); err == nil && bytes.Contains(b, []byte(w.canary)) {
					w.Errorf("a secret stands in %s", p)
				}
			}
			return nil
		})
	}
}
