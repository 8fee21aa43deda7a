package writer

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault/disk"
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
	if err := t.probe(); err != nil {
		return err
	}
	if fresh {
		t.keepOutOfGit()
	}
	if !fresh && !w.unsettled {
		return nil
	}
	w.unsettled = true
	if err := t.recoverAll(before); err != nil {
		return err
	}
	if err := t.sign(); err != nil {
		return disk.Explain(own, err)
	}
	w.unsettled = false
	return nil
}

// ownFolder makes Lore's folder.
func (t *task) ownFolder() error {
	st, err := t.Stat(own)
	switch {
	case err == nil && st.Mode.IsDir():
		return nil
	case err == nil:
		return fault.Fix(fault.Unsafe, "remove or rename it", "%q in the vault is not a folder", own)
	case !disk.Absent(err):
		return disk.Explain(own, err)
	}
	err = t.Mkdir(own, 0o700)
	if errors.Is(err, fs.ErrPermission) {
		return fault.Fix(fault.ReadOnly, "give yourself write permission on it (chmod u+w)", "the vault folder is not writable")
	}
	return disk.Explain(own, err)
}

// ignoreFile keeps Lore's folder out of Git repositories.
const ignoreFile = ".gitignore"

// keepOutOfGit writes that file where it is missing. Nothing depends on it.
func (t *task) keepOutOfGit() {
	name := path.Join(own, ignoreFile)
	if there, err := t.Exists(name); err == nil && !there {
		_ = t.Put(name, []byte("*\n"), false)
	}
}

// takeLock takes the vault's lock, or sees that it still has it. before is what
// the last writer left in the file: nothing, when it ended in order.
func (t *task) takeLock() (fresh bool, before string, err error) {
	w := t.w
	at, err := t.Folder(own)
	if err != nil {
		return false, "", disk.Explain(own, err)
	}
	if w.lock != nil {
		// The folder may have been replaced, and the lock with it.
		now, err := t.Sys.Stat(at, lockName)
		if err == nil && now.Inode == w.locked.Inode && now.Dev == w.locked.Dev {
			return false, "", nil
		}
		w.trashed = nil
		if err := w.unlock(false); err != nil {
			return false, "", disk.Explain(own, err)
		}
	}
	file, err := t.Sys.Create(at, lockName, 0o600)
	if errors.Is(err, fs.ErrExist) {
		file, err = t.Sys.Reopen(at, lockName)
	}
	if err != nil {
		return false, "", disk.Explain(own, err)
	}
	supported, taken, err := disk.Lock(file)
	if err == nil && !taken {
		err = fault.Fix(fault.Busy, "use that process, or stop it", "another lore process is writing to this vault")
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return false, "", disk.Explain(own, err)
	}
	w.can.Lock, t.Can.Lock = supported, supported
	w.lock = file
	c, err := t.Sys.Read(at, lockName)
	w.locked = c.Stat
	if err != nil {
		return false, "", errors.Join(disk.Explain(own, err), w.unlock(false))
	}
	if c.Links > 1 { // the lock is written into
		err := fault.Fix(fault.Unsafe, "remove it", "%q is a hard link: writing to it would change a file elsewhere", path.Join(own, lockName))
		return false, "", errors.Join(err, w.unlock(false))
	}
	return true, string(c.Data), nil
}

// unlock gives the lock back. clean says that nothing is left to be recovered.
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
	boot := disk.BootID()
	if boot == "" {
		boot = "unknown"
	}
	if err := t.Sys.Write(t.w.lock, []byte(boot)); err != nil {
		return err
	}
	if err := t.Sys.Sync(t.w.lock); err != nil {
		return err
	}
	return t.SyncFolders(path.Join(own, lockName), own)
}

// Capabilities tells what the file system of the vault can do. It makes and
// removes files in Lore's folder to find out.
func (w *Writer) Capabilities(ctx context.Context) (Capabilities, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.begin(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	defer t.Close()
	return w.can, nil
}

// probe tries what the file system can do, once for each disk that the vault is
// found on.
func (t *task) probe() error {
	w := t.w
	at, err := t.Folder(own)
	if err != nil {
		return disk.Explain(own, err)
	}
	if w.probed && (w.disk == disk.Disk{} || w.disk == at.Disk()) {
		return nil
	}
	can, err := t.Probe(own, w.random)
	if err != nil {
		return err
	}
	can.Lock = t.Can.Lock
	w.probed, w.disk, w.can, t.Can = true, at.Disk(), can, can
	return nil
}

// diskName is the file that says what the user was told about the disk.
const diskName = "disk"

// warn adds what the disk cannot do to the warnings, unless the user was told so
// before.
func (t *task) warn() {
	if t.w.warned {
		return
	}
	t.w.warned = true
	missing := t.w.can.Missing()
	told := path.Join(own, diskName)
	text := strings.Join(missing, "\n")
	c, err := t.Read(told)
	if err == nil && string(c.Data) == text || disk.Absent(err) && text == "" {
		return
	}
	err = t.Remove(told)
	if err == nil && text != "" {
		for _, m := range missing {
			t.Warnings = append(t.Warnings, "this vault's disk "+m)
		}
		err = t.Put(told, []byte(text), false)
	}
	if err != nil {
		t.w.log.Warn("a warning about the disk could not be stored", "error", err)
	}
}
