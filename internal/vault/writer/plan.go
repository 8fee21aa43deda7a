package writer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
)

// A planner turns edits into steps. It writes nothing.
type planner struct {
	*task
	touched map[string]string            // path on disk -> the key of the edit that has it
	names   map[string]map[string]string // folder -> names that it has or gets, without case -> as they are
	made    map[string]bool              // folders that will be made
}

// plan makes the steps of a set, after it has seen that every file is what its
// edit was made for.
func (t *task) plan(ctx context.Context, set change.Set) error {
	p := &planner{task: t, touched: map[string]string{}, names: map[string]map[string]string{}, made: map[string]bool{}}
	for _, e := range set {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("change of the vault: %w", err)
		}
		t.trim()
		if err := p.edit(e); err != nil {
			return err
		}
	}
	t.m.Version, t.m.Op, t.m.Began, t.m.Boot = version, t.op, t.w.now(), bootID()
	t.m.Single = len(t.m.Steps) == 1 && t.m.Steps[0].Kind != writes
	return p.places()
}

// places decides where new contents wait: one beside its place, many in the
// journal, unless that is another disk.
func (p *planner) places() error {
	dir, err := p.folder(own)
	if err != nil {
		return explain(own, err)
	}
	for i := range p.m.Steps {
		s := &p.m.Steps[i]
		if _, ok := p.staged[s.N]; !ok {
			continue
		}
		s.Stage = p.home(s)
		beside := path.Dir(s.Path)
		if p.m.Single || p.elsewhere(beside, dir.dev) && s.Kind != writes {
			if p.made[beside] {
				beside = existing(p.made, beside)
			}
			s.Stage = path.Join(beside, vault.Temp(p.w.random()))
		}
		if s.Kind == moves {
			s.From = s.Stage
		}
	}
	return nil
}

// existing is the nearest folder above that is there already.
func existing(made map[string]bool, dir string) string {
	for made[dir] {
		dir = path.Dir(dir)
	}
	return dir
}

// elsewhere reports whether a folder lies on another disk.
func (p *planner) elsewhere(dir string, dev uint64) bool {
	p.trim()
	f, err := p.folder(existing(p.made, dir))
	return err == nil && f.dev != dev
}

func (p *planner) edit(e change.Edit) error {
	switch e.Kind() {
	case change.Creates:
		return p.create(e)
	case change.Removes:
		return p.remove(e)
	case change.Moves:
		return p.move(e)
	}
	return p.replace(e)
}

// add numbers a step and notes which file it touches: two names of an edit can
// be one file.
func (p *planner) add(s step, staged *staging) error {
	s.N = len(p.m.Steps)
	p.m.Steps = append(p.m.Steps, s)
	if staged != nil {
		p.staged[s.N] = *staged
	}
	return nil
}

// touch refuses a file that another edit of the set has already.
func (p *planner) touch(disk, key string) error {
	if other, ok := p.touched[disk]; ok {
		return fault.New(fault.Invalid, "%q and %q are one file and are both edited", other, key)
	}
	p.touched[disk] = key
	return nil
}

// A found is an existing file that an edit is about.
type found struct {
	key, disk string // disk: of the file itself, not of a link to it
	link      string // the link, on disk, when the note is one
	content
}

// find finds a file and sees that it is what the edit was made for.
func (p *planner) find(name string, before *string) (found, error) {
	key, err := p.w.v.Visible(name, false)
	if err != nil {
		return found{}, err
	}
	f := found{key: key}
	disk, _, link, err := p.w.v.Locate(p.root, key)
	switch {
	case fault.Of(err) == fault.NotFound && before != nil:
		return f, &Stale{Path: key, Want: *sum(before), Gone: true}
	case err != nil:
		return f, err
	}
	f.disk = disk
	if link {
		f.link = disk
		f.disk, _ = vault.Trace(p.root, disk)
	}
	if err := p.touch(f.disk, key); err != nil {
		return f, err
	}
	if before == nil { // it moves, whatever it holds
		f.stat, err = p.task.stat(f.disk)
		return f, explain(key, err)
	}
	if f.content, err = p.read(f.disk); err != nil {
		return f, explain(key, err)
	}
	if string(f.data) != *before {
		return f, &Stale{Path: key, Want: *sum(before), Have: vault.Sum(f.data), Content: string(f.data)}
	}
	return f, nil
}

func (p *planner) create(e change.Edit) error {
	key, disk, err := p.arrive(e.Path, "")
	if err != nil {
		return err
	}
	s := step{Kind: moves, Key: key, Path: disk, Post: sum(e.After)}
	if from, st, ok := p.inTrash(disk, *e.After); ok {
		s.From, s.Inode = from, st.inode
		return p.add(s, nil)
	}
	return p.add(s, &staging{data: *e.After})
}

// inTrash finds the file that a create brings back: the undo of a delete. With
// the file itself its times, mode and attributes come back.
func (p *planner) inTrash(disk, after string) (string, stat, bool) {
	for _, op := range p.trash()[disk] {
		at := path.Join(trashDir, op, disk)
		c, err := p.read(at)
		if err == nil && string(c.data) == after && p.touch(at, disk) == nil {
			return at, c.stat, true
		}
	}
	return "", stat{}, false
}

func (p *planner) replace(e change.Edit) error {
	f, err := p.find(e.Path, e.Before)
	if err != nil {
		return err
	}
	return p.content(f, f.disk, f.key, e)
}

// content adds the step that gives a file its new content at path.
func (p *planner) content(f found, at, key string, e change.Edit) error {
	s := step{Kind: swaps, Key: key, Path: at, Pre: sum(e.Before), Post: sum(e.After)}
	st := staging{data: *e.After, like: &content{stat: f.stat, xattrs: f.xattrs}}
	if f.links > 1 {
		s.Kind, st.old = writes, *e.Before
	}
	return p.add(s, &st)
}

func (p *planner) remove(e change.Edit) error {
	f, err := p.find(e.Path, e.Before)
	if err != nil {
		return err
	}
	s := step{Kind: moves, Key: f.key, From: f.disk, Inode: f.inode, Pre: sum(e.Before), Gone: true}
	if f.link != "" { // the name goes, the file it leads to stays
		st, err := p.task.stat(f.link)
		if err != nil {
			return explain(f.key, err)
		}
		s.From, s.Inode, s.Pre = f.link, st.inode, nil
	}
	s.Path = path.Join(trashDir, p.op, s.From)
	return p.add(s, nil)
}

func (p *planner) move(e change.Edit) error {
	f, err := p.find(e.From, e.Before)
	if err != nil {
		return err
	}
	from, inode := f.disk, f.inode
	if f.link != "" {
		st, err := p.task.stat(f.link)
		if err != nil {
			return explain(f.key, err)
		}
		from, inode = f.link, st.inode
	}
	key, disk, err := p.arrive(e.Path, from)
	if err != nil {
		return err
	}
	if f.link != "" && path.Dir(disk) != path.Dir(from) {
		return fault.Fix(fault.Invalid, fmt.Sprintf("move %q, the file it leads to", f.disk), "%q is a link, which would lead elsewhere from another folder", f.key)
	}
	s := step{Kind: moves, Key: key, Path: disk, From: from, Inode: inode}
	if s.Via, err = p.detour(from, disk, inode); err != nil {
		return explain(key, err)
	}
	if err := p.add(s, nil); err != nil || e.After == nil {
		return err
	}
	at := disk
	if f.link != "" {
		at = f.disk
	}
	return p.content(f, at, key, e)
}

// detour is a third name for a move that changes only the case of a name, where
// the system ignores case: the new name seems to be taken, by the file itself.
func (p *planner) detour(from, to string, inode uint64) (string, error) {
	st, err := p.task.stat(to)
	switch {
	case absent(err):
		return "", nil
	case err != nil:
		return "", err
	case st.inode != inode:
		return "", fs.ErrExist
	}
	if exact, err := p.spelled(to); err != nil || exact {
		return "", errors.Join(err, fs.ErrExist)
	}
	return path.Join(path.Dir(from), vault.Temp(p.w.random())), nil
}

// arrive finds the place of a new file. leaving is the path on disk of the file
// that moves there, which is in nobody's way.
func (p *planner) arrive(name, leaving string) (key, disk string, err error) {
	if key, err = vault.CleanNew(name); err != nil {
		return "", "", err
	}
	if key, err = p.w.v.Visible(key, false); err != nil {
		return "", "", err
	}
	parts := strings.Split(key, "/")
	at := "."
	for _, part := range parts[:len(parts)-1] {
		if at, err = p.enter(key, at, part); err != nil {
			return "", "", err
		}
	}
	last := parts[len(parts)-1]
	names, err := p.list(at)
	if err != nil {
		return "", "", explain(key, err)
	}
	disk = path.Join(at, last)
	fold := vault.Fold(last)
	if other, ok := names[fold]; ok && path.Join(at, other) != leaving {
		return "", "", taken(key, path.Join(at, other))
	}
	names[fold] = last
	return key, disk, p.touch(disk, key)
}

// taken says which file is in the way.
func taken(key, other string) error {
	if vault.Key(other) == key {
		return fault.Fix(fault.Conflict, "choose another name, or edit the existing file", "%q exists already", key)
	}
	return fault.Fix(fault.Conflict, "choose another name, or use the existing one",
		"%q differs from %q only in case; macOS and Windows cannot keep both", key, other)
}

// enter finds or plans a folder on the way to a new file.
func (p *planner) enter(key, at, part string) (string, error) {
	dir := path.Join(at, part)
	if p.made[dir] {
		return dir, nil
	}
	if !p.made[at] {
		st, err := p.task.stat(dir)
		switch {
		case err == nil && st.mode.IsDir():
			return dir, nil
		case err == nil && st.mode&fs.ModeSymlink != 0:
			return "", fault.Fix(fault.Unsafe, "use the path where the folder lies", "folder %q is a link", dir)
		case err == nil:
			return "", fault.New(fault.Conflict, "%q: %q is a file, not a folder", key, dir)
		case !absent(err):
			return "", explain(key, err)
		}
	}
	names, err := p.list(at)
	if err != nil {
		return "", explain(key, err)
	}
	fold := vault.Fold(part)
	if other, ok := names[fold]; ok {
		if vault.Key(other) == part {
			return path.Join(at, other), nil
		}
		return "", taken(path.Join(at, part), path.Join(at, other))
	}
	names[fold] = part
	p.made[dir] = true
	p.m.Folders = append(p.m.Folders, dir)
	return dir, nil
}

// list returns the names of a folder without case. Those of new files are
// added to it as they are planned.
func (p *planner) list(dir string) (map[string]string, error) {
	if names, ok := p.names[dir]; ok {
		return names, nil
	}
	names := map[string]string{}
	p.names[dir] = names
	if p.made[dir] {
		return names, nil
	}
	f, err := p.folder(dir)
	if err != nil {
		return nil, err
	}
	all, err := p.sys.names(f)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	for _, n := range all {
		names[vault.Fold(vault.Key(n))] = n
	}
	return names, nil
}

// trash knows which operations hold a path in the trash, the latest first.
func (t *task) trash() map[string][]string {
	if t.w.trashed != nil {
		return t.w.trashed
	}
	found := map[string][]string{}
	list, err := t.listTrash()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.w.log.Warn("the trash cannot be read", "error", err)
	}
	for _, x := range list {
		found[x.Path] = append(found[x.Path], x.Op)
	}
	t.w.trashed = found
	return found
}
