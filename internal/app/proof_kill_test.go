package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lore/internal/index/sqlite"
	"lore/internal/machine/state"
	"lore/internal/tool/history"
	"lore/internal/vault/vaultcheck"
)

// A scene is a command that is killed, in a vault that is made for it.
type scene struct {
	name    string
	prepare func(l *lab)
	args    []string
	answers bool // the command answers a question
}

func scenes() []scene {
	hub := func(l *lab) {
		for i := range 100 {
			l.put(fmt.Sprintf("f%d/n%02d.md", i%7, i), fmt.Sprintf("# Note %d\r\n\r\nsee [[Hub]] and [[Hub#Part|that]]\r\n", i))
		}
		l.put("Hub.md", "# Hub\n\n## Part\n\ntext\n")
	}
	one := func(l *lab) { l.put("a.md", "\ufeff# A\r\n\r\none\r\ntwo"); l.put("b.md", "[[a]]\n") }
	return []scene{
		{"create", one, []string{"write", "new/deep/note.md", "--content", "a new text\n", "--yes"}, false},
		{"append", one, []string{"write", "a.md", "--content", "three", "--mode", "append", "--yes"}, false},
		{"edit", one, []string{"edit", "a.md", "--search", "one", "--replace", "ONE", "--yes"}, false},
		{"rename", hub, []string{"rename", "Hub", "Centre", "--yes"}, false},
		{"delete", func(l *lab) { one(l); l.must(3, "delete", "a.md", "--yes") }, []string{"approvals", "approve"}, true},
		{"approve", func(l *lab) { one(l); l.must(3, "edit", "a.md", "--search", "one", "--replace", "ONE") }, []string{"approvals", "approve"}, true},
		{"approve create", func(l *lab) { one(l); l.must(3, "write", "new/x.md", "--content", "new") }, []string{"approvals", "approve"}, true},
		{"undo", func(l *lab) { one(l); l.must(0, "edit", "a.md", "--search", "one", "--replace", "ONE", "--yes") }, []string{"undo", "--yes"}, false},
		{"undo rename", func(l *lab) { hub(l); l.must(0, "rename", "Hub", "Centre", "--yes") }, []string{"undo", "--yes"}, false},
		{"undo create", func(l *lab) {
			one(l)
			l.must(0, "write", "c.md", "--content", "c", "--yes")
			l.must(3, "undo", "--yes")
		}, []string{"approvals", "approve"}, true},
		{"undo delete", func(l *lab) { one(l); l.must(3, "delete", "a.md"); l.must(0, "approvals", "approve") }, []string{"undo", "--yes"}, false},
	}
}

// A killing is a scene made ready, with what is before and after it.
type killing struct {
	*lab
	scene
	before, after map[string]string
	ops           int // operations recorded before
	runs          int
	again         int // starts after a kill that were killed too
}

func (l *lab) visible() map[string]string {
	l.t.Helper()
	all, err := vaultcheck.Tree(l.dir, filepath.Join(l.dir, ".lore"))
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

func newKilling(t *testing.T, s scene) *killing {
	t.Helper()
	k := &killing{lab: newLab(t), scene: s}
	s.prepare(k.lab)
	k.must(0, "list")
	k.before = k.visible()
	k.ops = len(k.operations())
	k.save()
	k.must(0, s.args...)
	k.after = k.visible()
	if maps.Equal(k.before, k.after) {
		t.Fatal("the command changes nothing")
	}
	return k
}

// dataDir is the folder of the vault's data.
func (l *lab) dataDir() string {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(l.around, "data", "lore", "*", "index.db"))
	if err != nil || len(found) != 1 {
		l.t.Fatal(found, err)
	}
	return filepath.Dir(found[0])
}

// withHistory looks into the record.
func (l *lab) withHistory(f func(h *history.Store) error) {
	l.t.Helper()
	file := state.In(l.dataDir())
	h := history.New(file, history.Options{})
	if err := errors.Join(f(h), h.Close(), file.Close()); err != nil {
		l.t.Error(err)
	}
}

// listed are the operations of which the activity tells.
func (l *lab) listed() (ids []string) {
	l.t.Helper()
	var answer struct {
		Activity []struct {
			Operation string `json:"operation_id"`
			Status    string `json:"status"`
		} `json:"activity"`
	}
	r := l.must(0, "activity", "--json", "--limit", "200")
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		l.t.Fatal(err, r.out)
	}
	for _, c := range answer.Activity {
		if c.Operation != "" && c.Status == "done" {
			ids = append(ids, c.Operation)
		}
	}
	return ids
}

// operations are those that happened, newest first.
func (l *lab) operations() (ids []string) {
	l.t.Helper()
	file := state.In(l.dataDir())
	defer func() { _ = file.Close() }() // it was read
	d, err := file.DB(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	rows, err := d.Read.QueryContext(l.t.Context(), `SELECT id FROM operation WHERE outcome IN ('applied', 'undone') ORDER BY seq DESC`)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			l.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return ids
}

// run restores the scene, runs the command with extra in its environment, and
// then starts with each of the recoveries, which may be killed too, and once
// more. It reports whether the command was killed.
func (k *killing) run(label, extra string, recoveries ...string) bool {
	k.t.Helper()
	k.restore()
	r := k.lore([]string{extra}, k.args...)
	if !r.killed && r.code != 0 {
		k.t.Errorf("%s: exit code %d: %s%s", label, r.code, r.out, r.err)
	}
	for _, env := range recoveries {
		again := k.lore([]string{env}, "list")
		if again.killed {
			k.again++
		}
		if !again.killed && again.code != 0 {
			k.t.Errorf("%s: the start after it: %s%s", label, again.out, again.err)
		}
	}
	k.freshen()
	k.check(label, !r.killed)
	return r.killed
}

// freshen starts the program once more. On a busy machine a question may be
// answered before the index has caught up, and says so; then it is waited for.
func (l *lab) freshen() {
	l.t.Helper()
	const mark = `"fresh": true`
	if r := l.must(0, "list", "--json"); strings.Contains(r.out, mark) {
		return
	}
	if r := l.must(0, "index", "--text-only", "--json"); !strings.Contains(r.out, mark) {
		l.t.Errorf("the index does not become fresh: %s%s", r.out, r.err)
	}
}

// check looks at everything that is promised after a crash and a start.
func (k *killing) check(label string, acknowledged bool) {
	k.t.Helper()
	for _, v := range vaultcheck.Check(k.dir, vaultcheck.Case{Before: k.before, After: k.after, Acknowledged: acknowledged}) {
		if v.Rule == vaultcheck.UserLost && k.remembers(k.before[v.Path]) {
			continue // history has it
		}
		k.t.Errorf("%s: %v", label, v)
	}
	done := maps.Equal(k.visible(), k.after)
	have, err := dumpIndex(k.t.Context(), sqlite.Path(k.dataDir()))
	if err != nil {
		k.t.Errorf("%s: %v", label, err)
	}
	fresh, err := freshIndex(k.t.Context(), k.dir, k.t.TempDir())
	if err != nil {
		k.t.Errorf("%s: %v", label, err)
	}
	if diff := indexDifference(have, fresh); diff != "" {
		k.t.Errorf("%s: I6 the index is not as a new one:\n%s", label, diff)
	}
	k.checkRecord(label, done)
	if k.answers {
		k.checkQuestion(label, done)
	}
	if k.runs++; done && k.runs%3 == 0 && !k.t.Failed() {
		k.checkUndo(label)
	}
}

func (k *killing) remembers(text string) (found bool) {
	sum := sha256.Sum256([]byte(text))
	k.withHistory(func(h *history.Store) error {
		_, found = h.Image(k.t.Context(), hex.EncodeToString(sum[:]))
		return nil
	})
	return found
}

// checkRecord sees that the record tells what the files show.
func (k *killing) checkRecord(label string, done bool) {
	k.t.Helper()
	k.withHistory(func(h *history.Store) error {
		left, err := h.Unresolved(k.t.Context())
		for _, op := range left {
			k.t.Errorf("%s: %s of %s is left as intended", label, op.ID, op.Tool)
		}
		_, bad := h.Verify(k.t.Context())
		return errors.Join(err, bad)
	})
	ids := k.operations()
	if want := k.ops + map[bool]int{true: 1}[done]; len(ids) != want {
		k.t.Errorf("%s: done %v, and the record has %d operations after %d", label, done, len(ids), k.ops)
	}
	if !done {
		return
	}
	listed := k.listed()
	if !slices.Contains(listed, ids[0]) {
		k.t.Errorf("%s: it is done, and the activity does not tell", label)
	}
	if slices.Sort(listed); len(slices.Compact(listed)) != len(listed) {
		k.t.Errorf("%s: an operation is listed twice", label)
	}
}

// checkQuestion: done once, or asked again and then done once.
func (k *killing) checkQuestion(label string, done bool) {
	k.t.Helper()
	r := k.must(0, "approvals", "--json")
	waits := strings.Contains(r.out, `"state": "pending"`)
	switch {
	case waits == done:
		k.t.Errorf("%s: done %v, and waiting %v: %s", label, done, waits, r.out)
	case waits:
		k.must(0, "approvals", "approve")
		if !maps.Equal(k.visible(), k.after) {
			k.t.Errorf("%s: asked again, approved, and not done", label)
		}
	default:
		if r := k.lore(nil, "approvals", "approve"); r.code != 2 {
			k.t.Errorf("%s: answered again: %d %s%s", label, r.code, r.out, r.err)
		}
	}
}

// checkUndo takes the command back.
func (k *killing) checkUndo(label string) {
	k.t.Helper()
	last := k.operations()[0]
	r := k.lore(nil, "undo", last, "--yes")
	if r.code == 3 {
		r = k.lore(nil, "approvals", "approve")
	}
	if r.code != 0 || !maps.Equal(k.visible(), k.before) {
		k.t.Errorf("%s: undo %q: exit code %d: %s%s", label, last, r.code, r.out, r.err)
	}
}

// points counts the lines of a log that a run writes.
func (k *killing) points(name, at string) []string {
	k.t.Helper()
	k.restore()
	log := filepath.Join(k.t.TempDir(), "points")
	if r := k.lore([]string{name + "=" + log, at}, k.args...); r.code != 0 {
		k.t.Fatalf("%s%s", r.out, r.err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		k.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func torture() int {
	n, err := strconv.Atoi(os.Getenv("TORTURE"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// isLeftOut reports whether a point of a scene is not tried: every third one is,
// others in every scene, and all where TORTURE asks for them.
func (s scene) isLeftOut(point int) bool {
	return os.Getenv("TORTURE") == "" && (point+len(s.name))%3 != 0
}

// long leaves a test out of short runs: it starts and kills hundreds of
// processes, which tells nothing more to a race detector.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
}

// TestKilledAtEverySeam kills the program before and after each part of a call:
// intent, edits, end of the record, question. No special build is needed.
func TestKilledAtEverySeam(t *testing.T) {
	long(t)
	kills := 0
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			k := newKilling(t, s)
			names := k.points("SEAM_LOG", "SEAM_AT=0")
			for i, name := range names {
				if s.isLeftOut(i) {
					continue
				}
				if k.run(fmt.Sprintf("killed %s (%d)", name, i+1), fmt.Sprint("SEAM_AT=", i+1)) {
					kills++
				}
			}
			t.Logf("%d seams: %s", len(names), strings.Join(names, ", "))
		})
	}
	t.Logf("%d kills", kills)
}

// TestKilledAndThenClosedInOrder: between the kill and the next start somebody
// else had the record open and closed it in order, as a second process does
// that waits for the one that was killed. The question is settled all the same.
func TestKilledAndThenClosedInOrder(t *testing.T) {
	long(t)
	for _, s := range scenes() {
		if !s.answers {
			continue
		}
		k := newKilling(t, s)
		names := k.points("SEAM_LOG", "SEAM_AT=0")
		for i, name := range names {
			if s.isLeftOut(i) {
				continue
			}
			k.restore()
			k.lore([]string{fmt.Sprint("SEAM_AT=", i+1)}, k.args...)
			k.operations() // opens and closes
			k.freshen()
			k.check("killed "+name, false)
		}
		t.Logf("%d kills", len(names))
	}
}
