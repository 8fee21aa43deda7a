// Package e2e plays transcripts of the command line: what a person types, what
// is answered, and with which exit code. The program runs as a process of its
// own, made of this test's binary, in folders of the script alone.
package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lore/internal/app"
	"lore/internal/vault/sample"
	"lore/internal/workspace/process/ptytest"
)

var update = flag.Bool("update", false, "write what the program answers into the transcripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lore": lore, "person": ptytest.Main})
}

// lore is the program's main.
func lore() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := app.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func TestScripts(t *testing.T) {
	dir := filepath.Join("testdata", "script")
	var files []string
	if raced {
		// Each command starts slowly under the race detector, and most of them
		// run one after the other: these have something to race.
		for _, name := range []string{"two_processes", "at_once", "index", "damage"} {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": cmdCode, "sample": cmdSample, "seal": cmdSeal, "index": cmdIndex, "await": cmdAwait, "until": cmdUntil, "fill": cmdFill,
		},
	})
}

// setUp gives the script a home of its own, so that no setting and no index of
// the person who runs the tests is seen.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
	for _, name := range []string{"LORE_VAULT", "LORE_LOG_LEVEL", "LORE_EMBED_MODEL", "NO_COLOR"} {
		env.Setenv(name, "")
	}
	env.Setenv("LORE_MODEL", "quote") // whatever runs on this machine
	env.Setenv("LORE_KEYRING", "off")
	env.Setenv("LORE_LIMITS_WAIT", "60") // a machine at work is no reason to be behind
	return nil
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "casefold":
		return runtime.GOOS == "darwin" || runtime.GOOS == "windows", nil
	case "sandbox": // not every container may make namespaces
		return exec.Command("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "true").Run() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// cmdCode runs a command and compares its exit code: code 2 lore search.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code NUMBER COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdSample copies the sample vault to a folder: sample vault.
func cmdSample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sample FOLDER")
	}
	ts.Check(sample.Copy(ts.MkAbs(args[0])))
}

// cmdSeal remembers what is in a folder, the second time compares it: names,
// content, permissions and times of change.
func cmdSeal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: seal FOLDER")
	}
	key := "SEAL_" + strings.Map(func(r rune) rune {
		if r == '/' || r == '.' || r == ' ' {
			return '_'
		}
		return r
	}, args[0])
	sum := seal(ts, ts.MkAbs(args[0]))
	switch old := ts.Getenv(key); old {
	case "":
		ts.Setenv(key, sum)
	case sum:
	default:
		ts.Fatalf("%s was changed", args[0])
	}
}

func seal(ts *testscript.TestScript, dir string) string {
	h := sha256.New()
	ts.Check(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v %d\n", p, info.Mode(), info.ModTime().UnixNano())
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		_, _ = h.Write(b)
		return err
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// cmdFill copies a file and fills in the variables that it names: fill FROM TO.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), func(name string) string { return filepath.ToSlash(ts.Getenv(name)) })
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// cmdIndex does something to the only index of the script: index remove,
// index garbage, index cut, index middle, index version, index empty.
func cmdIndex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: index WHAT")
	}
	found, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_DATA_HOME"), "lore", "*", "index.db"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d indexes", len(found))
	}
	path := found[0]
	b, err := os.ReadFile(path)
	ts.Check(err)
	switch args[0] {
	case "remove":
		ts.Check(os.Remove(path))
		return
	case "garbage":
		b = []byte(strings.Repeat("this is no database. ", 1000))
	case "empty":
		b = nil
	case "cut":
		b = b[:len(b)/3]
	case "middle":
		// The header and the schema stay good, everything after them does not.
		for i := 4096 * 2; i < len(b); i++ {
			b[i] = 0xa5
		}
	case "version":
		b[60], b[61], b[62], b[63] = 0, 0, 1, 0 // user_version of the file's header
	default:
		ts.Fatalf("index %s: unknown", args[0])
	}
	ts.Check(os.WriteFile(path, b, 0o600))
}

// cmdAwait waits until a file exists: await $XDG_DATA_HOME/lore/*/index.db. It
// is the sign that a process in the background holds the index.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await PATTERN")
	}
	poll(ts, "no file "+args[0], func() bool {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		return len(found) > 0
	})
}

// cmdUntil repeats a command until it prints a text: until fresh lore search x.
// A process that watches a folder hears of a change when the system tells it.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT COMMAND...")
	}
	poll(ts, "never printed: "+args[0], func() bool {
		ts.Check(ts.Exec(args[1], args[2:]...))
		return strings.Contains(ts.ReadFile("stdout"), args[0])
	})
}

// poll asks again and again, up to a limit that only a broken program reaches.
func poll(ts *testscript.TestScript, failure string, done func() bool) {
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	ts.Fatalf("%s", failure)
}
