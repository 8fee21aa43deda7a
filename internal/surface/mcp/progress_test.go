package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool/tooltest"
)

// TestProgressOfATool renames a note that many link to: the client hears how
// far it is, then that a person is waited for, and the numbers only grow.
func TestProgressOfATool(t *testing.T) {
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras[:2] {
			t.Run(over+" "+era, func(t *testing.T) {
				w := open(t, func(dir string) {
					write(t, dir, "Hub.md", "x\n")
					for i := range 250 {
						write(t, dir, fmt.Sprintf("Many/%d.md", i), "[[Hub]]\n")
					}
				})
				clk, told := newClock(), make(chan *sdk.ProgressNotificationParams, 1000)
				o := mcp.Options{Who: client(), Now: tooltest.Now, Hold: mcp.DefaultHold, After: clk.after}
				cs := joined(t, w, over, era, o, &sdk.ClientOptions{
					ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params },
				})
				done := calling(t.Context(), cs, 7, "rename_note", map[string]any{"path": "Hub.md", "new_path": "Center.md"})
				last, steps := -1.0, 0
				for p := range told {
					if p.Progress <= last || p.Total < p.Progress {
						t.Errorf("after %v came %v of %v", last, p.Progress, p.Total)
					}
					last = p.Progress
					if strings.Contains(p.Message, "Waiting for a person") {
						break
					}
					steps++
				}
				if steps < 50 || steps > 101 {
					t.Errorf("%d steps were told", steps)
				}
				clk.next(mcp.DefaultHold).pass()
				if got := whole(t, <-done); !strings.Contains(got, "pending_confirmation") {
					t.Error(got)
				}
				// Who does not want to hear is not told.
				done = calling(t.Context(), cs, nil, "rename_note", map[string]any{"path": "Hub.md", "new_path": "Center.md"})
				clk.next(20e9).pass()
				if whole(t, <-done); len(told) > 0 {
					t.Errorf("told %+v", <-told)
				}
			})
		}
	}
}
