//go:build servers && linux

package minds

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lore/e2e/minds/scripted"
	"lore/internal/vault/sample"
	"lore/internal/workspace/process/ptytest"
)

// What all tests share: the program, and the server that serves the scripted model.
var (
	program string
	llama   *server
)

// TestMain builds the program as it ships and starts the server. The folder with
// llama-server is in LORE_SERVERS; scripts/llama.sh fills it.
func TestMain(m *testing.M) {
	code, err := with(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e/minds:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func with(m *testing.M) (int, error) {
	folder := os.Getenv("LORE_SERVERS")
	if folder == "" {
		return 0, errors.New("LORE_SERVERS names no folder; use make minds")
	}
	dir, err := os.MkdirTemp("", "lore-minds-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "lore")
	build := exec.Command("go", "build", "-o", program, "lore/cmd/lore")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	model, err := scripted.Model()
	if err != nil {
		return 0, err
	}
	file := filepath.Join(dir, "scripted.gguf")
	if err := os.WriteFile(file, model, 0o600); err != nil {
		return 0, err
	}
	window := fmt.Sprint(scripted.Window)
	if llama, err = start(exec.Command(filepath.Join(folder, "llama-server"), "-m", file, "--alias", "scripted", "--jinja", "-c", window, "-t", "2", "-np", "1", "--host", "127.0.0.1", "--port", "0")); err != nil {
		return 0, err
	}
	defer llama.stop()
	embeds, err := start(exec.Command(filepath.Join(folder, "llama-server"), "-m", file, "--alias", "scripted", "--embeddings", "--pooling", "mean", "-c", "2048", "-t", "1", "--host", "127.0.0.1", "--port", "0"))
	if err != nil {
		return 0, err
	}
	defer embeds.stop()
	llamaEmbeds = embeds.base
	return m.Run(), nil
}

// llamaEmbeds is where the same model turns texts into vectors.
var llamaEmbeds string

// A server is a process that says where it listens.
type server struct {
	cmd  *exec.Cmd
	base string

	mu  sync.Mutex
	log bytes.Buffer
}

var listens = regexp.MustCompile(`(?i)listening on (?:http://)?(127\.0\.0\.1:\d+)`)

func start(cmd *exec.Cmd) (*server, error) {
	s := &server{cmd: cmd}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout = io.Discard
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			s.mu.Lock()
			s.log.WriteString(lines.Text() + "\n")
			s.mu.Unlock()
			if m := listens.FindStringSubmatch(lines.Text()); m != nil {
				found <- "http://" + m[1]
			}
		}
	}()
	base, ok := <-found
	if !ok {
		s.stop()
		return nil, fmt.Errorf("%s ended:\n%s", cmd.Path, s.said())
	}
	s.base = base
	return s, nil
}

// stop ends it with all that it started: Ollama runs a llama-server of its own.
func (s *server) stop() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = s.cmd.Wait()
}

func (s *server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// busy reports whether the server generates.
func (s *server) busy(t *testing.T) bool {
	t.Helper()
	res, err := http.Get(s.base + "/slots")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var slots []struct {
		Processing bool `json:"is_processing"`
	}
	if err := json.NewDecoder(res.Body).Decode(&slots); err != nil || len(slots) == 0 {
		t.Fatal(res.Status, err)
	}
	return slots[0].Processing
}

// A world is a copy of the sample vault, and the server as its provider.
type world struct {
	*testing.T
	vault string
	env   []string
}

// newWorld makes one whose model is spoken to over one of a server's wires.
func newWorld(t *testing.T, wire, base string) *world {
	t.Helper()
	around := t.TempDir()
	w := &world{T: t, vault: filepath.Join(around, "vault")}
	if err := sample.Copy(w.vault); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "LORE_") && name != "EDITOR" && name != "VISUAL" {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "HOME="+filepath.Join(around, "home"), "XDG_DATA_HOME="+filepath.Join(around, "data"), "LORE_LIMITS_WAIT=60", "XDG_CONFIG_HOME="+filepath.Join(around, "config"),
		"LORE_VAULT="+w.vault, "LORE_EMBED_MODEL=none", "NO_COLOR=1", "TERM=xterm")
	if wire == "openai" {
		base += "/v1"
	}
	for key, value := range map[string]string{"providers.box.kind": wire, "providers.box.base_url": base, "providers.box.context": fmt.Sprint(scripted.Window)} {
		w.lore(0, "config", "set", "--yes", key, value)
	}
	w.lore(0, "config", "set", "--yes", "model", "box/scripted")
	return w
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(w.Context()), program, args...)
	cmd.Dir, cmd.Env = w.vault, w.env
	return cmd
}

// lore runs a command to its end, which must be with this exit code, and gives what
// it says on both outputs.
func (w *world) lore(code int, args ...string) (out, notices string) {
	w.Helper()
	cmd := w.command(args...)
	if ptytest.Needs(args) {
		r := ptytest.Run(w.T, cmd)
		if r.Code != code {
			w.Fatalf("lore %q: exit code %d, want %d\n%s%s", args, r.Code, code, r.Out, r.Err)
		}
		return r.Out, r.Err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.Fatalf("lore %q: exit code %d, want %d\n%s%s", args, got, code, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// A told is how a run ended, as programs are told.
type told struct {
	Status, Reason, Answer string
	Chat                   string `json:"chat_id"`
	Run                    string `json:"run_id"`
	Steps                  int
	In                     int `json:"tokens_in"`
	Out                    int `json:"tokens_out"`
	Citations              []struct{ Link, Path, State string }
	Calls                  []struct {
		Tool, State string
		Operation   string `json:"operation_id"`
		Question    string `json:"pending_operation_id"`
	}
}

// mind lets the mind work, and reads how that ended.
func (w *world) mind(code int, args ...string) told {
	w.Helper()
	out, notices := w.lore(code, append(args, "--json")...)
	var r told
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		w.Fatalf("%v\n%s%s", err, out, notices)
	}
	return r
}

// states are the calls of a run in short.
func (r *told) states() string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Tool+" "+c.State)
	}
	return strings.Join(out, ", ")
}

// text is a note; "" when there is none.
func (w *world) text(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.vault, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Fatal(err)
	}
	return string(b)
}

// until waits for what only a broken program never does.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("it never came: %s", what)
}
