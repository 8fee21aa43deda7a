package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
)

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	return err == nil
}

func numbers(list []history.Call) string {
	var out []string
	for _, c := range list {
		out = append(out, strings.TrimPrefix(c.ID, "call-"))
	}
	return strings.Join(out, " ")
}

// TestReadsCostNoDatabase: a process that only reads leaves its records in a
// file, and the next one that needs the database puts them in.
func TestReadsCostNoDatabase(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		p := openIn(t, dir, history.Options{Wait: time.Hour})
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-", i), tool.CallDone)))
		if exists(t, filepath.Join(dir, "reads.jsonl")) != (i > 0) {
			t.Error("it was written at once")
		}
		must(t, p.Close())
		if err := p.Record(t.Context(), call("call-late", tool.CallDone)); err == nil {
			t.Error("recorded after Close")
		}
	}
	if exists(t, filepath.Join(dir, "state.db")) {
		t.Error("the database was opened for reads")
	}
	p := openIn(t, dir, history.Options{Wait: time.Hour})
	must(t, p.Record(t.Context(), call("call-3", tool.CallDone)))
	must(t, p.Record(t.Context(), call("call-4", tool.CallDenied)))
	list, err := p.Calls(t.Context(), history.Filter{})
	must(t, err)
	if got := numbers(list); got != "4 3 2 1 0" {
		t.Error(got)
	}
	want := call("call-0", tool.CallDone)
	want.Who.Scopes = nil
	if !reflect.DeepEqual(list[4].CallRecord, want) {
		t.Errorf("got  %+v\nwant %+v", list[4].CallRecord, want)
	}
	if v, err := p.Verify(t.Context()); err != nil || v.Entries != 5 {
		t.Errorf("%+v, %v", v, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "reads.jsonl")); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestReadsAreNotWrittenTwice: a crash between writing the reads and forgetting
// them.
func TestReadsAreNotWrittenTwice(t *testing.T) {
	dir := t.TempDir()
	p := openIn(t, dir, history.Options{})
	must(t, p.Record(t.Context(), call("call-0", tool.CallDone)))
	must(t, p.Close())
	path := filepath.Join(dir, "reads.jsonl")
	left, err := os.ReadFile(path)
	must(t, err)
	for range 2 {
		p := openIn(t, dir, history.Options{})
		must(t, os.WriteFile(path, append(left, `{"ID":"call-9","To`...), 0o600)) // and a piece
		list, err := p.Calls(t.Context(), history.Filter{})
		must(t, err)
		if got := numbers(list); got != "0" {
			t.Error(got)
		}
		must(t, p.file.Close())
	}
	if v, bad := verify(t, dir); bad != nil || v.Entries != 1 {
		t.Errorf("%+v, %v", v, bad)
	}
}

func TestManyReadsAreWrittenInBatches(t *testing.T) {
	dir := t.TempDir()
	p := openIn(t, dir, history.Options{Wait: time.Hour})
	for i := range 300 {
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-", i), tool.CallDone)))
	}
	text, err := os.ReadFile(filepath.Join(dir, "reads.jsonl"))
	must(t, err)
	if n := strings.Count(string(text), "\n"); n != 256 {
		t.Errorf("%d were written", n)
	}
	p.do(t, operation("op-1", change.Create("a.md", "x")))
	for i := range 1500 {
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-more-", i), tool.CallDone)))
	}
	list, err := p.Calls(t.Context(), history.Filter{Limit: 5000})
	must(t, err)
	if len(list) != 1800 {
		t.Errorf("%d calls", len(list))
	}
	d, err := p.file.DB(t.Context())
	must(t, err)
	var sync int
	if err := d.Write.QueryRow(`PRAGMA synchronous`).Scan(&sync); err != nil || sync != 2 {
		t.Errorf("after reads were written, changes would not wait for the disk: %d, %v", sync, err)
	}
}

func TestReadsAreWrittenInTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := openIn(t, dir, history.Options{Wait: time.Minute})
		must(t, p.Record(t.Context(), call("call-0", tool.CallDone)))
		time.Sleep(59 * time.Second) // of the test's own clock
		synctest.Wait()
		if exists(t, filepath.Join(dir, "reads.jsonl")) {
			t.Error("it came too early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !exists(t, filepath.Join(dir, "reads.jsonl")) {
			t.Error("it never came")
		}
	})
}

// TestReadsOnTheirWayAreKnown: who asks while the timer writes knows of the calls
// that it writes.
func TestReadsOnTheirWayAreKnown(t *testing.T) {
	p := openIn(t, t.TempDir(), history.Options{Wait: time.Nanosecond})
	for i := range 300 {
		must(t, p.Record(t.Context(), call(fmt.Sprint("call-", i), tool.CallDone)))
		list, err := p.Calls(t.Context(), history.Filter{Limit: 1})
		must(t, err)
		if got := numbers(list); got != fmt.Sprint(i) {
			t.Fatalf("after call %d, the newest is %q", i, got)
		}
	}
}

func TestUnwritableReadsAreTold(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "reads.jsonl"), 0o700))
	p := openIn(t, dir, history.Options{Wait: time.Hour})
	must(t, p.Record(t.Context(), call("call-0", tool.CallDone)))
	if err := p.Flush(t.Context()); err == nil {
		t.Error("a folder took the reads")
	}
	must(t, os.Remove(filepath.Join(dir, "reads.jsonl")))
}

func TestCallsFilter(t *testing.T) {
	p := open(t)
	op := operation("op-1", change.Create("deep/x.md", "x"))
	p.do(t, op)
	browser := access.Principal{Kind: access.Person, ID: "session", Surface: "web"}
	for i, c := range []tool.CallRecord{
		{Tool: "read_note", Status: tool.CallDone, Decision: policy.Allow, Targets: []string{"a.md"}, Who: access.Terminal()},
		{Tool: "write_note", Status: tool.CallDone, Decision: policy.Allow, Operation: "op-1", Who: access.Principal{Kind: access.MCP, ID: "token", Surface: "mcp"}},
		{Tool: "write_note", Status: tool.CallDenied, Decision: policy.Deny, Kind: fault.Denied, Error: "no", Who: access.Principal{Kind: access.MCP, ID: "token"}},
		{Tool: "search_notes", Status: tool.CallFailed, Kind: fault.Invalid, Error: "query: is missing", Who: access.Terminal()},
		{Tool: "read_note", Status: tool.CallDone, Decision: policy.Allow, Targets: []string{"b.md"}, Who: browser},
		{Tool: "rename_note", Status: tool.CallDryRun, Decision: policy.Allow, Who: browser},
		{Tool: "write_note", Status: tool.CallFailed, Kind: fault.Conflict, Error: "changed", Who: browser},
		{Tool: "write_note", Status: tool.CallDone, Decision: policy.Allow, Operation: "op-1", Who: browser},
		{Tool: "delete_note", Status: tool.CallPending, Decision: policy.Ask, Question: "q-1", Who: browser},
		{Tool: "list_tags", Status: tool.CallCancelled, Kind: fault.Cancelled, Error: "left", Who: browser},
	} {
		c.ID, c.Time, c.Cost = fmt.Sprint("call-", i), now().Add(time.Duration(i)*time.Minute), -1
		must(t, p.Record(t.Context(), c))
	}
	for _, c := range []struct {
		f    history.Filter
		want string
	}{
		{history.Filter{}, "9 8 7 6 5 4 3 2 1 0"},
		{history.Filter{Quiet: true}, "8 7 6 3 2 1 0"},
		{history.Filter{Quiet: true, Limit: 2, Offset: 2}, "6 3"},
		{history.Filter{Quiet: true, Path: "b.md"}, ""},
		{history.Filter{After: 2, Limit: 2}, "2 3"},
		{history.Filter{Tool: "write_note"}, "7 6 2 1"},
		{history.Filter{Status: "denied"}, "2"},
		{history.Filter{Kind: access.MCP}, "2 1"},
		{history.Filter{Run: "terminal"}, "3 0"},
		{history.Filter{Path: "a.md"}, "0"},
		{history.Filter{Path: "deep"}, "7 1"},
		{history.Filter{Path: "deep/x.md"}, "7 1"},
		{history.Filter{Since: now().Add(time.Minute), Until: now().Add(2 * time.Minute)}, "2 1"},
		{history.Filter{Limit: 1, Offset: 7}, "2"},
	} {
		list, err := p.Calls(t.Context(), c.f)
		must(t, err)
		if got := numbers(list); got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
}
