package vault

import (
	"slices"

	"golang.org/x/sys/unix"
)

// elsewhere are the file systems that others can change without this system's
// knowledge: servers on the network, and what lies below FUSE.
var elsewhere = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC,
	unix.AFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
	0x786f4256, // VirtualBox's shared folders
	0x01161970, // GFS2
	unix.OCFS2_SUPER_MAGIC,
	0x0bd00bd0, // Lustre
}

// ChangedElsewhere reports whether a folder lies on such a file system.
func ChangedElsewhere(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) != nil || slices.Contains(elsewhere, uint32(st.Type))
}

func isElsewhere(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) != nil || slices.Contains(elsewhere, uint32(st.Type))
}

// refresh has the system ask again about a file in a folder, or about the folder
// when name is empty: on such file systems it remembers answers for a second or
// longer. Where that fails the answer is as old as it is.
func refresh(fd int, name string) {
	var st unix.Statx_t
	_ = unix.Statx(fd, name, unix.AT_STATX_FORCE_SYNC|unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &st)
}
