package files

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"

	"lore/internal/fault"
)

// ownProcesses lists the processes of the user who runs this one.
func ownProcesses() ([]Process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the processes cannot be listed: %v", err)
	}
	var out []Process
	for _, k := range list {
		name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
		out = append(out, Process{PID: int(k.Proc.P_pid), Parent: int(k.Eproc.Ppid), Name: string(name)})
	}
	return out, nil
}
