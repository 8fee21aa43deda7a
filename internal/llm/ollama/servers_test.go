//go:build servers

package ollama_test

import (
	"os"
	"testing"

	"lore/internal/llm/ollama"
	"lore/internal/llm/wiretest"
)

// TestOllama speaks to a real server with the scripted model, at the address in
// LORE_OLLAMA.
func TestOllama(t *testing.T) {
	base := os.Getenv("LORE_OLLAMA")
	if base == "" {
		t.Skip("LORE_OLLAMA is not set")
	}
	wiretest.Scripted(t, ollama.New(ollama.Config{BaseURL: base}), "scripted", 4096)
}
