//go:build unix

package external

import (
	"os/exec"
	"syscall"
)

// inherited are the variables that every program is given.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR", "USER"}

// alone gives the program a group of its own, so that it ends with all that it
// starts, and Ctrl-C at our terminal is not meant for it.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the program to end, and kill makes it.
func terminate(cmd *exec.Cmd) { send(cmd, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { send(cmd, syscall.SIGKILL) }

func send(cmd *exec.Cmd, s syscall.Signal) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, s) // it may be gone already
	}
}
