package automation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
)

func calls(n int) json.RawMessage {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"tool":"put","arguments":{"path":"n%d.md","text":"x"}}`, i))
	}
	return json.RawMessage(`{"calls":[` + strings.Join(list, ",") + `]}`)
}

func person() access.Principal {
	who := access.Terminal()
	who.Explicit = true
	return who
}

// A batch tells how far it is, and one that is canceled changes nothing.
func TestBatchIsCanceled(t *testing.T) {
	dir := t.TempDir()
	p := tooltest.Open(t, dir, nil)
	reg := tool.NewRegistry(p.Deps(), open(p))
	ctx, cancel := context.WithCancel(t.Context())
	var told []int
	ctx = tool.WithProgress(ctx, func(done, total int, _ string) {
		if told = append(told, done); done == 3 {
			cancel()
		}
		if total != 10 {
			t.Error(total)
		}
	})
	if _, err := reg.Call(ctx, person(), "run_batch", calls(10)); err == nil {
		t.Error("a batch that was canceled succeeded")
	}
	if !slices.Equal(told, []int{0, 1, 2, 3}) {
		t.Error(told)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.md")); len(files) > 0 {
		t.Error(files)
	}
}

// A batch is bounded, and each of its calls counts for the limits of its caller.
func TestBatchIsBounded(t *testing.T) {
	p := tooltest.Open(t, t.TempDir(), nil)
	deps := p.Deps()
	deps.Meter = policy.NewMeter(policy.DefaultLimits())
	reg := tool.NewRegistry(deps, open(p))
	if _, err := reg.Call(t.Context(), person(), "run_batch", calls(101)); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	model := access.Principal{Kind: access.MCP, ID: "m", Surface: "test", Scopes: []access.Scope{access.Read, access.Write}}
	var last error
	for range 1000 {
		if _, last = reg.Call(t.Context(), model, "run_batch", json.RawMessage(`{"calls":[{"tool":"put","arguments":{"path":"a.md","text":"x"}},{"tool":"put","arguments":{"path":"b.md","text":"x"}}],"dry_run":true}`)); last != nil {
			break
		}
	}
	if fault.Of(last) != fault.RateLimited {
		t.Errorf("a thousand batches met no limit: %v", last)
	}
}

// A batch is allowed when each of its calls would be, and asked about when they come
// to more than that: many files, or a note that loses its text piece by piece.
func TestBatchIsWeighedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.md"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, dir, nil)
	deps := p.Deps()
	deps.Policy.Create = policy.Allow
	reg := tool.NewRegistry(deps, open(p))
	model := access.Principal{Kind: access.MCP, ID: "m", Surface: "test", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}}
	if res, err := reg.Call(t.Context(), model, "run_batch", calls(3)); err != nil || res.Operation == "" {
		t.Error(res, err)
	}
	many := strings.ReplaceAll(string(calls(21)), `"n`, `"m`)
	if res, err := reg.Call(t.Context(), model, "run_batch", json.RawMessage(many)); err != nil || res.Question == nil || res.Question.Risk != policy.Destroy {
		t.Error(res, err)
	}
	if res, err := reg.Call(t.Context(), model, "run_batch", json.RawMessage(`{"calls":[{"tool":"put","arguments":{"path":"new.md","text":"x"}},{"tool":"put","arguments":{"path":"old.md","text":"x"}}]}`)); err != nil || res.Question == nil || res.Question.Reason != "it changes existing content" {
		t.Error(res, err)
	}
}
