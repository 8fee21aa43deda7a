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
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"lore/internal/fault"
)

// A spec is what the first process of a jail is told.
type spec struct {
	Argv   []string
	Limits Limits
	Files  int // that follow, one by one
	// Made says that the namespaces and folders are there already: bubblewrap made
	// them.
	Made bool
}

// A report is what it answers.
type report struct {
	Outcome Outcome
	// Failed is why the jail could not be made; nothing ran then.
	Failed string
}

// run tries a jail of namespaces, and then bubblewrap.
func run(ctx context.Context, c Command, out func(Stream, []byte)) (Outcome, error) {
	o, err := start(ctx, namespaced(), c, false, out)
	var refused *refusal
	if !errors.As(err, &refused) {
		return o, err
	}
	wrap, found := wrapped(c.Limits)
	if !found {
		return Outcome{}, fault.Fix(fault.Unavailable, "allow user namespaces, or install bubblewrap", "commands cannot run here: the system does not allow the namespaces that the sandbox needs (%s), and bubblewrap is not installed", refused.why)
	}
	o, err = start(ctx, wrap, c, true, out)
	if errors.As(err, &refused) {
		return Outcome{}, fault.Fix(fault.Unavailable, "allow user namespaces", "commands cannot run here: the system does not allow the namespaces that the sandbox needs (%s)", refused.why)
	}
	return o, err
}

// A refusal says that the system does not let a jail be made; nothing ran.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

// namespaced is this program, in namespaces of its own. Root becomes nobody: the
// limit on processes does not hold for root.
func namespaced() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", Sub, "init")
	cmd.Args[0] = os.Args[0] // programs that hold this one, such as tests, look at it
	attr := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL, Setsid: true,
	}
	if os.Geteuid() == 0 {
		attr.UidMappings[0].HostID, attr.GidMappings[0].HostID = nobody, nobody
		attr.GidMappingsEnableSetgroups = true
		attr.Credential = &syscall.Credential{Uid: 0, Gid: 0}
	}
	cmd.SysProcAttr = attr
	return cmd
}

// nobody is the user without rights, by the number that systems share.
const nobody = 65534

// start starts the first process of a jail, sends the files and waits. The
// thread that starts it stays until the end: the system kills the child of a
// thread that is gone.
func start(ctx context.Context, cmd *exec.Cmd, c Command, made bool, out func(Stream, []byte)) (Outcome, error) {
	type answer struct {
		o   Outcome
		err error
	}
	done := make(chan answer, 1)
	go func() {
		runtime.LockOSThread()
		o, err := attend(ctx, cmd, c, made, out)
		done <- answer{o, err}
	}()
	a := <-done
	return a.o, a.err
}

func attend(ctx context.Context, cmd *exec.Cmd, c Command, made bool, out func(Stream, []byte)) (Outcome, error) {
	pipes, err := newPipes(4)
	if err != nil {
		return Outcome{}, err
	}
	defer pipes.close()
	files, stdout, stderr, said := pipes[0], pipes[1], pipes[2], pipes[3]
	cmd.Env = []string{"GOMAXPROCS=2", "PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = files.r, stdout.w, stderr.w, []*os.File{said.w}
	if err := cmd.Start(); err != nil {
		return Outcome{}, &refusal{plain(err)}
	}
	// From here on only the jail holds its ends.
	files.r.Close()
	stdout.w.Close()
	stderr.w.Close()
	said.w.Close()
	limit, cancel := context.WithTimeout(ctx, c.Limits.Time)
	defer cancel()
	stop := context.AfterFunc(limit, func() { _ = cmd.Process.Kill() }) // it may have ended; its namespace dies with it
	defer stop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	forward := func(s Stream, r io.Reader) {
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				mu.Lock()
				out(s, buf[:n])
				mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}
	wg.Go(func() { forward(Stdout, stdout.r) })
	wg.Go(func() { forward(Stderr, stderr.r) })
	_, _ = unix.FcntlInt(files.w.Fd(), unix.F_SETPIPE_SZ, 1<<20) // it only helps
	wg.Go(func() { send(files.w, c, made) })
	var rep report
	decodeErr := gob.NewDecoder(io.LimitReader(said.r, 4*c.Limits.Changes+(64<<20))).Decode(&rep)
	waitErr := cmd.Wait()
	wg.Wait()
	switch {
	case rep.Failed != "":
		return Outcome{}, &refusal{rep.Failed}
	case decodeErr == nil:
		return rep.Outcome, nil
	case ctx.Err() != nil:
		return Outcome{}, ctx.Err()
	case limit.Err() != nil:
		return Outcome{Exit: 128 + int(syscall.SIGKILL), Stopped: "time"}, nil
	}
	return Outcome{}, &refusal{fmt.Sprintf("the jail ended early: %v", waitErr)}
}

// send tells the first process what to do. The pipe stays open until the end: when
// it closes, this process is gone, and the jail ends.
func send(w io.Writer, c Command, made bool) {
	b := bufio.NewWriterSize(w, 1<<20)
	enc := gob.NewEncoder(b)
	// An error means that the jail has ended, which its report tells.
	if enc.Encode(spec{Argv: c.Argv, Limits: c.Limits, Files: len(c.Files), Made: made}) != nil {
		return
	}
	for _, f := range c.Files {
		if enc.Encode(f) != nil {
			return
		}
	}
	_ = b.Flush()
}

// plain is an error of the system without the program that could not be started.
func plain(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

type pipe struct{ r, w *os.File }

type pipes []pipe

func newPipes(n int) (pipes, error) {
	var out pipes
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			out.close()
			return nil, err
		}
		out = append(out, pipe{r, w})
	}
	return out, nil
}

// close closes what is still open.
func (p pipes) close() {
	for _, one := range p {
		_ = one.r.Close() // closing twice does nothing
		_ = one.w.Close()
	}
}

// wrapped is this program in a jail that bubblewrap makes, if that is installed.
// Root becomes nobody here, too, and must be able to find the program as nobody.
func wrapped(l Limits) (*exec.Cmd, bool) {
	at, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, false
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, false
	}
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv",
		"--cap-drop", "ALL", "--hostname", hostName, "--proc", "/proc", "--dev", "/dev", "--dir", "/etc",
		"--size", fmt.Sprint(l.Disk), "--tmpfs", workDir, "--size", fmt.Sprint(l.Disk), "--tmpfs", "/tmp",
	}
	for _, dir := range systemDirs {
		if to, err := os.Readlink("/" + dir); err == nil {
			args = append(args, "--symlink", to, "/"+dir)
			continue
		}
		args = append(args, "--ro-bind-try", "/"+dir, "/"+dir)
	}
	for _, f := range etcFiles {
		args = append(args, "--ro-bind-try", "/etc/"+f, "/etc/"+f)
	}
	args = append(args, "--ro-bind", exe, ownPath, "--remount-ro", "/", "--chdir", "/", "--", ownPath, Sub, "init")
	cmd := exec.Command(at, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd, true
}
