//go:build clients && linux

// Package servers lets Lore use MCP servers that others wrote and published: it
// starts them, calls them, kills them and updates them. make servers installs
// them first.
package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/app"
	"lore/internal/workspace/process/ptytest"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "lore" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := app.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A bench is a vault, a home, and the program beside them.
type bench struct {
	t         *testing.T
	dir, node string
	installed string
	env       []string
	client    *sdk.ClientSession
	log       *bytes.Buffer
	pid       int

	changed chan struct{}
	mu      sync.Mutex
}

func newBench(t *testing.T) *bench {
	t.Helper()
	installed, err := filepath.Abs(filepath.Join("..", "clients", "node_modules")) // by scripts/node.sh
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir(), installed: installed, changed: make(chan struct{}, 100), log: &bytes.Buffer{}}
	if found, _ := filepath.Glob(filepath.Join(b.installed, "node-linux-*", "bin", "node")); len(found) > 0 {
		b.node = found[0]
	} else if b.node, err = exec.LookPath("node"); err != nil {
		t.Fatalf("%v; run scripts/node.sh", err)
	}
	for _, d := range []string{"vault", "home", "config/lore", "data", "files"} {
		if err := os.MkdirAll(filepath.Join(b.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.write("vault/Tea.md", "# Tea\n")
	b.write("files/hello.txt", "hello from a file\n")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(b.dir, "lore"))
	}
	if err != nil {
		t.Fatal(err)
	}
	b.env = []string{
		"HOME=" + filepath.Join(b.dir, "home"), "XDG_CONFIG_HOME=" + filepath.Join(b.dir, "config"), "XDG_DATA_HOME=" + filepath.Join(b.dir, "data"), "LORE_LIMITS_WAIT=60",
		"PATH=" + os.Getenv("PATH"), "LORE_VAULT=" + filepath.Join(b.dir, "vault"), "LORE_EMBED_MODEL=none", "OPENAI_API_KEY=CANARY-openai", "GITHUB_TOKEN=CANARY-github",
	}
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path+".part", []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		b.t.Fatal(err)
	}
}

// server is an entry that starts a package.
func (b *bench) server(pkg string, env map[string]string, args ...string) map[string]any {
	main := filepath.Join(b.installed, filepath.FromSlash(pkg), "dist", "index.js")
	return map[string]any{"command": b.node, "args": append([]string{main}, args...), "env": env}
}

func (b *bench) servers(list map[string]any) {
	b.t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": list})
	if err != nil {
		b.t.Fatal(err)
	}
	b.write("config/lore/servers.json", string(raw))
}

// lore runs one command.
func (b *bench) lore(code int, args ...string) string {
	b.t.Helper()
	cmd := exec.Command(filepath.Join(b.dir, "lore"), args...)
	cmd.Env = b.env
	if ptytest.Needs(args) {
		r := ptytest.Run(b.t, cmd)
		if r.Code != code {
			b.t.Fatalf("lore %q: %+v", args, r)
		}
		return r.Out
	}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		b.t.Fatalf("lore %q: %v\n%s%s", args, err, out, &errOut)
	}
	return string(out)
}

// start runs lore mcp, as a client does.
func (b *bench) start() {
	b.t.Helper()
	cmd := exec.Command(filepath.Join(b.dir, "lore"), "mcp", "--toolsets", "external", "--log-level", "debug")
	cmd.Env, cmd.Stderr = b.env, &locked{b: b}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { b.changed <- struct{}{} },
	})
	var err error
	if b.client, err = c.Connect(b.t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: 10 * time.Second}, nil); err != nil {
		b.t.Fatal(err)
	}
	b.pid = cmd.Process.Pid
	b.t.Cleanup(func() {
		_ = b.client.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		if strings.Contains(b.log.String(), "CANARY") {
			b.t.Error("a key is in the log")
		}
		if b.t.Failed() {
			b.t.Logf("%s", b.log)
		}
	})
}

type locked struct{ b *bench }

func (l *locked) Write(p []byte) (int, error) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.b.log.Write(p)
}

// tools lists what the client sees, by server.
func (b *bench) tools() map[string][]string {
	b.t.Helper()
	out := map[string][]string{}
	for t, err := range b.client.Tools(b.t.Context(), nil) {
		if err != nil {
			b.t.Fatal(err)
		}
		server, name, _ := strings.Cut(strings.TrimPrefix(t.Name, "mcp__"), "__")
		out[server] = append(out[server], name)
	}
	return out
}

// until waits for news of the list of tools until it fits.
func (b *bench) until(what string, fits func(map[string][]string) bool) map[string][]string {
	b.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(500 * time.Millisecond) // what a person decides is no news to a client
	defer tick.Stop()
	for {
		all := b.tools()
		if fits(all) {
			return all
		}
		select {
		case <-b.changed:
		case <-tick.C:
		case <-deadline:
			b.t.Fatalf("in vain until %s: %v", what, all)
		}
	}
}

// call calls a tool as a person who approves it; lore mcp carries it out.
func (b *bench) call(tool, args string) map[string]any {
	b.t.Helper()
	var q struct {
		ID string `json:"pending_operation_id"`
	}
	if err := json.Unmarshal([]byte(b.lore(3, "call", tool, args)), &q); err != nil {
		b.t.Fatal(err)
	}
	var res map[string]any
	if err := json.Unmarshal([]byte(b.lore(0, "approvals", "approve", q.ID, "--json")), &res); err != nil {
		b.t.Fatal(err)
	}
	if res["untrusted"] != true {
		b.t.Errorf("%s: not marked as untrusted: %v", tool, res)
	}
	return res
}

func (b *bench) says(tool, args, want string) {
	b.t.Helper()
	if res := b.call(tool, args); !strings.Contains(fmt.Sprint(res["text"]), want) {
		b.t.Errorf("%s says %v", tool, res)
	}
}

// kill ends the program of a server, as it would end by itself.
func (b *bench) kill(script string) {
	b.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range all {
		line, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(line, []byte(script)) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(f), "stat"))
		if err != nil {
			continue
		}
		rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && rest[1] == strconv.Itoa(b.pid) { // a child of ours
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				b.t.Fatal(err)
			}
			return
		}
	}
	b.t.Fatalf("no program runs %s", script)
}

func (b *bench) all(files string) map[string]any {
	return map[string]any{
		"everything": b.server("@modelcontextprotocol/server-everything", nil),
		"files":      b.server(files, nil, filepath.Join(b.dir, "files")),
		"memory":     b.server("@modelcontextprotocol/server-memory", map[string]string{"MEMORY_FILE_PATH": filepath.Join(b.dir, "memory.json")}),
	}
}

const newFiles, oldFiles = "@modelcontextprotocol/server-filesystem", "filesystem-before"

func TestPublishedServers(t *testing.T) {
	b := newBench(t)
	b.servers(b.all(newFiles))
	b.start()
	all := b.until("three servers are there", func(m map[string][]string) bool { return len(m) == 3 })
	t.Logf("%d, %d and %d tools", len(all["everything"]), len(all["files"]), len(all["memory"]))

	b.says("mcp__everything__echo", `{"message": "tea"}`, "tea")
	b.says("mcp__files__read_text_file", fmt.Sprintf(`{"path": %q}`, filepath.Join(b.dir, "files", "hello.txt")), "hello from a file")
	b.says("mcp__memory__create_entities", `{"entities": [{"name": "Tea", "entityType": "drink", "observations": ["hot"]}]}`, "Tea")
	b.says("mcp__memory__read_graph", `{}`, "hot")
	env := fmt.Sprint(b.call("mcp__everything__get-env", `{}`)["text"])
	if !strings.Contains(env, "PATH") || strings.Contains(env, "CANARY") {
		t.Errorf("the server sees %s", env)
	}
	image := b.call("mcp__everything__get-tiny-image", `{}`)
	if parts, ok := image["parts"].([]any); !ok || len(parts) != 1 || strings.Contains(fmt.Sprint(image), "iVBOR") {
		t.Errorf("%v", image)
	}

	b.kill("server-memory")
	now := b.until("memory is gone", func(m map[string][]string) bool { return m["memory"] == nil })
	if len(now["everything"]) != len(all["everything"]) || len(now["files"]) != len(all["files"]) {
		t.Errorf("others went with it: %v", now)
	}
	b.until("memory is back", func(m map[string][]string) bool { return len(m["memory"]) == len(all["memory"]) })
	b.says("mcp__memory__read_graph", `{}`, "hot")
}

// A change is what a tool was, and what it would be.
type change struct{ Old, New string }

// changes are the tools of the server files that wait for a person.
func (b *bench) changes() map[string]change {
	b.t.Helper()
	var shown struct {
		Tools []struct {
			Own    string `json:"own_name"`
			Change *change
		}
	}
	if err := json.Unmarshal([]byte(b.lore(0, "servers", "tools", "files", "--offline", "--json")), &shown); err != nil {
		b.t.Fatal(err)
	}
	out := map[string]change{}
	for _, t := range shown.Tools {
		if t.Change != nil {
			out[t.Own] = *t.Change
		}
	}
	return out
}

// TestUpdate brings a newer version of a server, whose tools say other things.
func TestUpdate(t *testing.T) {
	b := newBench(t)
	b.servers(b.all(oldFiles))
	b.start()
	before := b.until("three servers are there", func(m map[string][]string) bool { return len(m) == 3 })

	b.servers(b.all(newFiles))
	after := b.until("some tools wait for a person", func(m map[string][]string) bool {
		return len(m["files"]) < len(before["files"]) && len(b.changes()) > 0
	})
	if !slices.Equal(after["everything"], before["everything"]) || !slices.Equal(after["memory"], before["memory"]) {
		t.Errorf("others changed with it: %v", after)
	}
	changed := b.changes()
	for own, c := range changed {
		if c.Old == c.New || slices.Contains(after["files"], own) {
			t.Errorf("%s: is used, or nothing changed: %+v", own, c)
		}
	}
	one := slices.Sorted(maps.Keys(changed))[0]
	if out := b.lore(4, "call", "mcp__files__"+one, "{}"); !strings.Contains(out, "lore servers accept") {
		t.Errorf("%s", out)
	}
	b.lore(0, "servers", "accept", "files", "--yes")
	back := b.until("all are back", func(m map[string][]string) bool { return len(m["files"]) >= len(before["files"]) })
	t.Logf("%d of %d tools changed by the update, %d after it", len(changed), len(before["files"]), len(back["files"]))
}
