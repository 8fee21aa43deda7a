// Package prices computes what answers of models cost, and knows how much text
// each model can read. Its table is made from public data by gen/export.mjs and is
// part of the program, so that no server is asked; the settings can override it.
// An unknown price is reported as unknown, never as zero.
package prices

import (
	_ "embed" // the table
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"lore/internal/llm"
)

//go:embed prices.json
var packed []byte

// Rates are what a person says about a model: dollars for a million tokens.
type Rates struct {
	In, Out    float64
	CacheRead  *float64 // nil: as In
	CacheWrite *float64 // nil: as In
	Context    int      // tokens; 0: what the table says
}

// A Table answers with what a person said first, by "provider/model", and what
// this package carries then. The zero Table has only the latter.
type Table struct {
	Own map[string]Rates
}

// Of is what an answer cost, and whether that is known.
func Of(provider, model string, u llm.Usage, at time.Time) (usd float64, known bool) {
	return Table{}.Of(provider, model, u, at)
}

// Window is how many tokens a model reads and writes together; 0: not known.
func Window(provider, model string) int { return Table{}.Window(provider, model) }

// Date is the day of the table that this package carries, as 2006-01-02.
func Date() string { return table().Date }

// Source is where that table is from.
func Source() string { return table().Source }

// Of is what an answer cost, and whether that is known. What the provider itself
// said counts more than any table.
func (t Table) Of(provider, model string, u llm.Usage, at time.Time) (usd float64, known bool) {
	if u.CostUSD != nil {
		return *u.CostUSD, true
	}
	if own, ok := t.own(provider, model); ok {
		r := rates{In: flat(own.In), Out: flat(own.Out)}
		if own.CacheRead != nil {
			r.Read = flat(*own.CacheRead)
		}
		if own.CacheWrite != nil {
			r.Write = flat(*own.CacheWrite)
		}
		return r.cost(u)
	}
	if Local(provider, model) {
		return 0, true
	}
	m := find(provider, model)
	if m == nil {
		return 0, false
	}
	r := m.at(at)
	if r == nil {
		return 0, false
	}
	return r.cost(u)
}

// Window is how many tokens a model reads and writes together; 0: not known.
func (t Table) Window(provider, model string) int {
	if own, ok := t.own(provider, model); ok && own.Context > 0 {
		return own.Context
	}
	if m := find(provider, model); m != nil {
		return m.Context
	}
	return 0
}

func (t Table) own(provider, model string) (Rates, bool) {
	want := provider + "/" + model
	if r, ok := t.Own[want]; ok {
		return r, true
	}
	for name, r := range t.Own {
		if strings.EqualFold(name, want) {
			return r, true
		}
	}
	return Rates{}, false
}

// Local reports whether a model runs where Lore does, so that nothing is paid.
// Ollama also passes requests on to machines of its own, under names that say so.
func Local(provider, model string) bool {
	switch strings.ToLower(provider) {
	case "ollama":
		return !strings.HasSuffix(model, "-cloud") && !strings.HasSuffix(model, ":cloud")
	case "lmstudio", "llama", "llamacpp", "quote":
		return true
	}
	return false
}

// book is the table as it lies in the file.
type book struct {
	Source    string             `json:"source"`
	Date      string             `json:"date"`
	Providers map[string][]entry `json:"providers"`
}

// table is decoded when it is first needed: most commands never do.
var table = sync.OnceValue(func() *book {
	b := &book{}
	if err := json.Unmarshal(packed, b); err != nil {
		panic("prices.json: " + err.Error()) // a test reads it
	}
	return b
})

// names are ours of providers that the table calls otherwise.
var names = map[string]string{"gemini": "google", "xai": "x-ai", "grok": "x-ai", "moonshot": "moonshotai"}

// find is the first model of a provider that fits. The same name with a date
// written together or apart is the same.
func find(provider, model string) *entry {
	provider = strings.ToLower(strings.TrimSpace(provider))
	if n, ok := names[provider]; ok {
		provider = n
	}
	model = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(model)), "models/")
	entries := table().Providers[provider]
	for _, name := range []string{model, apart(model)} {
		for i := range entries {
			if entries[i].fits(name) {
				return &entries[i]
			}
		}
	}
	return nil
}

var together = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(-|:|$)`)
})

func apart(model string) string { return together().ReplaceAllString(model, "-$1-$2-$3$4") }
