//go:build clients

// Package clients lets programs that are not ours judge Lore: the official
// conformance suites of MCP, the MCP inspector, the TypeScript SDKs and an
// OpenAPI validator. make conformance installs them and runs this package.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/vault/sample"
	"lore/internal/workspace/process/ptytest"
)

// modules is where scripts/node.sh installs them.
const modules = "node_modules"

// patience is how long one program may take. Only a broken one needs it.
const patience = 2 * time.Minute

// A world is a vault, a home, and everything that runs in them.
type world struct {
	t     *testing.T
	vault string
	home  string
	env   []string
	lore  string
	// judged is lore with what conformance suites ask for.
	judged string
	node   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, vault: filepath.Join(t.TempDir(), "vault"), home: t.TempDir()}
	var err error
	if w.lore, err = filepath.Abs(filepath.Join("..", "..", "bin", "lore")); err != nil {
		t.Fatal(err)
	}
	w.judged = w.lore + "-judged"
	for _, name := range []string{w.lore, w.judged} {
		if _, err := os.Stat(name); err != nil {
			t.Fatalf("%v; run make clients", err)
		}
	}
	w.node = node(t)
	if err := sample.Copy(w.vault); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "LORE_") && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "MCP_") && name != "HOME" {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "HOME="+w.home, "LORE_EMBED_MODEL=none", "NO_COLOR=1", "PATH="+filepath.Dir(w.node)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return w
}

// node is the one that was installed with the programs, or the system's.
func node(t *testing.T) string {
	t.Helper()
	if found, _ := filepath.Glob(filepath.Join(modules, "node-linux-*", "bin", "node")); len(found) > 0 {
		path, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v; run scripts/node.sh", err)
	}
	return path
}

// command prepares a program. It is ended with the test.
func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = w.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// An output is what a program printed, and how it ended.
type output struct {
	out, err string
	code     int
}

func (o output) String() string { return fmt.Sprintf("exit code %d\n%s\n%s", o.code, o.out, o.err) }

// try runs a program to its end.
func (w *world) try(name string, args ...string) output {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience) // also when the test ends
	defer cancel()
	cmd := w.command(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s %q: %v", name, args, err)
	}
	return output{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// run runs the program itself, and wants success.
func (w *world) run(args ...string) string {
	w.t.Helper()
	o := w.try(w.lore, append([]string{"--vault", w.vault}, args...)...)
	if o.code != 0 {
		w.t.Fatalf("lore %q: %s", args, o)
	}
	return o.out
}

// script runs a program of Node.
func (w *world) script(path string, args ...string) output {
	w.t.Helper()
	return w.try(w.node, append([]string{path}, args...)...)
}

// read is a note as it lies on the disk; "" when there is none.
func (w *world) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.vault, filepath.FromSlash(path)))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

// The addresses of a running server.
type server struct {
	Address  string // of the shell
	Fixtures string // of the endpoint without tokens
}

// serve starts lore serve and ends it with the test.
func (w *world) serve(flags ...string) server {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(w.t.Context()))
	cmd := w.command(ctx, w.lore, append([]string{"serve", w.vault, "--listen", "127.0.0.1:0", "--json", "--hold", "0s"}, flags...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		stop()
		_, _ = io.Copy(io.Discard, out) // it has nothing more to say
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			w.t.Errorf("lore serve: %v\n%s", err, log.String())
		}
		if w.t.Failed() {
			w.t.Logf("lore serve logged:\n%s", log.String())
		}
	})
	var s server
	want := func() bool { return s.Address == "" || len(flags) > 0 && s.Fixtures == "" }
	for d := json.NewDecoder(out); want(); {
		if err := d.Decode(&s); err != nil {
			w.t.Fatalf("lore serve: %v\n%s", err, log.String())
		}
	}
	return s
}

// token makes one for programs.
func (w *world) token(scopes string) string {
	w.t.Helper()
	args := []string{"token", "create", "--yes", "--name", "test " + scopes, "--scope", scopes}
	if strings.Contains(scopes, "confirm") { // a person has to say so
		return strings.TrimSpace(ptytest.Run(w.t, w.command(w.t.Context(), w.lore, append([]string{"--vault", w.vault}, args...)...)).Out)
	}
	return strings.TrimSpace(w.run(args...))
}
