//go:build !linux

// Package ptytest runs a command as a person does who sits at a terminal of
// their own.
package ptytest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// A Result is what came of a command. Terminal is what stood on it.
type Result struct {
	Out, Err, Terminal string
	Code               int
}

// Run skips the test: there are no terminals for it here.
func Run(t testing.TB, _ *exec.Cmd, _ ...string) Result {
	t.Helper()
	t.Skip("no terminals here")
	return Result{}
}

// RunChild does the same.
func RunChild(t testing.TB, cmd *exec.Cmd, typed ...string) Result {
	t.Helper()
	return Run(t, cmd, typed...)
}

// Main says that there are no terminals here.
func Main() {
	fmt.Fprintln(os.Stderr, "no terminals here")
	os.Exit(1)
}
