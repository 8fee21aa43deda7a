// does not satisfy tool.Runner

package main

import (
	"context"

	"lore/internal/change"
	"lore/internal/tool"
)

// A struct that plans edits cannot be registered as one that only reads.
type quiet struct{}

func (quiet) Plan(context.Context, int) (struct{}, change.Set, error) { return struct{}{}, nil, nil }

func main() {
	_ = tool.Read[quiet, int, struct{}](0)
}
