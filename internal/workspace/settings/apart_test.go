package settings

import (
	"path/filepath"
	"testing"
)

func TestApart(t *testing.T) {
	p, _ := withConfig(t, "log_level = 'info'\nmodel = 'ollama/x'\n[embed]\nmodel = 'none'\n",
		map[string]string{"LORE_APPROVE_CREATE": "allow", "LORE_EMBED_BASE_URL": "http://localhost:1", "OPENAI_API_KEY": "k"})
	dir := t.TempDir()
	env, err := p.Apart(dir, "embed.model", "embed.base_url")
	if err != nil {
		t.Fatal(err)
	}
	own := Place{Env: env, Tools: p.Tools}
	c, err := own.Read()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"embed.model": "none", "embed.base_url": "http://localhost:1", "approve.create": "ask", "log_level": "warn", "model": "auto", "vault": "",
	} {
		if got, err := own.Get(&c, key); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", key, got, err, want)
		}
	}
	if env("OPENAI_API_KEY") != "k" {
		t.Error("what is not Lore's is hidden")
	}
	if d, err := own.Home().Data(); err != nil || d != filepath.Join(dir, "data", "lore") {
		t.Errorf("the data lies in %q, %v", d, err)
	}
	if _, err := p.Apart(dir, "nonsense"); err == nil {
		t.Error("a setting that does not exist was kept")
	}
}
