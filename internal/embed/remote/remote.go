// Package remote is what models behind a server have in common: texts go out
// in batches, answers are distrusted, failures become faults that say what to
// do. It knows no provider's wire; its sibling packages do.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"lore/internal/embed"
	"lore/internal/fault"
)

// Options describe a model behind a server.
type Options struct {
	// ID names the space of the vectors.
	ID string
	// MaxWords is how many words the model reads of a text; 0 means 200, which
	// every known model can.
	MaxWords int
	// Batch is how many texts go out in one request; 0 means 32.
	Batch int
	// QueryPrefix and PassagePrefix stand before texts of that role, for
	// models that were trained with them.
	QueryPrefix, PassagePrefix string
	// Send asks for one batch, of at least one text.
	Send func(ctx context.Context, texts []string) ([][]float32, error)
}

// A Model implements [embed.Model] by asking a server.
type Model struct {
	o   Options
	dim atomic.Int64
}

// batchBytes bounds a request beside Options.Batch. A text alone may be
// longer.
const batchBytes = 1 << 20

// New makes a model.
func New(o Options) *Model {
	if o.MaxWords == 0 {
		o.MaxWords = 200
	}
	if o.Batch == 0 {
		o.Batch = 32
	}
	return &Model{o: o}
}

// ID names the space of the vectors.
func (m *Model) ID() string { return m.o.ID }

// Dim is the length of the vectors, 0 before the first answer.
func (m *Model) Dim() int { return int(m.dim.Load()) }

// MaxWords is how many words are read of a text.
func (m *Model) MaxWords() int { return m.o.MaxWords }

// Embed implements [embed.Model].
func (m *Model) Embed(ctx context.Context, role embed.Role, texts []string) ([][]float32, error) {
	prefix := m.o.PassagePrefix
	if role == embed.Query {
		prefix = m.o.QueryPrefix
	}
	out := make([][]float32, 0, len(texts))
	for len(out) < len(texts) {
		var batch []string
		size := 0
		for _, text := range texts[len(out):] {
			if len(batch) > 0 && (len(batch) == m.o.Batch || size+len(text) > batchBytes) {
				break
			}
			// Servers refuse an empty text; the contract does not.
			if strings.TrimSpace(text) == "" {
				text = "-"
			}
			batch = append(batch, prefix+text)
			size += len(text)
		}
		vectors, err := m.o.Send(ctx, batch)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(batch) {
			return nil, fault.New(fault.Unavailable, "%s returned %d vectors for %d texts", m.o.ID, len(vectors), len(batch))
		}
		for _, v := range vectors {
			if err := m.accept(v); err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// accept checks a vector and makes its length 1. The first one decides the
// dimension.
func (m *Model) accept(v []float32) error {
	if len(v) > 0 {
		m.dim.CompareAndSwap(0, int64(len(v)))
	}
	if dim := m.Dim(); len(v) == 0 || len(v) != dim {
		return fault.Fix(fault.Conflict, "run lore index again if the model was replaced",
			"%s returned a vector of %d numbers, not %d", m.o.ID, len(v), dim)
	}
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return fault.Fix(fault.Unavailable, "try again, or choose another embedding model", "%s returned an empty embedding", m.o.ID)
	}
	inverse := 1 / math.Sqrt(squares)
	for i := range v {
		v[i] = float32(float64(v[i]) * inverse)
	}
	return nil
}

// A Server is where requests go.
type Server struct {
	Client *http.Client
	// URL of the endpoint.
	URL string
	// Key is asked before each request; "" or a nil Key sends none.
	Key func() string
	// Start is what a person does when nobody answers, and Refused when the
	// server says no to the key.
	Start, Refused string
	// Explain finds the message in the body of a refusal.
	Explain func(body []byte) string
}

// maxAnswer bounds what is read of an answer: 32 vectors of 4,096 numbers are
// about 3 MB.
const maxAnswer = 64 << 20

// Post sends in as JSON and reads the answer into out. Its errors name the URL
// without any password in it, never the key.
func (s *Server) Post(ctx context.Context, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return fault.Field("url", "write it like http://localhost:11434", "%v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	key := ""
	if s.Key != nil {
		key = s.Key()
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	where := request.URL.Redacted()
	answer, err := s.Client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The cause alone: the client's own words repeat the address.
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return fault.Fix(fault.Unavailable, s.Start, "%s: %v", where, err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fault.Fix(fault.Unavailable, s.Start, "%s: %v", where, err)
	case len(raw) > maxAnswer:
		return fault.New(fault.TooLarge, "%s: the response is larger than %d bytes", where, maxAnswer)
	case answer.StatusCode != http.StatusOK:
		return s.refusal(where, key, answer.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fault.Fix(fault.Unavailable, s.Start, "%s: the response cannot be read: %v", where, err)
	}
	return nil
}

func (s *Server) refusal(where, key string, status int, body []byte) error {
	said := s.Explain(body)
	if key != "" { // some repeat what they were sent
		said = strings.ReplaceAll(said, key, "(the key)")
	}
	if said == "" {
		said = http.StatusText(status)
	}
	if len(said) > 300 {
		said = strings.ToValidUTF8(said[:300], "") + "..."
	}
	message := fmt.Sprintf("%s answered %d: %s", where, status, said)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fault.Fix(fault.Denied, s.Refused, "%s", message)
	case status == http.StatusTooManyRequests:
		return fault.Fix(fault.Busy, "try again later", "%s", message)
	case status == http.StatusNotFound:
		return fault.Fix(fault.Unavailable, s.Start, "%s", message)
	case status == http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "%s", message)
	case status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "%s", message)
	}
	return fault.Fix(fault.Unavailable, "try again later", "%s", message)
}
