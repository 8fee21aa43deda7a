//go:build linux

package writer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/vault"
	"lore/internal/vault/journal"
	"lore/internal/vault/vaultcheck"
)

// A breaker makes one call fail, or all from one on.
type breaker struct {
	at, calls int
	err       error
	forever   bool
	where     string
}

func (b *breaker) before(call string) error {
	b.calls++
	if b.at > 0 && (b.calls == b.at || b.forever && b.calls > b.at) {
		if b.where == "" {
			b.where = call
		}
		return b.err
	}
	return nil
}

// A scene is a vault and a change of it.
type scene struct {
	before map[string]string
	set    change.Set
	links  map[string]string // second names of files
}

func scenes() map[string]scene {
	many := map[string]string{"hub.md": "the hub"}
	var set change.Set
	for i := range 17 {
		p := fmt.Sprintf("f%d/n%d.md", i%3, i)
		many[p] = fmt.Sprintf("note %d links to [[hub]]", i)
		set = append(set, change.Replace(p, many[p], fmt.Sprintf("note %d links to [[centre]], which is longer", i)))
	}
	many["d/gone.md"], many["keep.md"] = "goes", "stays"
	set = append(set, change.Move("hub.md", "x/centre.md"), change.Delete("d/gone.md", "goes"), change.Create("y/new.md", "fresh"))
	few := map[string]string{"a.md": "the old text", "f/b.md": "another"}
	return map[string]scene{
		"save":         {before: few, set: change.Set{change.Replace("a.md", "the old text", "a new text")}},
		"create":       {before: few, set: change.Set{change.Create("n/m/c.md", "made")}},
		"delete":       {before: few, set: change.Set{change.Delete("f/b.md", "another")}},
		"move":         {before: few, set: change.Set{change.Move("f/b.md", "g/c.md")}},
		"move, change": {before: few, set: change.Set{change.MoveReplace("f/b.md", "g/c.md", "another", "one more")}},
		"linked":       {before: few, set: change.Set{change.Replace("a.md", "the old text", "a new text")}, links: map[string]string{"z.md": "a.md"}},
		"twenty files": {before: many, set: set},
	}
}

// after is what the files are when the set was applied.
func (s scene) after() map[string]string {
	out := maps.Clone(s.before)
	for _, e := range s.set {
		switch e.Kind() {
		case change.Moves:
			out[e.Path] = out[e.From]
			if e.After != nil {
				out[e.Path] = *e.After
			}
			delete(out, e.From)
		case change.Removes:
			delete(out, e.Path)
		default:
			out[e.Path] = *e.After
		}
	}
	for name, of := range s.links {
		out[name] = s.before[of] // the other name keeps its file
	}
	return out
}

// withLinks are the files before, those with two names twice.
func (s scene) withLinks() map[string]string {
	out := maps.Clone(s.before)
	for name, of := range s.links {
		out[name] = out[of]
	}
	return out
}

func (s scene) desk(t *testing.T) *desk {
	t.Helper()
	d := newDeskIn(t, memoryDir(t), s.before)
	for name, of := range s.links {
		if err := syscall.Link(d.path(of), d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestEveryCallFails lets every single call of an operation fail in turn, once
// or for good, and sees that nothing is lost and nothing is claimed.
func TestEveryCallFails(t *testing.T) {
	errnos := []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS}
	kinds := map[syscall.Errno]fault.Kind{syscall.EIO: fault.Unavailable, syscall.ENOSPC: fault.Unavailable, syscall.EROFS: fault.ReadOnly}
	can := map[string]Capabilities{
		"all": {Exchange: true, NoReplace: true, HardLink: true, SyncAll: true, Xattr: true},
		"few": {HardLink: true}, "none": {},
	}
	for name, s := range scenes() {
		for _, forever := range []bool{false, true} {
			for able, can := range can {
				t.Run(fmt.Sprintf("%s, forever %v, %s", name, forever, able), func(t *testing.T) {
					t.Parallel()
					at := 1
					for done := false; !done; at++ {
						b := &breaker{at: at, err: errnos[at%3], forever: forever}
						done = s.tryBroken(t, b, can, kinds[errnos[at%3]])
						if t.Failed() {
							t.Fatalf("at call %d, %s, %v", at, b.where, b.err)
						}
						if testing.Short() && at > 40 {
							at += 10
						}
					}
					t.Logf("%d calls failed", at-2)
				})
			}
		}
	}
}

// tryBroken runs the scene with a broken call. It returns true when the change
// was over before.
func (s scene) tryBroken(t *testing.T, b *breaker, can Capabilities, kind fault.Kind) bool {
	d := s.desk(t)
	d.w.probed, d.w.can = true, can
	d.w.sys.Before = b.before
	at := b.at
	_, err := d.apply(s.set...)
	calls := b.calls
	var unsettled *Interrupted
	c := vaultcheck.Case{Before: s.withLinks(), After: s.after(), Acknowledged: err == nil}
	switch {
	case err == nil && strings.HasPrefix(b.where, "sync"):
		t.Errorf("acknowledged, though %q failed", b.where)
	case err == nil:
	case errors.As(err, &unsettled):
		if have := fault.Of(err); have != kind {
			t.Errorf("%v is %v, want %v", err, have, kind)
		}
	default:
		if have := fault.Of(err); have != kind {
			t.Errorf("%v is %v, want %v", err, have, kind)
		}
		if have := d.files(); !maps.Equal(have, c.Before) {
			t.Errorf("refused, yet the files are %v", have)
		}
	}
	// The disk fails in recovery too, one call further each time.
	for n := 1; ; n++ {
		b.at, b.calls, b.forever = n, 0, false
		_, err := d.w.Recover(t.Context())
		if err == nil && b.calls < n {
			break
		}
		if n > 400 {
			t.Fatal("recovery has no end")
		}
	}
	for _, v := range vaultcheck.Check(d.dir, c) {
		t.Error(v)
	}
	if err := d.w.Close(); err != nil {
		t.Error(err)
	}
	return err == nil && calls < at
}

// TestDisplacedIsKept sees that what an operation replaced stays until it is
// let go.
func TestDisplacedIsKept(t *testing.T) {
	s := scenes()["twenty files"]
	d := s.desk(t)
	d.must(s.set...)
	all, err := vaultcheck.Tree(d.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range s.before {
		if !slices.Contains(slices.Collect(maps.Values(all)), text) {
			t.Errorf("the old %s is nowhere", p)
		}
	}
	if _, ok := all[journal.DisplacedFolder+"/op-b/manifest"]; !ok {
		t.Error("there is no record of the operation")
	}
	if vault.Sum([]byte(all[journal.DisplacedFolder+"/op-b/0"])) != vault.Sum([]byte(s.before["f0/n0.md"])) {
		t.Error("the first displaced file is another one")
	}
}
