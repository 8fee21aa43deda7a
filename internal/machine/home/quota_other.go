//go:build !unix

package home

import "syscall"

// errQuota is the error of a disk where this user may store no more.
const errQuota = syscall.ENOSPC
