// Package ptytest runs a command as a person does who sits at a terminal of
// their own: it has a controlling terminal, somebody types there, and it does
// not descend from the test, which may be the program that asked.
//
// Importing it is enough: the test's own program is started again in between,
// and its init does the rest.
package ptytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A Result is what came of a command. Terminal is what stood on it.
type Result struct {
	Out, Err, Terminal string
	Code               int
	Failure            string // it could not be run
}

type job struct {
	Args, Env []string
	Dir       string
	Typed     []string
}

const (
	stageName = "LORE_PTYTEST_STAGE"
	jobName   = "LORE_PTYTEST_JOB"
	leftName  = "LORE_PTYTEST_LEFT"
)

// Run runs a command to its end. Each time that the command waits after a
// question (a text that ends in "] " or ": "), the next of typed is entered; when
// there is none left, "y".
func Run(t testing.TB, cmd *exec.Cmd, typed ...string) Result {
	t.Helper()
	return run(t, "leave", cmd, typed)
}

// RunChild does the same for a program that makes itself a terminal: the command
// descends from the test.
func RunChild(t testing.TB, cmd *exec.Cmd, typed ...string) Result {
	t.Helper()
	return run(t, "type", cmd, typed)
}

func run(t testing.TB, stage string, cmd *exec.Cmd, typed []string) Result {
	t.Helper()
	env := cmd.Env
	if env == nil { // not that of the processes in between
		env = os.Environ()
	}
	out, err := job{append([]string{cmd.Path}, cmd.Args[1:]...), env, cmd.Dir, typed}.start(t.Context(), stage)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Main is a program that runs the command of its arguments as a person does who
// says yes, for scripts of commands.
func Main() {
	path, err := exec.LookPath(os.Args[1])
	var out Result
	if err == nil {
		out, err = job{append([]string{path}, os.Args[2:]...), os.Environ(), "", nil}.start(context.Background(), "leave")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(out.Out)
	_, _ = os.Stderr.WriteString(out.Err)
	os.Exit(out.Code)
}

// start runs the job in a process of its own, and waits for what comes of it.
func (j job) start(ctx context.Context, stage string) (out Result, err error) {
	text, err := json.Marshal(j)
	if err != nil {
		return out, err
	}
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return out, err
	}
	defer r.Close()
	between := exec.CommandContext(ctx, self)
	between.Env = append(os.Environ(), stageName+"="+stage, jobName+"="+string(text))
	between.ExtraFiles, between.Stderr = []*os.File{w}, os.Stderr
	err = between.Run()
	_ = w.Close() // the other end has it
	if err != nil {
		return out, err
	}
	b, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err == nil && out.Failure != "" {
		err = errors.New(out.Failure)
	}
	return out, err
}

func init() {
	switch os.Getenv(stageName) {
	case "leave": // what it starts has no parent of ours any more
		cmd := exec.Command("/proc/self/exe") //nolint:noctx // it outlives us
		cmd.Env = append(os.Environ(), stageName+"=type", leftName+"=1")
		cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{os.NewFile(3, "result")}, &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "type":
		var j job
		out := Result{Failure: "the job cannot be read"}
		if os.Getenv(leftName) != "" {
			awaitAdoption()
		}
		if json.Unmarshal([]byte(os.Getenv(jobName)), &j) == nil {
			out = j.run()
		}
		_ = json.NewEncoder(os.NewFile(3, "result")).Encode(out) // the test sees that nothing came
		os.Exit(0)
	}
}

func (j job) run() Result {
	master, slave, err := open()
	if err != nil {
		return Result{Failure: err.Error()}
	}
	cmd := exec.Command(j.Args[0], j.Args[1:]...) //nolint:noctx // it ends by itself, or the test does
	cmd.Env, cmd.Dir = j.Env, j.Dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &errs, []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		return Result{Failure: err.Error()}
	}
	_ = slave.Close()
	var wg sync.WaitGroup
	screen := ""
	wg.Go(func() { screen = j.enter(master) })
	err = cmd.Wait()
	wg.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Result{Failure: err.Error()}
	}
	return Result{Out: out.String(), Err: errs.String(), Terminal: screen, Code: cmd.ProcessState.ExitCode()}
}

// awaitAdoption waits until the process in between is gone, so that the chain to
// the test is cut. It holds a pipe of ours open for exactly so long.
func awaitAdoption() {
	parent := os.Getppid()
	for range 5000 {
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", parent))
		own, _ := os.Readlink("/proc/self/exe")
		// A parent that is just ending has no program any more, and is still our
		// parent. Whoever adopts us may hide its program, and stays.
		if parent == 1 || os.Getppid() != parent || err == nil && theirs != own {
			return
		}
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 1_000_000}, nil) // until a condition holds
	}
}

func open() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

// enter reads the terminal and types after each question, until nobody has it.
func (j job) enter(master *os.File) string {
	var seen strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			return seen.String()
		}
		if text := string(buf[:n]); strings.HasSuffix(text, "] ") || strings.HasSuffix(text, ": ") {
			word := "y"
			if len(j.Typed) > 0 {
				word, j.Typed = j.Typed[0], j.Typed[1:]
			}
			_, _ = master.WriteString(word + "\n") // it may be gone
		}
	}
}
