//go:build torture && linux

package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lore/internal/workspace/process/ptytest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if binary = os.Getenv("LORE_BIN"); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "lore-torture-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "lore")
	build := exec.Command("go", "build", "-o", binary, "lore/cmd/lore")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// rounds is how often a random test repeats: n, times TORTURE.
func rounds(n int) int {
	if factor, err := strconv.Atoi(os.Getenv("TORTURE")); err == nil && factor > 0 {
		return n * factor
	}
	return n
}

// A world is one user on one machine: a home, a data folder, a vault.
type world struct {
	t     *testing.T
	dir   string // everything of this world lies below it
	data  string // XDG_DATA_HOME
	vault string
	lower bool // the disk of the vault shows names in lower case
}

// newWorld makes an empty vault and empty user folders.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, data: filepath.Join(dir, "data"), vault: filepath.Join(dir, "vault")}
	for _, d := range []string{w.data, w.vault, filepath.Join(dir, "home"), filepath.Join(dir, "config")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// write puts a note into the vault, as an editor would that knows no better.
func (w *world) write(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.vault, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// read returns the bytes of a note, or "" when there is none.
func (w *world) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.vault, path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

// A result is how one command ended.
type result struct {
	code        int
	out, errOut string
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\nstdout: %s\nstderr: %s", r.code, r.out, r.errOut)
}

// decode reads the JSON that the command printed.
func (r result) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), into); err != nil {
		t.Fatalf("no JSON (%v)\n%v", err, r)
	}
}

// command prepares the program with this world's folders. The built-in model
// is off: nothing here is about meaning, and loading it costs time.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(),
		"HOME="+filepath.Join(w.dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"), "XDG_DATA_HOME="+w.data,
		"LORE_VAULT="+w.vault, "LORE_MODEL=quote", "LORE_KEYRING=off", "LORE_EMBED_MODEL=", "LORE_LOG_LEVEL=")
	return c
}

// lore runs one command to its end.
func (w *world) lore(args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	c := w.command(ctx, args...)
	if ptytest.Needs(args) {
		r := ptytest.Run(w.t, c)
		return result{r.Code, r.Out, r.Err}
	}
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		w.t.Fatalf("lore %q: %v\n%s", args, errors.Join(err, ctx.Err()), errOut.String())
	}
	return result{c.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// mustLore is lore for a command that has to succeed.
func (w *world) mustLore(args ...string) result {
	w.t.Helper()
	r := w.lore(args...)
	if r.code != 0 {
		w.t.Fatalf("lore %q: %v", args, r)
	}
	return r
}
