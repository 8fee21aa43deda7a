package openai

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/llm"
)

// listed is a model in a list, with the fields of all servers.
type listed struct {
	ID            string   `json:"id"`
	OwnedBy       string   `json:"owned_by"`
	ContextLength int      `json:"context_length"`        // OpenRouter
	ContextWindow int      `json:"context_window"`        // Groq
	MaxModelLen   int      `json:"max_model_len"`         // vLLM
	LoadedContext int      `json:"loaded_context_length"` // LM Studio, with the next three
	MaxContext    int      `json:"max_context_length"`    //
	Type          string   `json:"type"`                  //
	Capabilities  []string `json:"capabilities"`          //
	MaxCompletion int      `json:"max_completion_tokens"` // Groq
	Supported     []string `json:"supported_parameters"`  // OpenRouter, with the next two
	Top           struct { //
		MaxCompletion int `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture struct {
		Input  []string `json:"input_modalities"`
		Output []string `json:"output_modalities"`
	} `json:"architecture"`
	Meta struct { // llama-server
		Context int `json:"n_ctx"`
		Trained int `json:"n_ctx_train"`
	} `json:"meta"`
}

// Models lists what the server has.
func (p *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	var v struct {
		Data []listed `json:"data"`
	}
	if p.c.Flavour == LMStudio {
		own := *p.server
		own.Base = strings.TrimSuffix(strings.TrimRight(own.Base, "/"), "/v1")
		if err := own.Get(ctx, "/api/v0/models", &v); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	if v.Data == nil {
		if err := p.server.Get(ctx, "/models", &v); err != nil {
			return nil, err
		}
	}
	out := make([]llm.Info, 0, len(v.Data))
	for i := range v.Data {
		out = append(out, p.info(&v.Data[i]))
	}
	return out, nil
}

func (p *Provider) info(m *listed) llm.Info {
	i := llm.Info{Name: m.ID, MaxOut: max(m.MaxCompletion, m.Top.MaxCompletion), Local: p.local()}
	if p.server.Local() && m.OwnedBy == "llamacpp" {
		i.Local = true
	}
	for _, n := range []int{m.LoadedContext, m.Meta.Context, m.ContextLength, m.ContextWindow, m.MaxModelLen, m.MaxContext, m.Meta.Trained} {
		if n > 0 && i.Context == 0 {
			i.Context = n
		}
	}
	known := func(yes bool) *bool { return &yes }
	if m.Supported != nil {
		i.Tools = known(slices.Contains(m.Supported, "tools"))
		i.Thinking = known(slices.Contains(m.Supported, "reasoning"))
	}
	if m.Architecture.Input != nil {
		i.Vision = known(slices.Contains(m.Architecture.Input, "image"))
	}
	if slices.Contains(m.Architecture.Output, "embeddings") {
		i.Embedding = known(true)
	}
	if m.Type == "llm" || m.Type == "vlm" || m.Type == "embeddings" {
		i.Embedding, i.Vision = known(m.Type == "embeddings"), known(m.Type == "vlm")
		if m.Capabilities != nil {
			i.Tools = known(slices.Contains(m.Capabilities, "tool_use"))
		}
	}
	return i
}

// Embed turns texts into vectors, in their order, whatever the order of the answer.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) ([][]float32, llm.Usage, error) {
	if len(texts) == 0 {
		return nil, llm.Usage{}, nil
	}
	var v struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage used `json:"usage"`
	}
	in := object{"model": model, "input": texts, "encoding_format": "float"}
	if err := p.server.Post(ctx, "/embeddings", in, &v); err != nil {
		return nil, llm.Usage{}, err
	}
	out := make([][]float32, len(texts))
	for i, d := range v.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= len(out) || out[i] != nil || len(d.Embedding) == 0 {
			return nil, llm.Usage{}, &llm.Error{Kind: llm.Server, Message: fmt.Sprintf("%s returned an unusable vector for text %d of %d", model, i+1, len(texts))}
		}
		out[i] = d.Embedding
	}
	if len(v.Data) != len(texts) {
		return nil, llm.Usage{}, &llm.Error{Kind: llm.Server, Message: fmt.Sprintf("%s returned %d vectors for %d texts", model, len(v.Data), len(texts))}
	}
	u := llm.Usage{In: v.Usage.PromptTokens, CostUSD: v.Usage.Cost}
	if p.local() {
		u.CostUSD = new(float64)
	}
	return out, u, nil
}
