package llm_test

import (
	"context"
	"errors"
	"testing"

	"lore/internal/fault"
	"lore/internal/llm"
)

// providers are some that fail in different ways.
type providers map[string]error

func (p providers) Provider(name string) (llm.Provider, error) {
	var key *llm.KeyError
	if errors.As(p[name], &key) {
		return nil, p[name]
	}
	return broken{err: p[name]}, nil
}

func (p providers) Names() []string { return []string{"fine", "locked", "away", "odd"} }

type broken struct {
	llm.Provider
	err error
}

func (b broken) Models(context.Context) ([]llm.Info, error) { return nil, b.err }

// What a page shows for a provider depends on its state, never on words.
func TestListTellsTheStateOfEachProvider(t *testing.T) {
	all := providers{
		"fine": nil, "locked": &llm.KeyError{Err: fault.New(fault.Unavailable, "a key is missing")},
		"away": &llm.Error{Kind: llm.Absent, Message: "connection refused"}, "odd": &llm.Error{Kind: llm.Server, Message: "500"},
	}
	want := map[string]llm.State{"fine": llm.Ready, "locked": llm.NeedsKey, "away": llm.Silent, "odd": llm.Failed}
	for _, l := range llm.List(t.Context(), all, all.Names()) {
		if l.State != want[l.Provider] || (l.Error == "") != (l.State == llm.Ready) {
			t.Errorf("%s is %q (%s), want %q", l.Provider, l.State, l.Error, want[l.Provider])
		}
	}
}
