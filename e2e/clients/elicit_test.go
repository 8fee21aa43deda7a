//go:build clients

package clients

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A talk is a connection of mcpdo, a client that is not ours and shows forms.
type talk struct {
	*world
	name string
}

// talkTo connects it with a server of its own.
func talkTo(t *testing.T, era string, flags ...string) *talk {
	t.Helper()
	w := newWorld(t)
	w.env = append(w.env, "MCP_INSPECTOR_SECRET_STORE=memory", "MCP_INSPECTOR_DAEMON_DIR="+filepath.Join(w.home, "d"),
		"MCP_INSPECTOR_DAEMON_TOKEN="+strings.Repeat("x", 43))
	c := &talk{w, "x"}
	t.Cleanup(func() { c.do("daemon", "stop") })
	args := []string{"connect", "--era", era, "--elicit", "form", "--connection", c.name, "--", w.lore, "mcp", "--hold", "0s", "--confirm", "--vault", w.vault}
	if got := c.do(append(args, flags...)...); !strings.Contains(got, `"protocolEra":"`+era+`"`) {
		t.Fatalf("connected as %s", got)
	}
	return c
}

// do runs one command and returns what it printed, on one line.
func (c *talk) do(args ...string) string {
	c.t.Helper()
	o := c.script(filepath.Join(modules, ".bin", "mcpdo"), append([]string{"--format", "json"}, args...)...)
	if o.code != 0 {
		c.t.Errorf("mcpdo %q: %s", args, o)
		return o.out
	}
	return compact(c.t, o.out)
}

// ask calls a tool that asks back, and returns the id of the form and its text.
func (c *talk) ask(tool string, args ...string) (id, message string) {
	c.t.Helper()
	got := c.do(append([]string{"--connection", c.name, "tools/call", tool}, args...)...)
	var out struct {
		ElicitationPending struct{ ElicitationID, Message string }
	}
	if err := json.Unmarshal([]byte(got), &out); err != nil || out.ElicitationPending.ElicitationID == "" {
		c.t.Fatalf("%s was not asked about: %v, %s", tool, err, got)
	}
	return out.ElicitationPending.ElicitationID, out.ElicitationPending.Message
}

func (c *talk) answer(id string, words ...string) string {
	c.t.Helper()
	return c.do(append([]string{"--connection", c.name, "elicitation/respond", id}, words...)...)
}

var edit = []string{"path:=" + note, "search:=" + before, "replace:=" + after}

// TestElicited: a foreign client shows our forms and brings the answers, in both
// eras.
func TestElicited(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			c := talkTo(t, era)
			id, message := c.ask("edit_note", edit...)
			if !strings.Contains(message, "-"+before) || !strings.Contains(message, "+"+after) {
				t.Errorf("the form shows %q", message)
			}
			if got := c.answer(id, "--decline"); !strings.Contains(got, `\"isError\":false`) || strings.Contains(c.read(note), after) {
				t.Errorf("declined: %s\n%s", got, c.read(note))
			}
			id, _ = c.ask("edit_note", edit...)
			if got := c.answer(id, "confirm:=true"); !strings.Contains(got, "operation") || !strings.Contains(c.read(note), after) {
				t.Errorf("accepted: %s\n%s", got, c.read(note))
			}
			got := c.do("--connection", c.name, "tools/call", "delete_note", "path:="+note)
			if !strings.Contains(got, "pending_confirmation") || c.read(note) == "" {
				t.Errorf("a client that is not trusted was let to confirm a deletion: %s", got)
			}
		})
	}
}

// TestTrustedClient: with --trust-client the client's user may confirm a
// deletion.
func TestTrustedClient(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			c := talkTo(t, era, "--trust-client")
			id, _ := c.ask("delete_note", "path:="+note)
			if c.answer(id, "--decline"); c.read(note) == "" {
				t.Error("declined, and deleted")
			}
			id, _ = c.ask("delete_note", "path:="+note)
			if got := c.answer(id, "confirm:=true"); c.read(note) != "" {
				t.Errorf("accepted, and not deleted: %s", got)
			}
		})
	}
}
