// compiles

package main

import (
	"context"

	"lore/internal/tool"
	"lore/internal/tool/access"
)

func main() {
	r := tool.NewRegistry(tool.Deps{})
	_, _ = r.Call(context.Background(), access.Principal{}, "x", nil)
}
