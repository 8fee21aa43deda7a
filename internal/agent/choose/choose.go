// Package choose brings together what is said about language models: by the
// settings, the environment, and the keys that are kept. It asks no model itself.
package choose

import (
	"context"
	"errors"
	"iter"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"lore/internal/agent"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/catalog"
	"lore/internal/llm/prices"
	"lore/internal/llm/quote"
	"lore/internal/llm/retry"
	"lore/internal/machine/keys"
	"lore/internal/workspace/settings"
)

// Models are the models that a person can talk with.
type Models struct {
	Settings settings.Place
	Env      func(string) string
	Keys     keys.Store
	Now      func() time.Time
	// Told hears of waits before a request is made again; may be nil.
	Told func(retry.Wait)
}

// Auto is the setting that takes a model of an Ollama on this machine, when one
// runs, and none otherwise.
const Auto = "auto"

// set is the model that the settings name.
func (m *Models) set() (string, error) {
	c, err := m.Settings.Read()
	if err != nil {
		return "", err
	}
	return m.Settings.Get(&c, "model")
}

// checkTime is how long a server on this machine has to list its models.
const checkTime = 3 * time.Second

// Check refuses a model of a provider that does not exist, and one that a server
// on this machine does not have. Other servers are not asked: a setting must not
// wait for the internet.
func (m *Models) Check(id string) error {
	provider, name, named := strings.Cut(id, "/")
	if !named {
		return settings.CheckModel(id)
	}
	c, err := m.Catalog()
	if err != nil {
		return err
	}
	p, err := c.Provider(provider)
	if err != nil || !c.Local(provider, name) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	list, err := p.Models(ctx)
	if err != nil || len(list) == 0 {
		return nil // it does not run now; the model can be set all the same
	}
	var names []string
	for _, i := range list {
		if have := i.Name; have == name || have == name+":latest" {
			return nil
		}
		names = append(names, provider+"/"+i.Name)
	}
	return fault.Field("model", "use one of "+strings.Join(names[:min(len(names), 8)], ", "), "%s has no model %q", provider, name)
}

// Usual is the id of the model that answers when none is named.
func (m *Models) Usual(ctx context.Context) (string, error) {
	id, err := m.set()
	if err != nil || id != Auto {
		return id, err
	}
	c, err := m.Catalog()
	if err != nil {
		return "", err
	}
	return found(ctx, c), nil
}

// lookTime is how long a server on this machine has to tell what it serves.
const lookTime = 2 * time.Second

// found is the model that was put last into an Ollama on this machine, of those
// that can call tools if any can. Nothing that is asked leaves the machine.
func found(ctx context.Context, c *catalog.Catalog) string {
	const name = "ollama"
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	p, err := c.Provider(name)
	if err != nil {
		return quote.ID
	}
	list, err := p.Models(ctx)
	if err != nil {
		return quote.ID
	}
	best := quote.ID
	for _, i := range list {
		switch {
		case i.Embedding != nil && *i.Embedding, !c.Local(name, i.Name):
		case i.Tools != nil && *i.Tools:
			return name + "/" + i.Name
		case best == quote.ID:
			best = name + "/" + i.Name
		}
	}
	return best
}

// Catalog is the catalogue of models as the settings have it now.
func (m *Models) Catalog() (*catalog.Catalog, error) {
	c, err := m.Settings.Read()
	if err != nil {
		return nil, err
	}
	places := map[string]catalog.Place{}
	for name, p := range c.Providers {
		if p == (settings.Provider{}) {
			continue // all that was said of it was taken back
		}
		n, _ := strconv.Atoi(string(p.Context)) // checked when it was set; what is no number is none
		places[name] = catalog.Place{Kind: p.Kind, BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, API: p.API, Context: n, Local: p.Local}
	}
	own := map[string]prices.Rates{}
	for id, text := range c.Prices {
		if own[id], err = rates(id, text); err != nil {
			return nil, err
		}
	}
	return &catalog.Catalog{Places: places, Env: m.Env, Key: m.Keys.Get, Prices: prices.Table{Own: own}, Now: m.Now, Told: m.Told}, nil
}

// rates reads what a person says of a price: dollars for a million tokens, in
// and out.
func rates(id, text string) (prices.Rates, error) {
	in, out, ok := strings.Cut(text, "/")
	var r prices.Rates
	var err, err2 error
	r.In, err = strconv.ParseFloat(strings.TrimSpace(in), 64)
	r.Out, err2 = strconv.ParseFloat(strings.TrimSpace(out), 64)
	if !ok || err != nil || err2 != nil || r.In < 0 || r.Out < 0 {
		return r, settings.BadPrice(id, text)
	}
	return r, nil
}

// Prefs are what the person wants of every conversation.
func (m *Models) Prefs() (agent.Prefs, error) {
	c, err := m.Settings.Read()
	if err != nil {
		return agent.Prefs{}, err
	}
	var errs []error
	get := func(key string) string {
		s, err := m.Settings.Get(&c, "chats."+key)
		errs = append(errs, err)
		return s
	}
	p := agent.Prefs{NoTools: get("tools") == "off", Whole: get("stream") == "off", NoTitles: get("titles") == "off", System: get("system"), NoInstructions: get("agents_file") == "off"}
	// What is no number was refused when it was set, or is none.
	p.Limits.Steps, _ = strconv.Atoi(get("steps"))
	p.Limits.Tokens, _ = strconv.Atoi(get("tokens"))
	p.Limits.Time, _ = time.ParseDuration(get("time"))
	p.Limits.Cost, _ = strconv.ParseFloat(get("cost"), 64)
	return p, errors.Join(errs...)
}

// Listed is the catalogue for who lists models.
func (m *Models) Listed() (llm.Providers, error) { return m.Catalog() }

// Finder finds models by id: "" is the usual one. What was learnt of a model is
// kept, until a person sets something else about models.
func (m *Models) Finder() func(context.Context, string) (llm.Model, llm.Info, error) {
	var mu sync.Mutex
	var kept *catalog.Catalog
	all := func() (*catalog.Catalog, error) {
		c, err := m.Catalog()
		mu.Lock()
		defer mu.Unlock()
		switch {
		case kept != nil && err != nil: // the former settings are in force
		case err != nil:
			return nil, err
		case kept == nil || !maps.Equal(kept.Places, c.Places) || !maps.Equal(kept.Prices.Own, c.Prices.Own):
			kept = c
		}
		return kept, nil
	}
	return func(ctx context.Context, id string) (llm.Model, llm.Info, error) {
		if id == "" {
			var err error
			if id, err = m.Usual(ctx); err != nil {
				return nil, llm.Info{}, err
			}
		}
		c, err := all()
		if err != nil {
			return nil, llm.Info{}, err
		}
		return c.Model(ctx, id)
	}
}

// Late is the model that the settings name, looked for when it is asked: a mistake
// in the settings is then the model's, and everything else works. It is nil when
// a person named none: one that happens to run is not asked about every node.
func (m *Models) Late() llm.Model {
	id, err := m.set()
	if err != nil || id == quote.ID || id == Auto {
		return nil
	}
	return &late{id: id, find: m.Finder()}
}

type late struct {
	id   string
	find func(context.Context, string) (llm.Model, llm.Info, error)
}

// ID is the model's.
func (l *late) ID() string { return l.id }

// Stream asks the model.
func (l *late) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m, _, err := l.find(ctx, l.id)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		m.Stream(ctx, r)(yield)
	}
}

// Gate asks whether the text of notes may go to a model, unless that runs on this
// machine.
func (m *Models) Gate(ask func(ctx context.Context, model string, notes []string) error) func(context.Context, string, []string) error {
	find := m.Finder()
	return func(ctx context.Context, model string, notes []string) error {
		_, info, err := find(ctx, model)
		if err != nil || info.Local {
			return err
		}
		return ask(ctx, model, notes)
	}
}
