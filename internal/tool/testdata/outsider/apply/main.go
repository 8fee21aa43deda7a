// r.deps undefined (cannot refer to unexported field deps)

package main

import (
	"context"

	"lore/internal/change"
	"lore/internal/tool"
)

func main() {
	r := tool.NewRegistry(tool.Deps{})
	_ = r.deps.Apply(context.Background(), "op", change.Set{})
}
