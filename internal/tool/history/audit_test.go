package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/audit"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
)

func call(id string, status tool.Status) tool.CallRecord {
	return tool.CallRecord{
		ID: id, Time: now(), Who: access.Terminal(), Tool: "read_note", Targets: []string{"a.md"}, Args: []byte(`{"path":"a.md"}`), ArgsHash: "ab",
		Decision: policy.Allow, Status: status, Cost: -1, Duration: 3e6,
	}
}

// logged makes a folder with a log of that many entries.
func logged(t *testing.T, entries int) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	p := openIn(t, dir, history.Options{})
	for i := range entries / 2 {
		p.do(t, operation(fmt.Sprint("op-", i), change.Create(fmt.Sprint(i, ".md"), "x")))
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-", i), tool.CallDenied)))
	}
	must(t, p.Close())
	must(t, p.file.Close())
	return dir, filepath.Join(dir, "audit.jsonl")
}

func verify(t *testing.T, dir string) (audit.Verified, *audit.BadEntry) {
	t.Helper()
	p := openIn(t, dir, history.Options{})
	defer p.file.Close()
	return p.verify(t)
}

func (p place) verify(t *testing.T) (audit.Verified, *audit.BadEntry) {
	t.Helper()
	v, err := p.Verify(t.Context())
	var bad *audit.BadEntry
	if err != nil && !errors.As(err, &bad) {
		t.Fatal(err)
	}
	return v, bad
}

func TestEveryTamperingIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("it works on one thing at a time, which tells nothing to a race detector")
	}
	const n = 8
	dir, path := logged(t, n)
	clean, err := os.ReadFile(path)
	must(t, err)
	if v, bad := verify(t, dir); bad != nil || v.Entries != n || v.Torn != 0 {
		t.Fatalf("%+v, %v", v, bad)
	}
	p := openIn(t, dir, history.Options{})
	lines := bytes.SplitAfter(clean, []byte("\n"))[:n]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	check := func(what string, text []byte, line int, seq int64, says string) {
		t.Helper()
		must(t, os.WriteFile(path, text, 0o600))
		_, bad := p.verify(t)
		if bad == nil || bad.Line != line || bad.Seq != seq || !strings.Contains(bad.Problem, says) {
			t.Errorf("%s: %v, want line %d, entry %d, %q", what, bad, line, seq, says)
		}
	}
	for i := range n {
		at, seq := i+1, int64(i+1)
		head, rest := join(lines[:i]...), join(lines[i+1:]...)
		for j := range lines[i] {
			flipped := bytes.Clone(lines[i])
			flipped[j] ^= 0x01
			must(t, os.WriteFile(path, join(head, flipped, rest), 0o600))
			if _, bad := p.verify(t); bad == nil || bad.Line != at {
				t.Fatalf("byte %d of line %d: %v", j, at, bad)
			}
		}
		check(fmt.Sprint("changed ", at), join(head, bytes.Replace(lines[i], []byte(`"time":"2026`), []byte(`"time":"2025`), 1), rest), at, seq, "changed")
		check(fmt.Sprint("repeated ", at), join(head, lines[i], lines[i], rest), at+1, seq, "occurs twice")
		check(fmt.Sprint("cut in the middle of ", at), join(head, lines[i][:len(lines[i])/2]), at, seq, "missing")
		check(fmt.Sprint("cut before ", at), head, at, seq, "cut off")
		if i < n-1 {
			check(fmt.Sprint("removed ", at), join(head, rest), at, seq, "removed")
			check(fmt.Sprint("swapped ", at), join(head, lines[i+1], lines[i], join(lines[i+2:]...)), at, seq+1, "moved")
		}
		if i%2 == 1 {
			continue
		}
		check(fmt.Sprint("two removed ", at), join(head, join(lines[min(i+2, n):]...)), at, seq, map[bool]string{true: "removed", false: "cut off"}[i+2 < n])
	}
	must(t, os.Remove(path))
	if _, bad := verify(t, dir); bad == nil || !strings.Contains(bad.Problem, "gone") {
		t.Errorf("removed whole: %v", bad)
	}
}

func TestTornEndIsHealed(t *testing.T) {
	dir, path := logged(t, 4)
	clean, err := os.ReadFile(path)
	must(t, err)
	for _, piece := range []string{`{"seq":5,"time":"20`, "{\"seq\":5,\"ti\n", "\x00\x00\x00\x00", "x\ny\nz"} {
		must(t, os.WriteFile(path, append(bytes.Clone(clean), piece...), 0o600))
		if v, bad := verify(t, dir); bad != nil || v.Torn != 1 || v.Entries != 4 {
			t.Errorf("%q before it is healed: %+v, %v", piece, v, bad)
		}
	}
	p := openIn(t, dir, history.Options{})
	must(t, p.Record(t.Context(), call("call-x", tool.CallDenied)))
	must(t, p.Record(t.Context(), call("call-y", tool.CallDenied)))
	must(t, p.file.Close())
	if v, bad := verify(t, dir); bad != nil || v.Torn != 1 || v.Entries != 7 {
		t.Errorf("after it was healed: %+v, %v", v, bad)
	}
	healed, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.Replace(healed, []byte("x\ny\nz"), []byte("x\nY\nz"), 1), 0o600))
	if _, bad := verify(t, dir); bad == nil || bad.Line != 5 {
		t.Errorf("a piece changed after it was healed: %v", bad)
	}
}

// TestOnlyTheLineEndIsMissing: a crash cut exactly there, so nothing is torn.
func TestOnlyTheLineEndIsMissing(t *testing.T) {
	dir, path := logged(t, 4)
	clean, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, clean[:len(clean)-1], 0o600))
	for want := 4; want < 7; want++ {
		if v, bad := verify(t, dir); bad != nil || v.Torn != 0 || v.Entries != want {
			t.Errorf("%+v, %v, want %d", v, bad, want)
		}
		p := openIn(t, dir, history.Options{})
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-", "x", want), tool.CallDenied)))
		must(t, p.file.Close())
	}
}

// TestHealingHidesNothing: what was promised to be on disk and is not there is
// named for ever, also when the log has grown since.
func TestHealingHidesNothing(t *testing.T) {
	for _, cut := range []string{"whole lines", "in a line", "all"} {
		t.Run(cut, func(t *testing.T) {
			dir, path := logged(t, 6)
			clean, err := os.ReadFile(path)
			must(t, err)
			lines := bytes.SplitAfter(clean, []byte("\n"))
			text := bytes.Join(lines[:4], nil)
			line, seq := 5, int64(5)
			switch cut {
			case "in a line":
				text = append(text, lines[4][:30]...)
				line = 6
			case "all":
				text, line, seq = nil, 1, 1
			}
			must(t, os.WriteFile(path, text, 0o600))
			p := openIn(t, dir, history.Options{})
			must(t, p.Record(t.Context(), call("call-x", tool.CallDenied)))
			p.do(t, operation("op-x", change.Create("x.md", "x")))
			must(t, p.file.Close())
			_, bad := verify(t, dir)
			if bad == nil || bad.Line != line || bad.Seq != seq || !strings.Contains(bad.Problem, fmt.Sprintf("entries %d to 6 are missing", seq)) {
				t.Errorf("%v", bad)
			}
			text, err = os.ReadFile(path)
			must(t, err)
			if !bytes.Contains(text, []byte(`{"seq":7,`)) {
				t.Errorf("a number was given twice:\n%s", text)
			}
		})
	}
}

// TestGenuineEntriesOfAnotherLog: two logs that began as one cannot be mixed,
// though every line has a good MAC.
func TestGenuineEntriesOfAnotherLog(t *testing.T) {
	dir, path := logged(t, 4)
	other := t.TempDir()
	must(t, os.CopyFS(other, os.DirFS(dir)))
	for i, d := range []string{dir, other} {
		p := openIn(t, d, history.Options{})
		for j := range 2 {
			must(t, p.Record(t.Context(), call(fmt.Sprint("call-more-", j), tool.CallDenied)))
			c := call(fmt.Sprint("call-again-", i, j), tool.CallDenied)
			c.Tool = fmt.Sprint("tool_", i)
			must(t, p.Record(t.Context(), c))
		}
		must(t, p.file.Close())
	}
	mine, err := os.ReadFile(path)
	must(t, err)
	theirs, err := os.ReadFile(filepath.Join(other, "audit.jsonl"))
	must(t, err)
	a, b := bytes.SplitAfter(mine, []byte("\n")), bytes.SplitAfter(theirs, []byte("\n"))
	for _, c := range []struct {
		from, to, line int
		says           string
	}{{5, 6, 7, "does not follow"}, {5, 8, 8, "not the entry that was written"}} {
		mixed := append(append(append([][]byte{}, a[:c.from]...), b[c.from:c.to]...), a[c.to:]...)
		must(t, os.WriteFile(path, bytes.Join(mixed, nil), 0o600))
		if _, bad := verify(t, dir); bad == nil || bad.Line != c.line || !strings.Contains(bad.Problem, c.says) {
			t.Errorf("lines %d to %d of another log: %v", c.from+1, c.to, bad)
		}
	}
	p := openIn(t, dir, history.Options{})
	must(t, p.Record(t.Context(), call("call-later", tool.CallDenied)))
	if _, bad := p.verify(t); bad == nil || bad.Seq != 8 || !strings.Contains(bad.Problem, "not the one that was written") {
		t.Errorf("after the log has grown: %v", bad)
	}
}

func TestAnotherKey(t *testing.T) {
	dir, _ := logged(t, 2)
	key := filepath.Join(dir, "audit.key")
	info, err := os.Stat(key)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read the key: %v", info.Mode())
	}
	must(t, os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600))
	if _, bad := verify(t, dir); bad == nil || bad.Line != 1 {
		t.Errorf("%v", bad)
	}
	must(t, os.WriteFile(key, []byte("short"), 0o600))
	p := openIn(t, dir, history.Options{})
	if _, err := p.Verify(t.Context()); fault.Of(err) != fault.Unavailable {
		t.Errorf("a damaged key: %v", err)
	}
}

// TestLostKey: whatever happens to the key, recording goes on in a new log that
// says so, and the old one is kept.
func TestLostKey(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed":   os.Remove,
		"emptied":   func(p string) error { return os.Truncate(p, 0) },
		"too short": func(p string) error { return os.Truncate(p, 20) },
		"garbage":   func(p string) error { return os.WriteFile(p, []byte("no key at all\n"), 0o600) },
		"another":   func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("ab", 32)+"\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := logged(t, 4)
			text, err := os.ReadFile(path)
			must(t, err)
			must(t, damage(filepath.Join(dir, "audit.key")))
			f := state.In(dir)
			var told []string
			f.OnDamage(func(text string) { told = append(told, text) })
			s := history.New(f, history.Options{Now: now})
			defer f.Close()
			must(t, s.Record(t.Context(), call("call-x", tool.CallDenied)))
			if all := strings.Join(told, "\n"); !strings.Contains(all, "audit.key") || !strings.Contains(all, "new audit log") {
				t.Errorf("told %q", told)
			}
			v, err := s.Verify(t.Context())
			if err != nil || v.Restarted.IsZero() || v.Entries != 2 {
				t.Errorf("%+v, %v", v, err)
			}
			kept := s.BrokenLogs()
			if len(kept) != 1 {
				t.Fatalf("kept %q", kept)
			}
			if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, text) {
				t.Errorf("the old log is not kept as it was: %v", err)
			}
			told = nil
			must(t, s.Record(t.Context(), call("call-y", tool.CallDenied)))
			if len(told) > 0 {
				t.Errorf("told again: %q", told)
			}
		})
	}
}

func TestEmptyLog(t *testing.T) {
	if v, bad := verify(t, t.TempDir()); bad != nil || v.Entries != 0 {
		t.Errorf("%+v, %v", v, bad)
	}
}

const appendDir = "LORE_TEST_APPEND"

// TestTwoProcessesAppend: five hundred lines each, and one chain.
func TestTwoProcessesAppend(t *testing.T) {
	const each = 500
	if dir := os.Getenv(appendDir); dir != "" {
		f := state.In(dir)
		s := history.New(f, history.Options{})
		for i := range each {
			must(t, s.Record(t.Context(), call(fmt.Sprint("call-", os.Getpid(), "-", i), tool.CallDenied)))
		}
		must(t, s.Close())
		must(t, f.Close())
		return
	}
	dir := t.TempDir()
	var children []*exec.Cmd
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcessesAppend$")
		cmd.Env = append(os.Environ(), appendDir+"="+dir)
		cmd.Stdout = os.Stderr
		must(t, cmd.Start())
		children = append(children, cmd)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("a child: %v", err)
		}
	}
	if v, bad := verify(t, dir); bad != nil || v.Entries != 2*each || v.Torn != 0 {
		t.Errorf("%+v, %v", v, bad)
	}
	p := openIn(t, dir, history.Options{})
	if n := p.count(t, `SELECT count(*) FROM call`); n != 2*each {
		t.Errorf("%d calls", n)
	}
}

// TestKilledBeforeTheRecord: a process that is killed after it wrote an entry of
// the log and before it stored the call is nobody's tampering, also when the next
// process starts and goes on.
func TestKilledBeforeTheRecord(t *testing.T) {
	dir, _ := logged(t, 4)
	entry := audit.Entry{Time: now(), Event: "call", Call: "call-killed", Row: "00", Kind: "person", Who: "terminal", Tool: "undo"}
	if _, err := audit.In(dir, nil).Append(audit.End{}, 4, []audit.Entry{entry}, false); err != nil {
		t.Fatal(err)
	}
	p := openIn(t, dir, history.Options{})
	if _, err := p.Calls(t.Context(), history.Filter{}); err != nil { // opens, and looks at the log
		t.Fatal(err)
	}
	must(t, p.Record(t.Context(), call("call-next", tool.CallDenied)))
	if v, bad := p.verify(t); bad != nil || v.Entries != 7 { // and one that says what is missing
		t.Errorf("%+v, %v", v, bad)
	}
}
