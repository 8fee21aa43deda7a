// Package ollama speaks the wire of Ollama itself, because what it speaks for
// others hides how much a model may read: there a question that is too long
// loses its beginning, the instructions first, and nobody is told. It knows
// nothing of notes, or of what a tool does.
package ollama

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A Config says where the server is.
type Config struct {
	Name      string                 // how its models begin; "": ollama
	BaseURL   string                 // "": http://localhost:11434
	Key       func() (string, error) // for a proxy before it, or ollama.com; may be nil
	Headers   map[string]string
	Transport http.RoundTripper // nil: the usual one
}

// A Provider is a server.
type Provider struct {
	name   string
	server *wire.Server

	mu    sync.Mutex
	shown map[string]shown
}

var _ llm.Provider = (*Provider)(nil)

// New makes a provider. Nothing is asked yet.
func New(c Config) *Provider {
	if c.Name == "" {
		c.Name = "ollama"
	}
	if c.BaseURL == "" {
		c.BaseURL = "http://localhost:11434"
	}
	server := &wire.Server{Base: c.BaseURL, Key: c.Key, Headers: c.Headers, Transport: c.Transport}
	return &Provider{name: c.Name, server: server, shown: map[string]shown{}}
}

// Name is how its models begin.
func (p *Provider) Name() string { return p.name }

// Model is a model of it.
func (p *Provider) Model(name string, t llm.Tuning) llm.Model { return &model{p, name, t} }

type model struct {
	p      *Provider
	name   string
	tuning llm.Tuning
}

// ID names the model and its provider.
func (m *model) ID() string { return m.p.name + "/" + m.name }

// Stream asks what the model can, once, and then the model.
func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		d := wire.NewDraft(yield)
		d.Limit = r.MaxTokens
		s, err := m.p.show(ctx, m.name)
		if err != nil {
			d.Fail(err)
			return
		}
		box := wire.NewToolbox(offered(r))
		in, err := m.body(r, box, s)
		if err != nil {
			d.Fail(err)
			return
		}
		body, err := m.p.server.Stream(ctx, "/api/chat", in)
		if err != nil {
			d.Fail(err)
			return
		}
		defer body.Close()
		d.Scrub = body.Scrub
		if err := m.read(body, d, box, s); err != nil {
			d.Fail(err)
		}
	}
}

// usualContext is what a model gets that nobody tuned: room for some notes and
// the tools, at a price in memory that most machines can pay.
const usualContext = 16 << 10

// shown is what the server tells of a model.
type shown struct {
	Capabilities []string       `json:"capabilities"`
	Info         map[string]any `json:"model_info"`
	Parameters   string         `json:"parameters"` // of its Modelfile, as text
	RemoteHost   string         `json:"remote_host"`
	Details      struct {
		Family string `json:"family"`
	} `json:"details"`
}

// show asks what is known of a model, once.
func (p *Provider) show(ctx context.Context, name string) (shown, error) {
	p.mu.Lock()
	s, ok := p.shown[name]
	p.mu.Unlock()
	if ok {
		return s, nil
	}
	if err := p.server.Post(ctx, "/api/show", map[string]any{"model": name}, &s); err != nil {
		return s, err
	}
	p.keep(name, s)
	return s, nil
}

func (p *Provider) keep(name string, s shown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown[name] = s
}

// can reports whether the model has a capability; nil when that is not told.
func (s *shown) can(what string) *bool {
	if s.Capabilities == nil {
		return nil
	}
	yes := slices.Contains(s.Capabilities, what)
	return &yes
}

// trained is how many tokens the model can read and write at all.
func (s *shown) trained() int {
	for k, v := range s.Info {
		if n, ok := v.(float64); ok && strings.HasSuffix(k, ".context_length") {
			return int(n)
		}
	}
	return 0
}

// context is how many it gets when nobody says otherwise: what its Modelfile
// says, else the usual, and never more than it can.
func (s *shown) context() int {
	n := usualContext
	for line := range strings.Lines(s.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			if own, err := strconv.Atoi(f[1]); err == nil && own > 0 {
				n = own
			}
		}
	}
	if most := s.trained(); most > 0 {
		return min(n, most)
	}
	return n
}

// local reports whether a model runs on this machine: those of Ollama's cloud
// only look as if they did.
func (p *Provider) local(name string, s *shown) bool {
	_, tag, _ := strings.Cut(name, ":")
	return p.server.Local() && s.RemoteHost == "" && tag != "cloud" && !strings.HasSuffix(tag, "-cloud")
}

// Models lists what the server has. The context of each is what a request to it
// gets: a model that can read more must be given it by tuning.
func (p *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	var v struct {
		Models []struct {
			Name       string `json:"name"`
			RemoteHost string `json:"remote_host"`
		} `json:"models"`
	}
	if err := p.server.Get(ctx, "/api/tags", &v); err != nil {
		return nil, err
	}
	p.mu.Lock()
	clear(p.shown) // models are replaced under their names
	p.mu.Unlock()
	out := make([]llm.Info, 0, len(v.Models))
	for _, m := range v.Models {
		s, err := p.show(ctx, m.Name)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if s.RemoteHost == "" && m.RemoteHost != "" && err == nil {
			s.RemoteHost = m.RemoteHost
			p.keep(m.Name, s)
		}
		i := llm.Info{Name: m.Name, Local: p.local(m.Name, &s) && m.RemoteHost == ""}
		if err == nil { // one that cannot be shown is listed all the same
			i.Context, i.Tools, i.Thinking, i.Vision, i.Embedding = s.context(), s.can("tools"), s.can("thinking"), s.can("vision"), s.can("embedding")
		}
		out = append(out, i)
	}
	return out, nil
}

// Embed turns texts into vectors, in their order. What is longer than the model
// reads counts as far as it does.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) ([][]float32, llm.Usage, error) {
	if len(texts) == 0 {
		return nil, llm.Usage{}, nil
	}
	var v struct {
		Embeddings [][]float32 `json:"embeddings"`
		Count      int         `json:"prompt_eval_count"`
	}
	if err := p.server.Post(ctx, "/api/embed", map[string]any{"model": model, "input": texts, "truncate": true}, &v); err != nil {
		return nil, llm.Usage{}, err
	}
	if len(v.Embeddings) != len(texts) {
		return nil, llm.Usage{}, &llm.Error{Kind: llm.Server, Message: fmt.Sprintf("%s returned %d vectors for %d texts", model, len(v.Embeddings), len(texts))}
	}
	u := llm.Usage{In: v.Count}
	if p.local(model, &shown{}) {
		u.CostUSD = new(float64)
	}
	return v.Embeddings, u, nil
}
