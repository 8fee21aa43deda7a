package chat

import (
	"encoding/json"

	"lore/internal/tool"
)

// Toolsets are the names of the toolsets of a chat. Former names, which older
// chats are stored with, are replaced when they are read.
type Toolsets []string

// UnmarshalJSON reads the names.
func (t *Toolsets) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*t = tool.CurrentSets(names)
	return nil
}
