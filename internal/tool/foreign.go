package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// External is the toolset of the tools of other servers, and ExternalPrefix how
// all of their names begin.
const (
	External       = "external"
	ExternalPrefix = "mcp__"
)

// Own is the toolset of the tools that a person wrote, and OwnPrefix how all of
// their names begin.
const (
	Own       = "own"
	OwnPrefix = "own_"
)

// IsExternal reports whether a name is of the tools of other servers, or of those
// that a person wrote: they come and go.
func IsExternal(name string) bool {
	return name == External || strings.HasPrefix(name, ExternalPrefix) || name == Own || strings.HasPrefix(name, OwnPrefix)
}

// A ForeignTool is a tool that is only known at run time: one of another
// server, or one that the user wrote. Nothing it says about itself is believed.
type ForeignTool struct {
	Name   string
	Title  string
	Doc    string
	Set    string
	Input  *jsonschema.Schema
	Output *jsonschema.Schema // may be nil
	Needs  access.Scope       // Egress or Exec
	// Within limits how long one call may take; 0 is a minute.
	Within time.Duration
	// Source names the server that it is of: [Registry.Swap] takes all tools of
	// one source at once, and what they answer is marked as untrusted. Empty for
	// a tool that the user wrote.
	Source string
	// Definition is a hash of more than the registry can see: a standing answer
	// is void when it changes. May be empty.
	Definition string
	// Summary and Warnings are shown to the person who is asked about a call.
	Summary  string
	Warnings []string
	// Run does the work. What it returns must be an object in JSON.
	Run func(ctx context.Context, args json.RawMessage) (any, error)
	// Plan is Run with edits of the vault, which are asked about when it ran.
	Plan func(ctx context.Context, args json.RawMessage) (any, change.Set, error)
	// Gather makes calls instead, as one; see [Gather]. Then it is no act, and needs
	// nothing of its own.
	Gather func(ctx context.Context, args json.RawMessage, calls *Calls) (any, error)
	// Foresee describes a call for the person who is asked; nil shows the arguments.
	Foresee func(args json.RawMessage) (Preview, error)
	// Untrusted says that the result holds words from outside.
	Untrusted bool
	// Decode reads back what Run returned from JSON that may hold more fields;
	// nil keeps it as it is.
	Decode func(json.RawMessage) (any, error)
}

// Foreign makes a tool of it. It is always an act: asked about, unless a person
// made a standing rule.
func Foreign(f ForeignTool) (*Tool, error) {
	if f.Gather == nil && f.Needs != access.Egress && f.Needs != access.Exec {
		return nil, fault.New(fault.Internal, "the external tool %s does not declare the scopes it needs", f.Name)
	}
	s, err := schema.General(f.Input, f.Output)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", f.Name, err)
	}
	t := &Tool{Name: f.Name, Title: f.Title, Doc: f.Doc, Set: f.Set, Effect: access.Acts, Needs: f.Needs, Shape: Text, Timeout: f.Within, Source: f.Source, Untrusted: f.Untrusted, pinned: f.Definition}
	if t.Timeout == 0 {
		t.Timeout = time.Minute
	}
	if t.Title == "" {
		t.Title = t.Name
	}
	t.schema = func() *schema.Schema { return s }
	t.definition = sync.OnceValue(func() string { return definitionOf(t) })
	t.foresee = func(_ context.Context, args json.RawMessage) (Preview, error) {
		if f.Foresee != nil {
			return f.Foresee(args)
		}
		return Preview{Summary: cmp.Or(f.Summary, "Send to "+t.Name), Details: args, Warnings: f.Warnings}, nil
	}
	t.run = f.work()
	if f.Gather != nil {
		t.Effect, t.gathers = access.Changes, true
	}
	t.decode = f.Decode
	if t.decode == nil {
		t.decode = withoutCommon
	}
	return t, nil
}

// work is what a call of it does.
func (f ForeignTool) work() work {
	switch {
	case f.Gather != nil:
		return func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
			return gather(ctx, f.Name, func(calls *Calls) (any, error) { return f.Gather(ctx, args, calls) })
		}
	case f.Plan != nil:
		return f.Plan
	}
	return func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
		out, err := f.Run(ctx, args)
		return out, nil, err
	}
}

// withoutCommon takes the fields of every answer out of a stored one, so that
// they do not stand twice when it is written again.
func withoutCommon(raw json.RawMessage) (any, error) {
	var own map[string]json.RawMessage
	if err := json.Unmarshal(raw, &own); err != nil {
		return nil, err
	}
	for _, name := range commonNames() {
		delete(own, name)
	}
	return own, nil
}
