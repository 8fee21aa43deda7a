package disk

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
)

// Capabilities is what the file system of a vault can do. Where Exchange is
// missing, a save is checked before it and not after, and an edit that another
// program makes in that instant can be lost. The rest only costs time, but for
// Sync: without it a power cut can take the last changes.
type Capabilities struct {
	Exchange   bool `json:"exchange"`    // two files change places in one step
	NoReplace  bool `json:"no_replace"`  // a move that never overwrites
	HardLink   bool `json:"hard_link"`   // a file can have two names, and the system says so
	Inodes     bool `json:"inodes"`      // a file keeps its number when it moves
	Xattr      bool `json:"xattr"`       // user attributes of files
	Sync       bool `json:"sync"`        // the content of a file is made durable
	SyncFolder bool `json:"sync_folder"` // the names in a folder are made durable
	SyncAll    bool `json:"sync_all"`    // one call makes a set of files durable
	Lock       bool `json:"lock"`        // a second process is kept out
	IgnoreCase bool `json:"ignore_case"` // "a.md" and "A.md" are one name
	LoseCase   bool `json:"lose_case"`   // a name is not shown in the case that it was given
}

// Missing tells in words what a vault on this file system has to do without. Each
// finishes a sentence that begins with "this vault's disk".
func (c Capabilities) Missing() []string {
	var out []string
	add := func(missing bool, text string) {
		if missing {
			out = append(out, text)
		}
	}
	add(!c.Exchange, "cannot swap two files atomically: if another program saves a note at the same moment as Lore, that save can be lost")
	add(!c.NoReplace && !c.HardLink, "cannot move a file atomically without overwriting: a file that another program creates at that moment can be lost")
	add(!c.Sync, "cannot flush files: a power failure can lose the latest changes")
	add(!c.Lock, "does not support file locks: change this vault with one Lore process only")
	add(c.LoseCase, "does not preserve the case of file names")
	return out
}

// A prober tries calls on files of its own, in one folder.
type prober struct {
	*Tree
	dir     string
	at      *Folder
	x, y, z string // names; z is free
	can     Capabilities
}

// Probe finds out what the file system can do, by doing it with three files in
// dir, whose names are random. The answer of a call is not believed: what lies
// where is read afterwards. An error says that something is missing without
// which no file can be saved safely.
func (t *Tree) Probe(dir string, random func() string) (Capabilities, error) {
	at, err := t.Folder(dir)
	if err != nil {
		return Capabilities{}, Explain(dir, err)
	}
	name := func(first string) string { return vault.Temp(first + "-" + random()) }
	p := &prober{Tree: t, dir: dir, at: at, x: name("probe"), y: name("probe"), z: name("probe")}
	err = p.files()
	if err == nil {
		err = p.names()
	}
	if err == nil {
		p.exchange()
		p.noReplace()
		err = p.links()
	}
	if err == nil {
		err = p.replace()
	}
	if err == nil {
		p.syncs()
		p.attributes()
		err = p.letters(name)
	}
	for _, name := range []string{p.x, p.y, p.z} {
		if rerr := t.Remove(path.Join(dir, name)); err == nil && rerr != nil {
			err = refuse("remove a file", rerr)
		}
	}
	return p.can, err
}

// refuse says that a disk cannot be used. A failure that may pass stays what it
// is.
func refuse(what string, err error) error {
	if err != nil && !IsPermanent(err) && !IsUnsupported(err) {
		return Explain(vault.OwnFolder, err)
	}
	why := ""
	if err != nil {
		why = ": " + plain(err).Error()
	}
	return fault.Fix(fault.ReadOnly, "move the vault to another disk to change notes; reading works on this one", "this vault's disk cannot %s, so changes are not safe on it%s", what, why)
}

// files makes the first two files.
func (p *prober) files() error {
	for _, name := range []string{p.x, p.y} {
		f, err := p.Sys.Create(p.at, name, 0o600)
		if err != nil {
			return refuse("make a file", err)
		}
		err = p.Sys.Write(f, []byte(name))
		if err == nil && name == p.x {
			serr := p.Sys.sync(f)
			p.can.Sync = serr == nil
			if !hasNoCall(serr) {
				err = serr
			}
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return refuse("write a file", err)
		}
	}
	return nil
}

// names sees that a name that is taken is not given a second time.
func (p *prober) names() error {
	f, err := p.Sys.Create(p.at, p.y, 0o600)
	if err == nil {
		_ = f.Close() // it is one of the probe's own
	}
	if !errors.Is(err, fs.ErrExist) {
		return refuse("refuse a second file with the same name", err)
	}
	return nil
}

// holds reports whether a name has the file that was made under the other.
func (p *prober) holds(name, made string) bool {
	c, err := p.Sys.Read(p.at, name)
	return err == nil && string(c.Data) == made
}

func (p *prober) free(name string) bool {
	_, err := p.Sys.Stat(p.at, name)
	return Absent(err)
}

func (p *prober) exchange() {
	err := p.Sys.Exchange(p.at, p.x, p.at, p.y)
	if err != nil {
		return
	}
	p.can.Exchange = p.holds(p.x, p.y) && p.holds(p.y, p.x)
	_ = p.Sys.Exchange(p.at, p.x, p.at, p.y) // back, so that a name tells the content
	p.can.Exchange = p.can.Exchange && p.holds(p.x, p.x) && p.holds(p.y, p.y)
}

// noReplace moves onto a name that is taken and onto one that is free. The
// kernel answers the first by itself; only the second asks the file system.
func (p *prober) noReplace() {
	before, err := p.Sys.Stat(p.at, p.x)
	if err != nil {
		return
	}
	taken := errors.Is(p.Sys.MoveNew(p.at, p.x, p.at, p.y), fs.ErrExist) && p.holds(p.x, p.x) && p.holds(p.y, p.y)
	if !taken || p.Sys.MoveNew(p.at, p.x, p.at, p.z) != nil {
		return
	}
	after, err := p.Sys.Stat(p.at, p.z)
	p.can.NoReplace = p.free(p.x) && p.holds(p.z, p.x)
	p.can.Inodes = err == nil && before.Inode != 0 && before.Inode == after.Inode
	_ = p.Sys.MoveOver(p.at, p.z, p.at, p.x) // back; replace sees whether that works
}

// links gives a file a second name. Both must show the same number: that is how
// a move by links that broke off is found.
func (p *prober) links() error {
	if p.Sys.Link(p.at, p.x, p.at, p.z) != nil {
		return nil
	}
	a, aerr := p.Sys.Stat(p.at, p.x)
	b, berr := p.Sys.Stat(p.at, p.z)
	taken := errors.Is(p.Sys.Link(p.at, p.x, p.at, p.y), fs.ErrExist)
	same := aerr == nil && berr == nil && sameFile(a, b) && taken && p.holds(p.z, p.x)
	if err := p.Sys.Remove(p.at, p.z); err != nil {
		return refuse("remove a file", err)
	}
	if same && p.holds(p.x, p.x) {
		p.can.HardLink, p.can.Inodes = true, true
	}
	return nil
}

// replace moves a file over another, which every save needs.
func (p *prober) replace() error {
	if err := p.Sys.MoveOver(p.at, p.x, p.at, p.z); err != nil {
		return refuse("rename a file", err)
	}
	if !p.free(p.x) || !p.holds(p.z, p.x) {
		return refuse("rename a file", nil)
	}
	if err := p.Sys.MoveOver(p.at, p.z, p.at, p.y); err != nil {
		return refuse("rename a file over another", err)
	}
	if !p.free(p.z) || !p.holds(p.y, p.x) {
		return refuse("rename a file over another", nil)
	}
	return nil
}

func (p *prober) syncs() {
	p.can.SyncFolder = p.Sys.syncFolder(p.at) == nil
	p.can.SyncAll = p.Sys.SyncAll(p.at) == nil
}

func (p *prober) attributes() {
	f, err := p.Sys.Reopen(p.at, p.y)
	if err != nil {
		return
	}
	defer f.Close()
	st, err := p.Sys.Stat(p.at, p.y)
	if err != nil {
		return
	}
	like := Content{Stat: st, Xattrs: map[string][]byte{"user.lore.probe": []byte("1")}}
	warnings, err := p.Sys.Dress(f, like)
	p.can.Xattr = err == nil && len(warnings) == 0
}

// letters looks for a file in another case than its name was given in.
func (p *prober) letters(name func(string) string) error {
	p.x = name("Probe")
	if err := p.Put(path.Join(p.dir, p.x), []byte(p.x), false); err != nil {
		return refuse("make a file", err)
	}
	p.can.IgnoreCase = !p.free(strings.Replace(p.x, "Probe", "pROBE", 1))
	shown, err := p.Spelled(path.Join(p.dir, p.x))
	if err != nil {
		return refuse("list a folder", err)
	}
	p.can.LoseCase = !shown
	return nil
}
