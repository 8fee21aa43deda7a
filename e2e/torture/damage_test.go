//go:build torture && linux

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A record is a vault with a history: five changes of which all can be undone.
type record struct {
	*world
	dir    string // the vault's data folder
	backup string // a copy of data and vault as they should be
	ops    []string
}

func newRecord(t *testing.T) *record {
	t.Helper()
	r := &record{world: newWorld(t)}
	for i := range 5 {
		r.write(fmt.Sprintf("N%d.md", i), fmt.Sprintf("# N%d\n\ngreen tea %s\n", i, strings.Repeat("leaf ", 300)))
	}
	for i := range 5 {
		r.mustLore("edit", fmt.Sprintf("N%d.md", i), "--search", "green", "--replace", "black", "--yes")
	}
	r.mustLore("token", "create", "--yes", "--name", "robot", "--scope", "read")
	dirs, _ := filepath.Glob(filepath.Join(r.data, "lore", "*", "state.db"))
	if len(dirs) != 1 {
		t.Fatalf("databases: %q", dirs)
	}
	r.dir = filepath.Dir(dirs[0])
	r.backup = filepath.Join(r.world.dir, "backup")
	copyTree(t, r.data, filepath.Join(r.backup, "data"))
	copyTree(t, r.vault, filepath.Join(r.backup, "vault"))
	r.ops = r.history()
	if len(r.ops) != 5 {
		t.Fatalf("operations: %q", r.ops)
	}
	r.reset()
	return r
}

// copyTree copies files with their times: the program may compare them.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, rel)
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(dest, 0o700)
		case !info.Mode().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(dest, b, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(dest, info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reset brings data and vault back.
func (r *record) reset() {
	r.t.Helper()
	for _, d := range []string{r.data, r.vault} {
		list, err := os.ReadDir(d)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, e := range list {
			if err := os.RemoveAll(filepath.Join(d, e.Name())); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	copyTree(r.t, filepath.Join(r.backup, "data"), r.data)
	copyTree(r.t, filepath.Join(r.backup, "vault"), r.vault)
}

// history lists the operations that activity shows, newest first.
func (r *record) history() (ops []string) {
	r.t.Helper()
	return operationsOf(r.t, r.mustLore("activity", "--tool", "edit_note", "--json"))
}

func operationsOf(t *testing.T, res result) (ops []string) {
	t.Helper()
	var v struct {
		Activity []struct {
			Operation string `json:"operation_id"`
		} `json:"activity"`
	}
	res.decode(t, &v)
	for _, c := range v.Activity {
		if c.Operation != "" && !slices.Contains(ops, c.Operation) {
			ops = append(ops, c.Operation)
		}
	}
	return ops
}

// told reports whether a command said that something is wrong.
func (r result) told() bool { return r.code != 0 || strings.Contains(r.errOut, "damage") }

// judge holds what is promised after damage: the history is complete, or its
// loss is told; undo works, or says why not; reading goes on.
func (r *record) judge(what string) {
	r.t.Helper()
	first := r.lore("activity", "--tool", "edit_note", "--json")
	told := first.told()
	if first.code != 0 {
		r.t.Errorf("%s: activity: %v", what, first)
		return
	}
	if ops := operationsOf(r.t, first); len(ops) < len(r.ops) && !told {
		r.t.Errorf("%s: %d of %d operations, and no word", what, len(ops), len(r.ops))
	}
	if res := r.lore("read", "N1.md"); res.code != 0 || !strings.Contains(res.out, "black tea") {
		r.t.Errorf("%s: reading: %v", what, res)
	}
	before := r.read("N4.md")
	undo := r.lore("undo", "--yes")
	after := r.read("N4.md")
	switch {
	case undo.code == 0 && !strings.Contains(after, "green tea"):
		r.t.Errorf("%s: undo says it worked, and N4.md is %.40q\n%v", what, after, undo)
	case undo.code != 0 && (after != before || !told && !undo.told()):
		r.t.Errorf("%s: undo failed without a word before, or left something: %v", what, undo)
	case undo.code != 0 && !strings.Contains(undo.errOut, "lost") && !strings.Contains(undo.errOut, "damaged") && !strings.Contains(undo.errOut, "no change"):
		r.t.Errorf("%s: undo does not say why: %v", what, undo)
	}
	tokens := r.lore("token", "list")
	if !strings.Contains(tokens.out, "robot") && !told && !tokens.told() {
		r.t.Errorf("%s: the token is gone, and no word: %v", what, tokens)
	}
	if res := r.lore("edit", "N2.md", "--search", "black", "--replace", "white", "--yes"); res.code != 0 {
		r.t.Errorf("%s: editing afterwards: %v", what, res)
	}
}

func (r *record) damage(path string, f func([]byte) []byte) {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, f(bytes.Clone(b)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func flip(at int, bit byte) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= bit
		return b
	}
}

func cutAt(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }

func size(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// TestDamageVaultTable: no damage to the list of vaults hides the history of a
// vault, and every damage is told.
func TestDamageVaultTable(t *testing.T) {
	r := newRecord(t)
	table := filepath.Join(r.data, "lore", "vaults.json")
	n := size(t, table)
	step := max(1, n/rounds(40)) // all bytes with TORTURE=25
	check := func(what string, f func([]byte) []byte) {
		t.Helper()
		r.damage(table, f)
		res := r.lore("activity", "--tool", "edit_note", "--json")
		if got := operationsOf(t, res); !slices.Equal(got, r.ops) || !strings.Contains(res.errOut, "vaults.json") {
			t.Errorf("%s: %d operations\n%s", what, len(got), res.errOut)
		}
		if dirs, _ := filepath.Glob(filepath.Join(r.data, "lore", "*", "index.db")); len(dirs) != 1 {
			t.Fatalf("%s: data folders: %q", what, dirs)
		}
	}
	for i := 0; i < n; i += step {
		check(fmt.Sprintf("byte %d", i), flip(i, 1<<(i%8)))
	}
	for _, at := range []int{0, 1, n / 2, n - 1} {
		check(fmt.Sprintf("cut at %d", at), cutAt(at))
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	r.mustLore("undo", "--yes")
	if !strings.Contains(r.read("N4.md"), "green tea") {
		t.Error("undo did not work")
	}
	if res := r.lore("doctor"); !strings.Contains(res.out, "vaults.corrupt-") {
		t.Errorf("doctor does not tell: %v", res)
	}
}

// TestDamageState: whatever happens to state.db, nothing is missing without a
// word.
func TestDamageState(t *testing.T) {
	r := newRecord(t)
	path := filepath.Join(r.dir, "state.db")
	n := size(t, path)
	const page = 4096
	every := max(1, n/page/rounds(4))
	for i := 0; i < n/page; i += every {
		r.reset()
		r.damage(path, func(b []byte) []byte { clear(b[i*page : (i+1)*page]); return b })
		r.judge(fmt.Sprintf("page %d zeroed", i))
		r.reset()
		r.damage(path, cutAt(i*page))
		r.judge(fmt.Sprintf("cut at page %d", i))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rounds(6) {
		r.reset()
		at, bit := random.IntN(n), byte(1)<<random.IntN(8)
		r.damage(path, flip(at, bit))
		r.judge(fmt.Sprintf("flip %d: byte %d, bit %d", i, at, bit))
	}
	for name, f := range map[string]func() error{
		"removed": func() error { return os.Remove(path) },
		"emptied": func() error { return os.Truncate(path, 0) },
		"removed with its seal": func() error {
			return errors.Join(os.Remove(path), os.Remove(filepath.Join(r.dir, "state.seal")))
		},
		"garbage": func() error { return os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600) },
		"removed with its log left": func() error {
			return errors.Join(os.Remove(path), os.WriteFile(path+"-wal", bytes.Repeat([]byte("x"), 5000), 0o600))
		},
	} {
		r.reset()
		if err := f(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		r.judge(name)
		if aside, _ := filepath.Glob(filepath.Join(r.dir, "state.corrupt-*")); name == "garbage" && len(aside) == 0 {
			t.Errorf("%s: the damaged file is not kept", name)
		}
	}
}

// TestDamageOlderState: a copy of state.db that lacks the last changes is
// noticed.
func TestDamageOlderState(t *testing.T) {
	r := newRecord(t)
	path := filepath.Join(r.dir, "state.db")
	r.mustLore("edit", "N0.md", "--search", "black", "--replace", "white", "--yes")
	want := r.history()
	old, err := os.ReadFile(filepath.Join(r.backup, "data", "lore", filepath.Base(r.dir), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	res := r.lore("activity", "--tool", "edit_note", "--json")
	if got := operationsOf(t, res); !slices.Equal(got, want) || !res.told() {
		t.Errorf("%q, want %q\n%s", got, want, res.errOut)
	}
	undo := r.lore("undo", want[0], "--yes")
	if undo.code == 0 || !strings.Contains(undo.errOut, "lost") || !strings.Contains(r.read("N0.md"), "white tea") {
		t.Errorf("%v", undo)
	}
}

// TestDamageAuditKey: reads and changes behave alike, and both tell.
func TestDamageAuditKey(t *testing.T) {
	r := newRecord(t)
	key := filepath.Join(r.dir, "audit.key")
	for name, f := range map[string]func() error{
		"removed":     func() error { return os.Remove(key) },
		"emptied":     func() error { return os.Truncate(key, 0) },
		"short":       func() error { return os.Truncate(key, 10) },
		"garbage":     func() error { return os.WriteFile(key, []byte("garbage\n"), 0o600) },
		"another key": func() error { return os.WriteFile(key, []byte(strings.Repeat("ab", 32)+"\n"), 0o600) },
	} {
		for _, command := range [][]string{{"search", "tea"}, {"edit", "N3.md", "--search", "black", "--replace", "white", "--yes"}} {
			r.reset()
			if err := f(); err != nil {
				t.Fatal(err)
			}
			if res := r.lore(command...); res.code != 0 || !strings.Contains(res.errOut, "audit.key") {
				t.Errorf("%s: %s: %v", name, command[0], res)
			}
			if res := r.lore("audit", "verify"); res.code != 0 {
				t.Errorf("%s: after %s: %v", name, command[0], res)
			}
			if kept, _ := filepath.Glob(filepath.Join(r.dir, "audit.broken-*.jsonl")); len(kept) != 1 {
				t.Errorf("%s: the old log is not kept", name)
			}
			if res := r.lore("doctor"); !strings.Contains(res.out, "audit.broken-") {
				t.Errorf("%s: doctor does not tell: %v", name, res)
			}
			if res := r.lore("activity", "--tool", "edit_note", "--json"); !strings.Contains(res.out, r.ops[4]) {
				t.Errorf("%s: history is not complete", name)
			}
		}
	}
}

// TestDamageAuditLog: a log that lacks its end is told of by the next command.
func TestDamageAuditLog(t *testing.T) {
	r := newRecord(t)
	log := filepath.Join(r.dir, "audit.jsonl")
	n := size(t, log)
	for name, f := range map[string]func() error{
		"removed": func() error { return os.Remove(log) },
		"emptied": func() error { return os.Truncate(log, 0) },
		"cut":     func() error { return os.Truncate(log, int64(n/2)) },
	} {
		r.reset()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		if res := r.lore("search", "tea"); res.code != 0 || !strings.Contains(res.errOut, "audit log") {
			t.Errorf("%s: %v", name, res)
		}
		if res := r.lore("audit", "verify"); res.code == 0 {
			t.Errorf("%s: audit finds nothing: %v", name, res)
		}
	}
}

// TestDamageDerived: what can be made again is made again, and answers are true.
func TestDamageDerived(t *testing.T) {
	r := newRecord(t)
	random := rand.New(rand.NewPCG(3, 4))
	list, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, "audit") || strings.HasPrefix(name, "state.db") {
			continue
		}
		path := filepath.Join(r.dir, name)
		n := size(t, path)
		cases := map[string]func([]byte) []byte{
			"emptied": cutAt(0), "cut": cutAt(n / 2), "garbage": func([]byte) []byte { return bytes.Repeat([]byte("garbage\n"), 200) },
		}
		if n > 0 {
			for i := range rounds(2) {
				cases[fmt.Sprint("flip ", i)] = flip(random.IntN(n), byte(1)<<random.IntN(8))
			}
		}
		for what, f := range cases {
			r.reset()
			r.damage(path, f)
			if res := r.lore("search", "black", "--mode", "lexical"); res.code != 0 || !strings.Contains(res.out, "N3.md") {
				t.Errorf("%s %s: searching: %v", name, what, res)
			}
			if got := r.history(); !slices.Equal(got, r.ops) {
				t.Errorf("%s %s: %d operations", name, what, len(got))
			}
			if res := r.lore("undo", "--yes"); res.code != 0 || !strings.Contains(r.read("N4.md"), "green") {
				t.Errorf("%s %s: undo: %v", name, what, res)
			}
		}
	}
}

// mount gives the world a small disk as its data folder.
func (r *record) mount(options string) {
	r.t.Helper()
	if os.Getuid() != 0 {
		r.t.Skip("mounting needs root")
	}
	if err := syscall.Mount("tmpfs", r.data, "tmpfs", 0, options); err != nil {
		r.t.Skip("nothing can be mounted here: ", err)
	}
	r.t.Cleanup(func() { _ = syscall.Unmount(r.data, syscall.MNT_DETACH) })
	copyTree(r.t, filepath.Join(r.backup, "data"), r.data)
}

// reading asserts that reading works and is told to be unrecorded, and that
// nothing is changed.
func (r *record) reading(what string) {
	r.t.Helper()
	for _, command := range [][]string{{"read", "N1.md"}, {"search", "black", "--mode", "lexical"}, {"list"}, {"activity"}, {"doctor"}} {
		res := r.lore(command...)
		if res.code != 0 || res.out == "" || !strings.Contains(res.errOut, "not recorded") {
			r.t.Errorf("%s: %s: %v", what, command[0], res)
		}
	}
	r.write("New.md", "# New\n\npurple tea\n")
	if res := r.lore("search", "purple", "--mode", "lexical"); !strings.Contains(res.out, "New.md") {
		r.t.Errorf("%s: a new note is not found: %v", what, res)
	}
	before := r.read("N1.md")
	res := r.lore("edit", "N1.md", "--search", "black", "--replace", "white", "--yes")
	if res.code == 0 || r.read("N1.md") != before || !strings.Contains(res.errOut, "cannot be recorded") {
		r.t.Errorf("%s: a change: %v", what, res)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "lore-reading-*")); len(left) > 0 {
		r.t.Errorf("%s: left behind: %q", what, left)
	}
}

func fillDisk(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 4096); ; {
		if _, err := f.Write(b); err != nil {
			return
		}
	}
}

// TestDamageFullDataDisk: reading and searching go on.
func TestDamageFullDataDisk(t *testing.T) {
	r := newRecord(t)
	r.mount("size=8m")
	fillDisk(t, r.data)
	r.reading("full")
	if err := os.Remove(filepath.Join(r.data, "filler")); err != nil {
		t.Fatal(err)
	}
	r.mustLore("undo", "--yes")
	if got := r.history(); len(got) != 5 || !strings.Contains(r.read("N4.md"), "green tea") {
		t.Errorf("%d operations afterwards, and N4.md is %.40q", len(got), r.read("N4.md"))
	}
}

func TestDamageNoInodes(t *testing.T) {
	r := newRecord(t)
	r.mount("size=8m,nr_inodes=200")
	for i := 0; ; i++ {
		f, err := os.Create(filepath.Join(r.data, fmt.Sprint("filler-", i)))
		if err != nil {
			break
		}
		_ = f.Close()
	}
	r.reading("no inodes")
}

func TestDamageReadOnlyDataDisk(t *testing.T) {
	r := newRecord(t)
	r.mount("size=8m")
	if err := syscall.Mount("", r.data, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	r.reading("read-only")
}

// TestDamageNewVaultOnFullDisk: a vault that was never seen is read all the
// same, and again when /tmp is full as well.
func TestDamageNewVaultOnFullDisk(t *testing.T) {
	r := newRecord(t)
	r.mount("size=1m")
	if err := os.RemoveAll(filepath.Join(r.data, "lore")); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, r.data)
	t.Setenv("TMPDIR", r.data)
	if res := r.lore("search", "black", "--mode", "lexical"); res.code != 0 && !strings.Contains(res.errOut, r.data) || res.code == 0 && !strings.Contains(res.out, "N1.md") {
		t.Errorf("%v", res)
	}
}

// TestDamageFullDiskAndBack: calls are recorded again when there is room.
func TestDamageFullDiskAndBack(t *testing.T) {
	r := newRecord(t)
	r.mount("size=8m")
	fillDisk(t, r.data)
	start := time.Now()
	for range 5 {
		if res := r.lore("search", "tea", "--mode", "lexical"); res.code != 0 {
			t.Fatalf("%v", res)
		}
	}
	t.Logf("a search takes %v on a full disk", time.Since(start)/5)
	if err := os.Remove(filepath.Join(r.data, "filler")); err != nil {
		t.Fatal(err)
	}
	if res := r.mustLore("search", "tea", "--mode", "lexical"); strings.Contains(res.errOut, "recorded") {
		t.Errorf("%v", res)
	}
	if res := r.lore("audit", "verify"); res.code != 0 {
		t.Errorf("%v", res)
	}
}

// TestDamageLostWAL: a process was killed, and what it had committed lies in a
// log that is then deleted.
func TestDamageLostWAL(t *testing.T) {
	r := newRecord(t)
	c := r.command(t.Context(), "mcp")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	holder := filepath.Join(r.dir, "holder.json")
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(holder); err == nil {
			break
		}
	}
	r.mustLore("edit", "N0.md", "--search", "black", "--replace", "white", "--yes")
	want := r.history()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	wal := filepath.Join(r.dir, "state.db-wal")
	if size(t, wal) == 0 || len(want) != 6 {
		t.Fatalf("%d operations, and the log is empty", len(want))
	}
	if err := os.Remove(wal); err != nil {
		t.Fatal(err)
	}
	res := r.lore("activity", "--tool", "edit_note", "--json")
	if got := operationsOf(t, res); len(got) != len(want) || !res.told() {
		t.Errorf("%d operations of %d\n%s", len(got), len(want), res.errOut)
	}
}

// TestDamageSilentDisk: the disk itself lost a page of state.db, so that no time
// or size tells. What uses the page tells; the next command repairs.
func TestDamageSilentDisk(t *testing.T) {
	r := newRecord(t)
	path := filepath.Join(r.dir, "state.db")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	pages := int(info.Size()) / page
	noticed := 0
	for i := 0; i < pages; i += max(1, pages/rounds(4)) {
		r.reset()
		r.damage(path, func(b []byte) []byte { clear(b[i*page : (i+1)*page]); return b })
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		told := false
		for _, command := range [][]string{{"doctor"}, {"activity", "--tool", "edit_note", "--json"}} {
			res := r.lore(command...)
			told = told || res.told() || strings.Contains(res.out, "damage")
		}
		if !told {
			t.Errorf("page %d zeroed by the disk, and no word", i)
			continue
		}
		noticed++
		r.judgeAgain(fmt.Sprintf("page %d zeroed by the disk", i))
	}
	t.Logf("%d pages", noticed)
}

// judgeAgain is judge for damage that was told already.
func (r *record) judgeAgain(what string) {
	r.t.Helper()
	if res := r.lore("activity", "--tool", "edit_note", "--json"); res.code != 0 || len(operationsOf(r.t, res)) != len(r.ops) {
		r.t.Errorf("%s: activity afterwards: %v", what, res)
	}
	if res := r.lore("edit", "N2.md", "--search", "black", "--replace", "white", "--yes"); res.code != 0 {
		r.t.Errorf("%s: editing afterwards: %v", what, res)
	}
	if res := r.lore("doctor"); !strings.Contains(res.out, "ok       state") {
		r.t.Errorf("%s: doctor afterwards: %v", what, res)
	}
}
