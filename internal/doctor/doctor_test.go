package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/machine/state"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/vault"
)

// TestDamagedRecords: what was damaged is told, and where it is kept; that is no
// sign that somebody changed the log.
func TestDamagedRecords(t *testing.T) {
	whole, damaged := state.In(t.TempDir()), state.In(t.TempDir())
	t.Cleanup(func() { _ = errors.Join(whole.Close(), damaged.Close()) })
	if err := os.WriteFile(damaged.Path(), []byte(strings.Repeat("this is no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Patient{
		Asked: approval.New(whole, nil), History: history.New(damaged, history.Options{}),
		Writable: func(context.Context) error { return errors.New("not now") },
		Damage:   damaged.Aside,
	}
	list, err := p.changes(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range list {
		found = found || f.Level == "warning" && f.Topic == "data" && strings.Contains(f.Text, "state.corrupt-")
	}
	if last := list[len(list)-1]; !found || last.Topic != "audit" || last.Level != "ok" {
		t.Errorf("%+v", list)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := p.changes(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %+v, %v", list, err)
	}
}

// TestTooManyCopies: what is not listed is counted.
func TestTooManyCopies(t *testing.T) {
	dir := t.TempDir()
	for i := range mostFindings + 3 {
		name := fmt.Sprintf("Tea (conflicted copy 2026-01-01 %06d).md", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	list, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := (&Patient{Vault: v}).vault(list)
	copies, more := 0, ""
	for _, f := range found {
		if f.Topic == "conflict" && f.Path != "" {
			copies++
		} else if f.Topic == "conflict" {
			more = f.Text
		}
	}
	if copies != mostFindings || more != "and 3 more" {
		t.Errorf("%d copies, %q", copies, more)
	}
}

// TestNamesAndLinks: a file with several names, a name that hides a character and
// names that look alike are told.
func TestNamesAndLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Tea.md", "Теа.md", "Invoice\u202egpj.md", "hard.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "hard.md"), filepath.Join(t.TempDir(), "other")); err != nil {
		t.Skip(err)
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, f := range (&Patient{Vault: v}).vault(list) {
		told[f.Path] += f.Text
	}
	for path, want := range map[string]string{
		"hard.md": "is a hard link", "Invoice\u202egpj.md": "U+202E RIGHT-TO-LEFT OVERRIDE as character 8", "Теа.md": "looks like Tea.md but is spelled with Cyrillic Т",
	} {
		if !strings.Contains(told[path], want) {
			t.Errorf("%s: %q", path, told[path])
		}
	}
}
