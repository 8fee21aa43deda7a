//go:build linux || darwin

package jail

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A print tells whether a file is still the one that was placed. No program can
// put back the time of change.
type print struct {
	size    int64
	changed int64
	inode   uint64
}

func printOf(info fs.FileInfo) (p print) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		p = print{st.Size, changeTime(st), st.Ino}
	}
	return p
}

// A placer writes the files into the folder of a jail, where nothing runs yet.
type placer struct {
	dir    string
	made   map[string]bool
	placed map[string]print
}

func newPlacer(dir string, files int) *placer {
	return &placer{dir, map[string]bool{".": true}, make(map[string]print, files)}
}

func (pl *placer) place(f File) error {
	if !isInside(f.Path) {
		return fmt.Errorf("%q is not a valid file path", f.Path)
	}
	at := filepath.Join(pl.dir, filepath.FromSlash(f.Path))
	if dir := path.Dir(f.Path); !pl.made[dir] {
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		pl.made[dir] = true
	}
	mode := fs.FileMode(0o644)
	if f.Runs {
		mode = 0o755
	}
	if err := os.WriteFile(at, f.Data, mode); err != nil {
		return err
	}
	info, err := os.Lstat(at)
	if err == nil {
		pl.placed[f.Path] = printOf(info)
	}
	return err
}

// settle waits until the clock of the disk has moved on: what is changed from now
// on has another time of change.
func (pl *placer) settle() { time.Sleep(20 * time.Millisecond) }

// maxKept bounds how many files a command may make before nobody would read them.
const maxKept = 5000

// collect finds what differs from the files that were placed. The command has
// ended, so nothing moves; links are not followed.
func (pl *placer) collect(l Limits, out *Outcome) error {
	root, err := os.OpenRoot(pl.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	seen := map[string]bool{}
	room := l.Changes
	err = filepath.WalkDir(pl.dir, func(at string, d fs.DirEntry, err error) error {
		p, relErr := filepath.Rel(pl.dir, at)
		if relErr != nil || p == "." && err != nil {
			return errors.Join(relErr, err)
		}
		p = filepath.ToSlash(p)
		if err != nil {
			out.Lost = append(out.Lost, Loss{p, "it cannot be read"})
			return nil
		}
		if d.IsDir() {
			return nil
		}
		seen[p] = true
		info, err := d.Info()
		if old, had := pl.placed[p]; err == nil && had && info.Mode().IsRegular() && old == printOf(info) {
			return nil
		}
		if len(out.Changed)+len(out.Lost) > maxKept {
			return fs.SkipAll
		}
		f, why := read(root, p, d, room)
		switch {
		case why != "":
			out.Lost = append(out.Lost, Loss{p, why})
		case int64(len(f.Data)) > room:
			out.Lost = append(out.Lost, Loss{p, fmt.Sprintf("all changes together are larger than %d MB", l.Changes>>20)})
		default:
			room -= int64(len(f.Data))
			out.Changed = append(out.Changed, f)
		}
		return nil
	})
	if len(out.Changed)+len(out.Lost) > maxKept {
		out.Changed, out.Lost = nil, []Loss{{".", fmt.Sprintf("more than %d files changed; none is kept", maxKept)}}
		return err
	}
	for p := range pl.placed {
		if !seen[p] {
			out.Deleted = append(out.Deleted, p)
		}
	}
	slices.Sort(out.Deleted)
	return err
}

// read reads a file, and not much more of it than there is room for.
func read(root *os.Root, p string, d fs.DirEntry, room int64) (File, string) {
	if !d.Type().IsRegular() {
		return File{}, "it is not a regular file"
	}
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return File{}, "it cannot be read"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return File{}, "it is not a regular file"
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	if err != nil {
		return File{}, "it cannot be read"
	}
	return File{Path: p, Data: data, Runs: info.Mode()&0o100 != 0}, ""
}

// exitCode is the exit code of a process that ended.
func exitCode(err error) (int, error) {
	var exit interface{ Sys() any }
	if err == nil {
		return 0, nil
	}
	if !errors.As(err, &exit) {
		return 0, err
	}
	st, ok := exit.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, err
	case st.Signaled():
		return 128 + int(st.Signal()), nil
	}
	return st.ExitStatus(), nil
}
