package files

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"lore/internal/change"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/files/grep"
	"lore/internal/tools/files/jail"
	"lore/internal/vault"
)

// Bounds of the copy that a command works on.
const (
	maxStagedFile = 16 << 20
	maxStaged     = 256 << 20
	maxStagedMany = 50_000
)

// A staging is the copy of the files that a command may see: those that the
// caller could read one by one.
type staging struct {
	folder    string
	files     []jail.File
	before    map[string]string // text of the files, by path in the copy
	other     map[string]bool   // files that are not text
	left      int               // files that are too large to copy
	untrusted []string
}

// stage reads the files. Hidden, excluded and unshared files, links and files with
// several names are not among them.
func (env Env) stage(ctx context.Context) (*staging, error) {
	at, _, err := env.openFolder(env.Folder)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	s := &staging{folder: env.Folder, before: map[string]string{}, other: map[string]bool{}}
	o := grep.Options{MaxFile: maxStagedFile}
	env.only(ctx, env.Folder, nil, &o)
	var mu sync.Mutex
	size := 0
	found, err := grep.Read(ctx, at, o, func(p string, data []byte, mode fs.FileMode) {
		text, untrusted := isText(data), isUntrusted(path.Join(env.Folder, p), data)
		data = bytes.Clone(data)
		mu.Lock()
		defer mu.Unlock()
		if size+len(data) > maxStaged || len(s.files) >= maxStagedMany {
			s.left++
			return
		}
		size += len(data)
		s.add(vault.Key(p), data, mode, text, untrusted)
	})
	s.left += found.Skipped
	slices.SortFunc(s.files, func(a, b jail.File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(s.untrusted)
	return s, err
}

func (s *staging) add(name string, data []byte, mode fs.FileMode, text, untrusted bool) {
	s.files = append(s.files, jail.File{Path: name, Data: data, Runs: mode&0o100 != 0})
	if text {
		s.before[name] = string(data)
	} else {
		s.other[name] = true
	}
	if untrusted {
		s.untrusted = append(s.untrusted, path.Join(s.folder, name))
	}
}

// isUntrusted reports whether a note is marked as text from outside.
func isUntrusted(p string, data []byte) bool {
	if vault.KindOf(p) != vault.Note || !bytes.Contains(data[:min(len(data), 4096)], []byte("untrusted")) {
		return false
	}
	return note.Parse(p, data).IsUntrusted()
}

// isText reports whether data can be shown and stored as text, byte for byte.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// changes are the edits that make the vault what the command made of its copy.
// What cannot be one is told.
func (s *staging) changes(ctx context.Context, env Env, o jail.Outcome, out *CommandResult) change.Set {
	drop := func(p, reason string) {
		if len(out.NotApplied) < maxNotApplied {
			out.NotApplied = append(out.NotApplied, NotApplied{p, reason})
		}
	}
	for _, l := range o.Lost {
		drop(l.Path, l.Reason)
	}
	var set change.Set
	for _, f := range o.Changed {
		if s.isSame(f) {
			continue
		}
		e, why := s.edit(ctx, env, f)
		if why != "" {
			drop(f.Path, why)
			continue
		}
		set = append(set, s.marked(ctx, e))
	}
	for _, p := range o.Deleted {
		key := path.Join(s.folder, p)
		if text, ok := s.before[p]; ok {
			set = append(set, change.Delete(key, text))
		} else {
			drop(p, "it was deleted, but only text files are changed")
		}
	}
	slices.SortFunc(set, func(a, b change.Edit) int { return strings.Compare(a.Path, b.Path) })
	return set
}

// isSame reports whether a file that was written has its old content.
func (s *staging) isSame(f jail.File) bool {
	i, ok := slices.BinarySearchFunc(s.files, f.Path, func(a jail.File, p string) int { return strings.Compare(a.Path, p) })
	return ok && bytes.Equal(s.files[i].Data, f.Data)
}

// maxNotApplied bounds what an answer tells.
const maxNotApplied = 100

// edit is the edit of one changed file, or why there is none.
func (s *staging) edit(ctx context.Context, env Env, f jail.File) (change.Edit, string) {
	key := vault.Key(path.Join(s.folder, f.Path))
	if tool.Caller(ctx).Kind != access.Person && isRunnable(key) {
		return change.Edit{}, "only a person may write a file that could run when somebody opens it"
	}
	if !isText(f.Data) {
		return change.Edit{}, "it is not text"
	}
	if before, ok := s.before[f.Path]; ok {
		return change.Replace(key, before, string(f.Data)), ""
	}
	if s.other[f.Path] {
		return change.Edit{}, "the old file is not text"
	}
	clean, err := vault.CleanNew(key)
	if err == nil {
		clean, err = env.Vault.Visible(clean, false)
	}
	switch {
	case err != nil:
		return change.Edit{}, err.Error()
	case !isVisible(ctx, clean):
		return change.Edit{}, "it is not shared"
	}
	return change.Create(clean, string(f.Data)), ""
}

// marked marks a note when the command could read text from outside: nobody can
// tell where the words of its output come from.
func (s *staging) marked(ctx context.Context, e change.Edit) change.Edit {
	if len(s.untrusted) == 0 || e.After == nil || vault.KindOf(e.Path) != vault.Note || tool.Caller(ctx).Kind == access.Person {
		return e
	}
	if text, err := note.MarkUntrusted(e.Path, *e.After); err == nil {
		e.After = &text
	}
	return e
}
