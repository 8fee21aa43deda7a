// Package jail runs one command where it can do no harm: in a copy of the files
// that it may see, without network, without the rest of the disk, without other
// processes, and within limits. What it changed in its copy is returned; the
// files themselves are never within its reach.
//
// On Linux the jail is made of namespaces, or of bubblewrap where the system
// refuses them; on macOS of a sandbox profile. Where there is none, [Run]
// refuses and says why. There is no way to run a command without it.
package jail

import (
	"context"
	"path"
	"strings"
	"time"

	"lore/internal/fault"
)

// A Command is what runs, and what it finds.
type Command struct {
	// Argv is the program and its arguments; no shell reads them.
	Argv []string
	// Files are in the folder where the command starts.
	Files  []File
	Limits Limits
}

// A File is a regular file, by its path from the folder where the command starts.
type File struct {
	Path string
	Data []byte
	// Runs says that the owner may run it.
	Runs bool
}

// Limits bound what a command can use.
type Limits struct {
	Time      time.Duration // by the clock
	Memory    int64         // bytes, of all processes together
	Disk      int64         // bytes, of all files together
	FileSize  int64         // bytes, of one file
	Processes int           // at the same time
	OpenFiles int           // of one process
	Changes   int64         // bytes of changed files that are kept
}

// DefaultLimits are enough for a script, and too little to disturb anybody.
func DefaultLimits() Limits {
	return Limits{Time: time.Minute, Memory: 2 << 30, Disk: 512 << 20, FileSize: 128 << 20, Processes: 256, OpenFiles: 512, Changes: 32 << 20}
}

// A Stream is what a command writes to.
type Stream int

// The streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// An Outcome is how a command ended.
type Outcome struct {
	// Exit is its exit code; 128 and more is a signal, as shells count.
	Exit int
	// Stopped says which limit ended it; empty when it ended by itself.
	Stopped string
	// Changed are the files that are new or different, Deleted those that are gone.
	Changed []File
	Deleted []string
	// Lost are files that were made and cannot be kept, with the reason.
	Lost []Loss
}

// A Loss is a file that cannot be kept.
type Loss struct{ Path, Reason string }

// Sub is the first argument of the program when it is started as a part of a jail.
const Sub = "__jail"

// Run runs the command. out gets what it writes, as it comes, from one goroutine
// at a time. When ctx ends, the command and everything that it started are
// killed.
func Run(ctx context.Context, c Command, out func(Stream, []byte)) (Outcome, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return Outcome{}, fault.New(fault.Invalid, "the command is empty")
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return Outcome{}, fault.New(fault.Invalid, "an argument contains a NUL character")
		}
	}
	for _, f := range c.Files {
		if !isInside(f.Path) {
			return Outcome{}, fault.New(fault.Unsafe, "%q is not a valid file path", f.Path)
		}
	}
	return run(ctx, c, out)
}

// isInside reports whether a path leads to a place below the folder.
func isInside(p string) bool {
	return p != "" && p == path.Clean(p) && p[0] != '/' && p != ".." && !strings.HasPrefix(p, "../") && p != "."
}
