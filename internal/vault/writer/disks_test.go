//go:build linux

package writer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault/journal"
	"lore/internal/vault/vaultcheck"
)

// refusals are the ways of a file system to say that it cannot do something.
var refusals = []syscall.Errno{syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EXDEV, syscall.EPERM}

// optional are the calls that a disk may lack: there is another way, or a weaker
// promise. All others are needed for any change.
var optional = []string{"exchange", "move", "link", "sync folder", "sync all", "dress", "rmdir"}

// required are the calls without which nothing is changed.
var required = []string{"mkdir", "create", "write", "move over", "remove", "open", "names", "stat", "read", "reopen", "sync"}

// moves are the calls that can meet another disk.
var moves = []string{"exchange", "move", "link", "move over"}

// A kindOfDisk is a disk, told by the calls that it refuses.
type kindOfDisk struct {
	name    string
	refuses map[string]syscall.Errno
	missing int // what the user is told
}

func kindsOfDisk() []kindOfDisk {
	const no, none, not, other = syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EPERM
	return []kindOfDisk{
		{"ext4", nil, 0},
		{"bindfs, sshfs", map[string]syscall.Errno{"exchange": no, "move": no, "sync all": not}, 1},
		{"NFS", map[string]syscall.Errno{"exchange": no, "move": no, "dress": other}, 1},
		{"9p", map[string]syscall.Errno{"exchange": no, "move": no, "sync folder": no, "link": not}, 2},
		{"exFAT, FAT", map[string]syscall.Errno{"exchange": no, "move": no, "link": other, "dress": other, "sync all": not}, 2},
		{"SMB", map[string]syscall.Errno{"exchange": not, "link": not, "sync folder": no}, 1},
		{"old kernel", map[string]syscall.Errno{"exchange": none, "move": none, "sync all": none}, 1},
		{"no sync", map[string]syscall.Errno{"sync": no, "sync folder": no, "sync all": no}, 1},
	}
}

func (k kindOfDisk) before(call string) error {
	if errno, ok := k.refuses[call]; ok {
		return errno
	}
	return nil
}

// exams are the scenes, and those that change only the case of names.
func exams() map[string]scene {
	out := scenes()
	few := map[string]string{"f/b.md": "another", "f/g/c.md": "one [[b]]", "d.md": "[[b]]"}
	out["case of a name"] = scene{before: few, set: change.Set{change.Move("f/b.md", "f/B.md")}}
	out["case of a folder"] = scene{before: few, set: change.Set{
		change.Move("f/b.md", "F/b.md"), change.MoveReplace("f/g/c.md", "F/g/c.md", "one [[b]]", "one [[B]]"), change.Replace("d.md", "[[b]]", "[[B]]"),
	}}
	return out
}

// TestEveryDisk makes every kind of change on every kind of disk, and takes it
// back.
func TestEveryDisk(t *testing.T) {
	for _, k := range kindsOfDisk() {
		for name, s := range exams() {
			t.Run(k.name+", "+name, func(t *testing.T) {
				t.Parallel()
				d := s.desk(t)
				d.w.sys.Before = k.before
				r := d.must(s.set...)
				d.expect(s.after())
				if told := disksTold(r); told != k.missing {
					t.Errorf("the user is told %d things about the disk, want %d: %q", told, k.missing, r.Warnings)
				}
				r = d.must(s.set.Inverse()...)
				d.expect(s.withLinks())
				if told := disksTold(r); told != 0 {
					t.Errorf("the user is told again: %q", r.Warnings)
				}
				_, err := d.apply(change.Replace("d.md", "stale", "new"), change.Create("q.md", ""))
				if fault.Of(err) != fault.Conflict {
					t.Error(err)
				}
				d.expect(s.withLinks())
				d.tidy()
			})
		}
	}
}

func disksTold(r Receipt) int {
	n := 0
	for _, w := range r.Warnings {
		if strings.HasPrefix(w, "this vault's disk ") {
			n++
		}
	}
	return n
}

// TestToldOnce says what the disk cannot do once, not at every start.
func TestToldOnce(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	weak := kindOfDisk{refuses: map[string]syscall.Errno{"exchange": syscall.EINVAL}}
	for i, want := range []int{1, 0, 0} {
		w := Open(d.v, Options{})
		w.sys.Before = weak.before
		r, err := w.Apply(t.Context(), fmt.Sprintf("op-%d", i), change.Set{change.Create(fmt.Sprintf("n%d.md", i), "")})
		if err != nil || disksTold(r) != want {
			t.Errorf("start %d: told %d times, want %d (%v)", i, disksTold(r), want, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A liar lets one call fail though the disk said that it can do it: the nth one
// of that name, or all from the nth on.
type liar struct {
	k       kindOfDisk
	call    string
	at, n   int
	forever bool
	err     error
	failed  int
}

func (l *liar) before(call string) error {
	if err := l.k.before(call); err != nil || call != l.call {
		return err
	}
	l.n++
	if l.n == l.at || l.forever && l.n > l.at {
		l.failed++
		return l.err
	}
	return nil
}

// TestEveryAbilityLies lets each call of each change on each disk fail as one
// that the disk does not have, after the disk was asked: once, and for good.
func TestEveryAbilityLies(t *testing.T) {
	for _, k := range kindsOfDisk() {
		if k.name == "NFS" || k.name == "SMB" || k.name == "old kernel" {
			continue // each lacks a part of what another one lacks
		}
		for name, s := range exams() {
			t.Run(k.name+", "+name, func(t *testing.T) {
				t.Parallel()
				tries, turn := 0, len(name)+len(k.name)
				for _, call := range slices.Concat(optional, required) {
					for _, forever := range []bool{false, true} {
						for at := 1; ; at += 1 + at/4 {
							if testing.Short() && at > 4 {
								at *= 3
							}
							turn++
							l := &liar{k: k, call: call, at: at, forever: forever, err: refusals[turn%len(refusals)]}
							if l.err == syscall.EXDEV && !slices.Contains(moves, call) {
								l.err = syscall.EINVAL
							}
							if !s.tryLiar(t, l) {
								break
							}
							tries++
							if t.Failed() {
								t.Fatalf("%q, %v, call %d, for ever %v", call, l.err, at, forever)
							}
						}
					}
				}
				t.Logf("%d refusals", tries)
			})
		}
	}
}

// tryLiar runs the scene. It is false when the call was not made that often.
func (s scene) tryLiar(t *testing.T, l *liar) bool {
	d := s.desk(t)
	d.w.sys.Before = l.k.before
	if _, err := d.w.Capabilities(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.w.sys.Before = l.before
	_, err := d.apply(s.set...)
	if l.failed == 0 {
		return false
	}
	c := vaultcheck.Case{Before: s.withLinks(), After: s.after(), Acknowledged: err == nil}
	var unsettled *Interrupted
	if err != nil {
		if fault.Of(err) == fault.Internal {
			t.Errorf("no word: %v", err)
		}
		if slices.Contains(optional, l.call) {
			t.Errorf("a call that is not needed broke the change: %v", err)
		}
		if have := d.files(); !errors.As(err, &unsettled) && !maps.Equal(have, c.Before) {
			t.Errorf("refused, yet the files are %v", have)
		}
	}
	// The disk goes on as it is. Recovery recovers, or says why it cannot.
	settled, err := d.w.Recover(t.Context())
	if err != nil && (fault.Of(err) == fault.Internal || slices.Contains(optional, l.call)) {
		t.Errorf("recovery: %v", err)
	}
	for _, x := range settled {
		if x.Outcome == journal.SetAside {
			t.Errorf("%+v was set aside, though the disk is at fault", x)
		}
	}
	next := change.Create("next.md", "the next change")
	if slices.Contains(optional, l.call) {
		d.must(next)
	}
	// The disk is mended.
	d.w.sys.Before = l.k.before
	if _, err := d.w.Recover(t.Context()); err != nil {
		t.Errorf("recovery on a disk that works: %v", err)
	}
	if !d.has("next.md") {
		d.must(next)
	}
	c.Edited = map[string][]string{"next.md": {"the next change"}}
	for _, v := range vaultcheck.Check(d.dir, c) {
		t.Error(v)
	}
	if err := d.w.Close(); err != nil {
		t.Error(err)
	}
	return true
}

// TestRefusedDisk refuses a disk without a call that is needed, by name, and
// reads from it.
func TestRefusedDisk(t *testing.T) {
	for call, want := range map[string]string{"move over": "cannot rename a file", "create": "cannot make a file", "write": "cannot write a file"} {
		t.Run(call, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.md": "one"})
			own := d.w
			begun := false // the lock is written before anything else
			own.sys.Before = func(c string) error {
				begun = begun || c == "create" && d.has(".lore/lock")
				if c == call && begun {
					return syscall.ENOSYS
				}
				return nil
			}
			_, err := d.apply(change.Replace("a.md", "one", "two"))
			if fault.Of(err) != fault.ReadOnly || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if f, err := d.v.Read(t.Context(), "a.md"); err != nil || string(f.Data) != "one" {
				t.Errorf("%+v, %v", f, err)
			}
			own.sys.Before = nil
			d.must(change.Replace("a.md", "one", "two"))
			d.tidy()
		})
	}
}

// TestWedgedByOldVersion recovers what an older program left on a disk that it
// took for a better one: a save of which only the journal could not be closed.
func TestWedgedByOldVersion(t *testing.T) {
	for name, single := range map[string]bool{"one note": true, "a set": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.md": "one", "b.md": "bee"})
			d.must(change.Create("x.md", ""))
			task, err := d.w.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			set := change.Set{change.Replace("a.md", "one", "two")}
			if !single {
				set = append(set, change.Move("b.md", "c.md"), change.Create("n.md", "new"))
			}
			task.ID = "old"
			task.stagesBeside = true
			task.Can.Exchange = false
			if err := task.plan(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			broken := false
			task.Sys.Before = func(call string) error { // as it was: no way but one
				broken = broken || d.has("a.md") && d.get("a.md") == "two" && call != "sync folder" && call != "sync all"
				if broken && (call == "move" || call == "link" || call == "move over") {
					return syscall.EIO
				}
				return nil
			}
			if tidy, err := task.Apply(t.Context()); tidy && err == nil {
				t.Fatal("the journal was closed")
			}
			task.Close()
			if err := d.w.Close(); err != nil {
				t.Fatal(err)
			}
			w := Open(d.v, Options{})
			defer w.Close()
			w.sys.Before = kindsOfDisk()[1].before
			if _, err := w.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Apply(t.Context(), "next", change.Set{change.Create("next.md", "")}); err != nil {
				t.Fatal(err)
			}
			d.tidy()
		})
	}
}

// half applies two replacements and stops after the first.
func half(t *testing.T, k kindOfDisk) *desk {
	t.Helper()
	d := newDesk(t, map[string]string{"a.md": "the old text", "b.md": "bee"})
	dead := errors.New("dead")
	d.w.sys.Before = func(call string) error {
		if err := k.before(call); err != nil {
			return err
		}
		if d.get("a.md") == "the new text" {
			return dead
		}
		return nil
	}
	_, err := d.apply(change.Replace("a.md", "the old text", "the new text"), change.Replace("b.md", "bee", "new bee"))
	var unsettled *Interrupted
	if !errors.As(err, &unsettled) {
		t.Fatal(err)
	}
	d.w.sys.Before = k.before
	return d
}

// kept checks that every text is somewhere in the vault.
func (d *desk) kept(texts ...string) {
	d.t.Helper()
	all, err := vaultcheck.Tree(d.dir, "")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, want := range texts {
		if !slices.Contains(slices.Collect(maps.Values(all)), want) {
			d.t.Errorf("%q is nowhere: %v", want, all)
		}
	}
}

// TestFolderInPlaceOfNote takes a change back though a person made a folder of
// the name of a note while the program was dead.
func TestFolderInPlaceOfNote(t *testing.T) {
	for _, k := range kindsOfDisk()[:5] {
		for _, at := range []string{"a.md", "b.md"} {
			t.Run(k.name+", "+at, func(t *testing.T) {
				d := half(t, k)
				d.put("b.md", "a person's bee") // so that the change cannot be completed
				gone := d.get(at)
				if err := errors.Join(os.Remove(d.path(at)), os.Mkdir(d.path(at), 0o755)); err != nil {
					t.Fatal(err)
				}
				d.put(at+"/inside.txt", "a person's")
				settled, err := d.w.Recover(t.Context())
				if err != nil || len(settled) != 1 || settled[0].Outcome != journal.Discarded {
					t.Fatalf("%+v, %v", settled, err)
				}
				d.kept("the old text", "a person's")
				if gone != "a person's bee" {
					d.kept("a person's bee")
				}
				d.tidy()
				d.must(change.Create("next.md", "works"))
			})
		}
	}
}

// TestSetAside gives up an operation whose journal is beyond repair. All texts
// are kept and the vault can be changed.
func TestSetAside(t *testing.T) {
	for _, k := range kindsOfDisk()[:5] {
		t.Run(k.name, func(t *testing.T) {
			d := half(t, k)
			slot := d.path(journal.Folder + "/op-b/1")
			if err := errors.Join(os.Remove(slot), os.Mkdir(slot, 0o755)); err != nil {
				t.Fatal(err)
			}
			settled, err := d.w.Recover(t.Context())
			if err != nil || len(settled) != 1 || settled[0].Outcome != journal.SetAside || len(settled[0].Conflicts) == 0 {
				t.Fatalf("%+v, %v", settled, err)
			}
			d.kept("the old text", "the new text", "bee")
			d.must(change.Create("next.md", "works"))
			if again, err := d.w.Recover(t.Context()); err != nil || len(again) > 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}
