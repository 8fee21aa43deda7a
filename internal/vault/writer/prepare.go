package writer

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"lore/internal/fault"
	"lore/internal/vault"
)

// prepare makes sure that the vault can be written: Lore's folder is there, the
// lock is held, and nothing is left of an earlier crash.
func (t *task) prepare() error {
	w := t.w
	if err := t.ownFolder(); err != nil {
		return err
	}
	fresh, before, err := t.takeLock()
	if err != nil {
		return err
	}
	if !w.probed {
		if err := t.probe(); err != nil {
			return explain(own, err)
		}
	}
	if !fresh && !w.unsettled {
		return nil
	}
	w.unsettled = true
	if err := t.settleAll(before); err != nil {
		return err
	}
	if err := t.sign(); err != nil {
		return explain(own, err)
	}
	w.unsettled = false
	return nil
}

// ownFolder makes Lore's folder.
func (t *task) ownFolder() error {
	st, err := t.stat(own)
	switch {
	case err == nil && st.mode.IsDir():
		return nil
	case err == nil:
		return fault.Fix(fault.Unsafe, "remove it or give it another name", "%q in the vault is not a folder", own)
	case !absent(err):
		return explain(own, err)
	}
	err = t.mkdir(own, 0o700)
	if errors.Is(err, fs.ErrPermission) {
		return fault.Fix(fault.ReadOnly, "give yourself write permission on it (chmod u+w)", "the vault's folder cannot be written")
	}
	return explain(own, err)
}

// takeLock takes the vault's lock, or sees that it still has it. before is what
// the last writer left in the file: nothing, when it ended in order.
func (t *task) takeLock() (fresh bool, before string, err error) {
	w := t.w
	at, err := t.folder(own)
	if err != nil {
		return false, "", explain(own, err)
	}
	if w.lock != nil {
		// The folder may have been replaced, and the lock with it.
		now, err := t.sys.stat(at, lockName)
		if err == nil && now.inode == w.locked.inode && now.dev == w.locked.dev {
			return false, "", nil
		}
		w.trashed = nil
		if err := w.unlock(false); err != nil {
			return false, "", explain(own, err)
		}
	}
	file, err := t.sys.create(at, lockName, 0o600)
	if errors.Is(err, fs.ErrExist) {
		file, err = t.sys.reopen(at, lockName)
	}
	if err != nil {
		return false, "", explain(own, err)
	}
	supported, taken, err := lockFile(file)
	if err == nil && !taken {
		err = fault.Fix(fault.Busy, "use that one, or end it", "another lore process writes this vault")
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return false, "", explain(own, err)
	}
	w.can.Lock = supported
	if !supported && !w.warned {
		w.warned = true
		t.warnings = append(t.warnings, "the file system has no locks: let only one lore process write this vault")
	}
	w.lock = file
	c, err := t.sys.read(at, lockName)
	w.locked = c.stat
	if err != nil {
		return false, "", errors.Join(explain(own, err), w.unlock(false))
	}
	return true, string(c.data), nil
}

// unlock gives the lock back. clean says that nothing is left to be settled.
func (w *Writer) unlock(clean bool) error {
	if w.lock == nil {
		return nil
	}
	var err error
	if clean {
		err = w.lock.Truncate(0)
	}
	err = errors.Join(err, w.lock.Close())
	w.lock = nil
	return err
}

// sign leaves in the lock which start of the machine this is. Whoever finds it
// after a crash knows whether everything written before is still there; if not,
// it looks for strays in the whole vault.
func (t *task) sign() error {
	boot := bootID()
	if boot == "" {
		boot = "unknown"
	}
	if err := t.sys.write(t.w.lock, []byte(boot)); err != nil {
		return err
	}
	if err := t.sys.sync(t.w.lock); err != nil {
		return err
	}
	return t.syncFolders(path.Join(own, lockName), own)
}

// Capabilities tells what the file system of the vault can do. It makes and
// removes two files in Lore's folder to find out.
func (w *Writer) Capabilities(ctx context.Context) (Capabilities, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.begin(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	defer t.close()
	return w.can, nil
}

// probe tries what the file system can do.
func (t *task) probe() error {
	at, err := t.folder(own)
	if err != nil {
		return err
	}
	x, y := vault.Temp("probe-"+t.w.random()), vault.Temp("probe-"+t.w.random())
	for _, name := range []string{x, y} {
		if err := t.put(path.Join(own, name), []byte(name), false); err != nil {
			return errors.Join(err, t.remove(path.Join(own, x)), t.remove(path.Join(own, y)))
		}
	}
	can := &t.w.can
	can.Exchange = t.sys.exchange(at, x, at, y) == nil
	can.NoReplace = errors.Is(t.sys.moveNew(at, x, at, y), fs.ErrExist)
	can.Xattr = t.probeXattr(at, x)
	can.Syncfs = t.sys.syncAll(at) == nil
	err = t.remove(path.Join(own, y))
	if err == nil {
		can.HardLink = t.sys.link(at, x, at, y) == nil
		err = errors.Join(t.remove(path.Join(own, x)), t.remove(path.Join(own, y)))
	}
	t.w.probed = err == nil
	return err
}

func (t *task) probeXattr(at *folder, name string) bool {
	f, err := t.sys.reopen(at, name)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := t.sys.stat(at, name)
	if err != nil {
		return false
	}
	like := content{stat: st, xattrs: map[string][]byte{"user.lore.probe": []byte("1")}}
	warnings, err := t.sys.dress(f, like)
	return err == nil && len(warnings) == 0
}
