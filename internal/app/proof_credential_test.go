//go:build !linux

package app

import "syscall"

// credential is what a process of a lab runs as.
func (l *lab) credential() *syscall.SysProcAttr { return nil }
