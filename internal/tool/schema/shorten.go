package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Arguments longer than this are kept with their long texts cut: what a note
// was given stands in the images.
const (
	longArgs = 1 << 10
	longText = 200
)

// Shorten keeps the arguments of a call readable and small.
func Shorten(args json.RawMessage) string {
	if len(args) <= longArgs {
		return string(args)
	}
	var v any
	if json.Unmarshal(args, &v) == nil {
		if b, err := json.Marshal(shortenTexts(v)); err == nil && len(b) <= 8*longArgs {
			return string(b)
		}
	}
	return fmt.Sprintf(`{"cut":"%d bytes"}`, len(args))
}

func shortenTexts(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > longText {
			return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(v[:longText], ""), len(v))
		}
	case []any:
		for i := range v {
			v[i] = shortenTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shortenTexts(v[k])
		}
	}
	return v
}
