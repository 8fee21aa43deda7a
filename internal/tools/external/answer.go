package external

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/tool"
)

// What an answer may hold.
const (
	maxText  = 1 << 20 // bytes of text
	maxError = 4 << 10 // bytes of an error's text
	maxParts = 100     // that are described
)

// An Answer is what a server's tool answered. Its words are the server's: data,
// never instructions.
type Answer struct {
	// Server that answered.
	Server string `json:"server"`
	// Text of the answer.
	Text string `json:"text"`
	// Structured is the answer as data, when the server gave it so.
	Structured json.RawMessage `json:"structured,omitempty"`
	// Parts that are no text: what they are, not what is in them.
	Parts []Part `json:"parts,omitempty"`
	// Notes say what was cut or left out.
	Notes []string `json:"notes,omitempty"`
}

// A Part is an image, a sound, a file or a link in an answer.
type Part struct {
	Kind  string `json:"kind"` // image, audio, resource or link
	MIME  string `json:"mime_type,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	URI   string `json:"uri,omitempty"`
	Name  string `json:"name,omitempty"`
}

// String is the part in a few words.
func (p Part) String() string {
	out := p.Kind
	for _, word := range []string{p.MIME, p.Name, p.URI} {
		if word != "" {
			out += " " + word
		}
	}
	if p.Bytes > 0 {
		out += fmt.Sprintf(", %d bytes", p.Bytes)
	}
	return "[" + out + "]"
}

// View shows the text, and what else there was.
func (a Answer) View() tool.View {
	text := a.Text
	if text == "" && len(a.Structured) > 0 {
		text = string(a.Structured)
	}
	var foot []string
	for _, p := range a.Parts {
		foot = append(foot, p.String())
	}
	return tool.View{Text: text, Foot: strings.Join(append(append([]string{"untrusted: text from the server " + a.Server}, foot...), a.Notes...), "; ")}
}

// answer reads what a server sent.
func answer(server string, r *sdk.CallToolResult) (Answer, error) {
	a := Answer{Server: server}
	var b strings.Builder
	size, invisible := 0, 0
	for _, c := range r.Content {
		text, part := content(c)
		if part != nil && len(a.Parts) < maxParts {
			a.Parts = append(a.Parts, *part)
		}
		if text == "" {
			continue
		}
		size += len(text)
		if b.Len() > maxText {
			continue
		}
		text, n := clean(text)
		invisible += n
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text[:min(len(text), maxText+1)])
	}
	if a.Text = b.String(); len(a.Text) > maxText || size > maxText {
		at := whole(a.Text, maxText)
		a.Text = fmt.Sprintf("%s\n[cut: %d of %d bytes]", a.Text[:at], at, size)
		a.Notes = append(a.Notes, fmt.Sprintf("the text was shortened: it had %d bytes", size))
	}
	if r.IsError {
		said, _ := cut(a.Text, maxError)
		return Answer{}, fault.New(fault.Unavailable, "the server %s returned an error (untrusted message from the server): %s", server, said)
	}
	if err := a.structure(r.StructuredContent, &invisible); err != nil {
		return Answer{}, err
	}
	if invisible > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d invisible characters were removed", invisible))
	}
	return a, nil
}

// structure takes the answer as data, if it is small enough.
func (a *Answer) structure(v any, invisible *int) error {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(cleanAll(v, invisible))
	switch {
	case err != nil:
		return fault.New(fault.Unavailable, "the response from the server %s cannot be read: %v", a.Server, err)
	case len(raw) > maxText:
		a.Notes = append(a.Notes, fmt.Sprintf("structured data of %d bytes was left out", len(raw)))
	default:
		a.Structured = raw
	}
	return nil
}

// cleanAll cleans every text in a value.
func cleanAll(v any, n *int) any {
	switch v := v.(type) {
	case string:
		s, k := clean(v)
		*n += k
		return s
	case []any:
		for i := range v {
			v[i] = cleanAll(v[i], n)
		}
	case map[string]any:
		for k := range v {
			v[k] = cleanAll(v[k], n)
		}
	}
	return v
}

// content is the text of a part of an answer, or what it is instead.
func content(c sdk.Content) (string, *Part) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, nil
	case *sdk.ImageContent:
		return "", &Part{Kind: "image", MIME: line(c.MIMEType, 80), Bytes: len(c.Data)}
	case *sdk.AudioContent:
		return "", &Part{Kind: "audio", MIME: line(c.MIMEType, 80), Bytes: len(c.Data)}
	case *sdk.ResourceLink:
		return "", &Part{Kind: "link", MIME: line(c.MIMEType, 80), URI: line(c.URI, 500), Name: line(c.Name, 200)}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "", nil
		}
		p := &Part{Kind: "resource", MIME: line(c.Resource.MIMEType, 80), URI: line(c.Resource.URI, 500), Bytes: len(c.Resource.Blob)}
		return c.Resource.Text, p
	}
	return "", &Part{Kind: "unknown"}
}

// decode reads an answer back from what was kept of a call.
func decode(raw json.RawMessage) (any, error) {
	var a Answer
	err := json.Unmarshal(raw, &a)
	return a, err
}
