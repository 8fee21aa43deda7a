//go:build unix

package files

import "syscall"

// noWait opens a pipe at once instead of waiting for who writes into it.
const noWait = syscall.O_NONBLOCK
