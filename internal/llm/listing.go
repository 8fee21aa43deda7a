package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Providers are the providers of models that there are.
type Providers interface {
	Names() []string
	Provider(name string) (Provider, error)
}

// A Listing is what one provider answers about its models, or why it does not.
type Listing struct {
	Provider string `json:"provider"`
	Models   []Info `json:"models"`
	State    State  `json:"state"`
	// Error says in words why there are no models.
	Error string `json:"error,omitempty"`
}

// A State is whether a provider can be used.
type State string

// The states of providers.
const (
	Ready    State = "ready"
	NeedsKey State = "needs_key"
	Silent   State = "absent" // nothing listens at its address
	Failed   State = "failed"
)

// A KeyError is why a provider without a key cannot be used.
type KeyError struct{ Err error }

// Error says which provider it is.
func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap is what to do about it.
func (e *KeyError) Unwrap() error { return e.Err }

// fail keeps why a provider cannot be used.
func (l *Listing) fail(err error) {
	l.State, l.Error = Failed, err.Error()
	var e *Error
	var key *KeyError
	switch {
	case errors.As(err, &key):
		l.State = NeedsKey
	case errors.Is(err, context.DeadlineExceeded):
		l.Error = "it did not answer in time"
	case errors.As(err, &e) && e.Kind == Absent:
		l.State = Silent
	}
}

// listTime is how long providers have to tell what they serve.
const listTime = 10 * time.Second

// List asks providers what they serve, all at once.
func List(ctx context.Context, m Providers, names []string) []Listing {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	out := make([]Listing, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		out[i] = Listing{Provider: name, Models: []Info{}, State: Ready}
		p, err := m.Provider(name)
		if err != nil {
			out[i].fail(err)
			continue
		}
		wg.Go(func() {
			list, err := p.Models(ctx)
			if err != nil {
				out[i].fail(err)
			} else if len(list) > 0 {
				out[i].Models = list
			}
		})
	}
	wg.Wait()
	return out
}
