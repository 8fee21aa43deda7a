package exports

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

func sortedKeys(m map[string][]byte) []string { return slices.Sorted(maps.Keys(m)) }

// A gptChat is a chat of ChatGPT: a tree of messages, of which the way to the
// current one is what the person last saw.
type gptChat struct {
	Title   string             `json:"title"`
	Created float64            `json:"create_time"`
	ID      string             `json:"conversation_id"`
	OtherID string             `json:"id"`
	Current string             `json:"current_node"`
	Mapping map[string]gptNode `json:"mapping"`
}

type gptNode struct {
	Message *gptMessage `json:"message"`
	Parent  string      `json:"parent"`
}

type gptMessage struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Content struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// maxTurns bounds the messages of one chat.
const maxTurns = 20_000

func (e *Export) chatGPT(d *json.Decoder) error {
	var c gptChat
	if err := d.Decode(&c); err != nil {
		return errChat
	}
	var turns []turn
	seen := map[string]bool{}
	for at := c.Current; at != "" && !seen[at] && len(turns) < maxTurns; at = c.Mapping[at].Parent {
		seen[at] = true
		if t, ok := c.Mapping[at].Message.turn(); ok {
			turns = append(turns, t)
		}
	}
	slices.Reverse(turns)
	id := c.ID
	if id == "" {
		id = c.OtherID
	}
	return e.addChat(ChatGPT, id, c.Title, unixTime(c.Created), turns)
}

// turn is what a person or the model said; tools and hidden messages are left out.
func (m *gptMessage) turn() (turn, bool) {
	if m == nil || m.Metadata.Hidden {
		return turn{}, false
	}
	who := map[string]string{"user": "You", "assistant": "ChatGPT"}[m.Author.Role]
	if who == "" || m.Content.Type != "text" && m.Content.Type != "multimodal_text" {
		return turn{}, false
	}
	var parts []string
	for _, raw := range m.Content.Parts {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = "(attachment)"
		}
		if strings.TrimSpace(s) != "" {
			parts = append(parts, s)
		}
	}
	return turn{who, strings.Join(parts, "\n\n")}, len(parts) > 0
}

func unixTime(f float64) time.Time {
	if math.IsNaN(f) || f <= 0 || f > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(f), 0)
}

// A claudeChat is a chat of Claude: a list of messages.
type claudeChat struct {
	ID       string    `json:"uuid"`
	Name     string    `json:"name"`
	Created  time.Time `json:"created_at"`
	Messages []struct {
		Sender  string `json:"sender"`
		Text    string `json:"text"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Attachments []claudeFile `json:"attachments"`
		Files       []claudeFile `json:"files"`
	} `json:"chat_messages"`
}

type claudeFile struct {
	Name string `json:"file_name"`
}

func (e *Export) claude(d *json.Decoder) error {
	var c claudeChat
	if err := d.Decode(&c); err != nil {
		return errChat
	}
	var turns []turn
	for _, m := range c.Messages[:min(len(c.Messages), maxTurns)] {
		who := map[string]string{"human": "You", "assistant": "Claude"}[m.Sender]
		var parts []string
		for _, p := range m.Content {
			if p.Type == "text" && strings.TrimSpace(p.Text) != "" {
				parts = append(parts, p.Text)
			}
		}
		if len(parts) == 0 && strings.TrimSpace(m.Text) != "" {
			parts = append(parts, m.Text)
		}
		for _, f := range slices.Concat(m.Attachments, m.Files) {
			parts = append(parts, "(attachment: "+oneLine(f.Name, "file")+")")
		}
		if who != "" && len(parts) > 0 {
			turns = append(turns, turn{who, strings.Join(parts, "\n\n")})
		}
	}
	return e.addChat(Claude, c.ID, c.Name, c.Created, turns)
}
