//go:build servers && linux

package minds

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A terminal is an interactive shell with a real terminal, in which lore runs.
type terminal struct {
	w      *world
	master *os.File
	cmd    *exec.Cmd

	mu  sync.Mutex
	out bytes.Buffer
	eof chan struct{}
}

// own is what that shell reads when it starts: the one command, in the shell's own
// process group, and its exit code.
const own = "set +m\ntrap : INT\n\"$@\"\nexit $?\n"

// sit starts lore as a person would, in a shell of their own: what descends from
// the test alone counts as the test's, and cannot answer what lore asks.
func (w *world) sit(args ...string) *terminal {
	w.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		w.Skip("no terminals here: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		w.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		w.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = slave.Close() }()
	start := filepath.Join(w.TempDir(), "start")
	line := "set -- "
	for _, word := range append([]string{program}, args...) {
		line += "'" + strings.ReplaceAll(word, "'", `'\''`) + "' "
	}
	if err := os.WriteFile(start, []byte(line+"\n"+own), 0o600); err != nil {
		w.Fatal(err)
	}
	tm := &terminal{w: w, master: master, eof: make(chan struct{}), cmd: exec.Command("sh", "-i")} //nolint:noctx // the test ends it
	tm.cmd.Dir, tm.cmd.Env = w.vault, append(slices.Clone(w.env), "ENV="+start)
	tm.cmd.Stdin, tm.cmd.Stdout, tm.cmd.Stderr = slave, slave, slave
	tm.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := tm.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = tm.kill() // it may have ended
		_ = tm.cmd.Wait()
		_ = master.Close()
	})
	go tm.collect()
	return tm
}

// kill ends the shell and lore at once.
func (tm *terminal) kill() error { return syscall.Kill(-tm.cmd.Process.Pid, syscall.SIGKILL) }

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
	tm.w.Helper()
	ended := false
	until(tm.w.T, text+" on the screen", func() bool {
		if strings.Contains(tm.seen(), text) {
			return true
		}
		if ended {
			tm.w.Fatalf("the program ended without %q:\n%s", text, tm.seen())
		}
		select {
		case <-tm.eof:
			ended = true
		default:
		}
		return false
	})
}

func (tm *terminal) enter(text string) {
	tm.w.Helper()
	if _, err := tm.master.WriteString(text); err != nil {
		tm.w.Fatal(err)
	}
}

// exit waits for the end and returns the exit code.
func (tm *terminal) exit() int {
	<-tm.eof
	_ = tm.cmd.Wait() // the code says it
	return tm.cmd.ProcessState.ExitCode()
}
