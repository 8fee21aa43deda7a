//go:build unix && !linux && !darwin

package disk

import "golang.org/x/sys/unix"

const xattrPrefix = "user."

func exchangeAt(int, string, int, string) error { return unix.ENOTSUP }
func moveNewAt(int, string, int, string) error  { return unix.ENOTSUP }
func syncAllAt(int) error                       { return unix.ENOTSUP }

// mountOf is not known here: a disk is mounted once.
func mountOf(int) uint64 { return 0 }

// BootID is not known here: after every crash the vault is walked.
func BootID() string { return "" }
