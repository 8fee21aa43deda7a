// cannot refer to unexported field run in struct literal of type tool.Tool

package main

import (
	"context"
	"encoding/json"

	"lore/internal/change"
	"lore/internal/tool"
)

func main() {
	_ = tool.Tool{run: func(context.Context, json.RawMessage) (any, change.Set, error) { return nil, nil, nil }}
}
