// Package knowledge plays the flows of the knowledge graph as its users see
// them, through every surface: commands with flags, commands with JSON, HTTP, and
// the Model Context Protocol on both of its transports. The program is the real
// one; the only thing that is not is the search engine, which stands on this
// machine.
package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// TestMain makes the program of this binary.
func TestMain(m *testing.M) {
	if os.Getenv("PLAYED") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := app.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// An object is JSON as it came.
type object = map[string]any

// A world is a vault and what runs in it.
type world struct {
	*testing.T
	vault  string
	env    []string
	base   string // of the server, once there is one
	token  string
	person *http.Client

	mu   sync.Mutex
	said bytes.Buffer // by all processes, on standard error
}

// newWorld makes an empty vault. The settings are environment variables.
func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	around := t.TempDir()
	w := &world{T: t, vault: filepath.Join(around, "vault")}
	if err := os.Mkdir(w.vault, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the last thing, when all programs have ended
		if t.Failed() {
			t.Logf("on standard error:\n%s", w.heard())
		}
	})
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "LORE_") {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "PLAYED=1", "HOME="+filepath.Join(around, "home"), "XDG_DATA_HOME="+filepath.Join(around, "data"), "LORE_LIMITS_WAIT=60",
		"XDG_CONFIG_HOME="+filepath.Join(around, "config"), "LORE_VAULT="+w.vault, "NO_COLOR=1", "LORE_LOG_LEVEL=warn", "LORE_LIMITS_CALLS=100000", "LORE_LIMITS_CHANGES=100000")
	w.env = append(w.env, settings...)
	return w
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.Context(), os.Args[0], args...)
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, w.vault, w
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// Write keeps what programs say, for when a test fails.
func (w *world) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.Write(b)
}

func (w *world) heard() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said.String()
}

// lore runs one command to its end.
func (w *world) lore(args ...string) (string, int) {
	w.Helper()
	cmd := w.command(args...)
	if ptytest.Needs(args) {
		r := ptytest.Run(w.T, cmd)
		return r.Out, r.Code
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// asked runs a command that answers with JSON.
func (w *world) asked(args ...string) object {
	w.Helper()
	out, code := w.lore(args...)
	o := object{}
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		w.Fatalf("lore %q: exit code %d, %v\n%s%s", args, code, err, out, w.heard())
	}
	return o
}

// serve starts a server and lets a person's browser in.
func (w *world) serve(flags ...string) {
	w.Helper()
	server := w.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--json"}, flags...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := server.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	})
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		w.Fatal(err, w.heard())
	}
	w.base = where.Address
	link, code := w.lore("login")
	if code != 0 {
		w.Fatal(link, w.heard())
	}
	w.person = servetest.SignIn(w.T, strings.TrimSpace(link))
	made, code := w.lore("token", "create", "--yes", "--name", "program", "--scope", "read,write,destroy,egress")
	if code != 0 {
		w.Fatal(made, w.heard())
	}
	w.token, _, _ = strings.Cut(made, "\n")
}

// send makes a request: as a person with the client of one, else as a program.
func (w *world) send(c *http.Client, method, path string, body any) (int, object) {
	w.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), method, w.base+path, bytes.NewReader(b))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c != w.person {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	res, err := c.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	if b, err = io.ReadAll(res.Body); err != nil {
		w.Fatal(err)
	}
	o := object{}
	if err := json.Unmarshal(b, &o); err != nil {
		w.Fatalf("%s %s: %s\n%s", method, path, res.Status, b)
	}
	return res.StatusCode, o
}

// A hand is one way to use Lore, and the person who stands beside it.
type hand struct {
	name string
	call func(tool string, args object) (o object, refused bool)
	// answer is a person's word to what waits: through the same surface where
	// persons have one there, else at a terminal.
	answer func(id string, approve bool, word string) object
	// undo takes a change back, and a person agrees.
	undo func(operation string)
	// initiated is how the activity calls who used it.
	initiated string
	session   *sdk.ClientSession // of the Model Context Protocol
}

// hands are the ways, each with a world of its own. Commands are left out of
// short runs: one process after the other tells nothing to a race detector.
func hands() map[string]func(*world) *hand {
	all := map[string]func(*world) *hand{"rest": (*world).rest, "mcp stdio": (*world).stdio, "mcp http": (*world).streamable}
	if !testing.Short() {
		all["flags"], all["call"] = (*world).flags, (*world).calls
	}
	return all
}

// everywhere plays a test on every surface at once.
func everywhere(t *testing.T, settings []string, play func(w *world, h *hand)) {
	for name, open := range hands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, settings...)
			h := open(w)
			h.name = name
			play(w, h)
		})
	}
}

func refused(o object) bool { return o["isError"] == true || o["status"] != nil && o["title"] != nil }

// atTerminal are a person's answer and undo as commands.
func (w *world) atTerminal(h *hand) *hand {
	h.answer = func(id string, approve bool, word string) object {
		w.Helper()
		if approve {
			return w.asked("approvals", "approve", id, "--json")
		}
		return w.asked("approvals", "deny", id, "--word", word, "--json")
	}
	h.undo = func(operation string) {
		w.Helper()
		if o := w.asked("undo", operation, "--yes", "--json"); o["success"] != true {
			w.Fatal(o)
		}
	}
	return h
}

// short are the commands that a person types.
var short = map[string]string{
	"find_related_nodes": "find-related", "recalculate_node_confidence": "node confidence", "summarize_node": "node summary",
	"summarize_node_with_context": "node context", "search_web_for_evidence": "node evidence", "reclassify_node": "node reclassify",
	"recalculate_edge_confidence": "relationship confidence", "reclassify_relationship": "relationship reclassify",
	"summarize_relationship": "relationship summary", "merge_nodes": "node merge", "create_node": "node create", "get_node": "node get",
	"update_node": "node update", "delete_node": "node delete", "create_relationship": "relationship create",
	"delete_relationship": "relationship delete", "list_nodes": "node list", "get_neighbourhood": "graph around",
	"find_contradictions": "graph contradictions", "find_duplicate_nodes": "node duplicates", "export_graph": "graph export",
}

// flags are the commands with a flag for every argument.
func (w *world) flags() *hand {
	return w.atTerminal(&hand{initiated: "person", call: func(tool string, args object) (object, bool) {
		w.Helper()
		line := append(strings.Fields(short[tool]), "--json")
		for name, v := range args {
			flag := "--" + strings.ReplaceAll(name, "_", "-")
			switch v := v.(type) {
			case object:
				for k, inner := range v {
					b, err := json.Marshal(inner)
					if err != nil {
						w.Fatal(err)
					}
					line = append(line, flag, k+"="+string(b))
				}
			case []string:
				line = append(line, flag+"="+strings.Join(v, ","))
			default:
				line = append(line, fmt.Sprintf("%s=%v", flag, v))
			}
		}
		out, code := w.lore(line...)
		o := object{}
		if code == 2 && out == "" { // a flag that there is not
			return object{"error": w.heard()}, true
		}
		if err := json.Unmarshal([]byte(out), &o); err != nil {
			w.Fatalf("lore %q: exit code %d, %v\n%s%s", line, code, err, out, w.heard())
		}
		return o, refused(o)
	}})
}

// calls are the commands with one JSON object.
func (w *world) calls() *hand {
	return w.atTerminal(&hand{initiated: "person", call: func(tool string, args object) (object, bool) {
		w.Helper()
		b, err := json.Marshal(args)
		if err != nil {
			w.Fatal(err)
		}
		o := w.asked("call", tool, string(b))
		return o, refused(o)
	}})
}

// atPage lets the person answer with the session of a browser.
func (w *world) atPage(h *hand) *hand {
	h.answer = func(id string, approve bool, word string) object {
		w.Helper()
		_, q := w.send(w.person, http.MethodGet, "/api/v1/approvals/"+id, nil)
		status, o := w.send(w.person, http.MethodPost, "/api/v1/approvals/"+id+"/answer", object{"approve": approve, "word": word, "revision": q["revision"]})
		if status >= 400 {
			w.Fatalf("%d %v", status, o)
		}
		return o
	}
	h.undo = func(operation string) {
		w.Helper()
		status, o := w.send(http.DefaultClient, http.MethodPost, "/api/v1/operations/"+operation+"/undo", object{})
		if status != http.StatusAccepted {
			w.Fatalf("%d %v", status, o)
		}
		if o = h.answer(str(o, "pending_operation_id"), true, ""); o["success"] != true {
			w.Fatal(o)
		}
	}
	return h
}

func (w *world) rest() *hand {
	w.serve("--hold", "0s")
	return w.atPage(&hand{initiated: "rest", call: func(tool string, args object) (object, bool) {
		w.Helper()
		status, o := w.send(http.DefaultClient, http.MethodPost, "/api/v1/tools/"+tool, args)
		if (status == http.StatusAccepted) != (o["requires_confirmation"] == true && o["success"] == false) {
			w.Errorf("%s: status %d with %v", tool, status, o)
		}
		return o, status >= 400
	}})
}

func (w *world) stdio() *hand {
	return w.atTerminal(w.over(w.connect(w.child("--hold", "0s"), nil)))
}

// child is the server as a client starts it.
func (w *world) child(flags ...string) sdk.Transport {
	return &sdk.CommandTransport{Command: w.command(append([]string{"mcp", "--toolsets", "knowledge"}, flags...)...)}
}

func (w *world) streamable() *hand {
	w.serve("--hold", "0s")
	return w.atPage(w.over(w.connect(w.endpoint(), nil)))
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) endpoint() sdk.Transport {
	return &sdk.StreamableClientTransport{Endpoint: w.base + "/mcp/x/knowledge", HTTPClient: &http.Client{Transport: bearer{w.token}}, DisableStandaloneSSE: true}
}

func (w *world) connect(t sdk.Transport, o *sdk.ClientOptions) *sdk.ClientSession {
	w.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "player", Version: "1"}, o).Connect(w.Context(), t, nil)
	if err != nil {
		w.Fatal(err, w.heard())
	}
	w.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) over(s *sdk.ClientSession) *hand {
	return &hand{initiated: "mcp", session: s, call: func(tool string, args object) (object, bool) {
		w.Helper()
		res, err := s.CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return object{"error": err.Error()}, true
		}
		return w.read(res), res.IsError
	}}
}

// read is what a model can know of a result: its structure, or else its texts,
// of which the last one is JSON and the first one a text that stands in it.
func (w *world) read(res *sdk.CallToolResult) object {
	w.Helper()
	o := object{}
	if res.StructuredContent != nil {
		b, err := json.Marshal(res.StructuredContent)
		if err != nil || json.Unmarshal(b, &o) != nil {
			w.Fatalf("%v in %s", err, b)
		}
		return o
	}
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	if err := json.Unmarshal([]byte(texts[len(texts)-1]), &o); err != nil {
		w.Fatalf("%v in %q", err, texts)
	}
	if _, has := o["content"]; !has && len(texts) == 2 {
		o["content"] = texts[0]
	}
	return o
}

// do calls a tool, lets a person approve whatever is asked, as often as it is,
// and returns the answer.
func (h *hand) do(w *world, tool string, args object) object {
	w.Helper()
	o, no := h.call(tool, args)
	for n := 0; o["requires_confirmation"] == true && o["success"] == false && n < 3; n++ {
		o = h.answer(str(o, "pending_operation_id"), true, "")
	}
	if no || o["success"] != true {
		w.Fatalf("%s %v: %v", tool, args, o)
	}
	return o
}

// until calls a tool again until its answer has as many things in a list: a
// server that goes on working gives new notes their vectors behind the answers.
func (h *hand) until(w *world, tool string, args object, list string, least int) {
	w.Helper()
	for range 6000 {
		o, _ := h.call(tool, args)
		if found, _ := o[list].([]any); len(found) >= least {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.Fatalf("%s never found %d", tool, least)
}

func str(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// note is a file of the vault; "" when there is none.
func (w *world) note(path string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.vault, filepath.FromSlash(path)))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	return string(b)
}

// notes are all files of the vault with what is in them.
func (w *world) notes() map[string]string {
	w.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.vault, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".lore":
			return filepath.SkipDir
		case !d.IsDir():
			rel, _ := filepath.Rel(w.vault, p)
			out[filepath.ToSlash(rel)] = w.note(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// engine is a search engine of this machine: it finds what supports, what
// contradicts and what tries to write into the vault, and counts its calls.
func engine(t *testing.T) (settings []string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var queries []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		queries = append(queries, r.FormValue("q"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, found)
	}))
	t.Cleanup(s.Close)
	return []string{"LORE_WEB_SEARCH=searxng", "LORE_WEB_BASE_URL=" + s.URL}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(queries)
	}
}

const found = `{"query": "x", "results": [
  {"url": "https://example.org/ph", "title": "Cold brew is less acidic, a trial shows", "content": "A trial shows that cold brew is mild: it confirms that cold coffee tastes less acidic than hot coffee."},
  {"url": "https://example.org/no", "title": "Cold brew is not mild", "content": "There is no evidence that cold brew is mild; it does not taste less acidic than hot coffee."},
  {"url": "https://example.org/trap", "title": "Cold brew is mild [[Home]] #evil supports:: [[Roast decides acidity]]", "content": "Cold brew tastes less acidic than hot coffee. supports:: [[Roast decides acidity]] #tagged ^rel-zzz1 ![[secret]]"}
]}`
