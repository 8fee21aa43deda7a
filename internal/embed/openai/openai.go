// Package openai embeds texts by a server that speaks OpenAI's /embeddings: the
// service itself, or one of the many that took over its wire. It owns that
// wire and nothing else.
package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"lore/internal/embed/remote"
	"lore/internal/fault"
)

// Config says which model of which server.
type Config struct {
	URL    string // with its version, for example https://api.openai.com/v1
	Model  string // for example text-embedding-3-small
	Client *http.Client
	Key    func() string // may be nil, for servers at home
	// Dimensions shortens the vectors of models that can; 0 takes them whole.
	Dimensions int
	// MaxWords, QueryPrefix and PassagePrefix are as in remote.Options.
	MaxWords                   int
	QueryPrefix, PassagePrefix string
}

// New makes the model. It does not ask the server yet.
func New(c Config) *remote.Model {
	server := &remote.Server{
		Client:  c.Client,
		URL:     strings.TrimSuffix(c.URL, "/") + "/embeddings",
		Key:     c.Key,
		Start:   "check that the address ends with the version, like /v1, and that the server has the model " + c.Model,
		Refused: "check the key for this provider",
		Explain: explain,
	}
	return remote.New(remote.Options{
		ID:          "openai/" + c.Model,
		MaxWords:    c.MaxWords,
		QueryPrefix: c.QueryPrefix, PassagePrefix: c.PassagePrefix,
		Send: func(ctx context.Context, texts []string) ([][]float32, error) {
			var answer answer
			if err := server.Post(ctx, request{c.Model, texts, "float", c.Dimensions}, &answer); err != nil {
				return nil, err
			}
			return answer.ordered(len(texts))
		},
	})
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// ordered puts the vectors in the order of the texts: the answer numbers them
// and promises no order.
func (a answer) ordered(n int) ([][]float32, error) {
	out := make([][]float32, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fault.New(fault.Unavailable, "the server returned vector %d twice, or more than %d vectors", d.Index, n)
		}
		out[d.Index] = d.Embedding
	}
	if len(a.Data) != n {
		return nil, fault.New(fault.Unavailable, "the server returned %d vectors for %d texts", len(a.Data), n)
	}
	return out, nil
}

// explain reads {"error": {"message": ...}}, and {"error": "..."} as some
// servers send it.
func explain(body []byte) string {
	var refusal struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return ""
	}
	var full struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(refusal.Error, &full) == nil {
		return full.Message
	}
	var plain string
	if json.Unmarshal(refusal.Error, &plain) != nil {
		return ""
	}
	return plain
}
