package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// A Description is everything that a caller can know of a tool. It crosses
// borders between processes.
type Description struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Doc          string             `json:"doc"`
	Set          string             `json:"set"`
	Aliases      []string           `json:"aliases,omitempty"`
	Short        string             `json:"short,omitempty"`
	Effect       access.Effect      `json:"effect"`
	Shape        Shape              `json:"shape"`
	Needs        access.Scope       `json:"needs,omitempty"`
	Instructions string             `json:"instructions,omitempty"`
	Roles        []Role             `json:"roles,omitempty"`
	Feed         bool               `json:"feed,omitempty"`
	With         string             `json:"with,omitempty"`
	Untrusted    bool               `json:"untrusted,omitempty"`
	Selects      string             `json:"selects,omitempty"`
	Ends         bool               `json:"ends,omitempty"`
	Source       string             `json:"source,omitempty"`
	Input        *jsonschema.Schema `json:"input"`
	Output       *jsonschema.Schema `json:"output,omitempty"`
}

// Describe tells everything about a tool.
func Describe(t *Tool) Description {
	return Description{
		Name: t.Name, Title: t.Title, Doc: t.Doc, Set: t.Set, Aliases: t.Aliases, Short: t.Short, Effect: t.Effect, Shape: t.Shape,
		Needs: t.Needs, Instructions: t.Instructions, Roles: t.Roles, Feed: t.Feed, With: t.With, Untrusted: t.Untrusted, Selects: t.Selects, Ends: t.Ends, Source: t.Source, Input: t.Input(), Output: t.Output(),
	}
}

// Described makes a tool of its description. It can be shown, and does nothing:
// the real one is in another process.
func Described(d Description) (*Tool, error) {
	s, err := schema.General(d.Input, d.Output)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", d.Name, err)
	}
	t := &Tool{
		Name: d.Name, Title: d.Title, Doc: d.Doc, Set: d.Set, Aliases: d.Aliases, Short: d.Short, Effect: d.Effect, Shape: d.Shape,
		Needs: d.Needs, Instructions: d.Instructions, Roles: d.Roles, Feed: d.Feed, With: d.With, Untrusted: d.Untrusted, Selects: d.Selects, Ends: d.Ends, Source: d.Source,
	}
	t.schema = func() *schema.Schema { return s }
	t.definition = sync.OnceValue(func() string { return definitionOf(t) })
	t.run = func(context.Context, json.RawMessage) (any, change.Set, error) {
		return nil, nil, fault.New(fault.Internal, "%s is listed, but this process cannot call it", t.Name)
	}
	t.decode = func(raw json.RawMessage) (any, error) { return raw, nil }
	return t, nil
}
