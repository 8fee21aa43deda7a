package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"

	"lore/internal/llm"
)

func collect(ctx context.Context, m *Model) (types []llm.EventType, text string, err error) {
	for e, err := range m.Stream(ctx, llm.Request{}) {
		if err != nil {
			return types, text, err
		}
		types = append(types, e.Type)
		if e.Type == llm.TextDelta {
			text += e.Text
		}
	}
	return types, text, nil
}

func TestSteps(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		step Step
		want []llm.EventType
		text string
		err  error
	}{
		"text":      {Step{Chunks: []string{"a", "b"}}, []llm.EventType{llm.TextDelta, llm.TextDelta, llm.PartDone, llm.Finish}, "ab", nil},
		"nothing":   {Step{}, []llm.EventType{llm.Finish}, "", nil},
		"reasoning": {Step{Reasoning: []string{"r"}, Chunks: []string{"a"}}, []llm.EventType{llm.ReasoningDelta, llm.PartDone, llm.TextDelta, llm.PartDone, llm.Finish}, "a", nil},
		"call":      {Step{Calls: []llm.Part{{ID: "1", Name: "x"}}}, []llm.EventType{llm.CallStart, llm.CallDelta, llm.PartDone, llm.Finish}, "", nil},
		"cut":       {Step{Chunks: []string{"a"}, Cut: true}, []llm.EventType{llm.TextDelta}, "a", nil},
		"error":     {Step{Chunks: []string{"a"}, Err: broken}, []llm.EventType{llm.TextDelta}, "a", broken},
	} {
		m := New(c.step)
		types, text, err := collect(t.Context(), m)
		if !reflect.DeepEqual(types, c.want) || text != c.text || !errors.Is(err, c.err) || m.Unused() != 0 || m.Open() != 0 || m.Left() != 0 {
			t.Errorf("%s: %v %q %v", name, types, text, err)
		}
	}
}

func TestTheScriptEnds(t *testing.T) {
	t.Parallel()
	m := New(Text("a"))
	if _, _, err := collect(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var e *llm.Error
	if _, _, err := collect(t.Context(), m); !errors.As(err, &e) || e.Kind != llm.BadRequest {
		t.Fatal(err)
	}
	m.Add(Text("b"))
	if _, text, err := collect(t.Context(), m); err != nil || text != "b" {
		t.Fatal(text, err)
	}
}

func TestARequestIsKeptAsItWas(t *testing.T) {
	t.Parallel()
	m := New(Text("a"))
	r := llm.Request{Messages: []llm.Message{llm.Say(llm.User, "before")}, Format: json.RawMessage(`{}`)}
	if _, err := llm.Ask(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	r.Messages[0].Parts[0].Text = "after"
	r.Format[0] = 'x'
	if got := m.Requests()[0]; got.Messages[0].Parts[0].Text != "before" || string(got.Format) != "{}" {
		t.Fatal(got)
	}
}

func TestReadersThatLeave(t *testing.T) {
	t.Parallel()
	m := New(Step{Chunks: []string{"a", "b"}})
	for range m.Stream(t.Context(), llm.Request{}) {
		break
	}
	if m.Left() != 1 || m.Open() != 0 {
		t.Fatal(m.Left(), m.Open())
	}
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := New(Step{Wait: make(chan struct{}), Chunks: []string{"never"}})
	var wg sync.WaitGroup
	wg.Go(func() {
		if types, _, err := collect(ctx, m); !errors.Is(err, context.Canceled) || len(types) > 0 {
			t.Error(types, err)
		}
	})
	cancel()
	wg.Wait()
	go_ := make(chan struct{})
	m.Add(Step{Wait: go_, Chunks: []string{"now"}})
	close(go_)
	if _, text, err := collect(t.Context(), m); err != nil || text != "now" {
		t.Fatal(text, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := New()
	for range 50 {
		m.Add(Text("a"))
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, text, err := collect(t.Context(), m); err != nil || text != "a" {
				t.Error(text, err)
			}
		})
	}
	wg.Wait()
	if len(m.Requests()) != 50 || m.Unused() != 0 {
		t.Fatal(len(m.Requests()), m.Unused())
	}
}
