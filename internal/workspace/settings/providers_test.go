package settings

import (
	"strings"
	"testing"
)

func TestProviders(t *testing.T) {
	p, _ := withConfig(t, "", nil)
	for _, c := range []struct{ key, val, want string }{
		{"providers.ollama.base_url", "http://localhost:11434", ""},
		{"providers.my-box.kind", "openai", ""},
		{"providers.my-box.context", "8192", ""},
		{"providers.my-box.key_env", "MY_KEY", ""},
		{"providers.my-box.key_env", "sk-secret-123", "name of a variable"},
		{"providers.my-box.kind", "magic", "use openai"},
		{"providers.my-box.api", "magic", "use chat"},
		{"providers.my-box.context", "12", "at least 1024"},
		{"providers.my-box.base_url", "localhost", "http://host:port"},
		{"providers.my-box.colour", "red", "the settings for a provider are api"},
		{"providers.My Box.kind", "openai", "lowercase letters"},
		{"providers.x", "openai", "unknown setting"},
		{"model", "ollama/qwen3:8b", ""},
		{"model", "qwen3", "provider/name"},
	} {
		_, err := p.Set(c.key, c.val)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %q", c.key, c.val, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("a key is repeated: %v", err)
		}
	}
	f, err := p.Read()
	if err != nil || f.Providers["my-box"].Kind != "openai" || f.Providers["my-box"].Context != "8192" || f.Providers["ollama"].BaseURL == "" {
		t.Errorf("%v %+v", err, f.Providers)
	}
	list, err := p.List(Flags{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range list {
		if strings.HasPrefix(s.Key, "providers.") {
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d settings of providers are listed", found)
	}
}
