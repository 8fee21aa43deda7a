package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool"
)

// An mcpClient is another program that started lore mcp.
type mcpClient struct {
	*sdk.ClientSession
	cmd *exec.Cmd
}

// client starts the program as MCP clients do. Its user says yes to everything
// that is asked.
func (l *lab) client(name string, extra ...string) *mcpClient {
	l.t.Helper()
	cmd := l.command(extra, "mcp", "--trust-client")
	cmd.Stderr = &logged{l.t, name}
	c := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
		},
	})
	s, err := c.Connect(l.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		l.t.Fatal(name, err)
	}
	return &mcpClient{s, cmd}
}

// logged shows what a process says, when the test fails.
type logged struct {
	t    *testing.T
	name string
}

func (w *logged) Write(b []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Logf("%s: %s", w.name, b)
	}
	return len(b), nil
}

// use calls a tool and returns the text of the answer.
func (c *mcpClient) use(ctx context.Context, name string, args map[string]any) (string, error) {
	res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, part := range res.Content {
		if t, ok := part.(*sdk.TextContent); ok {
			b.WriteString(t.Text + "\n")
		}
	}
	if res.IsError {
		return "", errors.New(b.String())
	}
	return b.String(), nil
}

func (c *mcpClient) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
}

// A served is lore serve in another process.
type served struct {
	cmd   *exec.Cmd
	base  string
	token string
}

func (l *lab) serve(token string) *served {
	l.t.Helper()
	s := &served{cmd: l.command(nil, "serve", "--listen", "127.0.0.1:0", "--json"), token: token}
	s.cmd.Stderr = &logged{l.t, "serve"}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	var said struct{ Address string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		l.t.Fatal(err)
	}
	s.base = said.Address
	return s
}

func (s *served) get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, b)
	}
	return string(b), err
}

// holder is the id of the process that answers for the vault.
func (l *lab) holder() int {
	l.t.Helper()
	for range 6000 {
		found, err := filepath.Glob(filepath.Join(l.around, "data", "lore", "*", "holder.json"))
		if err != nil {
			l.t.Fatal(err)
		}
		for _, f := range found {
			var card struct{ Process int }
			if b, err := os.ReadFile(f); err == nil && json.Unmarshal(b, &card) == nil {
				return card.Process
			}
		}
		time.Sleep(10 * time.Millisecond) // another process is on its way
	}
	l.t.Fatal("nobody holds the vault")
	return 0
}

// TestManyProcessesOneVault is an ordinary day: three MCP clients, a server and
// a terminal on one vault. Whoever holds it is killed, again and again, and the
// others go on.
func TestManyProcessesOneVault(t *testing.T) {
	l := newLab(t)
	for i := range 20 {
		l.put(fmt.Sprintf("note %d.md", i), fmt.Sprintf("# Note %d\n\nSee [[note %d]].\n", i, i+1))
	}
	r := l.lore(nil, "token", "create", "--yes", "--name", "test", "--scope", "read,write")
	if r.code != 0 {
		t.Fatal(r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := l.serve(strings.TrimSpace(r.out))
	clients := map[string]*mcpClient{}
	for _, name := range []string{"one", "two", "three"} {
		clients[name] = l.client(name)
	}
	if l.holder() != server.cmd.Process.Pid {
		t.Error("the server came first and does not hold the vault")
	}

	// Each writes, each sees what the others wrote, and so do server and terminal.
	for name, c := range clients {
		if _, err := c.use(ctx, "write_note", map[string]any{"path": "by " + name + ".md", "content": "zebra " + name + "\n"}); err != nil {
			t.Fatal(name, err)
		}
	}
	for name, c := range clients {
		found, err := c.use(ctx, "search_notes", map[string]any{"query": "zebra", "mode": "lexical"})
		if err != nil || !strings.Contains(found, "by one.md") || !strings.Contains(found, "by two.md") || !strings.Contains(found, "by three.md") {
			t.Errorf("%s found %s, %v", name, found, err)
		}
	}
	if r := l.lore(nil, "search", "zebra"); r.code != 0 || !strings.Contains(r.out, "by two.md") {
		t.Errorf("the terminal found %+v", r)
	}
	on := slices.DeleteFunc(catalogue(), func(t *tool.Tool) bool { return t.Off })
	if status, err := server.get(ctx, "/api/v1/status"); err != nil || !strings.Contains(status, fmt.Sprintf(`"tools":%d`, len(on))) {
		t.Errorf("%s, %v", status, err)
	}

	// The server is killed while all of them read and write.
	day := l.toil(ctx, clients)
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.cmd.Wait() // it was killed
	for len(clients) > 1 {
		holder := l.holder()
		for name, c := range clients {
			if c.cmd.Process.Pid != holder {
				continue
			}
			day.without(name)
			c.kill(t)
			delete(clients, name)
		}
		day.goOn(50 * len(clients))
	}
	day.end()

	// A server that comes later leans on the client that is left, and stays when
	// that one leaves in order.
	server = l.serve(server.token)
	for _, c := range clients {
		if l.holder() != c.cmd.Process.Pid {
			t.Error("the last client does not hold the vault")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if list, err := server.get(ctx, "/api/v1/tools"); err != nil || !strings.Contains(list, "read_note") {
		t.Errorf("%.200s, %v", list, err)
	}
	if l.holder() != server.cmd.Process.Pid {
		t.Error("the server did not take over")
	}
	if err := server.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Error(err)
	}
	day.check()
}

// toil is what the clients do all the time: they read, and they write notes
// that nobody wrote before.
type toil struct {
	l       *lab
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup
	done    atomic.Int64
	mu      sync.Mutex
	gone    map[string]bool
	written map[string]bool // a note, and whether its author knows that it was written
}

func (l *lab) toil(ctx context.Context, clients map[string]*mcpClient) *toil {
	w := &toil{l: l, gone: map[string]bool{}, written: map[string]bool{}}
	w.ctx, w.stop = context.WithCancel(ctx)
	for name, c := range clients {
		w.wg.Go(func() { w.read(name, c) })
		w.wg.Go(func() { w.write(name, c) })
	}
	return w
}

// left reports whether a client was killed, or the work is over: its errors
// mean nothing then.
func (w *toil) left(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone[name] || w.ctx.Err() != nil
}

func (w *toil) without(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone[name] = true
}

// goOn waits until so much more was done.
func (w *toil) goOn(n int) {
	w.l.t.Helper()
	for until := w.done.Load() + int64(n); w.done.Load() < until; {
		if w.ctx.Err() != nil {
			w.l.t.Fatal("nothing goes on")
		}
		time.Sleep(5 * time.Millisecond) // others work
	}
}

func (w *toil) read(name string, c *mcpClient) {
	for i := 0; !w.left(name); i++ {
		text, err := c.use(w.ctx, "read_note", map[string]any{"path": fmt.Sprintf("note %d.md", i%20)})
		if w.left(name) {
			return
		}
		if err != nil || !strings.Contains(text, fmt.Sprintf("# Note %d\n", i%20)) {
			w.l.t.Errorf("%s read %q, %v", name, text, err)
			return
		}
		w.done.Add(1)
		time.Sleep(2 * time.Millisecond) // a model thinks longer
	}
}

func (w *toil) write(name string, c *mcpClient) {
	for i := 0; !w.left(name); i++ {
		path := fmt.Sprintf("work/%s %d.md", name, i)
		w.mu.Lock()
		w.written[path] = false
		w.mu.Unlock()
		_, err := c.use(w.ctx, "write_note", map[string]any{"path": path, "content": path + "\n"})
		if w.left(name) {
			return
		}
		switch {
		case err == nil:
			w.mu.Lock()
			w.written[path] = true
			w.mu.Unlock()
			w.done.Add(1)
		case !strings.Contains(err.Error(), "ended during the call"):
			w.l.t.Errorf("%s wrote %s: %v", name, path, err)
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (w *toil) end() {
	w.stop()
	w.wg.Wait()
}

// check looks whether every note that was written is there, whole, and once in
// the record.
func (w *toil) check() {
	w.l.t.Helper()
	sure := 0
	for path, certain := range w.written {
		b, err := os.ReadFile(filepath.Join(w.l.dir, filepath.FromSlash(path)))
		switch {
		case err == nil && string(b) != path+"\n":
			w.l.t.Errorf("%s holds %q", path, b)
		case err != nil && certain:
			w.l.t.Errorf("%s was written and is not there: %v", path, err)
		case certain:
			sure++
		}
	}
	if sure < 10 {
		w.l.t.Errorf("only %d notes were written", sure)
	}
	var told struct {
		Activity []struct{ Target []string }
	}
	r := w.l.lore(nil, "call", "get_activity", `{"limit": 200, "tool": "write_note", "status": "done"}`)
	if err := json.Unmarshal([]byte(r.out), &told); err != nil {
		w.l.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range told.Activity {
		for _, path := range a.Target {
			if seen[path] {
				w.l.t.Errorf("%s was written twice", path)
			}
			seen[path] = true
		}
	}
	if len(seen) < 10 {
		w.l.t.Errorf("the record knows of %d notes", len(seen))
	}
	if r := w.l.lore(nil, "audit", "verify"); r.code != 0 {
		w.l.t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(w.l.around, "data", "lore", "*", "holder.json")); len(left) > 0 {
		w.l.t.Errorf("left behind: %v", left)
	}
}

// TestAPageForTheOtherProcess: a client that cannot ask its user is told the
// page of the server that runs beside it, and the command when there is none.
func TestAPageForTheOtherProcess(t *testing.T) {
	l := newLab(t)
	l.put("Tea.md", "# Tea\n")
	server := l.serve("")
	ask := func() string {
		t.Helper()
		cmd := l.command(nil, "mcp", "--hold", "0s")
		s, err := sdk.NewClient(&sdk.Implementation{Name: "mute", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		text, err := (&mcpClient{s, cmd}).use(t.Context(), "delete_note", map[string]any{"path": "Tea.md"})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if got := ask(); !strings.Contains(got, `"approve_url":"`+server.base+`/approvals/pending-`) {
		t.Errorf("beside a server: %s", got)
	}
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.cmd.Wait() // it was killed, and left its address behind
	if got := ask(); strings.Contains(got, "http://") || strings.Contains(got, "lore approvals") || !strings.Contains(got, "A person must approve this in Lore.") {
		t.Errorf("without one: %s", got)
	}
}

// TestADoctorBesideTheHolder: a server that leans on another process looks at the
// vault all the same.
func TestADoctorBesideTheHolder(t *testing.T) {
	l := newLab(t)
	l.put("Tea.md", "# Tea\n")
	holder := l.client("holder")
	server := l.serve("")
	if l.holder() == server.cmd.Process.Pid {
		t.Fatal("the server holds the vault")
	}
	link := l.lore(nil, "login")
	if link.code != 0 {
		t.Fatal(link)
	}
	browser := servetest.SignIn(t, strings.TrimSpace(link.out))
	for _, address := range []string{server.base + "/api/v1/doctor"} {
		res, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(b), `"topic":"audit"`) {
			t.Errorf("%s: %s %.500s %v", address, res.Status, b, err)
		}
	}
	if err := holder.Close(); err != nil {
		t.Error(err)
	}
	if err := server.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestWhoStaysUnderstands: a process that stays gives a new vault its vectors,
// though nothing changes while it stays.
func TestWhoStaysUnderstands(t *testing.T) {
	l := newLab(t)
	for i := range 20 {
		l.put(fmt.Sprintf("Note %d.md", i), fmt.Sprintf("# Note %d\n\nThe kettle is number %d.\n", i, i))
	}
	c := l.client("stays", "LORE_EMBED_MODEL=builtin")
	for i := 0; ; i++ {
		text, err := c.use(t.Context(), "search_notes", map[string]any{"query": "boiling water", "mode": "semantic"})
		if err == nil && strings.Contains(text, "Note ") {
			break
		}
		if i == 200 {
			t.Fatalf("%s, %v", text, err)
		}
		time.Sleep(100 * time.Millisecond) // the model is at work
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// offers reports whether the server lists a tool.
func (c *mcpClient) offers(t *testing.T, name string) bool {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list.Tools, func(tl *sdk.Tool) bool { return tl.Name == name })
}

// TestSettingsCountAtOnce: what the owner excludes or switches off while a
// process holds the vault is no longer given away by it.
func TestSettingsCountAtOnce(t *testing.T) {
	l := newLab(t)
	l.put("open.md", "for all\n")
	l.put("private.md", "for nobody\n")
	holder, thin := l.client("holder"), l.client("thin")
	for _, c := range []*mcpClient{holder, thin} {
		if text, err := c.use(t.Context(), "read_note", map[string]any{"path": "private.md"}); err != nil || !strings.Contains(text, "for nobody") {
			t.Fatal(text, err)
		}
	}
	config := filepath.Join(l.around, "config", "lore", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"[vaults", fmt.Sprintf("[tools]\ndelete_note = 'off'\n\n[vaults.%q]\nexclude = ['private.md']\n", l.dir)} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*mcpClient{thin, holder} {
		for i := 0; ; i++ {
			text, err := c.use(t.Context(), "read_note", map[string]any{"path": "private.md"})
			if err != nil && !strings.Contains(err.Error(), "for nobody") {
				break
			}
			if i == 2000 {
				t.Fatalf("still read: %s", text)
			}
			time.Sleep(10 * time.Millisecond) // the file is looked at now and then
		}
		if text, err := c.use(t.Context(), "read_note", map[string]any{"path": "open.md"}); err != nil || !strings.Contains(text, "for all") {
			t.Error(text, err)
		}
		if text, err := c.use(t.Context(), "delete_note", map[string]any{"path": "open.md", "dry_run": true}); err == nil {
			t.Errorf("a tool that is off answers: %s", text)
		}
		// A call is refused at once; the list of a thin client follows with the news.
		for i := 0; c.offers(t, "delete_note"); i++ {
			if i == 2000 {
				t.Fatal("a tool that is off is offered")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for _, c := range []*mcpClient{thin, holder} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSettingsStopNoChange: a change that is made in the moment after the settings
// changed is made, whether they decide about it or not.
func TestSettingsStopNoChange(t *testing.T) {
	l := newLab(t)
	l.put("open.md", "for all\n")
	holder, thin := l.client("holder"), l.client("thin")
	config := filepath.Join(l.around, "config", "lore", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"model = 'quote'\n", "", "[limits]\ncalls = 250\n", ""} {
		for name, c := range map[string]*mcpClient{"holder": holder, "thin": thin} {
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.use(t.Context(), "write_note", map[string]any{"path": fmt.Sprintf("%s %d.md", name, i), "content": "words\n"}); err != nil {
				t.Errorf("%s, after the settings became %q: %v", name, text, err)
			}
		}
	}
	for _, c := range []*mcpClient{thin, holder} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSettingsChangeUnderCalls: who calls while the settings change, again and
// again, from this process or another one, gets an answer and nothing else.
func TestSettingsChangeUnderCalls(t *testing.T) {
	l := newLab(t)
	holder, thin := l.client("holder"), l.client("thin")
	config := filepath.Join(l.around, "config", "lore", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	change := func(n int) {
		if err := os.WriteFile(config+".new", fmt.Appendf(nil, "[limits]\ncalls = %d\nchanges = 10000\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(config+".new", config); err != nil {
			t.Fatal(err)
		}
	}
	change(10_000)
	var callers sync.WaitGroup
	for name, c := range map[string]*mcpClient{"holder": holder, "thin": thin} {
		for k := range 3 {
			callers.Go(func() {
				for i := range 40 {
					if _, err := c.use(t.Context(), "write_note", map[string]any{"path": fmt.Sprintf("%s %d %d.md", name, k, i), "content": "words\n"}); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	over := make(chan struct{})
	go func() { callers.Wait(); close(over) }()
	for n := 10_001; ; n++ {
		change(n)
		select {
		case <-over:
		case <-time.After(500 * time.Millisecond):
			continue
		}
		break
	}
	for _, c := range []*mcpClient{thin, holder} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
