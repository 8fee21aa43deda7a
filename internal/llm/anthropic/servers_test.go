//go:build servers

package anthropic

import (
	"os"
	"testing"

	"lore/internal/llm/wiretest"
)

// TestLlamaServer speaks to a real llama-server with the scripted model, at the
// address in LORE_LLAMA.
func TestLlamaServer(t *testing.T) {
	base := os.Getenv("LORE_LLAMA")
	if base == "" {
		t.Skip("LORE_LLAMA is not set")
	}
	wiretest.Scripted(t, New(Config{Name: "llama", BaseURL: base, Local: true}), "scripted", 0)
}
