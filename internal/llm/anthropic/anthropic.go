// Package anthropic speaks the Messages API: of Anthropic, and of servers that
// speak it too. What a model may be asked for differs from one to the next and is
// refused otherwise; that knowledge is in family.go.
package anthropic

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// Base is the address of Anthropic itself.
const Base = "https://api.anthropic.com"

// version is the one of the API that this package is written for.
const version = "2023-06-01"

// A Config says where a provider is.
type Config struct {
	Name      string // how its models begin; "": anthropic
	BaseURL   string // without the version; "": Anthropic itself
	Key       func() (string, error)
	Headers   map[string]string
	Local     bool              // what is at an address of this machine runs here: it is no gateway
	Transport http.RoundTripper // nil: the usual one
}

// A Provider serves models over the Messages API.
type Provider struct {
	name   string
	server *wire.Server
	local  bool
}

var _ llm.Provider = (*Provider)(nil)

// New makes a provider. Nothing is asked yet.
func New(c Config) *Provider {
	if c.Name == "" {
		c.Name = "anthropic"
	}
	if c.BaseURL == "" {
		c.BaseURL = Base
	}
	headers := map[string]string{"anthropic-version": version}
	maps.Copy(headers, c.Headers)
	s := &wire.Server{Base: c.BaseURL, Key: c.Key, KeyHeader: "x-api-key", Headers: headers, Transport: c.Transport}
	return &Provider{name: c.Name, server: s, local: c.Local && s.Local()}
}

// Name is how models of it begin.
func (p *Provider) Name() string { return p.name }

// Model is a model of it by name.
func (p *Provider) Model(name string, t llm.Tuning) llm.Model {
	return &model{provider: p, name: name, tuning: t, family: familyOf(name)}
}

// Models lists what it serves.
func (p *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	var out []llm.Info
	after := ""
	for {
		var page struct {
			Data []struct {
				ID           string `json:"id"`
				MaxIn        int    `json:"max_input_tokens"`
				MaxOut       int    `json:"max_tokens"`
				Lifecycle    string `json:"lifecycle"`
				Capabilities *struct {
					Image    supported `json:"image_input"`
					Thinking supported `json:"thinking"`
				} `json:"capabilities"`
			} `json:"data"`
			HasMore bool   `json:"has_more"`
			LastID  string `json:"last_id"`
		}
		path := "/v1/models?limit=1000"
		if after != "" {
			path += "&after_id=" + url.QueryEscape(after)
		}
		if err := p.server.Get(ctx, path, &page); err != nil {
			return nil, err
		}
		for _, d := range page.Data {
			if d.Lifecycle == "retired" {
				continue // listed, and refused
			}
			info := llm.Info{Name: d.ID, Context: d.MaxIn, MaxOut: d.MaxOut, Local: p.local}
			no := false
			info.Embedding = &no
			if f := familyOf(d.ID); f.claude {
				yes := true
				info.Tools = &yes
			}
			if c := d.Capabilities; c != nil {
				info.Vision, info.Thinking = c.Image.Supported, c.Thinking.Supported
			}
			out = append(out, info)
		}
		if !page.HasMore || page.LastID == "" || page.LastID == after {
			return out, nil
		}
		after = page.LastID
	}
}

type supported struct {
	Supported *bool `json:"supported"`
}

// Embed is refused: the API has no such thing.
func (p *Provider) Embed(context.Context, string, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, &llm.Error{Kind: llm.BadRequest, Message: p.name + " offers no embeddings; choose another provider for embeddings, or the built-in model"}
}

type model struct {
	provider *Provider
	name     string
	tuning   llm.Tuning
	family   family
}

// ID names the model and who serves it.
func (m *model) ID() string { return m.provider.name + "/" + m.name }

// Stream asks, and hands over what comes.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		box := wire.NewToolbox(r.Tools)
		in, err := m.body(&r, box)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		body, err := m.provider.server.Stream(ctx, "/v1/messages", in)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		defer body.Close()
		d := wire.NewDraft(yield)
		d.Scrub = body.Scrub
		d.Limit, _ = in["max_tokens"].(int)
		(&reader{draft: d, box: box, by: m.ID(), free: m.provider.local}).read(wire.Events(body))
	}
}

// extra puts the fields that a person wants to be sent over those of ours.
func extra(body map[string]any, more json.RawMessage) error {
	if len(more) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(more, &fields); err != nil {
		return &llm.Error{Kind: llm.BadRequest, Message: "the extra fields for this model are not a JSON object: " + err.Error()}
	}
	for k, v := range fields {
		body[k] = v
	}
	return nil
}
