// Package llmtest is a language model that follows a script, for tests alone:
// each request gets the next step, and what was asked is kept. It speaks to
// nobody and knows no provider.
package llmtest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"lore/internal/llm"
)

// A Step is one answer. What is set happens in the order of the fields.
type Step struct {
	// Wait holds the answer back until it is closed, or ctx ends.
	Wait <-chan struct{}
	// Beat, if set, is waited for before every delta of a text.
	Beat <-chan struct{}
	// Reasoning and Chunks come as deltas, then as one whole part each.
	Reasoning []string
	Chunks    []string
	// Calls of tools come as a start, one delta and a whole part each.
	Calls []llm.Part
	// Err ends the stream with an error, Cut without a word. Neither has a finish.
	Err error
	Cut bool
	// Usage and Stop are what the finish tells. No Stop: [llm.WantsTool] when there
	// are calls, else [llm.Stopped].
	Usage llm.Usage
	Stop  llm.Stop
}

// Text is a step that says a text at once.
func Text(text string) Step { return Step{Chunks: []string{text}} }

// Fail is a step that ends in an error.
func Fail(err error) Step { return Step{Err: err} }

// A Model follows its script, whoever asks.
type Model struct {
	id string

	mu       sync.Mutex
	steps    []Step
	requests []llm.Request
	open     int
	left     int
}

var _ llm.Model = (*Model)(nil)

// New makes a model with a script.
func New(steps ...Step) *Model { return Named("test/script", steps...) }

// Named makes a model with an id of its own.
func Named(id string, steps ...Step) *Model { return &Model{id: id, steps: steps} }

// ID names the model.
func (m *Model) ID() string { return m.id }

// Add puts more steps at the end of the script.
func (m *Model) Add(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, steps...)
}

// Requests are the requests so far, in the order in which they came.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Unused is how many steps nobody asked for yet.
func (m *Model) Unused() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// Open is how many answers are being given now.
func (m *Model) Open() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// Left is how many answers a reader left before their end.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left
}

// Stream plays the next step. A request beyond the script is an error: a test
// that asks more than it planned should fail.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		step, err := m.next(r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		finished := play(ctx, step, yield)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.open--
		if !finished {
			m.left++
		}
	}
}

func (m *Model) next(r llm.Request) (Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, copied(r))
	if len(m.steps) == 0 {
		return Step{}, &llm.Error{Kind: llm.BadRequest, Message: fmt.Sprintf("the script has no answer to request %d", len(m.requests))}
	}
	step := m.steps[0]
	m.steps = m.steps[1:]
	m.open++
	return step, nil
}

// copied keeps a request as it was, whatever the caller does with it later.
func copied(r llm.Request) llm.Request {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		r.Messages[i].Parts = slices.Clone(m.Parts)
	}
	r.Tools = slices.Clone(r.Tools)
	r.Format = slices.Clone(r.Format)
	return r
}

// play hands over one step, and reports whether the reader stayed to its end.
func play(ctx context.Context, s Step, yield func(llm.Event, error) bool) bool {
	if s.Wait != nil {
		select {
		case <-s.Wait:
		case <-ctx.Done():
		}
	}
	for _, e := range events(s) {
		if s.Beat != nil && e.Type == llm.TextDelta {
			select {
			case <-s.Beat:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			yield(llm.Event{}, err)
			return true
		}
		if !yield(e, nil) {
			return false
		}
	}
	switch {
	case ctx.Err() != nil:
		yield(llm.Event{}, ctx.Err())
	case s.Err != nil:
		yield(llm.Event{}, s.Err)
	case !s.Cut:
		yield(finish(s), nil) // after the last event nobody leaves early
	}
	return true
}

// events is what comes before the end.
func events(s Step) []llm.Event {
	var out []llm.Event
	say := func(chunks []string, delta llm.EventType, kind llm.Kind) {
		for _, c := range chunks {
			out = append(out, llm.Event{Type: delta, Text: c})
		}
		if len(chunks) > 0 && !s.Cut && s.Err == nil {
			out = append(out, llm.Event{Type: llm.PartDone, Part: &llm.Part{Kind: kind, Text: strings.Join(chunks, "")}})
		}
	}
	say(s.Reasoning, llm.ReasoningDelta, llm.Reasoning)
	say(s.Chunks, llm.TextDelta, llm.Text)
	for _, c := range s.Calls {
		c.Kind = llm.ToolCall
		out = append(out,
			llm.Event{Type: llm.CallStart, ID: c.ID, Name: c.Name},
			llm.Event{Type: llm.CallDelta, ID: c.ID, Text: string(c.Args)},
			llm.Event{Type: llm.PartDone, Part: &c})
	}
	return out
}

func finish(s Step) llm.Event {
	stop := s.Stop
	if stop == "" {
		stop = llm.Stopped
		if len(s.Calls) > 0 {
			stop = llm.WantsTool
		}
	}
	return llm.Event{Type: llm.Finish, Usage: s.Usage, Stop: stop}
}
