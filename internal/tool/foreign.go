package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/schema"
)

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
	// Run does the work. What it returns must be an object in JSON.
	Run func(ctx context.Context, args json.RawMessage) (any, error)
}

// Foreign makes a tool of it. It is always an act: asked about, unless a person
// made a standing rule.
func Foreign(f ForeignTool) (*Tool, error) {
	if f.Needs != access.Egress && f.Needs != access.Exec {
		return nil, fault.New(fault.Internal, "the foreign tool %s does not say what it needs", f.Name)
	}
	s, err := schema.General(f.Input, f.Output)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", f.Name, err)
	}
	t := &Tool{Name: f.Name, Title: f.Title, Doc: f.Doc, Set: f.Set, Effect: access.Acts, Needs: f.Needs, Shape: Text, Timeout: f.Within}
	if t.Timeout == 0 {
		t.Timeout = time.Minute
	}
	if t.Title == "" {
		t.Title = t.Name
	}
	t.schema = func() *schema.Schema { return s }
	t.definition = sync.OnceValue(func() string { return definitionOf(t) })
	t.foresee = func(_ context.Context, args json.RawMessage) (Preview, error) {
		return Preview{Summary: fmt.Sprintf("Send to %s", t.Name), Details: args}, nil
	}
	t.run = func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
		out, err := f.Run(ctx, args)
		return out, nil, err
	}
	t.decode = func(raw json.RawMessage) (any, error) { return raw, nil }
	return t, nil
}
