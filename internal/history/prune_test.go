package history_test

import (
	"fmt"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/history"
	"lore/internal/tool"
)

func TestOldContentsAreThinned(t *testing.T) {
	p := openIn(t, t.TempDir(), history.Options{Versions: 3})
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
	if n := p.count(t, `SELECT count(*) FROM image`); n != 6 { // 3 to 6, "only once", "c"
		t.Errorf("%d images", n)
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
	for i := range 30 {
		p.do(t, operation(fmt.Sprint("op-", i), change.Create(fmt.Sprint(i), noise(i, size/2)), change.Create(fmt.Sprint(i, "b"), noise(-i-1, size/2))))
	}
	must(t, p.Prune(t.Context(), now()))
	list, err := p.Operations(t.Context(), history.Filter{})
	must(t, err)
	for _, op := range list {
		if op.Kept != (op.Seq > 20) {
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
