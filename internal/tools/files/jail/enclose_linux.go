package jail

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// enclose gives this process, and the one that waits, a root of their own: the
// programs of the system read-only, and nothing else of the disk.
func enclose(l Limits) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	root := os.TempDir()
	if err := unix.Mount("jail", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=4m,mode=755"); err != nil {
		return fmt.Errorf("mount a temporary folder: %w", err)
	}
	for _, step := range []func(string) error{makeFolders, bindSystem, bindDevices, writeSettings} {
		if err := step(root); err != nil {
			return err
		}
	}
	for _, dir := range []string{workDir, "/tmp"} {
		data := fmt.Sprintf("size=%d,nr_inodes=%d,mode=755", l.Disk, 200_000)
		if err := unix.Mount("jail", root+dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
			return fmt.Errorf("mount %s: %w", dir, err)
		}
	}
	if err := unix.Mount("proc", root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.Sethostname([]byte(hostName)); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := unix.PivotRoot(root, root+"/old"); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/old", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := os.Remove("/old"); err != nil {
		return err
	}
	// A namespace inside this one would give rights over its own mounts. The
	// filter of system calls refuses it, too.
	for _, kind := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		_ = os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0) // older systems have not all of them
	}
	return readOnly("/", 0)
}

func makeFolders(root string) error {
	for _, dir := range []string{"proc", "dev", "etc", "tmp", "old", workDir[1:]} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// readOnly makes a mount read-only.
func readOnly(at string, flags uint) error {
	err := unix.MountSetattr(unix.AT_FDCWD, at, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	if err != nil {
		return fmt.Errorf("make %s read-only: %w", at, err)
	}
	return nil
}

func bindSystem(root string) error {
	for _, dir := range systemDirs {
		at := filepath.Join(root, dir)
		if to, err := os.Readlink("/" + dir); err == nil {
			if err := os.Symlink(to, at); err != nil {
				return err
			}
			continue
		}
		if info, err := os.Stat("/" + dir); err != nil || !info.IsDir() {
			continue
		}
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		if err := bind("/"+dir, at); err != nil {
			return err
		}
	}
	for _, name := range etcFiles {
		from, at := "/etc/"+name, filepath.Join(root, "etc", name)
		info, err := os.Stat(from)
		if err != nil {
			continue
		}
		if info.IsDir() {
			err = os.Mkdir(at, 0o755)
		} else {
			err = os.WriteFile(at, nil, 0o644)
		}
		if err != nil {
			return err
		}
		if err := bind(from, at); err != nil {
			return err
		}
	}
	return nil
}

// bind shows a file or folder at another place, read-only.
func bind(from, at string) error {
	if err := unix.Mount(from, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", from, err)
	}
	return readOnly(at, unix.AT_RECURSIVE)
}

func bindDevices(root string) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		at := filepath.Join(root, "dev", name)
		if err := os.WriteFile(at, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show /dev/%s: %w", name, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "shm": "/tmp"} {
		if err := os.Symlink(to, filepath.Join(root, "dev", name)); err != nil {
			return err
		}
	}
	return nil
}

// writeSettings writes settings that tell nothing about this computer.
func writeSettings(root string) error {
	for name, text := range map[string]string{
		"passwd": "jail:x:0:0:jail:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n", "group": "jail:x:0:\nnogroup:x:65534:\n",
		"hosts": "127.0.0.1 localhost\n", "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
