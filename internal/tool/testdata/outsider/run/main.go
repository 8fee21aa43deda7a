// t.run undefined (cannot refer to unexported field run)

package main

import (
	"context"

	"lore/internal/tool"
)

func main() {
	t, _ := tool.NewRegistry(tool.Deps{}).Find("x")
	_, _, _ = t.run(context.Background(), nil)
}
