package process

import (
	"golang.org/x/sys/unix"

	"lore/internal/tool/access"
)

// System is the table of this machine. It does not tell the words that a process
// was started with.
func System() Table { return lookUp }

func lookUp(pid int) (Info, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Info{}, false
	}
	start := k.Proc.P_starttime
	session, err := unix.Getsid(pid)
	return Info{
		Process: access.Process{PID: pid, Start: uint64(start.Sec)*1_000_000 + uint64(start.Usec), Name: unix.ByteSliceToString(k.Proc.P_comm[:])},
		Parent:  int(k.Eproc.Ppid), Leads: err == nil && session == pid,
	}, true
}
