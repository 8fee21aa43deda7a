package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lore/internal/fault"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// Main belongs to Linux: a sandbox of macOS needs no part of this program in it.
func Main([]string) (int, bool) { return 0, false }

// run copies the files into a folder of their own and runs the command in a
// sandbox that reaches nothing else.
func run(ctx context.Context, c Command, out func(Stream, []byte)) (o Outcome, err error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return Outcome{}, fault.New(fault.Unavailable, "commands cannot run here: %s does not exist", sandboxExec)
	}
	dir, err := os.MkdirTemp("", "lore-command-")
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // the sandbox compares real paths
		return Outcome{}, err
	}
	pl := newPlacer(dir, len(c.Files))
	for _, f := range c.Files {
		if err := pl.place(f); err != nil {
			return Outcome{}, err
		}
	}
	pl.settle()
	if err := inSandbox(ctx, dir, c, out, &o); err != nil || o.Stopped != "" {
		return o, err
	}
	return o, pl.collect(c.Limits, &o)
}

func inSandbox(ctx context.Context, dir string, c Command, out func(Stream, []byte), o *Outcome) error {
	limit, cancel := context.WithTimeout(ctx, c.Limits.Time)
	defer cancel()
	// The shell sets the limits and becomes the command; it reads none of its words.
	script := fmt.Sprintf(`ulimit -c 0; ulimit -f %d; ulimit -n %d; ulimit -t %d; exec "$@"`, c.Limits.FileSize/512, c.Limits.OpenFiles, int(c.Limits.Time/time.Second)+1)
	cmd := exec.CommandContext(limit, sandboxExec, append([]string{"-p", profile(dir), "/bin/sh", "-c", script, "sh"}, c.Argv...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + dir, "TMPDIR=" + dir, "LANG=en_US.UTF-8", "TERM=dumb"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var mu sync.Mutex
	cmd.Stdout, cmd.Stderr = &stream{Stdout, out, &mu}, &stream{Stderr, out, &mu}
	err := cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limit.Err() != nil:
		o.Exit, o.Stopped = 128+int(syscall.SIGKILL), "time"
		return nil
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	o.Exit, err = exitCode(err)
	return err
}

// A stream passes on what is written to it.
type stream struct {
	which Stream
	out   func(Stream, []byte)
	mu    *sync.Mutex
}

// Write passes it on.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out(s.which, p)
	return len(p), nil
}

var _ io.Writer = (*stream)(nil)
