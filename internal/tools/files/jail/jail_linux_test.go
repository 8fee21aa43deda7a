package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the jail's processes, and a person without rights, of this
// binary.
func TestMain(m *testing.M) {
	if code, ok := Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	if mark := os.Getenv("LORE_JAIL_SLEEPS"); mark != "" {
		c := sh("echo begun; setsid sleep " + mark + " & sleep " + mark)
		_, err := run(context.Background(), c, func(_ Stream, b []byte) { fmt.Print(string(b)) })
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A said is what a command wrote and how it ended.
type said struct {
	Outcome
	out, err string
}

func try(t *testing.T, start func(context.Context, Command, func(Stream, []byte)) (Outcome, error), c Command) said {
	t.Helper()
	var s said
	o, err := start(t.Context(), c, func(w Stream, b []byte) {
		if w == Stdout {
			s.out += string(b)
		} else {
			s.err += string(b)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Outcome = o
	return s
}

// ways are the jails that this computer has.
func ways(t *testing.T) map[string]func(context.Context, Command, func(Stream, []byte)) (Outcome, error) {
	t.Helper()
	out := map[string]func(context.Context, Command, func(Stream, []byte)) (Outcome, error){}
	quick := Command{Argv: []string{"true"}, Limits: DefaultLimits()}
	for name, way := range map[string]func(context.Context, Command, func(Stream, []byte)) (Outcome, error){
		"namespaces": func(ctx context.Context, c Command, f func(Stream, []byte)) (Outcome, error) {
			return start(ctx, namespaced(), c, false, f)
		},
		"bubblewrap": func(ctx context.Context, c Command, f func(Stream, []byte)) (Outcome, error) {
			cmd, ok := wrapped(c.Limits)
			if !ok {
				return Outcome{}, errors.New("bubblewrap is not installed")
			}
			return start(ctx, cmd, c, true, f)
		},
	} {
		if _, err := way(t.Context(), quick, func(Stream, []byte) {}); err != nil {
			t.Logf("no %s here: %v", name, err)
			continue
		}
		out[name] = way
	}
	if len(out) == 0 {
		t.Skip("there is no jail here")
	}
	return out
}

func sh(script string) Command {
	return Command{Argv: []string{"/bin/sh", "-c", script}, Limits: DefaultLimits(), Files: []File{{Path: "a.txt", Data: []byte("one\n")}, {Path: "sub/b.txt", Data: []byte("two\n")}, {Path: "run.sh", Data: []byte("#!/bin/sh\necho ran\n"), Runs: true}}}
}

func TestCommandRuns(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			s := try(t, way, sh("cat a.txt; echo wrong >&2; ./run.sh; pwd; echo new > sub/c.txt; printf x >> a.txt; rm sub/b.txt; ln -s /etc/passwd link; exit 7"))
			if s.Exit != 7 || s.out != "one\nran\n/vault\n" || s.err != "wrong\n" || s.Stopped != "" {
				t.Errorf("%+v", s)
			}
			want := Outcome{
				Exit: 7, Changed: []File{{Path: "a.txt", Data: []byte("one\nx")}, {Path: "sub/c.txt", Data: []byte("new\n")}}, Deleted: []string{"sub/b.txt"},
				Lost: []Loss{{"link", "it is not a regular file"}},
			}
			if !reflect.DeepEqual(s.Outcome, want) {
				t.Errorf("%+v, want %+v", s.Outcome, want)
			}
			s = try(t, way, Command{Argv: []string{"echo", "$HOME", "a;b", "`id`"}, Limits: DefaultLimits()})
			if s.out != "$HOME a;b `id`\n" {
				t.Errorf("a shell read the arguments: %+v", s)
			}
			s = try(t, way, Command{Argv: []string{"no-such-program"}, Limits: DefaultLimits()})
			if s.Exit != 127 || !strings.Contains(s.err, "command not found") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestNobodyLeaves: each row tries to reach something outside. None of it works,
// as root and as an ordinary user, in every kind of jail.
func TestNobodyLeaves(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(secret); len(dir) > 1; dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755) // anybody could read it
	}
	t.Setenv("LORE_CANARY", "canary")
	port := listen(t, "tcp", "127.0.0.1:0")
	path := listen(t, "unix", filepath.Join(t.TempDir(), "s"))
	abstract := listen(t, "unix", "@lore-jail-test-"+fmt.Sprint(os.Getpid()))
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	})
	dial := func(family, address string) string {
		return fmt.Sprintf(`command -v python3 >/dev/null || exit 1; python3 -c 'import socket;s=socket.socket(socket.%s);s.connect(%s);print("REACHED")'`, family, address)
	}
	host, number, _ := strings.Cut(port, ":")
	rows := []struct{ name, script string }{ // each prints REACHED, or canary, when it got out
		{"passwords", "cat /etc/shadow && echo REACHED"},
		{"a secret that everybody may read", "cat " + secret},
		{"the secret through /proc/1/root", "cat /proc/1/root" + secret},
		{"the secret through a link", "ln -s " + secret + " l; cat l"},
		{"the secret through a hard link", "ln " + secret + " l && cat l"},
		{"the secret through ..", "cat ../../../../../.." + secret},
		{"the secret through a descriptor", "for f in /proc/self/fd/* /proc/1/fd/* /dev/fd/*; do cat $f" + secret + "; done"},
		{"the secret through the folders of the first process", "cat /proc/1/cwd" + secret + "; readlink /proc/1/fd/3 && echo REACHED; ls /proc/1/root && echo REACHED"},
		{"keys", "cat /root/.ssh/* /home/*/.ssh/* ~/.ssh/* && echo REACHED"},
		{"homes", "ls /root /home /var /opt /srv /mnt /run /boot 2>/dev/null | grep -q . && echo REACHED"},
		{"the environment", "env; cat /proc/*/environ | tr '\\0' '\\n'"},
		{"other processes", fmt.Sprintf("test -d /proc/%d && grep -q sleep /proc/%d/comm && echo REACHED; ps ax 2>/dev/null | grep -q '[s]leep 1000' && echo REACHED", sleeper.Process.Pid, sleeper.Process.Pid)},
		{"a signal to another process", fmt.Sprintf("kill -9 %d && echo REACHED", sleeper.Process.Pid)},
		{"a signal to the first process", "kill -9 1; kill -STOP 1; true"},
		{"the network", dial("AF_INET", fmt.Sprintf("(%q, %s)", host, number))},
		{"the network by a shell", fmt.Sprintf("bash -c 'echo > /dev/tcp/%s/%s && echo REACHED'", host, number)},
		{"names of hosts", "getent hosts example.com && echo REACHED"},
		{"a socket with a path", dial("AF_UNIX", fmt.Sprintf("%q", path))},
		{"a socket without a path", dial("AF_UNIX", fmt.Sprintf("\"\\0%s\"", strings.TrimPrefix(abstract, "@")))},
		{"sockets of the system", "ls /run/docker.sock /var/run/docker.sock /run/user/*/bus && echo REACHED"},
		{"writing to the programs", "echo x > /usr/bin/lore-jail-test && echo REACHED"},
		{"writing to the root", "echo x > /x && echo REACHED"},
		{"writing to the settings", "echo x > /etc/passwd && echo REACHED"},
		{"making the programs writable", "mount -o remount,rw /usr && echo REACHED"},
		{"mounting", "mount -t tmpfs x /tmp && echo REACHED; mount --bind / /tmp && echo REACHED"},
		{"unmounting", "umount -l /usr && echo REACHED; umount /proc && echo REACHED"},
		{"a namespace in the jail", "unshare -U true && echo REACHED; unshare -Ur mount -t tmpfs x /tmp && echo REACHED; unshare -n true && echo REACHED"},
		{"another namespace", "nsenter -t 1 -m true && echo REACHED"},
		{"another root", "chroot / true && echo REACHED"},
		{"a device", "mknod d b 8 0 && echo REACHED; mknod k c 1 2 && echo REACHED"},
		{"disks", "ls /dev/sda* /dev/vda* /dev/nvme* /dev/mem /dev/kmsg 2>/dev/null | grep -q . && echo REACHED"},
		{"rights by a program", "cp /bin/sh s; chmod 4755 s; ./s -p -c 'test -r /etc/shadow && echo REACHED'; su -c true && echo REACHED"},
		{"capabilities", "grep -E '^Cap(Eff|Prm|Inh|Amb|Bnd):' /proc/self/status | grep -qv 0000000000000000 && echo REACHED"},
		{"new privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo REACHED"},
		{"settings of the kernel", "echo 1 > /proc/sys/kernel/core_pattern && echo REACHED; echo b > /proc/sysrq-trigger && echo REACHED; echo 100 > /proc/sys/user/max_user_namespaces && echo REACHED"},
		{"keyrings", "keyctl show && echo REACHED; python3 -c 'import ctypes;l=ctypes.CDLL(None);print(\"REACHED\" if l.syscall(250,0,-3,0)>=0 else \"\")'"},
		{"tracing", "python3 -c 'import ctypes;l=ctypes.CDLL(None);print(\"REACHED\" if l.ptrace(16,1,0,0)>=0 else \"\")'"},
		{"memory of the first process", "cat /proc/1/mem | head -c 1 && cat /proc/1/maps | grep -q . && echo REACHED"},
		{"the report of the first process", "for p in /proc/[0-9]*; do for f in $p/fd/*; do [ $p = /proc/$$ ] || [ $p = /proc/self ] || { readlink $f | grep -q pipe && echo x > $f && echo REACHED; }; done; done"},
		{"the name of the computer", "hostname other && echo REACHED"},
		{"the clock", "date -s 2000-01-01 && echo REACHED"},
		{"Lore's own folder", "ls /vault/.lore /vault/.git /vault/.obsidian && echo REACHED"},
	}
	for name, way := range ways(t) {
		for _, r := range rows {
			t.Run(name+"/"+r.name, func(t *testing.T) {
				s := try(t, way, sh("{ "+r.script+"\n}; true"))
				if strings.Contains(s.out+s.err, "REACHED") || strings.Contains(s.out, "canary") {
					t.Errorf("it got out: %s%s", s.out, s.err)
				}
			})
		}
	}
	if err := sleeper.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process outside was killed: %v", err)
	}
}

// listen opens a socket that a command must not reach, and returns its address.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Error("somebody reached " + address)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// TestLimits: each row would use up the computer.
func TestLimits(t *testing.T) {
	all := ways(t)
	small := DefaultLimits()
	small.Time, small.Memory, small.Disk, small.FileSize, small.Processes = 20*time.Second, 200<<20, 32<<20, 8<<20, 64
	for _, r := range []struct {
		name, script string
		is           func(said) bool
	}{
		{"too many processes", `i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; echo all`, func(s said) bool { return s.Exit != 0 && !strings.Contains(s.out, "all") }},
		{"fork bomb", `b() { b | b & }; b 2>/dev/null; sleep 1; echo end`, func(said) bool { return true }},
		{"memory in one process", `python3 -c 'x = bytearray(1 << 40)' || exit 9`, func(s said) bool { return s.Exit == 9 }},
		{"memory in many processes", `for i in 1 2 3 4 5; do python3 -c 'import time; x = bytearray(90 << 20); time.sleep(15)' & done; wait; echo survived`, func(s said) bool { return s.Stopped == "memory" && !strings.Contains(s.out, "survived") }},
		{"a large file", `head -c 20000000 /dev/zero > big`, func(s said) bool { return len(s.Changed) == 0 || len(s.Changed[0].Data) <= 8<<20 }},
		{"a full disk", `for i in 1 2 3 4 5 6 7 8; do head -c 7000000 /dev/zero > f$i || exit 8; done`, func(s said) bool { return s.Exit == 8 }},
		{"a full temporary folder", `for i in 1 2 3 4 5 6 7 8; do head -c 7000000 /dev/zero > /tmp/f$i || exit 8; done`, func(s said) bool { return s.Exit == 8 }},
		{"too many files", `i=0; while [ $i -lt 7000 ]; do : > n$i; i=$((i+1)); done`, func(s said) bool { return len(s.Changed) == 0 && len(s.Lost) == 1 }},
		{"a daemon", `setsid sh -c 'sleep 500 & sleep 500' >/dev/null 2>&1 & (setsid sleep 500 &) ; echo gone`, func(s said) bool { return s.out == "gone\n" && s.Exit == 0 }},
		{"a daemon that keeps the output open", `setsid sh -c 'trap "" TERM HUP; sleep 500' & echo gone`, func(s said) bool { return s.out == "gone\n" }},
	} {
		for name, way := range all {
			t.Run(name+"/"+r.name, func(t *testing.T) {
				c := sh(r.script)
				c.Limits = small
				if s := try(t, way, c); !r.is(s) || s.Stopped == "time" {
					s.Changed = nil
					t.Errorf("%.2000v", s)
				}
			})
		}
	}
}

// TestTimeEndsEverything: a command that does not end is killed with all that it
// started, and so is one whose caller goes away.
func TestTimeEndsEverything(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			mark := fmt.Sprintf("%d.%d", 4000+os.Getpid()%1000, time.Now().Nanosecond())
			c := sh("trap '' TERM INT HUP; setsid sleep " + mark + " & sleep " + mark)
			c.Limits.Time = time.Second
			if s := try(t, way, c); s.Stopped != "time" || s.Exit != 137 {
				t.Errorf("%+v", s)
			}
			gone(t, mark)
			ctx, cancel := context.WithCancel(t.Context())
			c.Limits.Time = time.Minute
			c.Argv[2] = "echo begun; " + c.Argv[2]
			_, err := way(ctx, c, func(Stream, []byte) { cancel() })
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			gone(t, mark)
		})
	}
}

// TestProgramDies: a command does not outlive the program that runs it, however
// that ends.
func TestProgramDies(t *testing.T) {
	ways(t)
	mark := fmt.Sprintf("%d.%d", 5000+os.Getpid()%1000, time.Now().Nanosecond())
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "LORE_JAIL_SLEEPS="+mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(out, b); err != nil || string(b) != "begun" {
		t.Errorf("%q %v", b, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, mark)
}

// gone waits until no process has such an argument.
func gone(t *testing.T, mark string) {
	t.Helper()
	for range 200 {
		list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		if !slices.ContainsFunc(list, func(at string) bool {
			text, _ := os.ReadFile(at)
			return strings.Contains(string(text), "sleep\x00"+mark)
		}) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a process of the command is still there")
}

// TestAsNobody does all of it once more as an ordinary user.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user")
	}
	if os.Getenv("LORE_JAIL_NOBODY") != "" {
		return
	}
	dir, err := os.MkdirTemp("/tmp", "lore-jail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "jail.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err := errors.Join(err, os.Chmod(dir, 0o777), os.WriteFile(program, data, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "TestCommandRuns|TestNobodyLeaves|TestLimits|TestTimeEndsEverything", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LORE_JAIL_NOBODY=1", "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestNobodyLeaves") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := exec.LookPath("bwrap"); err == nil && !strings.Contains(string(out), "--- PASS: TestNobodyLeaves/bubblewrap") {
		t.Errorf("bubblewrap is installed and was not tried: %s", out)
	}
}
