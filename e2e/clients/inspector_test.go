//go:build clients

package clients

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A note of the sample vault, and a piece of it that tests change.
const (
	note   = "Notes/Matcha.md"
	before = "temperature: 75"
	after  = "temperature: 71"
)

var inspector = filepath.Join(modules, ".bin", "mcp-inspector")

// TestInspector lets the MCP inspector look at everything, as a child process
// and over HTTP, in both eras of the protocol. It cannot show forms, so what
// changes a note waits for a person.
func TestInspector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve()
	header := "Authorization: Bearer " + w.token("read,write,destroy")
	own := newWorld(t) // only one process holds a vault
	for _, way := range []struct {
		name string
		w    *world
		args []string
	}{
		{"stdio", own, []string{own.lore, "mcp", "--hold", "0s", "--vault", own.vault}},
		{"http", w, []string{s.Address + "/mcp", "--transport", "http", "--header", header}},
	} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(way.name+" "+era, func(t *testing.T) {
				w := *way.w
				w.t = t
				inspect(t, &w, append([]string{"--cli"}, append(way.args, "--protocol-era", era, "--format", "json")...))
			})
		}
	}
	if o := w.script(inspector, "--cli", s.Address+"/mcp", "--transport", "http", "--stored-auth-only", "--method", "tools/list"); o.code != 3 {
		t.Errorf("without a token, want exit code 3: %s", o)
	}
	if got := w.read(note); !strings.Contains(got, before) {
		t.Errorf("a note was changed: %s", got)
	}
}

// inspect makes one request of each kind.
func inspect(t *testing.T, w *world, args []string) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--method", "tools/list", "--strict"}, []string{`"name":"search_notes"`, `"readOnlyHint":true`, `"destructiveHint":true`}},
		{[]string{"--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "path=" + note}, []string{before, `"type":"text"`}},
		{[]string{"--method", "resources/read", "--uri", "note:///" + note}, []string{before, `"mimeType":"text/markdown"`}},
		{[]string{"--method", "prompts/get", "--prompt-name", "summarize_note", "--prompt-args", "path=" + note}, []string{before, `"type":"resource"`}},
		{[]string{"--method", "tools/call", "--tool-name", "edit_note", "--tool-arg", "path=" + note, "search=" + before, "replace=" + after},
			[]string{`"status":"pending_confirmation"`, "A person must approve this in Lore."}},
	} {
		o := w.script(inspector, append(args[:len(args):len(args)], c.args...)...)
		if o.code != 0 {
			t.Errorf("%q: %s", c.args, o)
			continue
		}
		got := compact(t, o.out)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q: no %s in %s", c.args, want, got)
			}
		}
	}
	if o := w.script(inspector, append(args[:len(args):len(args)], "--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "path=None.md")...); o.code != 5 {
		t.Errorf("a note that is not there, want exit code 5: %s", o)
	}
}

// compact is JSON without spaces between its parts.
func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
