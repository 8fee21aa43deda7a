// Package llm is the contract with language models: what is asked, what comes
// back while it is being said, and what went wrong. It knows no provider, no
// note and no tool beyond its schema.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"lore/internal/fault"
)

// A Model answers requests. Implementations may be used by several goroutines.
type Model interface {
	// ID names the model and who serves it: "ollama/qwen3:8b".
	ID() string
	// Stream asks, and hands over what comes as it comes. The last event of an
	// answer is Finish; an answer without it is an error. When the loop over
	// the events ends early, or ctx does, the model stops.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// A Provider serves models.
type Provider interface {
	// Name is how models of it begin: "ollama".
	Name() string
	// Model is a model of it by the name that the provider uses. Nothing is asked
	// yet: one that does not exist fails when it is used.
	Model(name string, t Tuning) Model
	// Models lists what it serves, with what is known of each.
	Models(ctx context.Context) ([]Info, error)
	// Embed turns texts into vectors, in their order.
	Embed(ctx context.Context, model string, texts []string) ([][]float32, Usage, error)
}

// Tuning is what a person decided about a model.
type Tuning struct {
	Context int             // tokens that it may read and write together; 0: what it has, where that is known
	Effort  string          // of thinking: low, medium, high; "": the model's own
	Extra   json.RawMessage // fields that are sent as they are; for servers with ways of their own
}

// An Info is what is known of a model. What is nil or zero is not known.
type Info struct {
	Name      string `json:"name"`              // as the provider calls it
	Context   int    `json:"context,omitempty"` // tokens
	MaxOut    int    `json:"max_out,omitempty"`
	Tools     *bool  `json:"tools,omitempty"`
	Thinking  *bool  `json:"thinking,omitempty"`
	Vision    *bool  `json:"vision,omitempty"`
	Embedding *bool  `json:"embedding,omitempty"`
	Mute      bool   `json:"mute,omitempty"`  // it has no words of its own: nothing can be named or told in short by it
	Local     bool   `json:"local,omitempty"` // it runs on this machine: nothing leaves it, and nothing is paid
}

// A Request is everything that one answer depends on.
type Request struct {
	System      string
	Messages    []Message
	Tools       []Tool
	ToolChoice  string          // "" and "auto": the model decides; "none"; "required"; or the name of a tool
	Format      json.RawMessage // a JSON schema that the answer must fit; nil for free text
	MaxTokens   int             // 0: what the model gives
	Temperature *float64
	Think       bool
}

// A Role says who speaks.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Results   Role = "tool" // the answers of tools
)

// A Message is what one side said, in parts.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Say makes a message of plain text.
func Say(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Kind: Text, Text: text}}}
}

// A Kind says what a part is.
type Kind string

// The kinds of parts.
const (
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	Image      Kind = "image" // of a person; for models that can see
)

// A Part is one piece of a message.
type Part struct {
	Kind    Kind            `json:"kind"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`   // of the call
	Name    string          `json:"name,omitempty"` // of the tool
	Args    json.RawMessage `json:"args,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	// Opaque is state of a provider that it wants back as it was: signatures of
	// thoughts and the like. OpaqueBy says whose it is; others never get it.
	Opaque   json.RawMessage `json:"opaque,omitempty"`
	OpaqueBy string          `json:"opaque_by,omitempty"`
	// FromText is a call that was read out of a text: words that the model only
	// quoted may look like one. Repaired says what had to be mended to read it.
	FromText bool   `json:"from_text,omitempty"`
	Repaired string `json:"repaired,omitempty"`
	// Media is the type of an image, "image/png", and Data its bytes. Images are made
	// for a request, and not kept as parts.
	Media string `json:"-"`
	Data  []byte `json:"-"`
}

// A Tool is what a model is told of a tool.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
	Roles       []string // parts that it plays; no provider sends them
}

// An EventType says what has just come.
type EventType string

// The types of events.
const (
	TextDelta      EventType = "text"
	ReasoningDelta EventType = "reasoning"
	CallStart      EventType = "tool_start"
	CallDelta      EventType = "tool_delta"
	PartDone       EventType = "part" // a whole part; calls count only with a good finish
	Finish         EventType = "finish"
)

// An Event is one step of an answer.
type Event struct {
	Type  EventType
	Text  string // of a delta
	ID    string // of a call
	Name  string // of its tool
	Part  *Part  // of PartDone
	Usage Usage  // of Finish
	Stop  Stop   // of Finish
}

// A Stop is why an answer ended.
type Stop string

// The reasons. After any but the first two, calls of the answer never run.
const (
	Stopped   Stop = "stop"
	WantsTool Stop = "tool_calls"
	TooLong   Stop = "length"
	Filtered  Stop = "filter"
	Broken    Stop = "error"
)

// A Usage is what an answer cost. In is the whole input: what was read from and
// written to a cache is a part of it, as Reasoning is of Out.
type Usage struct {
	In         int      `json:"in"`
	Out        int      `json:"out"`
	CacheRead  int      `json:"cache_read,omitempty"`
	CacheWrite int      `json:"cache_write,omitempty"`
	Reasoning  int      `json:"reasoning,omitempty"`
	CostUSD    *float64 `json:"cost_usd,omitempty"` // nil: not known, which is not nothing
}

// Add adds what another answer cost. A sum with an unknown cost in it is unknown.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		In: u.In + v.In, Out: u.Out + v.Out, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite, Reasoning: u.Reasoning + v.Reasoning,
	}
	switch {
	case u == (Usage{}):
		sum.CostUSD = v.CostUSD
	case v == (Usage{}):
		sum.CostUSD = u.CostUSD
	case u.CostUSD != nil && v.CostUSD != nil:
		c := *u.CostUSD + *v.CostUSD
		sum.CostUSD = &c
	}
	return sum
}

// Sane is u without what cannot be: nobody gives tokens or money back.
func (u Usage) Sane() Usage {
	for _, n := range []*int{&u.In, &u.Out, &u.CacheRead, &u.CacheWrite, &u.Reasoning} {
		*n = max(*n, 0)
	}
	if u.CostUSD != nil && !(*u.CostUSD >= 0) { // not a number is not known either
		u.CostUSD = nil
	}
	return u
}

// An Answer is a whole answer.
type Answer struct {
	Parts []Part
	Usage Usage
	Stop  Stop
}

// Text is what the answer says, without reasoning and calls.
func (a *Answer) Text() string {
	var b strings.Builder
	for _, p := range a.Parts {
		if p.Kind == Text {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// ErrCut is a stream that ended without a finish: no answer.
var ErrCut = errors.New("the model's answer ended early")

// Ask waits for a whole answer. What was used is told even when it failed.
func Ask(ctx context.Context, m Model, r Request) (Answer, error) {
	var a Answer
	done := false
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return a, err
		}
		switch e.Type {
		case PartDone:
			a.Parts = append(a.Parts, *e.Part)
		case Finish:
			a.Usage, a.Stop, done = e.Usage, e.Stop, true
		}
	}
	if !done {
		return a, ErrCut
	}
	return a, nil
}

// An ErrorKind is what a caller does differently.
type ErrorKind string

// The kinds of errors.
const (
	RateLimit     ErrorKind = "rate_limit"
	Overloaded    ErrorKind = "overloaded"
	Auth          ErrorKind = "auth"
	Billing       ErrorKind = "billing"
	ContextLength ErrorKind = "context_length"
	NotFound      ErrorKind = "not_found"
	NoTools       ErrorKind = "no_tools"
	Server        ErrorKind = "server"
	BadRequest    ErrorKind = "bad_request"
	Connection    ErrorKind = "connection"
	Absent        ErrorKind = "absent" // nothing listens there: asking again is no use
)

// An Error is what a provider answered instead.
type Error struct {
	Kind       ErrorKind
	Status     int // of HTTP; 0 when there was no answer
	Message    string
	RetryAfter time.Duration // 0 when it was not told
}

// Error says which kind it is, and what the provider said.
func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap is what went wrong in words that every surface knows.
func (e *Error) Unwrap() error {
	switch e.Kind {
	case Auth, Billing:
		return fault.Denied
	case ContextLength:
		return fault.TooLarge
	case NotFound:
		return fault.NotFound
	case BadRequest, NoTools:
		return fault.Invalid
	}
	return fault.Unavailable
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Server, Connection:
		return true
	}
	return false
}
