package openai

import (
	"encoding/json"
	"io"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// chunk is one event of a chat completion.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *used           `json:"usage"`
}

type choice struct {
	Error        json.RawMessage `json:"error"`
	Delta        delta           `json:"delta"`
	Message      *delta          `json:"message"` // of an answer that is no stream
	FinishReason string          `json:"finish_reason"`
}

type delta struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent json.RawMessage   `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta       `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type used struct {
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Cost             *float64 `json:"cost"`
	CacheHit         int      `json:"prompt_cache_hit_tokens"` // DeepSeek
	Prompt           struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Completion struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *used) usage() llm.Usage {
	return llm.Usage{
		In: u.PromptTokens, Out: u.CompletionTokens, CacheRead: max(u.Prompt.Cached, u.CacheHit),
		CacheWrite: u.Prompt.Written, Reasoning: u.Completion.Reasoning, CostUSD: u.Cost,
	}
}

// stops are the reasons to end. What is not listed is a plain end.
var stops = map[string]llm.Stop{
	"length": llm.TooLong, "max_tokens": llm.TooLong, "content_filter": llm.Filtered,
	"error": llm.Broken, "abort": llm.Broken, "insufficient_system_resource": llm.Broken,
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// readChat puts an answer together. What ends without a reason is no answer,
// also when the mark of the end is there: gateways add that by themselves.
func (m *model) readChat(body io.Reader, d *wire.Draft, box *wire.Toolbox) error {
	s := m.chatReader(d, box)
	for e, err := range wire.Events(body) {
		if d.Gone {
			return nil
		}
		if err != nil {
			if s.finish == "" {
				return err
			}
			break // it was all said
		}
		if e.Done() {
			break
		}
		if err := s.take(e.Data); err != nil {
			return err
		}
	}
	return s.end()
}

// readWhole reads an answer that is no stream: a refusal that calls itself good,
// or all of it at once.
func (m *model) readWhole(body io.Reader, d *wire.Draft, box *wire.Toolbox) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	s := m.chatReader(d, box)
	if err := s.take(raw); err != nil {
		return err
	}
	return s.end()
}

func (m *model) chatReader(d *wire.Draft, box *wire.Toolbox) *chatReader {
	return &chatReader{m: m, d: d, calls: callReader{d: d, box: box, open: map[int]*openCall{}}}
}

type chatReader struct {
	m       *model
	d       *wire.Draft
	calls   callReader
	finish  string
	usage   llm.Usage
	thought *wire.Piece
	details []json.RawMessage
}

// end hands over what was put together.
func (s *chatReader) end() error {
	if s.finish == "" {
		return llm.ErrCut
	}
	if s.details != nil {
		if s.thought == nil {
			s.thought = s.d.Begin(llm.Reasoning, "", "")
		}
		raw, err := wire.Marshal(s.details)
		if err != nil {
			return err
		}
		s.thought.Opaque, s.thought.OpaqueBy = raw, s.m.ID()
	}
	stop, ok := stops[s.finish]
	if !ok {
		stop = llm.Stopped
	}
	if s.m.p.local() && s.usage.CostUSD == nil {
		s.usage.CostUSD = new(float64)
	}
	s.d.Finish(stop, s.usage)
	return nil
}

// take reads one chunk.
func (s *chatReader) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &llm.Error{Kind: llm.Server, Message: "a chunk in the response cannot be read: " + err.Error()}
	}
	if isSet(c.Error) {
		return wire.Refusal(0, nil, data)
	}
	if c.Usage != nil {
		s.usage = c.Usage.usage()
	}
	for _, ch := range c.Choices {
		if isSet(ch.Error) {
			return wire.Refusal(0, nil, ch.Error)
		}
		if ch.Message != nil {
			ch.Delta = *ch.Message
		}
		thought := text(ch.Delta.ReasoningContent)
		if thought == "" {
			thought = text(ch.Delta.Reasoning)
		}
		if thought != "" {
			p := s.d.Current(llm.Reasoning)
			if s.thought == nil {
				s.thought = p
			}
			s.d.Write(p, thought)
		}
		for _, detail := range ch.Delta.ReasoningDetails {
			s.details = join(s.details, detail)
		}
		s.d.Text(text(ch.Delta.Content) + ch.Delta.Refusal)
		for i, tc := range ch.Delta.ToolCalls {
			s.calls.take(i, tc)
		}
		if ch.FinishReason != "" {
			s.finish = ch.FinishReason
		}
	}
	return nil
}

// text is a string, or what the pieces of a list say.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &s) // it was valid as a part of the whole
		return s
	}
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		for _, p := range list {
			if p.Type == "text" {
				s += p.Text
			}
		}
	}
	return s
}

// join adds a detail of reasoning. Those that continue the last one, fragment by
// fragment, become one with it, as they would have come without a stream; all
// others stay as they are.
func join(details []json.RawMessage, next json.RawMessage) []json.RawMessage {
	if len(details) == 0 {
		return append(details, next)
	}
	var a, b map[string]json.RawMessage
	last := &details[len(details)-1]
	if json.Unmarshal(*last, &a) != nil || json.Unmarshal(next, &b) != nil {
		return append(details, next)
	}
	grows := map[string]string{`"reasoning.text"`: "text", `"reasoning.summary"`: "summary"}[string(b["type"])]
	if grows == "" || string(a["type"]) != string(b["type"]) || string(a["index"]) != string(b["index"]) ||
		isSet(a["id"]) && isSet(b["id"]) && string(a["id"]) != string(b["id"]) || isSet(a["signature"]) {
		return append(details, next)
	}
	whole, err := wire.Marshal(text(a[grows]) + text(b[grows]))
	if err != nil {
		return append(details, next)
	}
	for k, v := range b {
		if isSet(v) || a[k] == nil {
			a[k] = v
		}
	}
	a[grows] = whole
	merged, err := wire.Marshal(a)
	if err != nil {
		return append(details, next)
	}
	*last = merged
	return details
}

// callReader tells the calls of an answer apart.
type callReader struct {
	d    *wire.Draft
	box  *wire.Toolbox
	open map[int]*openCall // by index
}

type openCall struct {
	piece *wire.Piece
	id    string // as it was sent
	name  string
}

// take reads a fragment, the nth of its chunk.
func (r *callReader) take(n int, tc callDelta) {
	args, name := arguments(tc.Function.Arguments), tc.Function.Name
	if tc.ID == "" && name == "" && args == "" {
		return
	}
	if tc.Index != nil {
		n = *tc.Index
	}
	c := r.open[n]
	if c == nil || c.another(tc.ID, name) {
		c = &openCall{r.d.Begin(llm.ToolCall, tc.ID, r.box.Known(name)), tc.ID, name}
		r.open[n] = c
	}
	if c.name == "" && name != "" {
		c.name, c.piece.Name = name, r.box.Known(name)
	}
	if c.id == "" {
		c.id = tc.ID
	}
	if said := c.piece.Said(); said != "" && said == args && json.Valid([]byte(said)) {
		return // some say it all once more at the end
	}
	r.d.Write(c.piece, args)
}

// another reports whether a fragment begins a new call though its index was used:
// some servers give all calls the same one.
func (c *openCall) another(id, name string) bool {
	if id != "" && c.id != "" {
		return id != c.id
	}
	return name != "" && c.name != "" && (name != c.name || json.Valid([]byte(c.piece.Said())))
}

// arguments is a fragment, or the object that some servers send instead.
func arguments(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	if raw[0] == '"' {
		return text(raw)
	}
	return strings.TrimSpace(string(raw))
}
