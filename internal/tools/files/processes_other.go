//go:build !linux && !darwin

package files

import (
	"runtime"

	"lore/internal/fault"
)

// ownProcesses is not available: the system does not tell whose a process is
// without further rights.
func ownProcesses() ([]Process, error) {
	return nil, fault.New(fault.Unavailable, "list_processes does not work on %s", runtime.GOOS)
}
