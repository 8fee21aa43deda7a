package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Minds are the providers of models that there are.
type Minds interface {
	Names() []string
	Provider(name string) (Provider, error)
}

// A Listing is what one provider answers about its models, or why it does not.
type Listing struct {
	Provider string `json:"provider"`
	Models   []Info `json:"models"`
	Error    string `json:"error,omitempty"`
}

// listTime is how long providers have to tell what they serve.
const listTime = 10 * time.Second

// List asks providers what they serve, all at once.
func List(ctx context.Context, m Minds, names []string) []Listing {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	out := make([]Listing, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		out[i] = Listing{Provider: name, Models: []Info{}}
		p, err := m.Provider(name)
		if err != nil {
			out[i].Error = err.Error()
			continue
		}
		wg.Go(func() {
			list, err := p.Models(ctx)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				out[i].Error = "it did not answer in time"
			case err != nil:
				out[i].Error = err.Error()
			case len(list) > 0:
				out[i].Models = list
			}
		})
	}
	wg.Wait()
	return out
}
