package catalog

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"lore/internal/llm"
	"lore/internal/llm/textcall"
	"lore/internal/llm/textcall/heard"
)

// lingual is a model that calls tools in whatever way it can: as its provider
// offers it, or, when it says that it cannot, written as text. What was learnt is
// kept. A call that is written as text though the provider offers more is one, too.
type lingual struct {
	llm.Model
	spelled bool // it is known to have no other way
	learnt  atomic.Bool
}

// Stream asks in the way that works.
func (m *lingual) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	if len(r.Tools) == 0 && !speaksOfTools(&r) {
		return m.Model.Stream(ctx, r)
	}
	if m.spelled || m.learnt.Load() {
		return textcall.Wrap(m.Model).Stream(ctx, r)
	}
	return func(yield func(llm.Event, error) bool) {
		begun := false
		for e, err := range heard.Wrap(m.Model).Stream(ctx, r) {
			var bad *llm.Error
			if !begun && errors.As(err, &bad) && bad.Kind == llm.NoTools {
				m.learnt.Store(true)
				textcall.Wrap(m.Model).Stream(ctx, r)(yield)
				return
			}
			begun = true
			if !yield(e, err) {
				return
			}
		}
	}
}

// speaksOfTools reports whether a conversation holds calls.
func speaksOfTools(r *llm.Request) bool {
	for _, m := range r.Messages {
		if m.Role == llm.Results {
			return true
		}
	}
	return false
}
