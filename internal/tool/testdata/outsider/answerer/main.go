// r.carryOut undefined (cannot refer to unexported method carryOut)

package main

import (
	"context"

	"lore/internal/tool"
)

func main() {
	r := tool.NewRegistry(tool.Deps{})
	_, _ = r.carryOut(context.Background(), tool.Question{})
}
