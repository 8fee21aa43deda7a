package transcript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lore/internal/agent/chat"
)

// whole is all that a transcript shows, drawn from the beginning.
func whole(t *Transcript) []string {
	fresh := Transcript{Paint: t.Paint}
	fresh.Resize(t.width)
	for _, e := range t.Entries {
		c := *e
		c.page, c.head, c.tail, c.was, c.stale = nil, nil, nil, 0, false
		fresh.Add(&c)
	}
	fresh.Refresh()
	return fresh.View(fresh.total)
}

// TestPiecesMakeTheWhole does what a conversation does, in any order: what is
// drawn piece by piece is what would be drawn at once, and the counts are true.
func TestPiecesMakeTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tr := Transcript{}
	tr.Resize(40)
	for step := range 2000 {
		switch random.IntN(8) {
		case 0:
			tr.Tell(Kind(random.IntN(6)), strings.Repeat("words ", random.IntN(30)))
		case 1:
			tr.Show("run", []chat.Call{{Seq: random.IntN(20), Tool: "t", State: chat.Asked, Args: []byte(`{"a":1}`)}})
		case 2:
			tr.Resize(30 + random.IntN(40))
		case 3:
			tr.Scroll(random.IntN(9)-4, 10)
		case 4:
			if len(tr.Entries) > 20 {
				tr.Remove(tr.Entries[random.IntN(len(tr.Entries))])
			}
		case 5:
			if n := len(tr.Entries); n > 0 {
				e := tr.Entries[random.IntN(n)]
				e.Open = !e.Open
				tr.Touch(e)
			}
		default:
			for _, e := range tr.Entries {
				if e.Kind == Answer {
					tr.Write(e, []byte(fmt.Sprintf("more %d\n\n", step)[:random.IntN(6)]))
					break
				}
			}
		}
		if step%20 != 0 {
			continue
		}
		tr.View(10)
		want := whole(&tr)
		got := make([]string, 0, tr.total)
		for _, e := range tr.Entries {
			for i := range e.Count() {
				got = append(got, e.line(i))
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || tr.total != len(want) {
			t.Fatalf("step %d: %d lines, counted %d, want %d", step, len(got), tr.total, len(want))
		}
		if seen := tr.View(10); len(want) >= 10 && strings.Join(seen, "\n") != strings.Join(want[len(want)-tr.Up-10:len(want)-tr.Up], "\n") {
			t.Fatalf("step %d: the wrong part is seen", step)
		}
	}
}

func TestCallsAreTold(t *testing.T) {
	tr := Transcript{}
	tr.Resize(60)
	for i, s := range []chat.CallState{chat.Proposed, chat.Calling, chat.Asked, chat.Finished, chat.Refused, chat.Mistaken, chat.Interrupted} {
		tr.Show("run", []chat.Call{{Seq: i + 1, Tool: "tool", Summary: "what it does", State: s}})
	}
	tr.Show("run", []chat.Call{{Seq: 1, Tool: "tool", Summary: strings.Repeat("long ", 20), State: chat.Finished}})
	want := `  ✓ tool: long long long long long long long long l…  (done)
  ● tool: what it does  (running)
  … tool: what it does  (needs approval)
  ✓ tool: what it does  (done)
  – tool: what it does  (denied)
  ✗ tool: what it does  (failed)
  ? tool: what it does  (interrupted)`
	if got := strings.Join(tr.View(20), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
