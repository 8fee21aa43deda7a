package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lore/internal/workspace/process/ptytest"
)

// A terminal is a lore process with a real terminal of its own.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu  sync.Mutex
	out bytes.Buffer
	eof chan struct{}
}

// onTerminal starts lore in a folder as a person would.
func onTerminal(t *testing.T, dir string, args ...string) *terminal {
	t.Helper()
	return onTerminalOf(t, unix.Winsize{}, nil, dir, args...)
}

// onTerminalOf does so on a terminal of a size, with more in its environment.
func onTerminalOf(t *testing.T, size unix.Winsize, env []string, dir string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slave.Close() }()
	if size.Col > 0 {
		if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &size); err != nil {
			t.Fatal(err)
		}
	}
	lore, err := exec.LookPath("lore")
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, master: master, eof: make(chan struct{})}
	tm.cmd = exec.CommandContext(t.Context(), lore, args...)
	tm.cmd.Dir = dir
	tm.cmd.Stdin, tm.cmd.Stdout, tm.cmd.Stderr = slave, slave, slave
	tm.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	tm.cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	if err := tm.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go tm.collect()
	return tm
}

func (tm *terminal) collect() {
	defer close(tm.eof)
	buf := make([]byte, 4096)
	for {
		n, err := tm.master.Read(buf)
		tm.mu.Lock()
		tm.out.Write(buf[:n])
		tm.mu.Unlock()
		if err != nil {
			return // the other end was closed
		}
	}
}

func (tm *terminal) seen() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.out.String()
}

// await waits until the screen has shown a text.
func (tm *terminal) await(text string) {
	tm.t.Helper()
	for range 1200 {
		if strings.Contains(tm.seen(), text) {
			return
		}
		select {
		case <-tm.eof:
			if !strings.Contains(tm.seen(), text) {
				tm.t.Fatalf("the program ended without %q:\n%s", text, tm.seen())
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	tm.t.Fatalf("%q never came:\n%s", text, tm.seen())
}

func (tm *terminal) enter(text string) {
	tm.t.Helper()
	if _, err := tm.master.WriteString(text); err != nil {
		tm.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code.
func (tm *terminal) exit() int {
	tm.t.Helper()
	<-tm.eof
	_ = tm.cmd.Wait() // the code says it
	return tm.cmd.ProcessState.ExitCode()
}

func run(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "lore", args...)
	cmd.Dir = dir
	if ptytest.Needs(args) {
		r := ptytest.Run(t, cmd)
		return r.Out + r.Err, r.Code
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func fileText(t *testing.T, vault, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vault, name))
	if err != nil {
		return "(none)"
	}
	return string(b)
}

const prompt = "Apply? [y/n/s/e/d/?]"

// asked waits until an answer to a question is waited for. What is typed while
// the question is still being shown counts for nothing.
func (tm *terminal) asked(question string) {
	tm.t.Helper()
	tm.await("\x1b[2m" + question) // only the line of the prompt is dim, and it is written at once
}

func TestAskedAtATerminal(t *testing.T) {
	vault := home(t)
	before := fileText(t, vault, "Notes/Matcha.md")
	edit := []string{"edit", "Matcha", "--under-heading", "Matcha", "--text", "A new line."}

	t.Run("no", func(t *testing.T) {
		tm := onTerminal(t, vault, edit...)
		tm.await(prompt)
		if s := tm.seen(); !strings.Contains(s, "\x1b[32m+A new line.\x1b[0m") || !strings.Contains(s, "Edit Notes/Matcha.md") {
			t.Errorf("the diff was not shown in colour:\n%q", s)
		}
		tm.enter("maybe\n")
		tm.await("yes, apply exactly this change")
		tm.enter("n\n")
		if code := tm.exit(); code != 4 || fileText(t, vault, "Notes/Matcha.md") != before {
			t.Errorf("exit code %d\n%s", code, tm.seen())
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		tm := onTerminal(t, vault, edit...)
		tm.await(prompt)
		tm.enter("\x03")
		if code := tm.exit(); code != 130 || fileText(t, vault, "Notes/Matcha.md") != before {
			t.Errorf("exit code %d\n%s", code, tm.seen())
		}
		if out, _ := run(t, vault, "approvals"); !strings.Contains(out, "No pending approvals") {
			t.Errorf("a question was left behind: %s", out)
		}
	})
	t.Run("yes", func(t *testing.T) {
		tm := onTerminal(t, vault, edit...)
		tm.await(prompt)
		tm.enter("y\n")
		if code := tm.exit(); code != 0 || !strings.Contains(fileText(t, vault, "Notes/Matcha.md"), "A new line.") {
			t.Errorf("exit code %d\n%s", code, tm.seen())
		}
		if out, code := run(t, vault, "undo", "--yes"); code != 0 || fileText(t, vault, "Notes/Matcha.md") != before {
			t.Errorf("undo: %d %s", code, out)
		}
	})
}

// TestAnsweredFromAnotherTerminal: the first process holds the vault and waits,
// the second one answers, the first one carries it out.
func TestAnsweredFromAnotherTerminal(t *testing.T) {
	vault := home(t)
	tm := onTerminal(t, vault, "delete", "Matcha", "--yes")
	tm.await(prompt) // what destroys asks, --yes or not
	out, code := run(t, vault, "approvals", "show", "pending")
	if code != 0 || !strings.Contains(out, "Delete Notes/Matcha.md") || !strings.Contains(out, "links in other notes will break") {
		t.Errorf("show: %d %s", code, out)
	}
	if out, code := run(t, vault, "write", "other", "--content", "x", "--yes"); code != 0 || fileText(t, vault, "other.md") != "x" {
		t.Errorf("a second process writes through the first: %d %s", code, out)
	}
	if out, code = run(t, vault, "approvals", "approve", "pending"); code != 0 || !strings.Contains(out, "moved Notes/Matcha.md to the trash") {
		t.Errorf("approve: %d %s", code, out)
	}
	if code := tm.exit(); code != 0 || !strings.Contains(tm.seen(), "Answered elsewhere") || fileText(t, vault, "Notes/Matcha.md") != "(none)" {
		t.Errorf("exit code %d\n%s", code, tm.seen())
	}
	if out, code = run(t, vault, "approvals", "approve", "pending"); code == 0 {
		t.Errorf("answered twice: %s", out)
	}
}

func TestChoosingAndEditingAtATerminal(t *testing.T) {
	vault := home(t)
	note := filepath.Join(vault, "list.md")
	text := "one\n" + strings.Repeat("\nfiller\n", 10) + "\ntwo\n"
	if err := os.WriteFile(note, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	diff := "<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n"
	tm := onTerminal(t, vault, "edit", "list", "--diff", diff)
	tm.await(prompt)
	tm.enter("s\n")
	tm.await("Apply part 1 of 2?")
	tm.enter("n\n")
	tm.await("Apply part 2 of 2?")
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || fileText(t, vault, "list.md") != strings.Replace(text, "two", "TWO", 1) {
		t.Errorf("exit code %d\n%s\n%s", code, tm.seen(), fileText(t, vault, "list.md"))
	}

	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/TOO/TWO/ \"$1\"\nsed -i s/three/four/ \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EDITOR", editor)
	t.Setenv("VISUAL", "")
	tm = onTerminal(t, vault, "edit", "list", "--search", "TWO", "--replace", "three")
	tm.await(prompt)
	tm.enter("e\n")
	tm.await("Apply with these arguments?")
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || !strings.HasSuffix(fileText(t, vault, "list.md"), "\nfour\n") {
		t.Errorf("exit code %d\n%s\n%s", code, tm.seen(), fileText(t, vault, "list.md"))
	}
}

// TestALossAcceptedAtATerminal: state.db was deleted. The person says that this is
// known, and the record is sound again.
func TestALossAcceptedAtATerminal(t *testing.T) {
	vault, data := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"HOME": data, "XDG_DATA_HOME": data, "XDG_CONFIG_HOME": data, "LORE_VAULT": vault, "LORE_EMBED_MODEL": "none", "LORE_KEYRING": "off", "LORE_LIMITS_WAIT": "60"} {
		t.Setenv(name, value)
	}
	if out, code := run(t, vault, "call", "write_note", `{"path":"A.md","content":"x"}`, "--yes"); code != 0 {
		t.Fatal(out)
	}
	found, _ := filepath.Glob(filepath.Join(data, "lore", "*", "state.db"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	no := onTerminal(t, vault, "audit", "accept")
	no.await("Type yes")
	no.enter("no\r")
	if code := no.exit(); code == 0 {
		t.Errorf("no was taken for yes: %s", no.seen())
	}
	if out, code := run(t, vault, "audit", "verify"); code == 0 {
		t.Errorf("the loss is not told: %s", out)
	}
	yes := onTerminal(t, vault, "audit", "accept")
	yes.await("Type yes")
	yes.enter("yes\r")
	if code := yes.exit(); code != 0 || !strings.Contains(yes.seen(), "Accepted the loss of") {
		t.Errorf("%d: %s", code, yes.seen())
	}
	if out, code := run(t, vault, "audit", "verify"); code != 0 || !strings.Contains(out, "Lost records were accepted on") {
		t.Errorf("%d: %s", code, out)
	}
}
