package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/agent/chat"
	"lore/internal/event"
	"lore/internal/machine/state"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// A world is a real vault behind a real server on this machine.
type world struct {
	t      *testing.T
	dir    string
	base   string
	login  string // the address that a browser opens first
	door   *tool.Registry
	bus    *event.Bus
	server *serve.Server
	tokens *token.Store
	chats  *chat.Store
	secret map[string]string // by the name of the token
	person *http.Client      // a browser that was let in
	stop   context.CancelFunc
	broken error // what the record of what was done is found to be
	done   chan error
}

func open(t *testing.T, tune ...func(*tool.Deps, tooltest.Place)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), bus: event.NewBus(), secret: map[string]string{}, done: make(chan error, 1)}
	if err := os.WriteFile(filepath.Join(w.dir, "Tea.md"), []byte("# Tea\n\nGreen tea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, w.dir, nil)
	deps := p.Deps()
	deps.Bus = w.bus
	for _, f := range tune {
		f(&deps, p)
	}
	file := state.In(t.TempDir())
	w.chats = chat.New(file, tooltest.Now)
	w.door = tool.NewRegistry(deps, notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now, Chats: w.chats, Folder: "Chats"}))
	w.tokens = token.New(file, tooltest.Now)
	for name, scopes := range map[string][]access.Scope{
		"read": {access.Read}, "write": {access.Read, access.Write, access.Destroy}, "other": {access.Read, access.Write},
		"full": token.Scopes(), "revoked": {access.Read, access.Write},
	} {
		_, secret, err := w.tokens.Create(t.Context(), name, scopes, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.secret[name] = secret
	}
	if _, err := w.tokens.Revoke(t.Context(), "revoked"); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.server, err = serve.New(serve.Options{Listen: "127.0.0.1:0", Tokens: w.tokens}); err != nil {
		t.Fatal(err)
	}
	api := rest.New(rest.Options{Door: w.door, Bus: w.bus, Vault: "vault", Version: "test", Closing: w.server.Closing(), Beat: 20 * time.Millisecond,
		Verify: func(ctx context.Context) (int, error) {
			v, err := p.History.Verify(ctx)
			return v.Entries, errors.Join(err, w.broken)
		}})
	w.server.Add(api.Routes()...)
	l, err := w.server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.base = w.server.Address(l)
	if w.login, err = w.server.LoginURL(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	w.stop = stop
	go func() { w.done <- w.server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		api.Close()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	w.enter()
	return w
}

// enter lets the person's browser in.
func (w *world) enter() {
	w.t.Helper()
	w.person = servetest.SignIn(w.t, w.login)
	u, err := url.Parse(w.base)
	if err != nil || len(w.person.Jar.Cookies(u)) != 1 {
		w.t.Fatalf("cookies: %v, %v", w.person.Jar.Cookies(u), err)
	}
}

// patience is how long a test waits for what a broken server never sends.
const patience = 30 * time.Second

// A reply is what came back.
type reply struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

func (r reply) str(key string) string {
	s, _ := r.json[key].(string)
	return s
}

// do asks as nobody (""), as "person", or with a token of that name.
func (w *world) do(who, method, path, body string, change ...func(*http.Request)) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.DefaultClient
	switch who {
	case "":
	case "person":
		client = w.person
	case "cookie": // whoever listens on another port of this machine has it
		client = &http.Client{Jar: w.person.Jar}
	case "word":
		req.Header.Set(serve.SessionHeader, w.person.Transport.(*servetest.Browser).Session)
	default:
		req.Header.Set("Authorization", "Bearer "+w.secret[who])
	}
	for _, c := range change {
		c(req)
	}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	out := reply{status: res.StatusCode, header: res.Header, text: string(b)}
	if strings.Contains(res.Header.Get("Content-Type"), "json") && res.Header.Get("Content-Encoding") == "" {
		if err := json.NewDecoder(bytes.NewReader(b)).Decode(&out.json); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, b)
		}
	}
	return out
}

// file is what the vault holds.
func (w *world) file(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

const create = `{"path":"New.md","content":"hello\n"}`

func TestCallAndAnswer(t *testing.T) {
	w := open(t)
	got := w.do("read", "POST", "/api/v1/tools/read_note", `{"path":"Tea.md"}`)
	if got.status != 200 || !strings.Contains(got.text, "Green tea") {
		t.Fatalf("read: %d %s", got.status, got.text)
	}
	if got := w.do("write", "POST", "/api/v1/tools/write_note?dry_run=1", create); got.status != 200 || got.json["dry_run"] != true {
		t.Errorf("dry run: %d %s", got.status, got.text)
	}
	if got := w.do("write", "POST", "/api/v1/tools/write_note?dry_run=yes", create); got.status != 400 || got.str("field") != "dry_run" {
		t.Errorf("a misspelt dry run: %d %s", got.status, got.text)
	}
	asked := w.do("write", "POST", "/api/v1/tools/write_note", create)
	id := asked.str("pending_operation_id")
	if asked.status != 202 || id == "" || asked.header.Get("Location") != "/api/v1/approvals/"+id {
		t.Fatalf("create: %d %s", asked.status, asked.text)
	}
	if got := w.do("write", "GET", "/api/v1/approvals/"+id+"/await?seconds=0", ""); got.status != 202 || got.str("pending_operation_id") != id {
		t.Errorf("await of what waits: %d %s", got.status, got.text)
	}
	for _, bad := range []string{`{"approve":false,"APPROVE":true,"revision":0}`, `{"approve":true,"revison":0}`, `[]`, ``} {
		if got := w.do("person", "POST", "/api/v1/approvals/"+id+"/answer", bad); got.status != 400 {
			t.Errorf("answer %s: %d %s", bad, got.status, got.text)
		}
	}
	if got := w.do("person", "POST", "/api/v1/approvals/"+id+"/answer", `{"approve":true,"revision":7}`); got.status != 409 {
		t.Errorf("another revision: %d %s", got.status, got.text)
	}
	if got := w.do("person", "POST", "/api/v1/approvals/"+id+"/rehearse", `{"approve":true,"revision":0,"args":{"path":"New.md","content":"else\n"}}`); got.status != 200 || got.str("plan") == "" {
		t.Errorf("rehearse: %d %s", got.status, got.text)
	}
	if w.file("New.md") != "" {
		t.Fatal("it was made before anyone agreed")
	}
	got = w.do("person", "POST", "/api/v1/approvals/"+id+"/answer", `{"approve":true,"revision":0}`)
	if got.status != 200 || got.json["success"] != true || w.file("New.md") != "hello\n" {
		t.Fatalf("answer: %d %s; %q", got.status, got.text, w.file("New.md"))
	}
	if got := w.do("write", "GET", "/api/v1/approvals/"+id+"/await", ""); got.status != 200 || got.json["success"] != true {
		t.Errorf("await of what is done: %d %s", got.status, got.text)
	}
	if got := w.do("person", "POST", "/api/v1/approvals/"+id+"/answer", `{"approve":true,"revision":0}`); got.status != 409 {
		t.Errorf("a second answer: %d %s", got.status, got.text)
	}
}

func TestFaultsAreProblems(t *testing.T) {
	w := open(t)
	for name, c := range map[string]struct {
		who, path, body string
		status          int
		kind            string
	}{
		"unknown tool":    {"read", "/api/v1/tools/nothing", `{}`, 404, "not_found"},
		"unknown note":    {"read", "/api/v1/tools/read_note", `{"path":"No.md"}`, 404, "not_found"},
		"wrong argument":  {"read", "/api/v1/tools/read_note", `{"path":7}`, 400, "invalid"},
		"no right":        {"read", "/api/v1/tools/write_note", create, 403, "denied"},
		"out of vault":    {"read", "/api/v1/tools/read_note", `{"path":"../x.md"}`, 400, "unsafe_path"},
		"no object":       {"read", "/api/v1/tools/read_note?dry_run=1", `[]`, 400, "invalid"},
		"dry run twice":   {"write", "/api/v1/tools/write_note?dry_run=1", `{"path":"N.md","content":"","dry_run":false}`, 400, "invalid"},
		"of no such path": {"write", "/api/v1/nothing", `{}`, 404, "not_found"},
	} {
		got := w.do(c.who, "POST", c.path, c.body)
		if got.status != c.status || got.str("kind") != c.kind || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	if got := w.do("read", "DELETE", "/api/v1/status", ""); got.status != 405 || got.header.Get("Allow") == "" {
		t.Errorf("another method: %d %s", got.status, got.text)
	}
}

// TestQuestionsOfOthers: a program sees what it asked itself, and nothing else
// exists for it.
func TestQuestionsOfOthers(t *testing.T) {
	w := open(t)
	id := w.do("write", "POST", "/api/v1/tools/write_note", create).str("pending_operation_id")
	for who, want := range map[string]int{"write": 200, "other": 404, "full": 404, "person": 200} {
		if got := w.do(who, "GET", "/api/v1/approvals/"+id, ""); got.status != want {
			t.Errorf("%s sees it: %d, want %d", who, got.status, want)
		}
		n := map[int]int{200: 1}[want]
		list, _ := w.do(who, "GET", "/api/v1/approvals", "").json["approvals"].([]any)
		if len(list) != n {
			t.Errorf("%s lists %d, want %d", who, len(list), n)
		}
		if got := w.do(who, "GET", "/api/v1/status", "").json["pending"]; got != float64(n) {
			t.Errorf("%s counts %v, want %d", who, got, n)
		}
	}
	if got := w.do("write", "GET", "/api/v1/approvals/pending", ""); got.status != 404 {
		t.Errorf("the beginning of an id: %d", got.status)
	}
	if got := w.do("other", "POST", "/api/v1/approvals/"+id+"/cancel", "{}"); got.status != 404 {
		t.Errorf("another withdraws: %d", got.status)
	}
	if got := w.do("write", "POST", "/api/v1/approvals/"+id+"/cancel", "{}"); got.status != 204 {
		t.Errorf("its own withdraws: %d %s", got.status, got.text)
	}
}

// TestWork looks at what was done, and takes it back.
func TestWork(t *testing.T) {
	w := open(t)
	asked := w.do("write", "POST", "/api/v1/tools/write_note", create)
	if got := w.do("person", "POST", "/api/v1/approvals/"+asked.str("pending_operation_id")+"/answer", `{"approve":true,"revision":0}`); got.status != 200 {
		t.Fatal(got.text)
	}
	list := w.do("write", "GET", "/api/v1/activity?limit=5&tool=write_note", "")
	first, _ := list.json["activity"].([]any)
	if list.status != 200 || len(first) == 0 {
		t.Fatalf("%d %s", list.status, list.text)
	}
	entry, _ := first[0].(map[string]any)
	op, _ := entry["operation_id"].(string)
	for path, want := range map[string]int{
		"/api/v1/activity?limit=many": 400, "/api/v1/activity?limt=1": 400, "/api/v1/activity?quiet=maybe": 400, "/api/v1/activity?quiet=true": 200, "/api/v1/activity?limit=1&limit=2": 400,
		"/api/v1/operations/op-unknown": 404, "/api/v1/operations/" + op: 200,
	} {
		if got := w.do("write", "GET", path, ""); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.text)
		}
	}
	// Others see that something was called, and nothing of what.
	if got := w.do("read", "GET", "/api/v1/activity?limit=5&tool=write_note", ""); strings.Contains(got.text, "New.md") || strings.Contains(got.text, op) || !strings.Contains(got.text, `"tool":"write_note"`) {
		t.Errorf("a call of somebody else: %s", got.text)
	}
	for _, who := range []string{"read", "full"} {
		if got := w.do(who, "GET", "/api/v1/operations/"+op, ""); got.status != 404 {
			t.Errorf("%s sees a change of somebody else: %d %s", who, got.status, got.text)
		}
	}
	if got := w.do("full", "POST", "/api/v1/operations/"+op+"/undo", "{}"); got.status != 404 {
		t.Errorf("a change of somebody else is taken back: %d %s", got.status, got.text)
	}
	if got := w.do("write", "GET", "/api/v1/operations/"+op, ""); !strings.Contains(got.text, "+hello") {
		t.Errorf("no diff in %s", got.text)
	}
	if got := w.do("write", "POST", "/api/v1/operations/"+op+"/undo", `{"operation":"op-other"}`); got.status != 400 {
		t.Errorf("two operations: %d %s", got.status, got.text)
	}
	asked = w.do("write", "POST", "/api/v1/operations/"+op+"/undo", "{}")
	if asked.status != 202 || w.file("New.md") == "" {
		t.Fatalf("undo asks: %d %s", asked.status, asked.text)
	}
	if got := w.do("person", "POST", "/api/v1/approvals/"+asked.str("pending_operation_id")+"/answer", `{"approve":true,"revision":0}`); got.status != 200 || w.file("New.md") != "" {
		t.Errorf("undo: %d %s", got.status, got.text)
	}
	asked = w.do("write", "POST", "/api/v1/operations/"+op+"/redo", "")
	if got := w.do("person", "POST", "/api/v1/approvals/"+asked.str("pending_operation_id")+"/answer", `{"approve":true,"revision":0}`); got.status != 200 || w.file("New.md") != "hello\n" {
		t.Errorf("redo: %d %s", got.status, got.text)
	}
}
