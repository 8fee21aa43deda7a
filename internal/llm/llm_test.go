package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/llmtest"
)

func dollars(x float64) *float64 { return &x }

func TestAsk(t *testing.T) {
	t.Parallel()
	used := llm.Usage{In: 3, Out: 2, CostUSD: dollars(0.1)}
	call := llm.Part{ID: "1", Name: "read_note", Args: json.RawMessage(`{"path":"a.md"}`)}
	full := call
	full.Kind = llm.ToolCall
	down := &llm.Error{Kind: llm.Overloaded, Message: "later"}
	for name, c := range map[string]struct {
		step llmtest.Step
		want llm.Answer
		text string
		err  error
	}{
		"text in pieces": {
			llmtest.Step{Chunks: []string{"Hel", "lo"}, Usage: used},
			llm.Answer{Parts: []llm.Part{{Kind: llm.Text, Text: "Hello"}}, Usage: used, Stop: llm.Stopped}, "Hello", nil,
		},
		"thoughts are not said": {
			llmtest.Step{Reasoning: []string{"hm"}, Chunks: []string{"Yes"}},
			llm.Answer{Parts: []llm.Part{{Kind: llm.Reasoning, Text: "hm"}, {Kind: llm.Text, Text: "Yes"}}, Stop: llm.Stopped}, "Yes", nil,
		},
		"a call": {
			llmtest.Step{Calls: []llm.Part{call}, Usage: used},
			llm.Answer{Parts: []llm.Part{full}, Usage: used, Stop: llm.WantsTool}, "", nil,
		},
		"too long": {
			llmtest.Step{Chunks: []string{"Hel"}, Usage: used, Stop: llm.TooLong},
			llm.Answer{Parts: []llm.Part{{Kind: llm.Text, Text: "Hel"}}, Usage: used, Stop: llm.TooLong}, "Hel", nil,
		},
		"cut":       {llmtest.Step{Chunks: []string{"Hel"}, Cut: true}, llm.Answer{}, "", llm.ErrCut},
		"an error":  {llmtest.Fail(down), llm.Answer{}, "", down},
		"no answer": {llmtest.Step{}, llm.Answer{Stop: llm.Stopped}, "", nil},
	} {
		m := llmtest.New(c.step)
		got, err := llm.Ask(t.Context(), m, llm.Request{})
		if !reflect.DeepEqual(got, c.want) || got.Text() != c.text || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if m.Left() != 0 || m.Open() != 0 {
			t.Errorf("%s: the stream was left", name)
		}
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Ask(ctx, llmtest.New(llmtest.Text("a")), llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestUsageAdd(t *testing.T) {
	t.Parallel()
	full := llm.Usage{In: 10, Out: 5, CacheRead: 4, CacheWrite: 3, Reasoning: 2, CostUSD: dollars(0.25)}
	unknown := llm.Usage{In: 1, Out: 1}
	for name, c := range map[string]struct{ a, b, want llm.Usage }{
		"nothing":               {llm.Usage{}, llm.Usage{}, llm.Usage{}},
		"to nothing":            {llm.Usage{}, full, full},
		"nothing more":          {full, llm.Usage{}, full},
		"all":                   {full, full, llm.Usage{In: 20, Out: 10, CacheRead: 8, CacheWrite: 6, Reasoning: 4, CostUSD: dollars(0.5)}},
		"one cost unknown":      {full, unknown, llm.Usage{In: 11, Out: 6, CacheRead: 4, CacheWrite: 3, Reasoning: 2}},
		"the other one unknown": {unknown, full, llm.Usage{In: 11, Out: 6, CacheRead: 4, CacheWrite: 3, Reasoning: 2}},
		"free":                  {llm.Usage{In: 1, CostUSD: dollars(0)}, full, llm.Usage{In: 11, Out: 5, CacheRead: 4, CacheWrite: 3, Reasoning: 2, CostUSD: dollars(0.25)}},
	} {
		if got := c.a.Add(c.b); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for kind, want := range map[llm.ErrorKind]bool{
		llm.RateLimit: true, llm.Overloaded: true, llm.Server: true, llm.Connection: true,
		llm.Auth: false, llm.Billing: false, llm.ContextLength: false, llm.NotFound: false, llm.NoTools: false, llm.BadRequest: false,
	} {
		if got := (&llm.Error{Kind: kind}).Retryable(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestSane(t *testing.T) {
	minus, nan, some := -1.0, math.NaN(), 0.5
	for _, c := range []struct{ in, want *float64 }{{&minus, nil}, {&nan, nil}, {&some, &some}, {nil, nil}} {
		u := llm.Usage{In: -5, Out: 3, CacheRead: -1, CostUSD: c.in}.Sane()
		if u.In != 0 || u.Out != 3 || u.CacheRead != 0 || u.CostUSD != c.want {
			t.Errorf("%+v", u)
		}
	}
}
