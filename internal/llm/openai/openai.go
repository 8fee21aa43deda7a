// Package openai speaks the two wires of OpenAI: chat completions, which nearly
// every other server speaks too (OpenRouter, LM Studio, llama-server, vLLM,
// DeepSeek, Groq), and Responses, which its newer models need. What differs from
// server to server is a [Flavour]. It knows nothing of notes, or of what a tool
// does.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A Flavour is whose manners a server has.
type Flavour string

// The flavours. Anything else is [Compatible]: what all of them understand.
const (
	OpenAI     Flavour = "openai"
	OpenRouter Flavour = "openrouter"
	LMStudio   Flavour = "lmstudio"
	DeepSeek   Flavour = "deepseek"
	Llama      Flavour = "llama" // llama-server
	Compatible Flavour = "compatible"
)

// An API is one of the two wires.
type API string

// The wires. [Auto] takes Responses for the models of OpenAI itself that
// think, and chat completions for all else.
const (
	Auto      API = ""
	Chat      API = "chat"
	Responses API = "responses"
)

// A Config says where a provider is and how it is spoken to.
type Config struct {
	Name      string // how its models begin: "openrouter"
	BaseURL   string // with its version: "https://openrouter.ai/api/v1"
	Key       func() (string, error)
	Headers   map[string]string
	Flavour   Flavour // "": seen from the address
	API       API
	Local     bool              // what is at an address of this machine runs here: it is no gateway
	Transport http.RoundTripper // nil: the usual one
}

// A Provider is a server.
type Provider struct {
	c      Config
	server *wire.Server
}

var _ llm.Provider = (*Provider)(nil)

// New makes a provider. Nothing is asked yet.
func New(c Config) *Provider {
	if c.Flavour == "" {
		c.Flavour = flavour(c.BaseURL)
	}
	return &Provider{c, &wire.Server{Base: c.BaseURL, Key: c.Key, Headers: c.Headers, Transport: c.Transport}}
}

// flavour is what an address tells.
func flavour(base string) Flavour {
	u, err := url.Parse(base)
	if err != nil {
		return Compatible
	}
	host := u.Hostname()
	for domain, f := range map[string]Flavour{"openai.com": OpenAI, "openrouter.ai": OpenRouter, "deepseek.com": DeepSeek} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return f
		}
	}
	if u.Port() == "1234" {
		return LMStudio
	}
	return Compatible
}

// local reports whether answers are made on this machine. An address here does
// not say so: gateways pass questions on.
func (p *Provider) local() bool {
	return p.server.Local() && (p.c.Local || p.c.Flavour == LMStudio || p.c.Flavour == Llama)
}

// Name is how its models begin.
func (p *Provider) Name() string { return p.c.Name }

// Model is a model of it.
func (p *Provider) Model(name string, t llm.Tuning) llm.Model { return &model{p, name, t} }

type model struct {
	p      *Provider
	name   string
	tuning llm.Tuning
}

// ID names the model and its provider.
func (m *model) ID() string { return m.p.c.Name + "/" + m.name }

// Stream asks over the wire that the model needs.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		d := wire.NewDraft(yield)
		d.Limit = r.MaxTokens
		box := wire.NewToolbox(r.Tools)
		path, in := "/chat/completions", m.chat(r, box)
		read := m.readChat
		if m.responses() {
			path, in, read = "/responses", m.response(r, box), m.readResponse
		}
		if err := extend(in, m.tuning.Extra); err != nil {
			d.Fail(err)
			return
		}
		body, err := m.p.server.Stream(ctx, path, in)
		if err != nil {
			d.Fail(err)
			return
		}
		defer body.Close()
		d.Scrub = body.Scrub
		if strings.HasPrefix(body.Header.Get("Content-Type"), "application/json") {
			read = m.readWhole
		}
		if err := read(body, d, box); err != nil {
			d.Fail(err)
		}
	}
}

// callID is an id as the server takes it. Others may have put more into theirs
// than OpenAI allows.
func (m *model) callID(id string) string {
	if m.p.c.Flavour == OpenAI {
		return wire.ShortID(id)
	}
	return id
}

// responses reports whether the model is spoken to over that wire.
func (m *model) responses() bool {
	switch m.p.c.API {
	case Chat:
		return false
	case Responses:
		return true
	}
	return m.p.c.Flavour == OpenAI && m.thinks()
}

// thinks reports whether a model of OpenAI is one of those that reason: all but
// the old ones. They refuse a temperature, and give their thoughts encrypted.
func (m *model) thinks() bool {
	name := strings.TrimPrefix(m.name, "ft:")
	for _, old := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, old) {
			return false
		}
	}
	return !strings.Contains(name, "-chat")
}

// extend adds what a person wants sent as it is.
func extend(body map[string]any, extra json.RawMessage) error {
	if len(extra) == 0 {
		return nil
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(extra, &more); err != nil {
		return &llm.Error{Kind: llm.BadRequest, Message: "the extra fields for the model are not a JSON object; correct them in the settings: " + err.Error()}
	}
	for k, v := range more {
		body[k] = v
	}
	return nil
}

// strict reports whether a schema may be enforced to the letter: every object
// closed, and all that is in it required.
func strict(schema any) bool {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			if !strict(v) {
				return false
			}
		}
	case map[string]any:
		if fields, ok := s["properties"].(map[string]any); ok || s["type"] == "object" {
			required, _ := s["required"].([]any)
			if s["additionalProperties"] != false || len(required) != len(fields) {
				return false
			}
		}
		for _, v := range s {
			if !strict(v) {
				return false
			}
		}
	}
	return true
}

// mustFit is the schema of an answer, as both wires wrap it.
func mustFit(format json.RawMessage) map[string]any {
	var schema any
	closed := json.Unmarshal(format, &schema) == nil && strict(schema)
	return map[string]any{"name": "answer", "schema": format, "strict": closed}
}
