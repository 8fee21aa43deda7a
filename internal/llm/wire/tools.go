package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/llm"
)

// A Toolbox is tools as providers take them: sorted, so that what they remember of
// the last request fits the next; with names that all of them allow, and schemas
// that are objects.
type Toolbox struct {
	Tools []llm.Tool // with the names that are sent

	sent  map[string]string // by our name
	known map[string]string // by the name that is sent
}

// maxName is how long providers let the name of a tool be.
const maxName = 64

// NewToolbox makes one of the tools of a request.
func NewToolbox(tools []llm.Tool) *Toolbox {
	b := &Toolbox{sent: map[string]string{}, known: map[string]string{}}
	tools = slices.Clone(tools)
	slices.SortStableFunc(tools, func(x, y llm.Tool) int { return cmp.Compare(x.Name, y.Name) })
	for _, t := range tools { // names that are good are never changed for the sake of others
		if plain(t.Name) == t.Name {
			b.sent[t.Name], b.known[t.Name] = t.Name, t.Name
		}
	}
	for _, t := range tools {
		name := b.Sent(t.Name)
		if other, taken := b.known[name]; taken && other != t.Name {
			name = marked(t.Name)
		}
		b.sent[t.Name], b.known[name] = name, t.Name
		t.Name, t.Schema = name, object(t.Schema)
		b.Tools = append(b.Tools, t)
	}
	return b
}

// Sent is the name under which a tool goes out; also one of the history that is
// not offered any more.
func (b *Toolbox) Sent(name string) string {
	if s, ok := b.sent[name]; ok {
		return s
	}
	return plain(name)
}

// Known is our name of a tool that a model called.
func (b *Toolbox) Known(name string) string {
	if n, ok := b.known[name]; ok {
		return n
	}
	return name
}

// plain keeps what all providers allow: letters, digits, _ and -.
func plain(name string) string {
	if name == "" {
		return "unknown"
	}
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if len(out) > maxName {
		return marked(name)
	}
	return out
}

// marked tells names apart that look the same when plain.
func marked(name string) string {
	sum := sha256.Sum256([]byte(name))
	short := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	return short[:min(len(short), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// object makes a schema one of an object: providers refuse others, and choices
// at the top. What a choice offers is taken together, none of it required: the
// tool itself checks the rest.
func object(schema json.RawMessage) json.RawMessage {
	empty := json.RawMessage(`{"type":"object","properties":{}}`)
	var top map[string]json.RawMessage
	if json.Unmarshal(schema, &top) != nil || top == nil {
		return empty
	}
	fields := map[string]json.RawMessage{}
	if raw, ok := top["properties"]; ok && json.Unmarshal(raw, &fields) != nil {
		return empty
	}
	choice := false
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		raw, ok := top[word]
		if !ok {
			continue
		}
		choice = true
		delete(top, word)
		var ways []struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal(raw, &ways) != nil {
			continue
		}
		for _, w := range ways {
			for name, s := range w.Properties {
				if _, ok := fields[name]; !ok {
					fields[name] = s
				}
			}
		}
	}
	if string(top["type"]) == `"object"` && !choice && top["properties"] != nil {
		return schema
	}
	top["type"] = json.RawMessage(`"object"`)
	raw, err := json.Marshal(fields)
	if err != nil {
		return empty
	}
	top["properties"] = raw
	out, err := json.Marshal(top)
	if err != nil {
		return empty
	}
	return out
}
