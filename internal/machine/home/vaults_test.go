package home

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A desk is a data folder with two vaults that were seen.
type desk struct {
	t        *testing.T
	dir      string
	home     Home
	one, two string // their data folders
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: folders(t, "one/n.md", "two/n.md")}
	d.home = Home{Env: environment(map[string]string{"XDG_DATA_HOME": filepath.Join(d.dir, "data")})}
	d.one, d.two = d.find("one").Dir, d.find("two").Dir
	for _, dir := range []string{d.one, d.two} {
		d.write(filepath.Join(dir, "state.db"), "history of "+dir)
	}
	return d
}

func (d *desk) find(vault string) Folder {
	d.t.Helper()
	f, err := d.home.VaultData(d.t.Context(), filepath.Join(d.dir, vault))
	if err != nil {
		d.t.Fatal(err)
	}
	return f
}

func (d *desk) table() string { return filepath.Join(d.dir, "data", "lore", "vaults.json") }

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(path string) string {
	d.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

// check asserts that both vaults have their folders, that damage was told once,
// and that what was damaged is kept.
func (d *desk) check(what, damaged string) {
	d.t.Helper()
	f := d.find("one")
	if f.Dir != d.one || len(f.Damage) == 0 {
		d.t.Errorf("%s: %+v, want %s and a word", what, f, d.one)
	}
	if g := d.find("two"); g.Dir != d.two || len(g.Damage) != 0 {
		d.t.Errorf("%s: the other vault: %+v, want %s", what, g, d.two)
	}
	if damaged == "" {
		return
	}
	kept, _ := filepath.Glob(filepath.Join(filepath.Dir(d.table()), "vaults.corrupt-*"))
	if !slices.ContainsFunc(kept, func(p string) bool { return d.read(p) == damaged }) {
		d.t.Errorf("%s: the damaged table is not kept", what)
	}
	for _, p := range kept {
		_ = os.Remove(p)
	}
}

// TestEveryByteOfTheTable: no damage to the table gives a vault another folder.
func TestEveryByteOfTheTable(t *testing.T) {
	d := newDesk(t)
	whole := d.read(d.table())
	for i := range whole {
		b := []byte(whole)
		b[i] ^= 1 << (i % 8)
		d.write(d.table(), string(b))
		d.check(whole[:i]+"|"+string(b[i:i+1]), string(b))
		if got := d.read(d.table()); got != whole {
			t.Fatalf("byte %d: the table is now\n%s", i, got)
		}
	}
	for n := 0; n < len(whole); n += 7 {
		d.write(d.table(), whole[:n])
		d.check("truncated", whole[:n])
	}
	if err := os.Remove(d.table()); err != nil {
		t.Fatal(err)
	}
	d.check("removed", "")
}

// TestEveryByteOfACard: a folder that no longer says whose it is, is found by
// the table.
func TestEveryByteOfACard(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.one, cardName)
	whole := d.read(path)
	for i := range whole {
		b := []byte(whole)
		b[i] ^= 1
		d.write(path, string(b))
		d.check("card", "")
		if d.read(path) != whole {
			t.Fatalf("byte %d is not repaired", i)
		}
	}
}

func TestMovedAndDeletedDataFolders(t *testing.T) {
	d := newDesk(t)
	moved := filepath.Join(filepath.Dir(d.one), "00112233445566ff")
	if err := os.Rename(d.one, moved); err != nil {
		t.Fatal(err)
	}
	if f := d.find("one"); f.Dir != moved {
		t.Errorf("a data folder that was moved: %+v", f)
	}
	if err := os.RemoveAll(moved); err != nil {
		t.Fatal(err)
	}
	f := d.find("one")
	if _, err := os.Stat(f.Dir); err != nil || f.Dir == d.two {
		t.Errorf("a data folder that was deleted: %+v, %v", f, err)
	}
}

func TestTwoFoldersForOneVault(t *testing.T) {
	d := newDesk(t)
	twin := filepath.Join(filepath.Dir(d.one), "00112233445566ff")
	if err := os.CopyFS(twin, os.DirFS(d.one)); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(twin, "state.db"), later, later); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(d.table()); err != nil {
		t.Fatal(err)
	}
	f := d.find("one")
	if f.Dir != twin || !strings.Contains(strings.Join(f.Damage, "\n"), "two data folders") {
		t.Errorf("%+v, want the newer one and a word", f)
	}
	if d.read(filepath.Join(d.one, "state.db")) == "" || !strings.Contains(strings.Join(d.home.Damage(), "\n"), "two data folders") {
		t.Errorf("doctor says %q", d.home.Damage())
	}
}

// TestTableOfAnOlderVersion: it gets a sum and its folders get cards, without a
// word; what an older version changed later is believed.
func TestTableOfAnOlderVersion(t *testing.T) {
	d := newDesk(t)
	tab, err := readTable(filepath.Dir(d.table()))
	if err != nil || tab.state != tableWhole {
		t.Fatal(tab.state, err)
	}
	for _, dir := range []string{d.one, d.two} {
		if err := os.Remove(filepath.Join(dir, cardName)); err != nil {
			t.Fatal(err)
		}
	}
	d.write(d.table(), string(render(tab.vaults, false)))
	if f := d.find("one"); f.Dir != d.one || len(f.Damage) != 0 {
		t.Errorf("%+v", f)
	}
	if now, _ := readTable(filepath.Dir(d.table())); now.state != tableWhole || !maps.Equal(now.vaults, tab.vaults) {
		t.Errorf("%+v", now)
	}
	if FileID(d.dir) == "" {
		return
	}
	if err := os.Rename(filepath.Join(d.dir, "one"), filepath.Join(d.dir, "three")); err != nil {
		t.Fatal(err)
	}
	tab.vaults[filepath.Base(d.one)] = identify(filepath.Join(d.dir, "three"))
	d.write(d.table(), string(render(tab.vaults, false)))
	if f := d.find("three"); f.Dir != d.one || f.Adopted || len(f.Damage) != 0 {
		t.Errorf("moved by an older version: %+v", f)
	}
}
