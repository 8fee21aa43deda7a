//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditor: an editor on the official library of the Agent Client Protocol, which
// checks every message against the schema, talks with the agent and approves a change.
func TestEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.command(t.Context(), w.node, "editor.mjs", w.lore, w.vault).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var told struct {
		Hello    struct{ ProtocolVersion int }
		Modes    struct{ AvailableModes []struct{ ID string } }
		Config   []struct{ ID string } `json:"configOptions"`
		Stops    []string
		Updates  map[string]int
		Text     string
		Diffs    []struct{ Path, NewText string }
		Options  []string
		Replayed int
		Sessions int
	}
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	note := filepath.Join(w.vault, "Notes", "From the editor.md")
	text, _ := os.ReadFile(note) // without it, it is empty
	switch {
	case told.Hello.ProtocolVersion != 1, len(told.Modes.AvailableModes) != 3, len(told.Config) != 2:
		t.Errorf("hello: %s", out)
	case strings.Join(told.Stops, " ") != "end_turn end_turn", told.Updates["tool_call"] < 2, told.Updates["tool_call_update"] < 2, !strings.Contains(told.Text, "[[Notes/"):
		t.Errorf("answers: %s", out)
	case len(told.Diffs) != 1, told.Diffs[0].Path != note, !strings.Contains(told.Diffs[0].NewText, "Written by an editor."), strings.Join(told.Options, " ") != "allow_once reject_once":
		t.Errorf("the dialog: %s", out)
	case !strings.Contains(string(text), "Written by an editor."):
		t.Errorf("the note is %q", text)
	case told.Replayed != 2, told.Sessions != 1:
		t.Errorf("loaded again: %s", out)
	}
}
