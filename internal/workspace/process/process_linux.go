package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"lore/internal/tool/access"
)

// System is the table of this machine.
func System() Table { return lookUp }

func lookUp(pid int) (Info, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Info{}, false
	}
	info, ok := parseStat(string(b))
	if !ok {
		return Info{}, false
	}
	if words, err := os.ReadFile(dir + "/cmdline"); err == nil && len(words) > 0 { // a process that ended, or of the kernel, has none
		info.Args = strings.Split(string(bytes.TrimRight(words, "\x00")), "\x00")
	}
	return info, true
}

// The fields of stat after the name, counted from its end: see proc_pid_stat(5).
const (
	fieldParent  = 1
	fieldSession = 3
	fieldStart   = 19
)

// parseStat reads the line of a process. Its name stands in brackets, and may
// hold anything, brackets too.
func parseStat(line string) (Info, bool) {
	from, to := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if from < 1 || to < from {
		return Info{}, false
	}
	fields := strings.Fields(line[to+1:])
	if len(fields) <= fieldStart {
		return Info{}, false
	}
	pid, e1 := strconv.Atoi(strings.TrimSpace(line[:from]))
	parent, e2 := strconv.Atoi(fields[fieldParent])
	session, e3 := strconv.Atoi(fields[fieldSession])
	start, e4 := strconv.ParseUint(fields[fieldStart], 10, 64)
	if e1 != nil || e2 != nil || e3 != nil || e4 != nil {
		return Info{}, false
	}
	return Info{Process: access.Process{PID: pid, Start: start, Name: line[from+1 : to]}, Parent: parent, Leads: session == pid}, true
}
