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
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

// A planner turns edits into steps. It writes nothing.
type planner struct {
	*task
	touched map[string]string            // path on disk -> the key of the edit that has it
	names   map[string]map[string]string // folder -> names that it has or gets, without case -> as they are
	made    map[string]bool              // folders that will be made
	recased []recasing                   // folders that get a name in another case
}

// plan makes the steps of a set, after it has seen that every file is what its
// edit was made for.
func (t *task) plan(ctx context.Context, set change.Set) error {
	p := &planner{task: t, touched: map[string]string{}, names: map[string]map[string]string{}, made: map[string]bool{}}
	if err := p.recase(set); err != nil {
		return err
	}
	for _, e := range set {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("change to the vault: %w", err)
		}
		t.Trim()
		if err := p.edit(e); err != nil {
			return err
		}
	}
	t.Plan.Version, t.Plan.Op, t.Plan.Began, t.Plan.Boot = journal.Version, t.ID, t.w.now(), disk.BootID()
	t.Plan.Single = len(t.Plan.Steps) == 1
	return p.places()
}

// places decides where new contents wait: one beside its place, many in the
// journal, unless that is another disk.
func (p *planner) places() error {
	dir, err := p.Folder(own)
	if err != nil {
		return disk.Explain(own, err)
	}
	for i := range p.Plan.Steps {
		s := &p.Plan.Steps[i]
		if _, ok := p.Staged[s.N]; !ok {
			continue
		}
		s.Stage = p.Home(s)
		beside := path.Dir(s.Path)
		if p.Plan.Single || p.stagesBeside || p.elsewhere(beside, dir) {
			if p.made[beside] {
				beside = existing(p.made, beside)
			}
			s.Stage = path.Join(beside, vault.Temp(p.w.random()))
		}
		if s.Kind == journal.Moves {
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
func (p *planner) elsewhere(dir string, home *disk.Folder) bool {
	f, err := p.Folder(p.onDisk(existing(p.made, dir)))
	return err == nil && f.Disk() != home.Disk()
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
func (p *planner) add(s journal.Step, staged *journal.Staging) error {
	s.N = len(p.Plan.Steps)
	p.Plan.Steps = append(p.Plan.Steps, s)
	if staged != nil {
		p.Staged[s.N] = *staged
	}
	return nil
}

// touch refuses a file that another edit of the set has already.
func (p *planner) touch(onDisk, key string) error {
	if other, ok := p.touched[onDisk]; ok {
		return fault.New(fault.Invalid, "%q and %q are the same file and are both edited", other, key)
	}
	p.touched[onDisk] = key
	return nil
}

// A found is an existing file that an edit is about.
type found struct {
	key, disk string // disk: of the file itself, not of a link to it
	link      string // the link, on disk, when the note is one
	disk.Content
}

// find finds a file and sees that it is what the edit was made for.
func (p *planner) find(name string, before *string) (found, error) {
	key, err := p.w.v.Visible(name, false)
	if err != nil {
		return found{}, err
	}
	f := found{key: key}
	onDisk, _, link, err := p.w.v.Locate(p.Root, key)
	switch {
	case fault.Of(err) == fault.NotFound && before != nil:
		return f, &Stale{Path: key, Want: *sum(before), Gone: true}
	case err != nil:
		return f, err
	}
	if onDisk, err = p.spelling(onDisk); err != nil {
		return f, disk.Explain(key, err)
	}
	f.disk = onDisk
	if link {
		f.link = onDisk
		f.disk, _ = vault.Trace(p.Root, onDisk)
	}
	if err := p.touch(f.disk, key); err != nil {
		return f, err
	}
	if before == nil { // it moves, whatever it holds
		f.Stat, err = p.Stat(f.disk)
		return f, disk.Explain(key, err)
	}
	if f.Content, err = p.Read(f.disk); err != nil {
		return f, disk.Explain(key, err)
	}
	if f.Links > 1 && !p.w.v.ReadsLinked() {
		return f, vault.Linked(key)
	}
	if string(f.Data) != *before {
		return f, &Stale{Path: key, Want: *sum(before), Have: vault.Sum(f.Data), Content: string(f.Data)}
	}
	return f, nil
}

func (p *planner) create(e change.Edit) error {
	key, onDisk, err := p.arrive(e.Path, "")
	if err != nil {
		return err
	}
	s := journal.Step{Kind: journal.Moves, Key: key, Path: onDisk, Post: sum(e.After)}
	if from, st, ok := p.inTrash(onDisk, *e.After); ok {
		s.From, s.Inode = from, p.number(st)
		return p.add(s, nil)
	}
	return p.add(s, &journal.Staging{Data: *e.After})
}

// inTrash finds the file that a create brings back: the undo of a delete. With
// the file itself its times, mode and attributes come back.
func (p *planner) inTrash(onDisk, after string) (string, disk.Stat, bool) {
	for _, op := range p.trash()[onDisk] {
		at := path.Join(journal.TrashFolder, op, onDisk)
		c, err := p.Read(at)
		if err == nil && c.Links <= 1 && string(c.Data) == after && p.touch(at, onDisk) == nil {
			return at, c.Stat, true
		}
	}
	return "", disk.Stat{}, false
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
	s := journal.Step{Kind: journal.Swaps, Key: key, Path: at, Pre: sum(e.Before), Post: sum(e.After)}
	st := journal.Staging{Data: *e.After, Like: &disk.Content{Stat: f.Stat, Xattrs: f.Xattrs}}
	return p.add(s, &st)
}

func (p *planner) remove(e change.Edit) error {
	f, err := p.find(e.Path, e.Before)
	if err != nil {
		return err
	}
	s := journal.Step{Kind: journal.Moves, Key: f.key, From: f.disk, Inode: p.number(f.Stat), Pre: sum(e.Before), Gone: true}
	if f.link != "" { // the name goes, the file it leads to stays
		st, err := p.Stat(f.link)
		if err != nil {
			return disk.Explain(f.key, err)
		}
		s.From, s.Inode, s.Pre = f.link, p.number(st), nil
	}
	s.Path = path.Join(journal.TrashFolder, p.ID, s.From)
	return p.add(s, nil)
}

func (p *planner) move(e change.Edit) error {
	f, err := p.find(e.From, e.Before)
	if err != nil {
		return err
	}
	from, inode := f.disk, p.number(f.Stat)
	if f.link != "" {
		st, err := p.Stat(f.link)
		if err != nil {
			return disk.Explain(f.key, err)
		}
		from, inode = f.link, p.number(st)
	}
	from, f.disk = p.after(from), p.after(f.disk)
	key, onDisk, err := p.arrive(e.Path, from)
	if err != nil {
		return err
	}
	if f.link != "" && path.Dir(onDisk) != path.Dir(from) {
		return fault.Fix(fault.Invalid, fmt.Sprintf("move %q, the file it points to", f.disk), "%q is a symbolic link, which would point to a different file from another folder", f.key)
	}
	if from == onDisk { // it comes with its folder
		p.carried = append(p.carried, found{key: key, disk: onDisk})
	} else {
		s := journal.Step{Kind: journal.Moves, Key: key, Path: onDisk, From: from, Inode: inode}
		if s.Via, err = p.detour(from, onDisk); err != nil {
			return disk.Explain(key, err)
		}
		if err := p.add(s, nil); err != nil {
			return err
		}
	}
	if e.After == nil {
		return nil
	}
	at := onDisk
	if f.link != "" {
		at = f.disk
	}
	return p.content(f, at, key, e)
}

// arrive finds the place of a new file. leaving is the path on disk of the file
// that moves there, which is in nobody's way.
func (p *planner) arrive(name, leaving string) (key, onDisk string, err error) {
	clean := vault.CleanNew
	if p.restores {
		clean = vault.Clean
	}
	if key, err = clean(name); err != nil {
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
		return "", "", disk.Explain(key, err)
	}
	onDisk = path.Join(at, last)
	fold := vault.Fold(last)
	if other, ok := names[fold]; ok && path.Join(at, other) != leaving && !p.twin(other, last) {
		return "", "", taken(key, path.Join(at, other))
	}
	names[fold] = last
	return key, onDisk, p.touch(onDisk, key)
}

// twin reports whether a name that is there may stay beside the one that comes
// back: they were beside each other before. Where the system takes them for one
// name, the move that never overwrites refuses it.
func (p *planner) twin(other, name string) bool {
	return p.restores && vault.Key(other) != name
}

// taken says which file is in the way.
func taken(key, other string) error {
	if vault.Key(other) == key {
		return fault.Fix(fault.Conflict, "choose another name, or edit the existing file", "%q already exists", key)
	}
	return fault.Fix(fault.Conflict, "choose another name, or use the existing one",
		"%q differs from %q only in case; macOS and Windows cannot keep both", key, other)
}

// enter finds or plans a folder on the way to a new file.
func (p *planner) enter(key, at, part string) (string, error) {
	dir := path.Join(at, part)
	if p.made[dir] || p.isRecased(dir) {
		return dir, nil
	}
	if !p.made[at] && !p.Can.IgnoreCase {
		if there, err := p.isFolder(key, dir); err != nil || there {
			return dir, err
		}
	}
	names, err := p.list(at)
	if err != nil {
		return "", disk.Explain(key, err)
	}
	fold := vault.Fold(part)
	if other, ok := names[fold]; ok {
		there := path.Join(at, other)
		if vault.Key(other) == part || p.Can.IgnoreCase && p.restores {
			_, err := p.isFolder(key, there)
			return there, err
		}
		if !p.twin(other, part) {
			return "", taken(path.Join(at, part), there)
		}
	}
	names[fold] = part
	p.made[dir] = true
	p.Plan.Folders = append(p.Plan.Folders, dir)
	return dir, nil
}

// isFolder reports whether a folder has that path, and refuses anything else that
// has it.
func (p *planner) isFolder(key, dir string) (bool, error) {
	st, err := p.Stat(p.onDisk(dir))
	switch {
	case err == nil && st.Mode.IsDir():
		return true, nil
	case err == nil && st.Mode&fs.ModeSymlink != 0:
		return false, fault.Fix(fault.Unsafe, "use the real path of the folder", "folder %q is a link", dir)
	case err == nil:
		return false, fault.New(fault.Conflict, "%q: %q is a file, not a folder", key, dir)
	case !disk.Absent(err):
		return false, disk.Explain(key, err)
	}
	return false, nil
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
	f, err := p.Folder(p.onDisk(dir))
	if err != nil {
		return nil, err
	}
	all, err := p.Sys.Names(f)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	for _, n := range all {
		names[vault.Fold(vault.Key(n))] = n
	}
	return names, nil
}

// sum is a hash that can be left out.
func sum(s *string) *vault.Hash {
	if s == nil {
		return nil
	}
	h := vault.Sum([]byte(*s))
	return &h
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
