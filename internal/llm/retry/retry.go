// Package retry repeats requests to language models that failed in a way that may
// pass, as long as no part of the answer has arrived. It knows no provider.
package retry

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"lore/internal/llm"
)

// A Wait is a pause before the next try.
type Wait struct {
	Err  error         // why
	For  time.Duration // how long
	Next int           // which try comes then; the first was 1
	Of   int           // how many there are at most
}

// A Policy says how patient to be. The zero value is good.
type Policy struct {
	// Tries is how often a request is made at most; 0: 5.
	Tries int
	// Longest is the longest wait that a server may ask for; for more the error is
	// passed on at once, because asking earlier is no use. 0: two minutes.
	Longest time.Duration
	// Tell hears of each wait before it begins; nil: nobody.
	Tell func(Wait)
	// Sleep waits, until ctx ends; nil: with the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

const ceiling = 30 * time.Second

// Model is m with patience. After the first event of an answer errors are
// passed on: what was said cannot be taken back here.
func Model(m llm.Model, p Policy) llm.Model { return model{m, p} }

// Provider is p with patience, in all that it is asked.
func Provider(p llm.Provider, policy Policy) llm.Provider { return provider{p, policy} }

type provider struct {
	llm.Provider
	policy Policy
}

// Model is one with patience.
func (p provider) Model(name string, t llm.Tuning) llm.Model {
	return Model(p.Provider.Model(name, t), p.policy)
}

// Models lists with patience.
func (p provider) Models(ctx context.Context) (infos []llm.Info, err error) {
	err = Do(ctx, p.policy, func() error {
		infos, err = p.Provider.Models(ctx)
		return err
	})
	return infos, err
}

// Embed embeds with patience.
func (p provider) Embed(ctx context.Context, model string, texts []string) (vectors [][]float32, used llm.Usage, err error) {
	err = Do(ctx, p.policy, func() error {
		vectors, used, err = p.Provider.Embed(ctx, model, texts)
		return err
	})
	return vectors, used, err
}

type model struct {
	llm.Model
	policy Policy
}

// Stream asks until an answer begins, or asking again is no use.
func (m model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		begun, left := false, false
		err := Do(ctx, m.policy, func() error {
			for e, err := range m.Model.Stream(ctx, r) {
				if err != nil {
					return over(err, begun)
				}
				begun = true
				if !yield(e, nil) {
					left = true
					return nil
				}
			}
			if !begun {
				return llm.ErrCut
			}
			return nil // the reader sees whether there was a finish
		})
		var last final
		if errors.As(err, &last) {
			err = last.error
		}
		if err != nil && !left {
			yield(llm.Event{}, err)
		}
	}
}

// final is an error after which nothing is asked again.
type final struct{ error }

func over(err error, begun bool) error {
	if begun {
		return final{err}
	}
	return err
}

// Do calls f until it works, or calling it again is no use. It gives f's last
// error.
func Do(ctx context.Context, p Policy, f func() error) error {
	if p.Tries == 0 {
		p.Tries = 5
	}
	if p.Longest == 0 {
		p.Longest = 2 * time.Minute
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	for try := 1; ; try++ {
		err := f()
		if err == nil || try >= p.Tries || ctx.Err() != nil || !again(err) {
			return err
		}
		d := pause(err, try)
		if d > p.Longest {
			return err
		}
		if p.Tell != nil {
			p.Tell(Wait{Err: err, For: d, Next: try + 1, Of: p.Tries})
		}
		if err := p.Sleep(ctx, d); err != nil {
			return err
		}
		if check, ok := ctx.Value(checkKey{}).(func() error); ok {
			if err := check(); err != nil {
				return err
			}
		}
	}
}

type checkKey struct{}

// WithCheck returns a context in which check is called before a request is made
// again. Its error ends the tries: after a wait, the request may hold what must
// not be sent any more.
func WithCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

// again reports whether the same request may work later.
func again(err error) bool {
	var last final
	if errors.As(err, &last) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Retryable()
	}
	return errors.Is(err, llm.ErrCut)
}

// pause is what the server asked for, else half a second to a second, doubled
// with each try: all who were refused at once must not come back at once.
func pause(err error, try int) time.Duration {
	var e *llm.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	d := time.Duration(float64(time.Second) * (0.5 + rand.Float64()/2))
	return min(d<<(try-1), ceiling)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
