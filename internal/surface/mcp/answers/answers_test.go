package answers

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"lore/internal/tool/schema"
)

// FuzzWithout compares what is cut out of the bytes with what is deleted from
// the object.
func FuzzWithout(f *testing.F) {
	f.Add("a", "text", "b", "other", `{"x":[1,"]}"]}`)
	f.Add("a", "text", "b", "text", `"te\"xt"`)
	f.Add("\"", "a\\", "{", "}", `null`)
	f.Add("", "<&>\u2028", "z", "", `[[],{}]`)
	f.Fuzz(func(t *testing.T, key, text, key2, text2, raw string) {
		if !json.Valid([]byte(raw)) {
			t.Skip()
		}
		object := map[string]any{key: text, key2: text2, "raw": json.RawMessage(raw), "n": 12, "again": text}
		b, err := schema.Marshal(object)
		if err != nil {
			t.Skip()
		}
		got, err := without(b, text)
		if err != nil {
			t.Fatal(err)
		}
		var have, want map[string]any
		if err := json.Unmarshal([]byte(got), &have); err != nil {
			t.Fatalf("%s became %s: %v", b, got, err)
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		var as any
		quoted, _ := schema.Marshal(text)
		if err := json.Unmarshal(quoted, &as); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(want, func(_ string, v any) bool { return v == as })
		if !reflect.DeepEqual(have, want) {
			// The same text may be written in another way in what a tool gave raw.
			if s, ok := want["raw"].(string); !ok || s != text {
				t.Errorf("%s became %s, want %v", b, got, want)
			}
		}
	})
}
