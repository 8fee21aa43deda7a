//go:build servers

package openai_test

import (
	"os"
	"testing"

	"lore/internal/llm/openai"
	"lore/internal/llm/wiretest"
)

// TestLlamaServer speaks both wires to a real llama-server with the scripted
// model, at the address in LORE_LLAMA.
func TestLlamaServer(t *testing.T) {
	base := os.Getenv("LORE_LLAMA")
	if base == "" {
		t.Skip("LORE_LLAMA is not set")
	}
	for _, api := range []openai.API{openai.Chat, openai.Responses} {
		t.Run(string(api), func(t *testing.T) {
			wiretest.Scripted(t, openai.New(openai.Config{Name: "llama", BaseURL: base + "/v1", Flavour: openai.Llama, API: api}), "scripted", 0)
		})
	}
}

// TestOllamaAsOpenAI speaks the second language of a real Ollama, at the address in
// LORE_OLLAMA.
func TestOllamaAsOpenAI(t *testing.T) {
	base := os.Getenv("LORE_OLLAMA")
	if base == "" {
		t.Skip("LORE_OLLAMA is not set")
	}
	wiretest.Scripted(t, openai.New(openai.Config{Name: "ollama", BaseURL: base + "/v1", Local: true}), "scripted", 0)
}

// TestLlamaEmbeds asks a llama-server that was started with --embeddings, at the
// address in LORE_LLAMA_EMBEDS.
func TestLlamaEmbeds(t *testing.T) {
	base := os.Getenv("LORE_LLAMA_EMBEDS")
	if base == "" {
		t.Skip("LORE_LLAMA_EMBEDS is not set")
	}
	wiretest.Embeds(t, openai.New(openai.Config{Name: "llama", BaseURL: base + "/v1", Flavour: openai.Llama}), "scripted")
}
