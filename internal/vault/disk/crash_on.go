//go:build crash && unix

package disk

import (
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// crashing says that the program was built to be killed at a chosen point.
const crashing = true

// passed counts the points that were passed since the process began.
var passed atomic.Int64

// crashpoint kills the process, as a power switch would end it for the
// program, when it is the point whose number CRASH_AT names. With CRASH_LOG the
// names of all points are written there.
func crashpoint(name string) {
	n := passed.Add(1)
	if at, err := strconv.ParseInt(os.Getenv("CRASH_AT"), 10, 64); err == nil && at == n {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
	if log := os.Getenv("CRASH_LOG"); log != "" {
		if f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString(strconv.FormatInt(n, 10) + " " + name + "\n")
			_ = f.Close()
		}
	}
}
