// Package catalog finds providers and models by name: which there are, where they
// answer, where their keys are, and what they cost. It knows every adapter, and
// nothing of notes or tools.
package catalog

import (
	"context"
	"iter"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/anthropic"
	"lore/internal/llm/gemini"
	"lore/internal/llm/ollama"
	"lore/internal/llm/openai"
	"lore/internal/llm/prices"
	"lore/internal/llm/quote"
	"lore/internal/llm/retry"
	"lore/internal/llm/think"
)

// A Place is what a person says about a provider. What is empty is as the
// provider has it.
type Place struct {
	Kind    string // openai, anthropic, gemini or ollama
	BaseURL string
	KeyEnv  string
	API     string // chat or responses
	Context int
	Local   string // yes: its models run on this machine; no: they do not; "": as it seems
}

// known are the providers that need no more than a key, or not even that.
var known = map[string]Place{
	"openai":     {Kind: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
	"anthropic":  {Kind: "anthropic", BaseURL: anthropic.Base, KeyEnv: "ANTHROPIC_API_KEY"},
	"gemini":     {Kind: "gemini", BaseURL: gemini.Base, KeyEnv: "GEMINI_API_KEY"},
	"openrouter": {Kind: "openai", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
	"ollama":     {Kind: "ollama", BaseURL: "http://localhost:11434"},
	"lmstudio":   {Kind: "openai", BaseURL: "http://localhost:1234/v1"},
	"llamacpp":   {Kind: "openai", BaseURL: "http://localhost:8080/v1"},
}

// A Catalog finds models. Its fields are set once.
type Catalog struct {
	// Places are what the settings say, by the name of the provider.
	Places map[string]Place
	// Env reads the environment.
	Env func(string) string
	// Key reads a key that is kept elsewhere; nil or "": there is none.
	Key func(provider string) (string, error)
	// Prices are what answers cost; the zero Table is what is carried along.
	Prices prices.Table
	// Told hears of waits before a request is made again; may be nil.
	Told func(retry.Wait)
	Now  func() time.Time

	mu    sync.Mutex
	found map[string]found
}

type found struct {
	model llm.Model
	info  llm.Info
}

// Names lists the providers that can be used, by name.
func (c *Catalog) Names() []string {
	names := slices.Collect(maps.Keys(known))
	for name := range c.Places {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// place is all that is known of a provider.
func (c *Catalog) place(name string) (Place, error) {
	p, have := known[name]
	own, said := c.Places[name]
	if !have && !said {
		return p, fault.Fix(fault.NotFound, "use one of "+strings.Join(c.Names(), ", ")+"; to add another, set providers.NAME.kind and providers.NAME.base_url", "unknown provider %q", name)
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&p.Kind, own.Kind}, {&p.BaseURL, own.BaseURL}, {&p.KeyEnv, own.KeyEnv}, {&p.API, own.API}, {&p.Local, own.Local}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	p.Context = own.Context
	if p.Kind == "" {
		p.Kind = "openai"
	}
	if p.BaseURL == "" {
		return p, fault.Fix(fault.Invalid, "set providers."+name+".base_url", "no address is set for %s", name)
	}
	return p, nil
}

// Provider makes a provider. Nothing is asked yet.
func (c *Catalog) Provider(name string) (llm.Provider, error) {
	p, err := c.place(name)
	if err != nil {
		return nil, err
	}
	key := func() (string, error) { return c.key(name, p) }
	var out llm.Provider
	switch p.Kind {
	case "anthropic":
		out = anthropic.New(anthropic.Config{Name: name, BaseURL: p.BaseURL, Key: key})
	case "gemini":
		out = gemini.New(gemini.Config{Name: name, BaseURL: p.BaseURL, Key: key})
	case "ollama":
		out = ollama.New(ollama.Config{Name: name, BaseURL: p.BaseURL, Key: key})
	default:
		out = openai.New(openai.Config{Name: name, BaseURL: p.BaseURL, Key: key, API: openai.API(p.API)})
	}
	return placed{retry.Provider(out, retry.Policy{Tell: c.Told}), c, name}, nil
}

// key finds the key of a provider: in the environment first, then where keys are
// kept. A server on this machine needs none.
func (c *Catalog) key(name string, p Place) (string, error) {
	if p.KeyEnv != "" {
		if k := strings.TrimSpace(c.Env(p.KeyEnv)); k != "" {
			return k, nil
		}
	}
	if c.Key != nil {
		if k, err := c.Key(name); err != nil || k != "" {
			return k, err
		}
	}
	if p.KeyEnv == "" {
		return "", nil
	}
	return "", &llm.KeyError{Err: fault.Fix(fault.Unavailable, "run lore key set "+name+", or put the key in the environment variable "+p.KeyEnv, "%s needs a key", name)}
}

// Model finds a model by its id, "provider/name", and what is known of it. That
// is asked once.
func (c *Catalog) Model(ctx context.Context, id string) (llm.Model, llm.Info, error) {
	if id == quote.ID || id == "" {
		return quote.Model{}, quote.Info(), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.found[id]; ok {
		return f.model, f.info, nil
	}
	provider, name, ok := strings.Cut(id, "/")
	if !ok || name == "" {
		return nil, llm.Info{}, fault.Field("model", "write provider/name, such as ollama/qwen3:8b; or \"quote\" for no model", "%q is not a model", id)
	}
	p, err := c.Provider(provider)
	if err != nil {
		return nil, llm.Info{}, err
	}
	place, err := c.place(provider)
	if err != nil {
		return nil, llm.Info{}, err
	}
	info, told := c.info(ctx, p, provider, name)
	f := found{info: info}
	if place.Context > 0 {
		f.info.Context = place.Context
	}
	native := p.Model(name, llm.Tuning{Context: place.Context})
	if place.Kind == "openai" || place.Kind == "ollama" { // servers of many models, some of which think aloud
		native = think.Wrap(native)
	}
	f.model = &priced{&lingual{Model: native, spelled: f.info.Tools != nil && !*f.info.Tools}, provider, name, c.Prices, c.now}
	if c.found == nil {
		c.found = map[string]found{}
	}
	if told { // a server that is not there yet is asked again
		c.found[id] = f
	}
	return f.model, f.info, nil
}

func (c *Catalog) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// info is what the provider tells of a model, within a moment, and what the table
// of prices knows. It reports whether asking again would tell no more.
func (c *Catalog) info(ctx context.Context, p llm.Provider, provider, name string) (llm.Info, bool) {
	out := llm.Info{Name: name}
	local := c.Local(provider, name)
	told := !local
	wait := time.Second
	if local { // it may have to load the model first
		wait = 4 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if local || c.isOwn(provider, name) { // a list of a thousand models is not worth the wait
		if list, err := p.Models(ctx); err == nil {
			told = true
			for _, i := range list {
				if i.Name == name || i.Name == name+":latest" {
					out = i
				}
			}
		}
	}
	out.Local = local
	if out.Context == 0 {
		out.Context = c.Prices.Window(provider, name)
	}
	return out, told
}

// isOwn reports whether a person named the address of a provider, and only its server
// knows how large the window of a model is.
func (c *Catalog) isOwn(provider, name string) bool {
	at := c.Places[provider]
	return at.BaseURL != "" && at.Context == 0 && c.Prices.Window(provider, name) == 0
}

// Local reports whether a model runs on this machine, so that nothing leaves it. A
// server here may pass on what it is asked: only of some it is known that they do
// not, of others a person says it.
func (c *Catalog) Local(provider, name string) bool {
	p, err := c.place(provider)
	if err != nil || p.Local != "" {
		return p.Local == "yes"
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if p.Kind == "ollama" {
		provider = "ollama"
	}
	return here && prices.Local(provider, name)
}

// placed says of the models of a provider where they run as it is decided here,
// so that a list tells a person what holds when the model is used.
type placed struct {
	llm.Provider
	c    *Catalog
	name string
}

// Models lists what it serves.
func (p placed) Models(ctx context.Context) ([]llm.Info, error) {
	list, err := p.Provider.Models(ctx)
	at, bad := p.c.place(p.name)
	for i := range list {
		here := bad == nil && p.c.Local(p.name, list[i].Name)
		if at.Local == "" && at.Kind == "ollama" { // it tells which models it passes on
			here = here && list[i].Local
		}
		list[i].Local = here
	}
	return list, err
}

// priced adds to what an answer used what it cost.
type priced struct {
	llm.Model
	provider, name string
	prices         prices.Table
	now            func() time.Time
}

// Stream passes on what is said.
func (m *priced) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for e, err := range m.Model.Stream(ctx, r) {
			if e.Type == llm.Finish && e.Usage.CostUSD == nil {
				if usd, known := m.prices.Of(m.provider, m.name, e.Usage, m.now()); known {
					e.Usage.CostUSD = &usd
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
