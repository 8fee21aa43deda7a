//go:build linux

package writer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/journal"
)

// A desk is a vault on disk with a writer.
type desk struct {
	t   *testing.T
	dir string
	v   *vault.Vault
	w   *Writer
	ops int
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	return newDeskIn(t, t.TempDir(), files)
}

// memoryDir is a folder in memory where there is such a thing: tests with
// thousands of syncs are not about the disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "lore-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newDeskIn(t *testing.T, dir string, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir}
	for p, s := range files {
		d.put(p, s)
	}
	v, err := vault.Open(d.dir, vault.Options{Exclude: []string{"private"}, AllowLinked: true})
	if err != nil {
		t.Fatal(err)
	}
	d.v = v
	d.w = Open(v, Options{})
	t.Cleanup(func() {
		if err := d.w.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) path(p string) string { return filepath.Join(d.dir, filepath.FromSlash(p)) }

func (d *desk) put(p, s string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(p)), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(p), []byte(s), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) get(p string) string {
	d.t.Helper()
	b, err := os.ReadFile(d.path(p))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func (d *desk) has(p string) bool {
	_, err := os.Lstat(d.path(p))
	return err == nil
}

// apply applies a set under the next operation id.
func (d *desk) apply(edits ...change.Edit) (Receipt, error) {
	d.t.Helper()
	d.ops++
	return d.w.Apply(d.t.Context(), "op-"+string(rune('a'+d.ops)), edits)
}

func (d *desk) must(edits ...change.Edit) Receipt {
	d.t.Helper()
	r, err := d.apply(edits...)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// tidy reports leftovers of an operation: nothing in the journal and no
// temporary file.
func (d *desk) tidy() {
	d.t.Helper()
	entries, err := os.ReadDir(d.path(journal.Folder))
	if err == nil && len(entries) > 0 {
		d.t.Errorf("the journal holds %v", entries)
	}
	err = filepath.WalkDir(d.dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && vault.IsTemp(e.Name()) {
			d.t.Errorf("a temporary file stays: %s", p)
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
}

// files reads the visible files.
func (d *desk) files() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(d.dir, func(p string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(d.dir, p)
		if err != nil {
			return err
		}
		if e.Name() == own {
			return filepath.SkipDir
		}
		if e.Type().IsRegular() {
			out[filepath.ToSlash(rel)] = d.get(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) expect(want map[string]string) {
	d.t.Helper()
	have := d.files()
	for p, s := range want {
		if h, ok := have[p]; !ok || h != s {
			d.t.Errorf("%s: have %q (there: %v), want %q", p, h, ok, s)
		}
	}
	for p := range have {
		if _, ok := want[p]; !ok {
			d.t.Errorf("%s is not wanted", p)
		}
	}
	d.tidy()
}

func TestOpenWritesNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	if _, err := d.w.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.w.Sweep(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := d.w.Trash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.w.Held(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.has(own) {
		t.Error("reading a vault made a folder in it")
	}
}

func TestEdits(t *testing.T) {
	before := map[string]string{"a.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n", "f/g/c.md": "sea\n"}
	tests := map[string]struct {
		set  change.Set
		want map[string]string
	}{
		"replace keeps every byte": {
			change.Set{change.Replace("a.md", "\ufeffone\r\ntwo", "\ufeffone\r\nthree")},
			map[string]string{"a.md": "\ufeffone\r\nthree", "f/b.md": "bee\n", "f/g/c.md": "sea\n"},
		},
		"create makes folders": {
			change.Set{change.Create("n/e/w.md", "new")},
			map[string]string{"a.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n", "f/g/c.md": "sea\n", "n/e/w.md": "new"},
		},
		"create an empty file": {
			change.Set{change.Create("e.md", "")},
			map[string]string{"a.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n", "f/g/c.md": "sea\n", "e.md": ""},
		},
		"delete": {
			change.Set{change.Delete("f/g/c.md", "sea\n")},
			map[string]string{"a.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n"},
		},
		"move": {
			change.Set{change.Move("f/g/c.md", "h/d.md")},
			map[string]string{"a.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n", "h/d.md": "sea\n"},
		},
		"move and replace": {
			change.Set{change.MoveReplace("f/b.md", "b.md", "bee\n", "bumble\n")},
			map[string]string{"a.md": "\ufeffone\r\ntwo", "b.md": "bumble\n", "f/g/c.md": "sea\n"},
		},
		"case of a name": {
			change.Set{change.Move("a.md", "A.md")},
			map[string]string{"A.md": "\ufeffone\r\ntwo", "f/b.md": "bee\n", "f/g/c.md": "sea\n"},
		},
		"all at once": {
			change.Set{
				change.Replace("a.md", "\ufeffone\r\ntwo", "1"), change.Move("f/b.md", "x/y/b.md"),
				change.Delete("f/g/c.md", "sea\n"), change.Create("x/z.md", "zed"),
			},
			map[string]string{"a.md": "1", "x/y/b.md": "bee\n", "x/z.md": "zed"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, before)
			r := d.must(tt.set...)
			d.expect(tt.want)
			for _, f := range r.Files {
				want, stands := tt.want[f.Path]
				if f.Gone == stands {
					t.Errorf("the receipt says of %s: gone %v", f.Path, f.Gone)
				}
				if stands && (f.Hash != vault.Sum([]byte(want)) || f.Size != int64(len(want)) || f.ModTime.IsZero()) {
					t.Errorf("the receipt of %s is %+v", f.Path, f)
				}
			}
			if len(r.Files) != len(tt.set.Paths()) {
				t.Errorf("the receipt names %d paths, the set %d", len(r.Files), len(tt.set.Paths()))
			}
			for dir := range map[string]bool{"f/g": true} {
				if tt.want["f/g/c.md"] == "" && d.has(dir) {
					t.Errorf("the emptied folder %s stays", dir)
				}
			}
			d.must(tt.set.Inverse()...)
			d.expect(before)
		})
	}
}

func TestRefused(t *testing.T) {
	files := map[string]string{"a.md": "one", "Tea.md": "tea", "f/b.md": "bee", "private/p.md": "p", ".obsidian/app.json": "{}", "cafe\u0301.md": "nfd"}
	one := "one"
	tests := map[string]struct {
		edit change.Edit
		kind fault.Kind
		says string
	}{
		"stale":             {change.Replace("a.md", "two", "three"), fault.Conflict, `"a.md" changed`},
		"stale delete":      {change.Delete("a.md", "two"), fault.Conflict, `"a.md" changed`},
		"stale move":        {change.MoveReplace("a.md", "c.md", "two", "x"), fault.Conflict, `"a.md" changed`},
		"gone":              {change.Replace("z.md", "two", "three"), fault.Conflict, `"z.md" no longer exists`},
		"gone move":         {change.Move("z.md", "y.md"), fault.NotFound, `"z.md"`},
		"exists":            {change.Create("a.md", "x"), fault.Conflict, `"a.md" already exists`},
		"move onto another": {change.Move("a.md", "Tea.md"), fault.Conflict, `"Tea.md" already exists`},
		"case twin":         {change.Create("tea.md", "x"), fault.Conflict, `"Tea.md"`},
		"case twin folder":  {change.Create("F/x.md", "x"), fault.Conflict, `only in case`},
		"unicode twin":      {change.Create("caf\u00e9.md", "x"), fault.Conflict, "already exists"},
		"hidden":            {change.Create(".x.md", "x"), fault.Invalid, "hidden"},
		"hidden replace":    {change.Replace(".obsidian/app.json", "{}", "x"), fault.Denied, "hidden"},
		"own":               {change.Replace(".lore/lock", "", "x"), fault.Unsafe, "Lore itself"},
		"excluded":          {change.Replace("private/p.md", "p", "x"), fault.Denied, "excluded"},
		"excluded create":   {change.Create("private/q.md", "p"), fault.Denied, "excluded"},
		"outside":           {change.Create("../x.md", "p"), fault.Unsafe, ".."},
		"windows name":      {change.Create("a?.md", "p"), fault.Invalid, "Windows"},
		"below a file":      {change.Create("a.md/x.md", "p"), fault.Conflict, "a file, not a folder"},
		"folder":            {change.Replace("f", "bee", "x"), fault.Invalid, "folder"},
		"pipe":              {change.Replace("pipe.md", "bee", "x"), fault.Unsafe, "pipe"},
		"delete pipe":       {change.Delete("pipe.md", ""), fault.Unsafe, "pipe"},
		"one side":          {change.Edit{Path: "b.md", From: "a.md", Before: &one}, fault.Invalid, "one side"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files)
			if err := unix.Mkfifo(d.path("pipe.md"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, set := range []change.Set{{tt.edit}, {change.Replace("f/b.md", "bee", "new"), change.Create("n/n.md", "n"), tt.edit}} {
				_, err := d.apply(set...)
				if fault.Of(err) != tt.kind || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%d edits: %v (%v), want %v with %q", len(set), err, fault.Of(err), tt.kind, tt.says)
				}
				d.expect(files)
				if d.has("n") {
					t.Error("a folder was made")
				}
			}
		})
	}
}

func TestStaleShowsWhatIsThere(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "user's"})
	_, err := d.apply(change.Replace("a.md", "old", "new"))
	var stale *Stale
	if !errors.As(err, &stale) {
		t.Fatal(err)
	}
	if stale.Path != "a.md" || stale.Content != "user's" || stale.Have != vault.Sum([]byte("user's")) || stale.Want != vault.Sum([]byte("old")) {
		t.Errorf("%+v", stale)
	}
}

func TestTwoNamesOfOneFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	if err := os.Symlink("a.md", d.path("link.md")); err != nil {
		t.Fatal(err)
	}
	_, err := d.apply(change.Replace("a.md", "one", "two"), change.Replace("link.md", "one", "three"))
	if fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	_, err = d.apply(change.Create("n.md", "1"), change.Create("N.md", "2"))
	if fault.Of(err) != fault.Conflict {
		t.Error(err)
	}
	_, err = d.apply(change.Create("./n.md", "1"), change.Create("n.md", "2"))
	if fault.Of(err) != fault.Conflict {
		t.Error(err)
	}
	d.must(change.Replace("link.md", "one", "two"))
	if d.get("a.md") != "two" {
		t.Error("the link's file was not written")
	}
	if st, err := os.Lstat(d.path("link.md")); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	d.must(change.Delete("link.md", "two"))
	if d.has("link.md") || d.get("a.md") != "two" {
		t.Error("the delete of a link took its file")
	}
}

func TestModeAndAttributesAreKept(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one", "b.md": "bee"})
	for _, p := range []string{"a.md", "b.md"} {
		if err := os.Chmod(d.path(p), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := unix.Setxattr(d.path(p), "user.tag", []byte("x\x00y"), 0); err != nil {
			t.Skip("no attributes here:", err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(d.path(p), 1234, 2345); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.must(change.Replace("a.md", "one", "two"))
	d.must(change.Replace("a.md", "two", "three"), change.MoveReplace("b.md", "c.md", "bee", "cee"))
	for _, p := range []string{"a.md", "c.md"} {
		var st unix.Stat_t
		if err := unix.Stat(d.path(p), &st); err != nil {
			t.Fatal(err)
		}
		if st.Mode&0o777 != 0o640 || os.Getuid() == 0 && (st.Uid != 1234 || st.Gid != 2345) {
			t.Errorf("%s: mode %o, owner %d:%d", p, st.Mode&0o777, st.Uid, st.Gid)
		}
		buf := make([]byte, 10)
		n, err := unix.Getxattr(d.path(p), "user.tag", buf)
		if err != nil || string(buf[:n]) != "x\x00y" {
			t.Errorf("%s: attribute %q, %v", p, buf[:max(n, 0)], err)
		}
	}
}

func TestMoveAndUndoneDeleteKeepTheFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(d.path("a.md"), old, old); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(d.path("a.md"))
	if err != nil {
		t.Fatal(err)
	}
	same := func(p string) {
		t.Helper()
		now, err := os.Stat(d.path(p))
		if err != nil || !os.SameFile(was, now) || !now.ModTime().Equal(old) {
			t.Errorf("%s is another file, or of another time (%v)", p, err)
		}
	}
	d.must(change.Move("a.md", "f/b.md"))
	same("f/b.md")
	d.must(change.Delete("f/b.md", "one"))
	trash, err := d.w.Trash(t.Context())
	if err != nil || len(trash) != 1 || trash[0].Path != "f/b.md" || trash[0].Size != 3 {
		t.Errorf("%+v, %v", trash, err)
	}
	d.must(change.Create("f/b.md", "one"))
	same("f/b.md")
	d.must(change.Delete("f/b.md", "one"))
	d.must(change.Create("f/b.md", "another"))
	if d.get("f/b.md") != "another" {
		t.Error("the trash decided what was created")
	}
}

// TestHardLink: a file with several names is never written through. Where such
// files are allowed, the name gets a file of its own.
func TestHardLink(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "a long first text", "c.md": "see"})
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.Link(d.path("a.md"), outside); err != nil {
		t.Skip(err)
	}
	careful, err := vault.Open(d.dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := Open(careful, Options{})
	for name, set := range map[string]change.Set{
		"replace":      {change.Replace("a.md", "a long first text", "short")},
		"delete":       {change.Delete("a.md", "a long first text")},
		"move, change": {change.MoveReplace("a.md", "b.md", "a long first text", "short")},
		"one of two":   {change.Replace("c.md", "see", "saw"), change.Replace("a.md", "a long first text", "short")},
		"another text": {change.Replace("a.md", "a guess", "short")},
	} {
		_, err := w.Apply(t.Context(), "op-"+strings.ReplaceAll(strings.ReplaceAll(name, " ", ""), ",", ""), set)
		if !vault.IsLinked(err) || fault.Of(err) != fault.Unsafe || strings.Contains(err.Error(), "first text") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d.expect(map[string]string{"a.md": "a long first text", "c.md": "see"})
	d.must(change.Replace("a.md", "a long first text", "short"))
	d.expect(map[string]string{"a.md": "short", "c.md": "see"})
	if b, err := os.ReadFile(outside); err != nil || string(b) != "a long first text" {
		t.Errorf("the other name holds %q, %v", b, err)
	}
}

// TestLockIsNoHardLink: the lock is written into, so it must not be a second
// name of a file elsewhere.
func TestLockIsNoHardLink(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one", ".lore/x": ""})
	outside := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(outside, d.path(".lore/lock")); err != nil {
		t.Skip(err)
	}
	if _, err := d.apply(change.Replace("a.md", "one", "two")); fault.Of(err) != fault.Unsafe {
		t.Error(err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestOperationIDs(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "one"})
	for _, op := range []string{"", "a/b", "..", "a b", strings.Repeat("x", 101)} {
		if _, err := d.w.Apply(t.Context(), op, change.Set{change.Create("x.md", "")}); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v", op, err)
		}
	}
	if _, err := d.w.Apply(t.Context(), "same", change.Set{change.Replace("a.md", "one", "two")}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.w.Apply(t.Context(), "same", change.Set{change.Replace("a.md", "two", "three")}); fault.Of(err) != fault.Invalid {
		t.Errorf("an operation twice: %v", err)
	}
	if held, err := d.w.Held(t.Context()); err != nil || len(held) != 1 || held[0] != "same" {
		t.Errorf("%v, %v", held, err)
	}
	d.expect(map[string]string{"a.md": "two"})
}
