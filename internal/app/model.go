package app

import (
	"net/http"
	"strings"
	"time"

	"lore/internal/embed"
	"lore/internal/embed/builtin"
	"lore/internal/embed/ollama"
	"lore/internal/embed/openai"
	"lore/internal/fault"
)

// model is the embedding model of the settings, or nil.
func (a *app) model(c *config) (embed.Model, error) {
	name, err := a.get(c, "embed.model")
	if err != nil {
		return nil, err
	}
	base, err := a.get(c, "embed.base_url")
	if err != nil {
		return nil, err
	}
	keyEnv, err := a.get(c, "embed.key_env")
	if err != nil {
		return nil, err
	}
	key := func() string {
		if keyEnv == "" {
			return ""
		}
		return a.env(keyEnv)
	}
	kind, model, _ := strings.Cut(name, ":")
	client := &http.Client{Timeout: 2 * time.Minute}
	switch kind {
	case "none":
		return nil, nil
	case "ollama":
		if base == "" {
			base = "http://localhost:11434"
		}
		return ollama.New(ollama.Config{URL: base, Model: model, Client: client, Key: key}), nil
	case "openai":
		if base == "" {
			return nil, fault.Field("embed.base_url", "set it to the address of the server, with its version: https://host/v1", "is needed for %s", name)
		}
		return openai.New(openai.Config{URL: base, Model: model, Client: client, Key: key}), nil
	}
	return builtin.New(), nil
}
