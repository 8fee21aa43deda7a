// Package git asks the git program about a repository, and lets nothing in that
// repository run: no hooks, filters, drivers, pagers, signatures, submodules or
// remotes. It only reads.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lore/internal/fault"
)

// A Repository is a folder with a repository of its own.
type Repository struct {
	dir     string
	program string
	filters []string // settings that turn off the programs that its own settings name
}

// A missing is the reason why there is no repository to ask.
type missing string

func (m missing) Error() string { return string(m) }

// Missing is why there is no repository to ask, or "".
func Missing(err error) string {
	var m missing
	if errors.As(err, &m) {
		return string(m)
	}
	return ""
}

// Open finds the repository of a folder: one above it holds files that are none of
// the folder's.
func Open(ctx context.Context, dir string) (*Repository, error) {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	switch {
	case err != nil:
		return nil, missing("the vault is not a Git repository")
	case !info.IsDir():
		return nil, missing("the repository of the vault is in another folder, which Lore does not read")
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, missing("git is not installed on this computer")
	}
	r := &Repository{dir: dir, program: program}
	return r, r.disarm(ctx)
}

// within is how long git may take, and most how much it may say.
const (
	within = 20 * time.Second
	most   = 8 << 20
)

// fixed are the settings that every call has. What git would start by itself is
// turned off one by one; see also [Repository.disarm].
var fixed = []string{
	"core.fsmonitor=false", "core.hooksPath=" + os.DevNull, "core.pager=cat", "core.sshCommand=false", "core.askPass=", "core.untrackedCache=false",
	"core.quotePath=false", "core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.editor=false",
	"diff.submodule=short", "diff.ignoreSubmodules=all", "diff.noprefix=false", "diff.mnemonicPrefix=false", "diff.orderFile=" + os.DevNull,
	"log.showSignature=false", "log.mailmap=false", "gpg.program=false", "gpg.ssh.program=false", "color.ui=false", "submodule.recurse=false", "status.submoduleSummary=false",
	"protocol.allow=never", "credential.helper=", "gc.auto=0", "maintenance.auto=false", "fetch.recurseSubmodules=false",
}

// run runs git in the folder. Words of a caller stand behind "--" or are checked
// before.
func (r *Repository) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	words := []string{"--no-pager", "--no-optional-locks", "--literal-pathspecs"}
	for _, s := range append(fixed[:len(fixed):len(fixed)], r.filters...) {
		words = append(words, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.program, append(words, args...)...)
	cmd.Dir = r.dir
	// The folder is named here, so that the repository's own settings cannot name
	// another one.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_DIR=" + filepath.Join(r.dir, ".git"), "GIT_WORK_TREE=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat",
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{to: &out, left: most, full: cancel}, &limited{to: &errs, left: 4 << 10}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case out.Len() >= most:
		return "", fault.Fix(fault.TooLarge, "name one file", "the output of git is larger than %d MB", most>>20)
	case ctx.Err() != nil:
		return "", fault.New(fault.Cancelled, "git took longer than %s", within)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	return "", fault.New(fault.Unavailable, "git: %s", strings.ReplaceAll(strings.TrimPrefix(first, "fatal: "), r.dir, "the vault"))
}

// limited keeps the first bytes that are written to it.
type limited struct {
	to   *bytes.Buffer
	left int
	full func() // called when there is more; may be nil
}

// Write takes everything and keeps a part.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.to.Write(p[:n])
	if l.left -= n; l.left == 0 && l.full != nil {
		l.full()
	}
	return len(p), nil
}

// disarm turns off the programs that the repository's own settings name for
// single kinds of files: git runs a filter to see whether a file has changed. To
// list settings runs nothing.
func (r *Repository) disarm(ctx context.Context) error {
	text, err := r.run(ctx, "config", "--list", "--name-only", "-z", "--includes")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(text, "\x00") {
		group, _, _ := strings.Cut(name, ".")
		last := name[strings.LastIndexByte(name, '.')+1:]
		switch group {
		case "filter":
			base := strings.TrimSuffix(name, "."+last)
			if strings.ContainsAny(base, "=\n") {
				return fault.New(fault.Unsafe, "the repository's Git configuration defines a filter that Lore cannot turn off")
			}
			r.filters = append(r.filters, base+".clean=", base+".smudge=", base+".process=", base+".required=false")
		case "diff":
			if last == "command" || last == "textconv" {
				if strings.ContainsAny(name, "=\n") {
					return fault.New(fault.Unsafe, "the repository's Git configuration defines a diff program that Lore cannot turn off")
				}
				r.filters = append(r.filters, name+"=")
			}
		}
	}
	return nil
}

// Branch is the name of the current branch, or "".
func (r *Repository) Branch(ctx context.Context) string {
	text, err := r.run(ctx, "symbolic-ref", "--short", "-q", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// A Change is a file that differs from the last commit.
type Change struct{ State, Path, From string }

// Status lists what differs from the last commit.
func (r *Repository) Status(ctx context.Context) ([]Change, error) {
	text, err := r.run(ctx, "status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--untracked-files=normal", "--no-renames")
	if err != nil {
		return nil, err
	}
	var out []Change
	for line := range strings.SplitSeq(text, "\x00") {
		if len(line) > 3 {
			out = append(out, Change{State: line[:2], Path: line[3:]})
		}
	}
	return out, nil
}

// A Commit is one commit.
type Commit struct{ Hash, Date, Author, Subject string }

// Log lists the newest commits, or those that changed a path.
func (r *Repository) Log(ctx context.Context, only string, limit int) ([]Commit, error) {
	if _, err := r.run(ctx, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		return nil, nil // none yet
	}
	args := []string{"log", "--no-color", "--no-show-signature", "--no-decorate", "--no-notes", "-z", fmt.Sprintf("--max-count=%d", limit), "--format=%H%x1f%aI%x1f%an%x1f%s", "--end-of-options", "HEAD", "--"}
	if only != "" {
		args = append(args, only)
	}
	text, err := r.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	var out []Commit
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, "\uFFFD"), "\x00") {
		if p := strings.SplitN(line, "\x1f", 4); len(p) == 4 {
			out = append(out, Commit{p[0], p[1], p[2], p[3]})
		}
	}
	return out, nil
}

// differs are the words of a diff that runs nothing.
func differs(ref string, more ...string) []string {
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all", "--no-color"}, more...)
	if ref != "" {
		args = append(args, "--end-of-options", ref)
	}
	return append(args, "--")
}

// Changed lists the files that differ from a commit, or from what is staged.
func (r *Repository) Changed(ctx context.Context, ref string) ([]string, error) {
	text, err := r.run(ctx, differs(ref, "--name-only", "-z")...)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(text, func(c rune) bool { return c == 0 }), nil
}

// Diff is the difference of these files.
func (r *Repository) Diff(ctx context.Context, ref string, files []string) (string, error) {
	return r.run(ctx, append(differs(ref), files...)...)
}
