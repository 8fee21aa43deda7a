package files

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"lore/internal/fault"
)

// maxCommand is how much of a command line is told.
const maxCommand = 300

// ownProcesses lists the processes of the user who runs this one.
func ownProcesses() ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the processes cannot be listed: %v", err)
	}
	uid := uint32(os.Getuid())
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it has ended
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != uid {
			continue
		}
		if p, ok := processAt(filepath.Join("/proc", e.Name()), pid); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// processAt reads what the system tells of one process.
func processAt(dir string, pid int) (Process, bool) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Process{}, false
	}
	// The name is in parentheses and may hold some itself.
	text := string(stat)
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return Process{}, false
	}
	fields := strings.Fields(text[to+1:])
	if len(fields) < 22 {
		return Process{}, false
	}
	p := Process{PID: pid, Name: strings.ToValidUTF8(text[from+1:to], "?"), State: fields[0]}
	p.Parent, _ = strconv.Atoi(fields[1]) // 0 where it cannot be read
	if pages, err := strconv.ParseInt(fields[21], 10, 64); err == nil {
		p.Memory = pages * int64(os.Getpagesize())
	}
	if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
		line = line[:min(len(line), maxCommand)]
		p.Command = strings.ToValidUTF8(strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")), "?")
	}
	return p, true
}
