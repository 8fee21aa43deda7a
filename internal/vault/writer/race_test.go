//go:build linux

package writer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault/journal"
	"lore/internal/vault/vaultcheck"
)

// An editor saves version after version of a note, in one style. Each save
// returns the text that the editor itself replaced, where it knows it: that
// one it gave up knowingly.
type editor func(note, text string) (replaced string, err error)

// truncateWrite writes over the file that it opened, wherever that is by now.
func truncateWrite(note, text string) (string, error) {
	f, err := os.OpenFile(note, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", err
	}
	defer f.Close()
	old, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	runtime.Gosched()
	if err := f.Truncate(0); err != nil {
		return "", err
	}
	_, err = f.WriteAt([]byte(text), 0)
	return string(old), err
}

// tempRename puts a whole new file over the note. It exchanges the two, to know
// what it replaced.
func tempRename(note, text string) (string, error) {
	temp := note + ".editor"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return "", err
	}
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, note, unix.RENAME_EXCHANGE)
	if err != nil {
		return "", err
	}
	old, err := os.ReadFile(temp)
	return string(old), errors.Join(err, os.Remove(temp))
}

// backupRename renames the note away and writes a new one.
func backupRename(note, text string) (string, error) {
	backup := note + "~"
	if err := os.Rename(note, backup); err != nil {
		return "", err
	}
	f, err := os.OpenFile(note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return "", err
	}
	old, err := os.ReadFile(backup)
	return string(old), errors.Join(err, os.Remove(backup))
}

// appendLine adds a line.
func appendLine(note, text string) (string, error) {
	f, err := os.OpenFile(note, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	runtime.Gosched()
	_, err = f.WriteString(text)
	return "", err
}

// TestEditorAgainstWriter lets an editor save a note without pause while the
// writer changes it too. Every version that the editor wrote must be found: it
// is current, the editor replaced it itself, an operation that was reported as
// done replaced it (and has it as its Before), or it was kept as a copy. What a
// program writes into a file that it had open when it was displaced is found by
// the sweep, two seconds later; a program that waits longer is not covered.
func TestEditorAgainstWriter(t *testing.T) {
	for name, save := range map[string]editor{
		"truncate and write": truncateWrite, "temp and rename": tempRename,
		"backup and rename": backupRename, "append": appendLine,
	} {
		t.Run(name, func(t *testing.T) {
			race(t, save)
		})
	}
}

func race(t *testing.T, save editor) {
	attempts := 400
	if testing.Short() {
		attempts = 100
	}
	d := newDeskIn(t, memoryDir(t), map[string]string{"f/note.md": "start\n"})
	note := d.path("f/note.md")
	var over atomic.Bool
	given := make(chan lines)
	var saves int
	go func() { given <- edit(t, save, note, &over, &saves, 10*attempts) }()
	kept, done := d.duel(attempts)
	over.Store(true)
	replaced := <-given
	d.w.now = func() time.Time { return time.Now().Add(time.Minute) }
	conflicts, err := d.w.Sweep(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	all, err := vaultcheck.Tree(d.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for text := range maps.Values(all) {
		kept.add(text)
	}
	lost := 0
	for n := range saves {
		if line := version(n); !kept[line] && !replaced[line] {
			lost++
		}
	}
	t.Logf("%d saves of the editor, %d of %d changes applied, %d late writes kept, %d lost", saves, done, attempts, len(conflicts), lost)
	if lost > 0 {
		t.Errorf("%d versions of the editor are lost", lost)
	}
	d.tidy()
}

// lines are the lines of texts: a version of the editor is one line.
type lines map[string]bool

func (l lines) add(text string) {
	for line := range strings.Lines(text) {
		l[line] = true
	}
}

func version(n int) string { return fmt.Sprintf("version %08d of the editor\n", n) }

// edit saves until it is over, and returns what it replaced itself.
func edit(t *testing.T, save editor, note string, over *atomic.Bool, saves *int, most int) lines {
	replaced := lines{}
	for !over.Load() && *saves < most {
		old, err := save(note, version(*saves))
		switch {
		case errors.Is(err, os.ErrNotExist): // taken away for a moment by its own style
			continue
		case err != nil:
			t.Error(err)
			return replaced
		}
		replaced.add(old)
		*saves++
		if *saves%8 == 0 {
			runtime.Gosched()
		}
	}
	return replaced
}

// duel changes the note many times. It returns the texts that operations which
// were reported as done replaced.
func (d *desk) duel(attempts int) (kept lines, done int) {
	kept = lines{}
	for n, missing := 0, 0; n < attempts && missing < 1_000_000; n++ {
		data, err := os.ReadFile(d.path("f/note.md"))
		if err != nil { // the editor renamed it away a moment ago
			missing++
			n--
			runtime.Gosched()
			continue
		}
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		if !bytes.HasPrefix(head, []byte("writer ")) {
			rest = data
		}
		after := fmt.Sprintf("writer %d\n%s", n, rest)
		_, err = d.w.Apply(d.t.Context(), fmt.Sprintf("op-%d", n), change.Set{change.Replace("f/note.md", string(data), after)})
		switch fault.Of(err) {
		case "":
			done++
			kept.add(string(data))
		case fault.Conflict, fault.NotFound:
		default:
			d.t.Error(err)
			return kept, done
		}
	}
	return kept, done
}

// TestPersonEditsDuringSet edits one of the files of a set while it is applied:
// the set is taken back whole, and the edit stays.
func TestPersonEditsDuringSet(t *testing.T) {
	s := scenes()["twenty files"]
	for at := 1; ; at++ {
		d := s.desk(t)
		calls := 0
		edited := false
		d.w.sys.Before = func(call string) error {
			if calls++; calls == at {
				edited = true
				// A person's editor puts a new file in place.
				p := d.path("f1/n7.md")
				if err := os.WriteFile(p+".new", []byte("a person's text"), 0o644); err != nil {
					return err
				}
				return os.Rename(p+".new", p)
			}
			return nil
		}
		_, err := d.apply(s.set...)
		c := vaultcheck.Case{Before: s.before, After: s.after(), Acknowledged: err == nil, Edited: map[string][]string{"f1/n7.md": {"a person's text"}}}
		if !edited {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if err != nil && fault.Of(err) != fault.Conflict {
			t.Errorf("at %d: %v", at, err)
		}
		if _, err := os.Stat(d.path("f1/n7.md")); err != nil || d.get("f1/n7.md") != "a person's text" {
			t.Errorf("at %d: the person's text is not in place", at)
		}
		delete(c.Before, "f1/n7.md") // which the person gave up
		for _, v := range vaultcheck.Check(d.dir, c) {
			t.Errorf("at %d, %v: %v", at, err, v)
		}
		c.Before["f1/n7.md"] = "note 7 links to [[hub]]"
		if t.Failed() {
			return
		}
	}
}

// TestPersonEditsBeforeRecovery breaks a set off after its commit and edits one
// of its files before it is settled.
func TestPersonEditsBeforeRecovery(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want journal.Outcome
	}{
		"a file that was not reached": {"f1/n16.md", journal.Discarded},
		"a file that was done":        {"f0/n0.md", journal.Applied},
		"the target of the move":      {"x/centre.md", journal.Discarded},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenes()["twenty files"]
			d := s.desk(t)
			exchanges := 0
			d.w.sys.Before = func(call string) error {
				if call == "exchange" {
					exchanges++
				}
				if exchanges > 5 { // the first is the probe's
					return syscall.EIO
				}
				return nil
			}
			_, err := d.apply(s.set...)
			var unsettled *Interrupted
			if !errors.As(err, &unsettled) {
				t.Fatal(err)
			}
			d.put(tt.file, "a person's text")
			d.w.sys.Before = nil
			settled, err := d.w.Recover(t.Context())
			if err != nil || len(settled) != 1 || settled[0].Outcome != tt.want {
				t.Fatalf("%+v, %v", settled, err)
			}
			c := vaultcheck.Case{Before: s.before, After: s.after(), Edited: map[string][]string{tt.file: {"a person's text"}}}
			if tt.want == journal.Discarded {
				c.After = c.Before
			} else {
				c.Acknowledged = true
			}
			delete(c.Before, tt.file)
			for _, v := range vaultcheck.Check(d.dir, c) {
				t.Error(v)
			}
			if d.get(tt.file) != "a person's text" {
				t.Error("the person's text is not in place")
			}
		})
	}
}

// duelOnce saves a note over an edit that a person makes just before the two
// change places. after is called before each later call.
func duelOnce(t *testing.T, after func(d *desk, call string) error) (*desk, error) {
	d := newDesk(t, map[string]string{"f/a.md": "one"})
	if _, err := d.w.Capabilities(t.Context()); err != nil {
		t.Fatal(err)
	}
	edited := false
	d.w.sys.Before = func(call string) error {
		if edited {
			return after(d, call)
		}
		if call == "exchange" {
			edited = true
			d.put("f/new", "a person's text")
			return os.Rename(d.path("f/new"), d.path("f/a.md"))
		}
		return nil
	}
	_, err := d.apply(change.Replace("f/a.md", "one", "two"))
	d.w.sys.Before = nil
	return d, err
}

// TestOpenedForAMoment has a program open the new content in the moment that it
// is in place, and write into it when it was taken back.
func TestOpenedForAMoment(t *testing.T) {
	var f *os.File
	d, err := duelOnce(t, func(d *desk, call string) (err error) {
		if call == "exchange" {
			f, err = os.OpenFile(d.path("f/a.md"), os.O_WRONLY|os.O_APPEND, 0)
		}
		return err
	})
	if fault.Of(err) != fault.Conflict || f == nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(" and a person's words"); err != nil {
		t.Fatal(err)
	}
	d.expect(map[string]string{"f/a.md": "a person's text"})
	d.w.now = func() time.Time { return time.Now().Add(3 * time.Second) }
	c, err := d.w.Sweep(t.Context(), func(string) bool { return false })
	if err != nil || len(c) != 1 || d.get(c[0].Copy) != "two and a person's words" {
		t.Errorf("%+v, %v", c, err)
	}
	if names, err := os.ReadDir(d.path(journal.DiscardedFolder)); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
}

// TestBrokenOffOverAnEdit breaks a save off when it has displaced an edit that
// nobody saw: recovery puts the edit back.
func TestBrokenOffOverAnEdit(t *testing.T) {
	for _, boot := range []string{"", "another"} {
		d, err := duelOnce(t, func(*desk, string) error { return syscall.EIO })
		var unsettled *Interrupted
		if !errors.As(err, &unsettled) || d.get("f/a.md") != "two" {
			t.Fatal(err)
		}
		if boot != "" { // the machine was started again, and the mark may be missing
			at := d.path(journal.Folder + "/op-b.manifest")
			data := strings.Replace(d.get(journal.Folder+"/op-b.manifest.staged"), `"boot":"`, `"boot":"another`, 1)
			if err := errors.Join(os.WriteFile(at, []byte(data), 0o600), os.Remove(at+".staged")); err != nil {
				t.Fatal(err)
			}
		}
		settled, err := d.w.Recover(t.Context())
		if err != nil || len(settled) != 1 || settled[0].Outcome != journal.Discarded {
			t.Fatalf("%+v, %v", settled, err)
		}
		d.expect(map[string]string{"f/a.md": "a person's text"})
	}
}

// TestTargetAppears makes a file where a move or a create is about to arrive.
func TestTargetAppears(t *testing.T) {
	for name, can := range map[string]Capabilities{"all": {Exchange: true, NoReplace: true, HardLink: true, SyncAll: true}, "links": {HardLink: true}} {
		for kind, set := range map[string]change.Set{
			"create": {change.Create("n.md", "made")}, "move": {change.Move("a.md", "n.md")},
			"set": {change.Replace("b.md", "bee", "cee"), change.MoveReplace("a.md", "n.md", "one", "two"), change.Create("k.md", "kay")},
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				d := newDesk(t, map[string]string{"a.md": "one", "b.md": "bee"})
				d.w.probed, d.w.can = true, can
				d.w.sys.Before = func(call string) error {
					if (call == "move" || call == "link") && !d.has("n.md") {
						d.put("n.md", "a person's")
					}
					return nil
				}
				if _, err := d.apply(set...); fault.Of(err) != fault.Conflict {
					t.Error(err)
				}
				d.expect(map[string]string{"a.md": "one", "b.md": "bee", "n.md": "a person's"})
			})
		}
	}
}

func TestLateWriteBecomesConflictCopy(t *testing.T) {
	d := newDesk(t, map[string]string{"f/a.md": "one", "f/b.md": "bee"})
	f, err := os.OpenFile(d.path("f/a.md"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d.must(change.Replace("f/a.md", "one", "two"))
	d.must(change.Replace("f/b.md", "bee", "cee"))
	if _, err := f.WriteString(" and more"); err != nil {
		t.Fatal(err)
	}
	yes := func(string) bool { return true }
	if c, err := d.w.Sweep(t.Context(), yes); err != nil || len(c) > 0 || len(d.held()) != 2 {
		t.Errorf("swept at once: %v, %v, held %v", c, err, d.held())
	}
	d.w.now = func() time.Time { return time.Now().Add(3 * time.Second) }
	if c, err := d.w.Sweep(t.Context(), func(string) bool { return false }); err != nil || len(c) > 0 || len(d.held()) != 2 {
		t.Errorf("swept without history: %v, %v, held %v", c, err, d.held())
	}
	c, err := d.w.Sweep(t.Context(), yes)
	if err != nil || len(c) != 1 || c[0].Path != "f/a.md" || len(d.held()) != 0 {
		t.Fatalf("%v, %v, held %v", c, err, d.held())
	}
	if !strings.HasPrefix(c[0].Copy, "f/a (conflicted copy ") || d.get(c[0].Copy) != "one and more" || d.get("f/a.md") != "two" {
		t.Errorf("%+v", c)
	}
	l, err := d.v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e := range l.Conflicts() {
		n++
		if e.Path != c[0].Copy {
			t.Errorf("listed as a conflict: %s", e.Path)
		}
	}
	if n != 1 {
		t.Errorf("%d conflicts are listed", n)
	}
}

func (d *desk) held() []string {
	d.t.Helper()
	ops, err := d.w.Held(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return ops
}

func TestTrashIsEmptied(t *testing.T) {
	d := newDesk(t, map[string]string{"f/a.md": "one"})
	d.must(change.Delete("f/a.md", "one"))
	no := func(string) bool { return false }
	d.w.now = func() time.Time { return time.Now().Add(29 * 24 * time.Hour) }
	if _, err := d.w.Sweep(t.Context(), no); err != nil || !d.has(filepath.Join(".lore/trash/op-b/f/a.md")) {
		t.Errorf("emptied too early: %v", err)
	}
	d.w.now = func() time.Time { return time.Now().Add(31 * 24 * time.Hour) }
	if _, err := d.w.Sweep(t.Context(), no); err != nil || d.has(".lore/trash/op-b") {
		t.Errorf("not emptied: %v", err)
	}
}
