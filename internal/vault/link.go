package vault

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks bounds how many links may lie behind each other, as the kernel does.
const maxLinks = 40

// follow looks at the file that the link at disk leads to. The problem says why
// the link is not followed; its kind is empty when it is.
func (v *Vault) follow(root *os.Root, disk string) (fs.FileInfo, Problem) {
	info, err := root.Stat(disk)
	if err != nil {
		return nil, v.linkProblem(root, disk, err)
	}
	target, plain := Trace(root, disk)
	switch {
	case info.IsDir():
		return nil, Problem{Kind: FolderLink, Other: target, Detail: "links to folders are not followed; the files are listed in the folder itself"}
	case !info.Mode().IsRegular():
		return nil, Problem{Kind: NotRegular, Other: target, Detail: "the link points to " + what(info.Mode()) + ", which Lore never opens"}
	case !plain || Hidden(target) || v.exclude.Covers(Key(target)):
		return nil, Problem{Kind: EscapingLink, Other: target, Detail: "the link points to a hidden or excluded file"}
	}
	return info, Problem{}
}

// linkProblem finds the words for a link that the root refused.
func (v *Vault) linkProblem(root *os.Root, disk string, err error) Problem {
	target, _ := root.Readlink(disk)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return Problem{Kind: BrokenLink, Other: target, Detail: "the links form a loop"}
	case filepath.IsAbs(target):
		if rel, err := filepath.Rel(v.dir, target); err == nil && filepath.IsLocal(rel) {
			return Problem{Kind: EscapingLink, Other: target, Detail: "the link is absolute and would break if the vault moved; make it a relative link to " + filepath.ToSlash(rel)}
		}
		return Problem{Kind: EscapingLink, Other: target, Detail: "the link points outside the vault and is not followed"}
	case errors.Is(err, fs.ErrNotExist):
		return Problem{Kind: BrokenLink, Other: target, Detail: "the link points to a file that does not exist"}
	case errors.Is(err, fs.ErrPermission):
		return Problem{Kind: Unreadable, Other: target, Detail: "permission denied"}
	}
	if end, plain := Trace(root, disk); plain && end == disk {
		return Problem{Kind: BrokenLink, Other: target, Detail: "the links form a loop"}
	}
	return Problem{Kind: EscapingLink, Other: target, Detail: "the link points outside the vault and is not followed"}
}

// Trace spells the path that a chain of links ends at, links to folders too. It
// is only used to see whether that place is hidden: what may be opened, the root
// decides. plain is false when the chain cannot be spelled inside the vault.
func Trace(root *os.Root, disk string) (end string, plain bool) {
	end, _, plain = resolve(root, disk)
	return end, plain
}

// resolve follows a path name by name, as the system does. over lists the names
// on which it depends where it ends: links, names that do not exist, the end.
func resolve(root *os.Root, disk string) (end string, over []string, plain bool) {
	links := 0
	for rest := disk; rest != ""; {
		name, more, _ := strings.Cut(rest, "/")
		switch name {
		case "", ".":
			rest = more
			continue
		case "..":
			if end == "" {
				return rest, over, false
			}
			if end, rest = path.Dir(end), more; end == "." {
				end = ""
			}
			continue
		}
		at := join(end, name)
		target, err := root.Readlink(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			over = append(over, at)
			fallthrough
		case err != nil: // not a link
			end, rest = at, more
			continue
		}
		over = append(over, at)
		if filepath.IsAbs(target) {
			return target, over, false
		}
		if links++; links > maxLinks {
			return disk, over, true
		}
		rest = join(filepath.ToSlash(target), more)
	}
	return end, append(over, end), true
}

// Real tells which files the paths lead to: each its own, unless it is a link to
// another file of the vault.
func (v *Vault) Real(keys []string) []string {
	out := slices.Clone(keys)
	root, err := v.Handle()
	if err != nil {
		return out
	}
	defer root.Close()
	for i, key := range keys {
		if end, plain := Trace(root, key); plain {
			out[i] = Key(end)
		}
	}
	return out
}
