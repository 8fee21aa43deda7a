package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
	"lore/internal/tools/toolkit"
	"lore/internal/vault/visibility"
)

const (
	// mostCalls is how many calls one batch makes: a person has to read them.
	mostCalls = 100
	// mostBytes is how much text one batch writes.
	mostBytes = 16 << 20
	// longest is how long a batch may plan.
	longest = 10 * time.Minute
)

// RunBatch: Make several calls as one: one approval, one undo. Reads and changes
// only. Later calls see the edits of earlier ones.
type RunBatch struct {
	// Max 100.
	Calls []BatchCall `json:"calls"`
	// Repeat the calls for each value, written {{item}} in arguments.
	ForEach []string `json:"for_each,omitempty"`
	// Change nothing if a call fails.
	AllOrNothing bool `json:"all_or_nothing,omitempty"`
}

// BatchCall is one call.
type BatchCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// Help is the text for people.
func (RunBatch) Help() tool.Help {
	return tool.Help{
		Short: "Run several tool calls with one approval",
		Long:  "The changes of all calls are shown together, applied together and undone together. A call that fails is left out and reported; with --all-or-nothing, nothing changes if a call fails. Tools that reach outside the vault cannot be part of a batch.",
		Flags: map[string]string{
			"calls":          `the calls, in order, as JSON: [{"tool": "…", "arguments": {…}}]; at most 100`,
			"for-each":       "repeat the calls for each value, which replaces {{item}} in the arguments (repeatable)",
			"all-or-nothing": "change nothing if a call fails",
		},
		Examples: []string{
			`--calls '[{"tool":"get-note-metadata","arguments":{"path":"{{item}}"}}]' --for-each Matcha --for-each Sencha`,
		},
	}
}

// Batch is what came of the calls.
type Batch struct {
	Calls   int           `json:"calls"`
	Done    int           `json:"done"`
	Failed  int           `json:"failed"`
	Results []BatchResult `json:"results"`
	// Files that the batch changes, and bytes that it writes.
	Files int `json:"files"`
	Bytes int `json:"bytes"`

	kinds kinds
}

// BatchResult is what came of one call, counted from 1.
type BatchResult struct {
	Call    int             `json:"call"`
	Tool    string          `json:"tool"`
	OK      bool            `json:"ok"`
	Summary string          `json:"summary,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	Kind    fault.Kind      `json:"kind,omitempty"`
	// Untrusted says that the result shows text from outside.
	Untrusted bool `json:"untrusted,omitempty"`

	warnings []string
	files    int
}

// kinds counts files by what happens to them.
type kinds map[change.Kind]int

// String names what happens to how many files, with a verb for each kind.
func (k kinds) String() string {
	verbs := map[change.Kind]string{change.Creates: "create", change.Replaces: "change", change.Moves: "move", change.Removes: "delete"}
	var out []string
	for _, kind := range []change.Kind{change.Creates, change.Replaces, change.Moves, change.Removes} {
		if k[kind] > 0 {
			out = append(out, verbs[kind]+" "+toolkit.Count(k[kind], "file"))
		}
	}
	return strings.Join(out, ", ")
}

// Gather makes the calls, one after the other.
func (in RunBatch) Gather(ctx context.Context, _ Env, calls *tool.Calls) (Batch, error) {
	list, err := in.expanded()
	if err != nil {
		return Batch{}, err
	}
	out := Batch{Calls: len(list), Results: []BatchResult{}}
	var first error
	for i, c := range list {
		tool.Progress(ctx, i, len(list), c.Tool)
		r, err := makeCall(ctx, calls, i+1, c)
		switch {
		case ctx.Err() != nil:
			return Batch{}, ctx.Err()
		case err != nil && in.AllOrNothing:
			return Batch{}, fmt.Errorf("nothing was changed, because call %d of %d failed: %w", i+1, len(list), err)
		case err != nil:
			out.Failed++
			if first == nil {
				first = fmt.Errorf("call %d of %d: %w", i+1, len(list), err)
			}
		default:
			out.Done++
		}
		out.Results = append(out.Results, r)
	}
	if out.Done == 0 {
		return Batch{}, first
	}
	tool.Progress(ctx, len(list), len(list), "")
	return out, out.measure(ctx, calls)
}

// measure counts what the calls write, of what the caller may know.
func (b *Batch) measure(ctx context.Context, calls *tool.Calls) error {
	limit := visibility.From(ctx)
	b.kinds = kinds{}
	for _, e := range calls.Set() {
		if !limit.Everything() && !limit.Allows(e.Path) {
			continue
		}
		b.Files++
		b.kinds[e.Kind()]++
		if e.After != nil {
			b.Bytes += len(*e.After)
		}
	}
	if b.Bytes > mostBytes {
		return fault.Fix(fault.TooLarge, "make several smaller batches", "the batch would write %d bytes; the limit is %d", b.Bytes, mostBytes)
	}
	return nil
}

// expanded are the calls with each value put in.
func (in RunBatch) expanded() ([]BatchCall, error) {
	n := len(in.Calls) * max(1, len(in.ForEach))
	switch {
	case len(in.Calls) == 0:
		return nil, fault.Field("calls", "give at least one call", "there are no calls")
	case n > mostCalls:
		return nil, fault.Field("calls", "make several smaller batches", "the batch makes %d calls; the limit is %d", n, mostCalls)
	case len(in.ForEach) == 0:
		return in.Calls, nil
	}
	var out []BatchCall
	for _, item := range in.ForEach {
		for _, c := range in.Calls {
			args, _ := fill(c.Arguments, item).(map[string]any)
			out = append(out, BatchCall{c.Tool, args})
		}
	}
	return out, nil
}

// fill puts a value where arguments say so.
func fill(v any, item string) any {
	switch v := v.(type) {
	case string:
		return strings.NewReplacer("{{item}}", item, "{{ item }}", item).Replace(v)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = fill(e, item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = fill(e, item)
		}
		return out
	}
	return v
}

// toolName is the name of a tool, also where it is written as a command is.
func toolName(s string) string {
	if tool.IsExternal(s) {
		return s
	}
	return strings.ReplaceAll(s, "-", "_")
}

func makeCall(ctx context.Context, calls *tool.Calls, number int, c BatchCall) (BatchResult, error) {
	args, err := schema.Marshal(c.Arguments)
	if c.Arguments == nil {
		args = nil
	}
	r := BatchResult{Call: number, Tool: c.Tool}
	var p tool.Planned
	if err == nil {
		p, err = calls.Make(ctx, toolName(c.Tool), args)
	}
	if p.Tool != "" {
		r.Tool = p.Tool
	}
	r.Untrusted = p.Untrusted
	if err != nil {
		r.Error, r.Kind, r.Untrusted = err.Error(), fault.Of(err), r.Untrusted || tool.IsUntrusted(err)
		return r, err
	}
	r.OK, r.Result, r.warnings, r.files = true, p.Result, append(p.Warnings, p.Notices...), p.Files
	if p.Effect != access.Reads {
		r.Summary = p.Summary
	}
	return r, nil
}

// ShowsOutside reports whether a result shows text from outside.
func (b Batch) ShowsOutside() bool {
	for _, r := range b.Results {
		if r.Untrusted {
			return true
		}
	}
	return false
}

// Preview lists the calls that change something, and what they come to.
func (b Batch) Preview() tool.Preview {
	p := tool.Preview{
		Summary: fmt.Sprintf("%s: %s (%s of text)", toolkit.Count(b.Calls, "call"), b.kinds, toolkit.Count(b.Bytes, "byte")),
		Details: map[string]any{"calls": b.Calls, "failed": b.Failed, "files": b.Files, "bytes": b.Bytes},
	}
	reads := 0
	for _, r := range b.Results {
		switch {
		case !r.OK:
			p.Warnings = append(p.Warnings, fmt.Sprintf("Call %d (%s) fails and is left out: %s", r.Call, r.Tool, r.Error))
			continue
		case r.files == 0:
			reads++
			continue
		}
		p.Steps = append(p.Steps, fmt.Sprintf("%d. %s: %s", r.Call, r.Tool, r.Summary))
		for _, w := range r.warnings {
			p.Warnings = append(p.Warnings, fmt.Sprintf("Call %d: %s", r.Call, w))
		}
	}
	if b.Files == 0 {
		p.Summary = fmt.Sprintf("%s: nothing to change", toolkit.Count(b.Calls, "call"))
	} else if reads > 0 {
		p.Steps = append(p.Steps, fmt.Sprintf("%s without changes", toolkit.Count(reads, "other call")))
	}
	return p
}

// View is a table of the calls.
func (b Batch) View() tool.View {
	v := tool.View{Head: []string{"call", "tool", "result"}}
	for _, r := range b.Results {
		text := r.Summary
		switch {
		case !r.OK:
			text = "failed: " + r.Error
		case text == "":
			text = toolkit.Truncate(string(r.Result), 200)
		}
		v.Rows = append(v.Rows, []string{strconv.Itoa(r.Call), r.Tool, text})
	}
	v.Foot = toolkit.Count(b.Done, "call") + " done"
	if b.Failed > 0 {
		v.Foot += fmt.Sprintf(", %d failed", b.Failed)
	}
	return v
}
