package jail

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// second becomes the command: it waits until the jail is closed, gives up every
// right, and starts it. It prints why it could not, and ends with 126 or 127 as
// shells do.
func second(args []string) int {
	runtime.LockOSThread() // rights belong to a thread
	fail := func(code int, format string, v ...any) int {
		fmt.Fprintf(os.Stderr, "lore: "+format+"\n", v...)
		return code
	}
	wait := os.NewFile(3, "wait")
	if n, err := wait.Read(make([]byte, 1)); n != 1 || err != nil {
		return 126 // the jail was not made, which its first process tells
	}
	_ = wait.Close() // it was only read
	if len(args) < 6 {
		return fail(126, "the command is empty")
	}
	if err := os.Chdir(workDir); err != nil {
		return fail(126, "%v", err)
	}
	unix.Umask(0o022)
	if err := renounce(args[:5]); err != nil {
		return fail(126, "the jail cannot be closed: %v", err)
	}
	argv := args[5:]
	at, err := exec.LookPath(argv[0])
	if err != nil {
		return fail(127, "%s: command not found", argv[0])
	}
	err = syscall.Exec(at, argv, os.Environ())
	return fail(126, "%s: %v", argv[0], err)
}

// leastSpace is the memory that even a small program reserves.
const leastSpace = 2 << 30

// renounce gives up every right that is not needed, for good.
func renounce(limits []string) error {
	n := make([]uint64, len(limits))
	for i, s := range limits {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return err
		}
		n[i] = v
	}
	// The system ends the command before it ends anything of the user.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // it only helps
	for _, l := range []struct {
		which int
		value uint64
	}{
		// Programs reserve far more memory than they use; what they use, the first
		// process watches.
		{unix.RLIMIT_AS, max(2*n[0], leastSpace)}, {unix.RLIMIT_FSIZE, n[1]}, {unix.RLIMIT_NPROC, n[2]}, {unix.RLIMIT_NOFILE, n[3]}, {unix.RLIMIT_CPU, 2 * n[4]}, {unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MEMLOCK, 1 << 20}, {unix.RLIMIT_MSGQUEUE, 1 << 16}, {unix.RLIMIT_SIGPENDING, 1024},
	} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit %d: %w", l.which, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); c <= 63; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // the last ones do not exist; bubblewrap dropped them all
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := landlock(); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return filter()
}

// landlock limits the files once more, by paths: a mistake in the mounts does not
// open the disk. A system without it has the mounts alone.
func landlock() error {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil
	}
	const reads = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	all := uint64(1)<<13 - 1
	size := uintptr(8)
	attr := unix.LandlockRulesetAttr{}
	if abi >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		attr.Handled_access_net, size = unix.LANDLOCK_ACCESS_NET_BIND_TCP|unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, 16
	}
	if abi >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.Scoped, size = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL, 24
	}
	attr.Handled_access_fs = all
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(int(rules)) }() // the rules hold without it
	allow := map[string]uint64{workDir: all, "/tmp": all, "/proc": reads, "/etc": reads, "/dev": reads | unix.LANDLOCK_ACCESS_FS_WRITE_FILE}
	for _, dir := range systemDirs {
		allow["/"+dir] = reads
	}
	for at, access := range allow {
		fd, err := unix.Open(at, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // there is none
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		_ = unix.Close(fd) // it was only looked at
		if errno != 0 {
			return errno
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// refused are system calls that no ordinary command needs, and through which
// others have left their jails.
var refused = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_PIDFD_GETFD, unix.SYS_MOVE_PAGES, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
}

// architectures are those whose numbers of system calls are known here.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filter refuses those system calls.
func filter() error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil // the namespaces hold without it
	}
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equals = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		above  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
		no     = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		older  = 0x40000000 // calls of x32, which have numbers of their own
		has    = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K

		unknown    = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	)
	// Jumps only go forward, and count from the instruction after them.
	n := uint8(len(refused))
	code := []unix.SockFilter{
		{Code: load, K: 4}, {Code: equals, K: arch, Jt: 1}, {Code: answer, K: no},
		{Code: load, K: 0}, {Code: above, K: older, Jt: n + 5},
		{Code: equals, K: unix.SYS_CLONE3, Jt: n + 5}, // its flags lie in memory; libraries then use clone
		{Code: equals, K: unix.SYS_CLONE, Jf: 2}, {Code: load, K: 16}, {Code: has, K: namespaces, Jt: n + 1, Jf: n},
	}
	for i, nr := range refused {
		code = append(code, unix.SockFilter{Code: equals, K: nr, Jt: n - uint8(i)})
	}
	code = append(code, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: answer, K: no}, unix.SockFilter{Code: answer, K: unknown})
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}
