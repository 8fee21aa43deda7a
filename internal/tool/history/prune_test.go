package history_test

import (
	"fmt"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

func TestOldContentsAreThinned(t *testing.T) {
	p := openIn(t, t.TempDir(), history.Options{Versions: 3})
	must(t, p.Begin(t.Context(), operation("op-first", change.Create("a.md", "0"))))
	for i := range 6 {
		op := operation(fmt.Sprint("op-", i), change.Replace("a.md", fmt.Sprint(i), fmt.Sprint(i+1)))
		if i == 0 {
			op.Edits = append(op.Edits, change.Create("b.md", "only once"))
		}
		p.do(t, op)
	}
	must(t, p.Begin(t.Context(), operation("op-open", change.Create("c.md", "c"))))
	kept := func() (out string) {
		for i := range 6 {
			op, err := p.Operation(t.Context(), fmt.Sprint("op-", i))
			must(t, err)
			out += map[bool]string{true: "+", false: "-"}[op.Kept]
		}
		return out
	}
	for _, c := range []struct {
		age  time.Duration
		want string
	}{
		{6 * 24 * time.Hour, "++++++"},
		{6*24*time.Hour + time.Minute, "++++++"}, // it has just been looked
		{8 * 24 * time.Hour, "---+++"},
		{800 * 24 * time.Hour, "---+++"},
	} {
		must(t, p.Prune(t.Context(), now().Add(c.age)))
		if got := kept(); got != c.want {
			t.Errorf("after %v: %s, want %s", c.age, got, c.want)
		}
	}
	if n := p.count(t, `SELECT count(*) FROM image`); n != 7 { // 3 to 6, "only once", "c", "0"
		t.Errorf("%d images", n)
	}
	for _, id := range []string{"op-open", "op-first"} {
		if _, err := p.Edits(t.Context(), id); err != nil {
			t.Errorf("an open one is needed whatever its age: %v", err)
		}
	}
	if _, err := p.Back(t.Context(), history.Wanted{Operation: "op-1"}); fault.Of(err) != fault.Unavailable {
		t.Errorf("an undo without contents: %v", err)
	}
	if _, err := p.Back(t.Context(), history.Wanted{Operation: "op-0", Path: "b.md"}); err != nil {
		t.Errorf("the other file of it: %v", err)
	}
	must(t, p.Finish(t.Context(), "op-open", tool.Applied, ""))
}

func TestOldestGoFirst(t *testing.T) {
	const size = 1000
	p := openIn(t, t.TempDir(), history.Options{Cap: 10 * size})
	must(t, p.Begin(t.Context(), operation("op-open", change.Create("open", noise(99, size/2)))))
	for i := range 30 {
		p.do(t, operation(fmt.Sprint("op-", i), change.Create(fmt.Sprint(i), noise(i, size/2)), change.Create(fmt.Sprint(i, "b"), noise(-i-1, size/2))))
	}
	must(t, p.Prune(t.Context(), now()))
	list, err := p.Operations(t.Context(), history.Filter{})
	must(t, err)
	for _, op := range list {
		if op.Kept != (op.Seq > 22 || op.ID == "op-open") {
			t.Errorf("%s is kept: %v", op.ID, op.Kept)
		}
	}
	bytes := p.count(t, `SELECT sum(length(data)) FROM image`)
	if bytes > 10*size || bytes != p.count(t, `SELECT value FROM fact WHERE name = 'image_bytes'`) {
		t.Errorf("%d bytes are left", bytes)
	}
}

func TestOldCallsGo(t *testing.T) {
	p := open(t)
	must(t, p.Record(t.Context(), call("call-0", tool.CallDone)))
	must(t, p.Flush(t.Context()))
	for _, c := range []struct{ days, want int }{{89, 1}, {91, 0}} {
		must(t, p.Prune(t.Context(), now().Add(time.Duration(c.days)*24*time.Hour)))
		list, err := p.Calls(t.Context(), history.Filter{})
		must(t, err)
		if len(list) != c.want {
			t.Errorf("after %d days: %d", c.days, len(list))
		}
	}
}

// TestDifferencesOutliveTheirBase: a content that is kept as the difference to
// an older one can be read when the older one is no longer kept for itself.
func TestDifferencesOutliveTheirBase(t *testing.T) {
	p := openIn(t, t.TempDir(), history.Options{Versions: 2})
	text := noise(1, 3000)
	const n = 40
	for i := range n {
		next := text[:i*20] + fmt.Sprint("edit ", i) + text[i*20:]
		p.do(t, operation(fmt.Sprint("op-", i), change.Replace("a.md", text, next)))
		text = next
	}
	whole := p.count(t, `SELECT count(*) FROM image WHERE base = 0`)
	if bytes := p.count(t, `SELECT sum(length(data)) FROM image`); whole > n/8+1 || bytes > 25_000 {
		t.Errorf("%d contents are kept whole, %d bytes", whole, bytes)
	}
	must(t, p.Prune(t.Context(), now().AddDate(0, 1, 0)))
	for i := n - 2; i < n; i++ {
		set, err := p.Edits(t.Context(), fmt.Sprint("op-", i))
		must(t, err)
		if i == n-1 && *set[0].After != text {
			t.Error("the last content differs")
		}
	}
	if left := p.count(t, `SELECT count(*) FROM image`); left > 12 {
		t.Errorf("%d contents are left", left)
	}
	must(t, p.Prune(t.Context(), now().AddDate(0, 2, 0)))
	if p.count(t, `SELECT sum(length(data)) FROM image`) != p.count(t, `SELECT value FROM fact WHERE name = 'image_bytes'`) {
		t.Error("the bytes are counted wrongly")
	}
	if bad := p.count(t, `SELECT count(*) FROM image i WHERE uses <> (SELECT count(*) FROM image WHERE base = i.id)
	    + (SELECT count(*) FROM edit WHERE kept AND before = i.hash) + (SELECT count(*) FROM edit WHERE kept AND after = i.hash)`); bad != 0 {
		t.Errorf("%d contents have a wrong number of uses", bad)
	}
}

// TestPlansThatWereNeverApplied: of a change that did not happen one row
// remains, however many files it was about, and the file shrinks again.
func TestPlansThatWereNeverApplied(t *testing.T) {
	p := open(t)
	p.do(t, operation("op-kept", change.Create("kept.md", "kept")))
	set := make([]change.Edit, 0, 500)
	for i := range cap(set) {
		set = append(set, change.Replace(fmt.Sprintf("folder/with a rather long name/%d.md", i), fmt.Sprint("before ", i), fmt.Sprint("after ", i)))
	}
	for i := range 20 {
		op := operation(fmt.Sprint("op-", i), set...)
		must(t, p.Begin(t.Context(), op))
		must(t, p.Finish(t.Context(), op.ID, tool.Dropped, "a file changed"))
	}
	if n := p.count(t, `SELECT count(*) FROM edit`); n != 1 {
		t.Errorf("%d rows of edits, want that of the change which happened", n)
	}
	if n := p.count(t, `SELECT count(*) FROM operation`); n != 21 {
		t.Errorf("%d operations", n)
	}
	if o := p.outcome(t, "op-3"); o != tool.Dropped {
		t.Errorf("it is %s", o)
	}
	// Rows that an earlier version left behind.
	d, err := p.file.DB(t.Context())
	must(t, err)
	_, err = d.Write.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
	  INSERT INTO edit (op, n, path, source, kept) SELECT (SELECT seq FROM operation WHERE id = 'op-3'), i, 'folder/with a rather long name/' || i, '', 0 FROM n`)
	must(t, err)
	large := p.count(t, `SELECT page_count FROM pragma_page_count`)
	must(t, p.Prune(t.Context(), now().Add(2*time.Hour)))
	if n := p.count(t, `SELECT count(*) FROM edit`); n != 1 {
		t.Errorf("%d rows of edits after pruning", n)
	}
	if small := p.count(t, `SELECT page_count FROM pragma_page_count`); small*4 > large {
		t.Errorf("%d pages of %d are left", small, large)
	}
	if _, err := p.Edits(t.Context(), "op-kept"); err != nil {
		t.Error(err)
	}
}
