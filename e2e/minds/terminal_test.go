//go:build servers && linux

package minds

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A terminal is a lore process with a real terminal of its own.
type terminal struct {
	w      *world
	master *os.File
	cmd    *exec.Cmd

	mu  sync.Mutex
	out bytes.Buffer
	eof chan struct{}
}

// sit starts lore as a person would.
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
	tm := &terminal{w: w, master: master, eof: make(chan struct{}), cmd: w.command(args...)}
	tm.cmd.Stdin, tm.cmd.Stdout, tm.cmd.Stderr = slave, slave, slave
	tm.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := tm.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = tm.cmd.Process.Kill() // it may have ended
		_ = tm.cmd.Wait()
		_ = master.Close()
	})
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
