// Package answers puts the results of tools on the wire of the Model Context
// Protocol: as structure for programs, and as text for models.
package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/tool"
	"lore/internal/tool/schema"
)

// Of puts a result on the wire twice: as structure, and as text. Clients
// show a model one of them, and differ in which: Claude Code, VS Code and Cursor
// the structure, most others the text. So each is complete. A structure with the
// facts of a note and without its text would hide the note from the first three,
// and only a client that shows both pays for the text twice.
//
// A note is one text block as it is, and a line of facts about it; anything else is
// the same in short words.
func Of(res tool.Result) (*sdk.CallToolResult, error) {
	raw, err := res.MarshalJSON() // json.Marshal would read it all again
	if err != nil {
		return nil, err
	}
	out := &sdk.CallToolResult{StructuredContent: json.RawMessage(raw)}
	if res.Value == nil || res.Tool == nil {
		out.Content = Texts(string(raw))
		return out, nil
	}
	view := res.View()
	if res.Tool.Shape != tool.Text {
		out.Content = Texts(plain(view, res))
		return out, nil
	}
	facts, err := without(raw, view.Text)
	if err != nil {
		return nil, err
	}
	out.Content = Texts(view.Text, facts)
	if view.Text == "" { // some models refuse an empty block
		out.Content = Texts(facts)
	}
	return out, nil
}

// Failed tells the model what went wrong, so that it can do better.
func Failed(err error) (*sdk.CallToolResult, error) {
	raw, e := schema.Marshal(tool.NewFailure(err))
	if e != nil {
		return nil, e
	}
	return &sdk.CallToolResult{Content: Texts(string(raw)), StructuredContent: json.RawMessage(raw), IsError: true}, nil
}

// Texts are text blocks, one for each text.
func Texts(list ...string) []sdk.Content {
	var out []sdk.Content
	for _, t := range list {
		out = append(out, &sdk.TextContent{Text: t})
	}
	return out
}

// without is an object without the fields that hold a text. The text is looked
// for as it is written, so that nothing has to be read and written again.
func without(object json.RawMessage, text string) (string, error) {
	written, err := schema.Marshal(text)
	if err != nil {
		return "", err
	}
	out, at := make([]byte, 0, len(object)-len(written)), 0
	for _, m := range members(object) {
		if bytes.Equal(object[m.value:m.end], written) {
			out = append(out, object[at:m.start]...)
			at = m.end
		}
	}
	out = append(out, object[at:]...)
	return string(bytes.Replace(out, []byte("{,"), []byte("{"), 1)), nil
}

// A member is where a field of an object stands: from the comma or brace before
// its name to the end of its value.
type member struct{ start, value, end int }

// members finds the fields of an object that was written without spaces.
func members(object []byte) []member {
	var out []member
	level, quoted := 0, false
	m := member{}
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if level++; level == 1 {
				m = member{start: i + 1}
			}
		case c == ':' && level == 1 && m.value == 0:
			m.value = i + 1
		case c == ',' && level == 1:
			m.end = i
			out, m = append(out, m), member{start: i}
		case c == '}' || c == ']':
			if level--; level == 0 && m.value > 0 {
				m.end = i
				out = append(out, m)
			}
		}
	}
	return out
}

// plain is a view in short words, for models that see no structure.
func plain(v tool.View, res tool.Result) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if res.Message != "" {
		line("%s", res.Message)
	}
	if v.Text != "" {
		line("%s", strings.TrimRight(v.Text, "\n"))
	}
	for _, it := range v.Items {
		item(line, it)
	}
	if len(v.Rows) > 0 {
		line("%s", strings.Join(v.Head, " | "))
	}
	for _, r := range v.Rows {
		line("%s", strings.Join(r, " | "))
	}
	for _, p := range v.Pairs {
		line("%s: %s", p[0], p[1])
	}
	if v.Foot != "" {
		line("(%s)", v.Foot)
	}
	for _, n := range res.Notices {
		line("note: %s", n)
	}
	if res.DryRun && res.Preview != nil {
		line("dry run, nothing was done: %s", res.Preview.Summary)
	}
	if res.Operation != "" {
		line("operation %s", res.Operation)
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return strings.TrimRight(b.String(), "\n")
}

func item(line func(string, ...any), it tool.Item) {
	head := it.Path
	if it.Line > 0 {
		head += fmt.Sprintf(":%d", it.Line)
	}
	for _, more := range []string{it.Title, it.Detail} {
		if more != "" {
			head += "  " + more
		}
	}
	line("%s", strings.TrimSpace(head))
	if it.Text != "" {
		line("  %s", strings.ReplaceAll(strings.TrimSpace(it.Text), "\n", "\n  "))
	}
	for _, n := range it.Notes {
		line("  %s", n)
	}
}
