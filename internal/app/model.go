package app

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"lore/internal/embed"
	"lore/internal/embed/builtin"
	"lore/internal/embed/ollama"
	"lore/internal/embed/openai"
	"lore/internal/fault"
	"lore/internal/outside/egress"
	"lore/internal/workspace/settings"
)

// model is the embedding model of the settings, or nil. A remote one gets the text
// of every note, so it is not used where notes are never shared.
func (a *app) model(c *settings.File, log *slog.Logger) (embed.Model, error) {
	name, err := a.config().Get(c, "embed.model")
	if err != nil {
		return nil, err
	}
	base, err := a.config().Get(c, "embed.base_url")
	if err != nil {
		return nil, err
	}
	keyEnv, err := a.config().Get(c, "embed.key_env")
	if err != nil {
		return nil, err
	}
	key := func() string {
		if keyEnv == "" {
			return ""
		}
		return a.env(keyEnv)
	}
	share, err := a.config().Get(c, "approve.share")
	if err != nil {
		return nil, err
	}
	kind, model, _ := strings.Cut(name, ":")
	if (kind == "ollama" || kind == "openai") && share == "never" && base != "" && !egress.Loopback(base) {
		log.Warn("the embedding model is not used: approve.share is never", "base_url", base)
		return nil, nil
	}
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
			return nil, fault.Field("embed.base_url", "set it to the address of the server, with its version: https://host/v1", "is required for %s", name)
		}
		return openai.New(openai.Config{URL: base, Model: model, Client: client, Key: key}), nil
	}
	return builtin.New(), nil
}
