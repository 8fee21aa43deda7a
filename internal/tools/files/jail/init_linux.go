package jail

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Places inside the jail.
const (
	workDir  = "/vault"
	ownPath  = "/.lore"
	hostName = "jail"
)

// systemDirs are what programs need, read-only. Links among them stay links.
var systemDirs = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// etcFiles are the settings without which programs do not start. None is secret.
var etcFiles = []string{"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "mime.types", "magic"}

// Main is the part of the program that runs in a jail; ok is false when args are
// not of a jail.
func Main(args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != Sub {
		return 0, false
	}
	switch args[1] {
	case "init":
		return first(), true
	case "exec":
		return second(args[2:]), true
	}
	return 125, true
}

// first is the first process of a jail: it makes the jail around itself, places
// the files, lets the command run, ends everything, and reports what changed.
func first() int {
	unix.CloseOnExec(3)
	// The command must not reach what this process has open: it would write its own
	// report.
	if unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) != nil {
		return 125
	}
	said := os.NewFile(3, "report")
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	dec := gob.NewDecoder(in)
	var rep report
	var s spec
	err := dec.Decode(&s)
	if err == nil {
		rep.Outcome, err = s.carryOut(dec, in)
	}
	if err != nil {
		rep = report{Failed: err.Error()}
	}
	if gob.NewEncoder(said).Encode(rep) != nil {
		return 125
	}
	return 0
}

func (s spec) carryOut(dec *gob.Decoder, in io.Reader) (Outcome, error) {
	// The second process is started while this program can still be found. It
	// waits, and comes along when the root changes.
	next, err := s.prepare()
	if err != nil {
		return Outcome{}, err
	}
	if !s.Made {
		if err := enclose(s.Limits); err != nil {
			return Outcome{}, err
		}
	}
	pl := newPlacer(workDir, s.Files)
	for range s.Files {
		var f File
		if err := dec.Decode(&f); err != nil {
			return Outcome{}, fmt.Errorf("receive the files: %w", err)
		}
		if err := pl.place(f); err != nil {
			return Outcome{}, fmt.Errorf("copy the files: %w", err)
		}
	}
	pl.settle()
	// Nothing more is sent: when the pipe closes, who started the jail is gone.
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(125)
	}()
	var out Outcome
	if err := next.run(s.Limits, &out); err != nil {
		return Outcome{}, err
	}
	return out, pl.collect(s.Limits, &out)
}

// A process is the second one, which becomes the command.
type process struct {
	cmd *exec.Cmd
	go_ *os.File // what it waits for
}

func (s spec) prepare() (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	args := append([]string{Sub, "exec", fmt.Sprint(s.Limits.Memory), fmt.Sprint(s.Limits.FileSize), fmt.Sprint(s.Limits.Processes), fmt.Sprint(s.Limits.OpenFiles), fmt.Sprint(int64(s.Limits.Time/time.Second) + 1)}, s.Argv...)
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=dumb", "USER=jail", "PWD=" + workDir,
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = null, os.Stdout, os.Stderr, []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = w.Close() // nothing was written
		return nil, fmt.Errorf("start the command: %w", err)
	}
	return &process{cmd, w}, nil
}

// run lets the command begin, watches its memory, and ends everything that it
// left behind.
func (p *process) run(l Limits, out *Outcome) error {
	if _, err := p.go_.Write([]byte{1}); err != nil {
		return err
	}
	_ = p.go_.Close() // the byte is there
	// What is held here must not keep the pipes open for who listens.
	_ = os.Stdout.Close()
	_ = os.Stderr.Close()
	watch, end := context.WithCancel(context.Background())
	var tooMuch atomic.Bool
	go func() {
		for watch.Err() == nil {
			if memory() > l.Memory {
				tooMuch.Store(true)
				_ = unix.Kill(-1, unix.SIGKILL) // everything but this process
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	err := p.cmd.Wait()
	end()
	_ = unix.Kill(-1, unix.SIGKILL) // there may be nobody left
	for {
		var st unix.WaitStatus
		if _, err := unix.Wait4(-1, &st, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if tooMuch.Load() {
		out.Stopped = "memory"
	}
	out.Exit, err = exitCode(err)
	return err
}

// memory is what all processes of the jail use, but this one.
func memory() int64 {
	list, err := filepath.Glob("/proc/[0-9]*/statm")
	if err != nil {
		return 0
	}
	own := strconv.Itoa(os.Getpid())
	sum := int64(0)
	for _, at := range list {
		if strings.HasPrefix(at, "/proc/"+own+"/") {
			continue
		}
		text, err := os.ReadFile(at)
		if err != nil {
			continue // it has ended
		}
		if f := strings.Fields(string(text)); len(f) > 2 {
			resident, _ := strconv.ParseInt(f[1], 10, 64) // 0 where it cannot be read
			shared, _ := strconv.ParseInt(f[2], 10, 64)
			sum += (resident - shared) * int64(os.Getpagesize())
		}
	}
	return sum
}
