//go:build crash && linux

package writer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/vault"
	"lore/internal/vault/vaultcheck"
)

// TestCrashChild is the process that is killed. It applies the set of a file,
// or recovers.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv("CRASH_VAULT")
	if dir == "" {
		t.Skip("run by the other tests")
	}
	v, err := vault.Open(dir, vault.Options{AllowLinked: true})
	if err != nil {
		t.Fatal(err)
	}
	w := Open(v, Options{})
	for _, k := range kindsOfDisk() {
		if k.name == os.Getenv("CRASH_DISK") {
			w.sys.Before = k.before
		}
	}
	if file := os.Getenv("CRASH_SET"); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set change.Set
		if err := json.Unmarshal(data, &set); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Apply(t.Context(), "crash", set); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(os.Getenv("CRASH_ACK"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if _, err := w.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A lab is one vault in which processes are killed.
type lab struct {
	t           *testing.T
	around, dir string
	set         string // file
	scene       scene
	after       map[string]string
	disk        string // the kind of disk that the vault lies on
}

func newLab(t *testing.T, s scene) *lab {
	t.Helper()
	l := &lab{t: t, around: memoryDir(t), scene: s, after: s.after()}
	l.dir = filepath.Join(l.around, "vault")
	l.set = filepath.Join(t.TempDir(), "set.json")
	data, err := json.Marshal(s.set)
	if err == nil {
		err = os.WriteFile(l.set, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fill makes the vault as it was before.
func (l *lab) fill() {
	l.t.Helper()
	if err := os.RemoveAll(l.around); err != nil {
		l.t.Fatal(err)
	}
	d := &desk{t: l.t, dir: l.dir}
	for p, s := range l.scene.before {
		d.put(p, s)
	}
	for name, of := range l.scene.links {
		if err := os.Link(d.path(of), d.path(name)); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(l.around, "beside.md"), []byte("beside"), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// child runs a process that is killed at a point; 0 means never. It reports
// whether it was killed.
func (l *lab) child(apply bool, at int) bool {
	l.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestCrashChild$")
	cmd.Env = append(os.Environ(), "CRASH_VAULT="+l.dir, "CRASH_AT="+strconv.Itoa(at), "CRASH_DISK="+l.disk, "GOMAXPROCS=1")
	if apply {
		cmd.Env = append(cmd.Env, "CRASH_SET="+l.set, "CRASH_ACK="+l.set+".ack")
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		l.t.Fatalf("point %d: %v\n%s", at, err, out)
	}
	return false
}

// run kills the change at one point and recoveries at others, and checks what
// is left. It reports whether the point was reached.
func (l *lab) run(at int, recoveries ...int) bool {
	l.t.Helper()
	l.fill()
	_ = os.Remove(l.set + ".ack")
	killed := l.child(true, at)
	_, err := os.Stat(l.set + ".ack")
	acknowledged := err == nil
	for _, r := range recoveries {
		l.child(false, r)
	}
	l.child(false, 0)
	c := vaultcheck.Case{
		Before: l.scene.withLinks(), After: l.after, Acknowledged: acknowledged,
		Around: l.around, Untouched: map[string]string{"beside.md": "beside"},
	}
	for _, v := range vaultcheck.Check(l.dir, c) {
		l.t.Errorf("killed at %d, recoveries at %v: %v", at, recoveries, v)
	}
	return killed
}

// times multiplies the runs.
func times() int {
	n, err := strconv.Atoi(os.Getenv("TORTURE"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// TestKilledAtEveryPoint kills single saves and a small set at every point.
func TestKilledAtEveryPoint(t *testing.T) { killedOn(t, "", scenes()) }

// TestKilledOnPoorDisks does the same where the system can do less: without
// exchange, and without hard links too.
func TestKilledOnPoorDisks(t *testing.T) {
	for _, disk := range []string{"bindfs, sshfs", "exFAT, FAT"} {
		t.Run(disk, func(t *testing.T) {
			s := exams()
			if times() == 1 {
				delete(s, "twenty files") // it has hundreds of points, all of them of the same kinds
			}
			killedOn(t, disk, s)
		})
	}
}

// TestKilledWhileLettersChange kills changes of case.
func TestKilledWhileLettersChange(t *testing.T) {
	s := exams()
	for name := range scenes() {
		delete(s, name)
	}
	killedOn(t, "", s)
}

func killedOn(t *testing.T, disk string, all map[string]scene) {
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, s)
			l.disk = disk
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			runs := 0
			for range times() {
				for at := 1; l.run(at, 1+random.IntN(30), 1+random.IntN(60)) && !t.Failed(); at++ {
					runs++
				}
			}
			t.Logf("%d kills", runs)
		})
	}
}

// rename is a note with n links to it, all of which change.
func rename(n int) scene {
	s := scene{before: map[string]string{"hub.md": "the hub"}}
	text := strings.Repeat("words before the link, so that there is something to write. ", 8)
	for i := range n {
		p := fmt.Sprintf("f%02d/note-%04d.md", i%20, i)
		s.before[p] = fmt.Sprintf("%d %s [[hub]]\n", i, text)
		s.set = append(s.set, change.Replace(p, s.before[p], fmt.Sprintf("%d %s [[centre]]\n", i, text)))
	}
	s.set = append(s.set, change.Move("hub.md", "centre.md"))
	return s
}

// TestKilledDuringRename kills a rename with a thousand links at sampled points,
// and its recovery too.
func TestKilledDuringRename(t *testing.T) {
	s := rename(1000)
	points := count(t, s)
	if points < 5000 {
		t.Fatalf("only %d points", points)
	}
	const workers = 2
	for worker := range workers {
		t.Run(strconv.Itoa(worker), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, s)
			random := rand.New(rand.NewPCG(7, uint64(worker)))
			runs := 30 * times()
			for i := range runs {
				at := points*(i*workers+worker)/(runs*workers) + random.IntN(points/(runs*workers)+1)
				recoveries := []int{1 + random.IntN(3000)}
				if i%4 == 0 {
					recoveries = append(recoveries, 1+random.IntN(200))
				}
				l.run(at, recoveries...)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d kills among %d points", runs, points)
		})
	}
}

// count counts the points of a change.
func count(t *testing.T, s scene) int {
	t.Helper()
	l := newLab(t, s)
	l.fill()
	log := filepath.Join(t.TempDir(), "points")
	t.Setenv("CRASH_LOG", log)
	l.child(true, 0)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Unsetenv("CRASH_LOG"); err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}
