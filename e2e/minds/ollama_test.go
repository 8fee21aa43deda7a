//go:build servers && linux

package minds

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lore/e2e/minds/scripted"
	"lore/internal/llm/ollama"
	"lore/internal/llm/openai"
	"lore/internal/llm/wiretest"
)

// TestOllama does with a real Ollama what the others do with llama-server. Its
// program is in LORE_OLLAMA_PROGRAM; make test-servers builds it.
func TestOllama(t *testing.T) {
	program := os.Getenv("LORE_OLLAMA_PROGRAM")
	if program == "" {
		t.Skip("make test-servers does this")
	}
	dir := t.TempDir()
	model, err := scripted.Model()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"scripted.gguf": string(model), "Modelfile": "FROM ./scripted.gguf\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Whatever it would ask of the world goes to a proxy that is not there.
	env := append(os.Environ(), "HOME="+dir, "OLLAMA_MODELS="+filepath.Join(dir, "models"), "OLLAMA_HOST=127.0.0.1:0", "OLLAMA_NO_CLOUD=1", "OLLAMA_NOHISTORY=1",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost")
	cmd := exec.Command(program, "serve")
	cmd.Dir, cmd.Env = dir, env
	s, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	create := exec.CommandContext(t.Context(), program, "create", "scripted", "-f", "Modelfile")
	create.Dir, create.Env = dir, append(env, "OLLAMA_HOST="+s.base)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, s.said())
	}
	t.Run("its own wire", func(t *testing.T) {
		wiretest.Scripted(t, ollama.New(ollama.Config{BaseURL: s.base}), "scripted", 4096)
	})
	t.Run("that of OpenAI", func(t *testing.T) {
		wiretest.Scripted(t, openai.New(openai.Config{Name: "ollama", BaseURL: s.base + "/v1", Local: true}), "scripted", 0)
	})
	for name, play := range plays {
		if name == "cancelled" { // llama-server's own log tells that, here nothing does
			continue
		}
		t.Run(name, func(t *testing.T) { play(newWorld(t, "ollama", s.base)) })
	}
}
