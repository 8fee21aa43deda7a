// compiles

package main

import (
	"context"

	"lore/internal/access"
	"lore/internal/tool"
)

func main() {
	r := tool.NewRegistry(tool.Deps{})
	_, _ = r.Call(context.Background(), access.Principal{}, "x", nil)
}
