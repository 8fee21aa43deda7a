// Package ollama embeds texts by an Ollama server. It owns the wire of
// /api/embed and nothing else.
package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"lore/internal/embed/remote"
)

// Config says which model of which server.
type Config struct {
	URL    string // for example http://localhost:11434
	Model  string // for example nomic-embed-text
	Client *http.Client
	Key    func() string // for servers behind a proxy that wants one; may be nil
	// MaxWords, QueryPrefix and PassagePrefix are as in remote.Options.
	MaxWords                   int
	QueryPrefix, PassagePrefix string
}

// New makes the model. It does not ask the server yet.
func New(c Config) *remote.Model {
	server := &remote.Server{
		Client: c.Client,
		URL:    strings.TrimSuffix(c.URL, "/") + "/api/embed",
		Key:    c.Key,
		Start:  "start it with `ollama serve` and get the model with `ollama pull " + c.Model + "`",
		// Ollama itself has no keys.
		Refused: "check the key for the proxy in front of Ollama",
		Explain: explain,
	}
	return remote.New(remote.Options{
		ID:          "ollama/" + c.Model,
		MaxWords:    c.MaxWords,
		QueryPrefix: c.QueryPrefix, PassagePrefix: c.PassagePrefix,
		Send: func(ctx context.Context, texts []string) ([][]float32, error) {
			var answer struct {
				Embeddings [][]float32 `json:"embeddings"`
			}
			err := server.Post(ctx, request{c.Model, texts, true}, &answer)
			return answer.Embeddings, err
		},
	})
}

type request struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
}

func explain(body []byte) string {
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return ""
	}
	return refusal.Error
}
