package chat

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSavedChatsKeepTheirTools: a chat that was stored with a former name of a
// toolset has the toolsets that took its tools over.
func TestSavedChatsKeepTheirTools(t *testing.T) {
	for body, want := range map[string]Toolsets{
		`{"id": "chat-1", "toolsets": ["usual", "find"]}`: {"usual", "explore", "organize", "files"},
		`{"id": "chat-1", "toolsets": ["notes"]}`:         {"notes"},
		`{"id": "chat-1"}`:                                nil,
	} {
		var c Chat
		if err := json.Unmarshal([]byte(body), &c); err != nil || !slices.Equal(c.Sets, want) || (c.Sets == nil) != (want == nil) {
			t.Errorf("%s: %q, %v", body, c.Sets, err)
		}
		var r Run
		if err := json.Unmarshal([]byte(body), &r); err != nil || !slices.Equal(r.Sets, want) {
			t.Errorf("run %s: %q, %v", body, r.Sets, err)
		}
	}
}
