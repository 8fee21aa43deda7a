// Package gemini speaks the Gemini API. Its models sign their thoughts on
// whatever part comes next, and refuse to go on when a signature is not where it
// was: parts are kept apart as they came, and sent back the same.
package gemini

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// Base is the address of the API.
const Base = "https://generativelanguage.googleapis.com"

// version stands before every path.
const version = "/v1beta/"

// A Config says where a provider is.
type Config struct {
	Name      string // how its models begin; "": gemini
	BaseURL   string // without the version; "": that of the API itself
	Key       func() (string, error)
	Headers   map[string]string
	Transport http.RoundTripper // nil: the usual one
}

// A Provider serves models over the Gemini API.
type Provider struct {
	name   string
	server *wire.Server
}

var _ llm.Provider = (*Provider)(nil)

// New makes a provider. Nothing is asked yet. The key never stands in an
// address, which would get into logs.
func New(c Config) *Provider {
	if c.Name == "" {
		c.Name = "gemini"
	}
	if c.BaseURL == "" {
		c.BaseURL = Base
	}
	return &Provider{c.Name, &wire.Server{Base: c.BaseURL, Key: c.Key, KeyHeader: "x-goog-api-key", Headers: c.Headers, Transport: c.Transport}}
}

// Name is how models of it begin.
func (p *Provider) Name() string { return p.name }

// Model is a model of it by name.
func (p *Provider) Model(name string, t llm.Tuning) llm.Model {
	return &model{provider: p, name: strings.TrimPrefix(name, "models/"), tuning: t}
}

// path is where a method of a model is.
func path(name, method string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		parts = []string{"models", name} // others are tunedModels
	}
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return version + strings.Join(parts, "/") + ":" + method
}

// Models lists what it serves for talking and for embedding.
func (p *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	var out []llm.Info
	token := ""
	for {
		var page struct {
			Models []struct {
				Name     string   `json:"name"`
				MaxIn    int      `json:"inputTokenLimit"`
				MaxOut   int      `json:"outputTokenLimit"`
				Methods  []string `json:"supportedGenerationMethods"`
				Thinking *bool    `json:"thinking"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		where := version + "models?pageSize=1000"
		if token != "" {
			where += "&pageToken=" + url.QueryEscape(token)
		}
		if err := p.server.Get(ctx, where, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Models {
			talks, embeds := slices.Contains(m.Methods, "generateContent"), slices.Contains(m.Methods, "embedContent")
			if talks || embeds {
				out = append(out, llm.Info{Name: strings.TrimPrefix(m.Name, "models/"), Context: m.MaxIn, MaxOut: m.MaxOut, Thinking: m.Thinking, Embedding: &embeds})
			}
		}
		if page.Next == "" || page.Next == token {
			return out, nil
		}
		token = page.Next
	}
}

// maxBatch is how many texts the API embeds at once.
const maxBatch = 100

// Embed turns texts into vectors.
func (p *Provider) Embed(ctx context.Context, name string, texts []string) ([][]float32, llm.Usage, error) {
	name = strings.TrimPrefix(name, "models/")
	var out [][]float32
	var used llm.Usage
	for batch := range slices.Chunk(texts, maxBatch) {
		requests := make([]any, len(batch))
		for i, text := range batch {
			requests[i] = map[string]any{"model": "models/" + name, "content": content{Parts: []part{{Text: &text}}}}
		}
		var answer struct {
			Embeddings []struct {
				Values []float32 `json:"values"`
			} `json:"embeddings"`
			Usage struct {
				In int `json:"promptTokenCount"`
			} `json:"usageMetadata"`
		}
		if err := p.server.Post(ctx, path(name, "batchEmbedContents"), map[string]any{"requests": requests}, &answer); err != nil {
			return nil, used, err
		}
		used.In += answer.Usage.In
		if len(answer.Embeddings) != len(batch) {
			return nil, used, &llm.Error{Kind: llm.Server, Message: fmt.Sprintf("%s/%s returned %[4]d vectors for %[3]d texts", p.name, name, len(batch), len(answer.Embeddings))}
		}
		for _, e := range answer.Embeddings {
			out = append(out, e.Values)
		}
	}
	return out, used, nil
}

type model struct {
	provider *Provider
	name     string
	tuning   llm.Tuning
}

// ID names the model and who serves it.
func (m *model) ID() string { return m.provider.name + "/" + m.name }

// Stream asks, and hands over what comes. Now and then these models write a call
// that the server itself cannot read; as long as nobody has heard a word, they
// get a second chance.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		box := wire.NewToolbox(r.Tools)
		in, err := m.body(&r, box)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		heard := false
		hear := func(e llm.Event, err error) bool {
			heard = heard || e.Type == llm.TextDelta || e.Type == llm.CallStart
			return yield(e, err)
		}
		var spent llm.Usage
		for try := 1; ; try++ {
			body, err := m.provider.server.Stream(ctx, path(m.name, "streamGenerateContent")+"?alt=sse", in)
			if err != nil {
				yield(llm.Event{}, err)
				return
			}
			answer := &reader{draft: wire.NewDraft(hear), box: box, by: m.ID(), spent: spent}
			answer.draft.Scrub = body.Scrub
			malformed := answer.read(wire.Events(body))
			_ = body.Close()
			switch {
			case !malformed || answer.draft.Gone:
				return
			case heard:
				yield(llm.Event{}, &llm.Error{Kind: llm.Server, Message: "the model wrote an invalid tool call"})
				return
			case try == 2:
				yield(llm.Event{}, &llm.Error{Kind: llm.BadRequest, Message: "the model wrote an invalid tool call twice; rephrase your request, or choose another model"})
				return
			}
			spent = spent.Add(answer.usage)
		}
	}
}
