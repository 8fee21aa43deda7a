package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lore/internal/llm"
)

// Scripted is the exam of a provider that serves a model which follows a script, the
// one of e2e/minds/scripted: whose answer to BOTH are two calls of read_note, to LONG a text without end, to
// JSON an object, and to results of tools a text with links.
func Scripted(t *testing.T, p llm.Provider, model string, context int) {
	t.Helper()
	m := p.Model(model, llm.Tuning{Context: context})
	tools := []llm.Tool{{Name: "read_note", Description: "Reads a note", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}}
	t.Run("a turn with tools", func(t *testing.T) { turn(t, m, tools) })
	t.Run("cancel", func(t *testing.T) { leave(t, m) })
	t.Run("cut", func(t *testing.T) {
		a, err := llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "LONG")}, MaxTokens: 7})
		if err != nil || a.Stop != llm.TooLong || a.Usage.Out != 7 {
			t.Errorf("%+v, %v", a, err)
		}
	})
	t.Run("too long a question", func(t *testing.T) {
		_, err := llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Say(llm.User, strings.Repeat("x ", 30_000))}})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.ContextLength {
			t.Error(err)
		}
	})
	t.Run("a format", func(t *testing.T) {
		schema := json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"ok":{"type":"boolean"}},"required":["title","ok"],"additionalProperties":false}`)
		a, err := llm.Ask(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "JSON")}, Format: schema})
		var got struct {
			Title *string
			OK    *bool
		}
		// Servers order the keys as they like, and the model's words turn to noise then.
		if err != nil || json.Unmarshal([]byte(a.Text()), &got) != nil || got.Title == nil || got.OK == nil {
			t.Errorf("%+v, %v", a, err)
		}
	})
	t.Run("models", func(t *testing.T) {
		all, err := p.Models(t.Context())
		if err != nil || len(all) == 0 || all[0].Name == "" || !all[0].Local {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// turn asks, answers the calls, and asks again.
func turn(t *testing.T, m llm.Model, tools []llm.Tool) {
	r := llm.Request{System: "Be short.", Messages: []llm.Message{llm.Say(llm.User, "BOTH")}, Tools: tools}
	a, err := llm.Ask(t.Context(), m, r)
	if err != nil || a.Stop != llm.WantsTool || len(a.Parts) != 2 || a.Usage.In == 0 || a.Usage.CostUSD == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	results := llm.Message{Role: llm.Results}
	for i, path := range []string{"Notes/Sencha.md", "Notes/Gyokuro.md"} {
		c := a.Parts[i]
		if c.Kind != llm.ToolCall || c.Name != "read_note" || c.ID == "" || !SameJSON(t, string(c.Args), `{"path":"`+path+`"}`) {
			t.Errorf("%+v", c)
		}
		results.Parts = append(results.Parts, llm.Part{Kind: llm.ToolResult, ID: c.ID, Name: c.Name, Text: "A text."})
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts}, results)
	a, err = llm.Ask(t.Context(), m, r)
	if err != nil || a.Stop != llm.Stopped || !strings.Contains(a.Text(), "[[Notes/Water temperature]]") {
		t.Errorf("%+v, %v", a, err)
	}
}

// leave goes away from a text without end, both ways.
func leave(t *testing.T, m llm.Model) {
	r := llm.Request{Messages: []llm.Message{llm.Say(llm.User, "LONG")}}
	n := 0
	for _, err := range m.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 5 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range m.Stream(ctx, r) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}

// Embeds is the exam of a provider that embeds: texts together give what they
// give alone, in their order.
func Embeds(t *testing.T, p llm.Provider, model string) {
	t.Helper()
	texts := []string{"Hello", "any tool, without", "x"}
	all, used, err := p.Embed(t.Context(), model, texts)
	if err != nil || len(all) != len(texts) || used.In == 0 {
		t.Fatal(len(all), used, err)
	}
	for i, text := range texts {
		one, _, err := p.Embed(t.Context(), model, []string{text})
		if err != nil || len(one) != 1 || !near(one[0], all[i]) || i > 0 && near(all[i], all[i-1]) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func near(a, b []float32) bool {
	far := float32(0)
	for i := range min(len(a), len(b)) {
		far = max(far, a[i]-b[i], b[i]-a[i])
	}
	return len(a) == len(b) && len(a) > 0 && far < 1e-4
}
