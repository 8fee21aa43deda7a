// Package wire is what all adapters to language models share: requests that
// wait as long as a model needs and no longer, streams of events and lines,
// refusals of every form made one kind of error, and answers put together from
// their pieces. It knows no provider; its sibling packages do.
package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/llm"
)

// A Server is where requests go. The zero values of all but Base will do.
type Server struct {
	// Base is the address that paths are put behind: "http://localhost:11434".
	Base string
	// Headers are sent with every request.
	Headers map[string]string
	// Key is asked before each request; "" sends none. What it gives is never
	// part of an error.
	Key func() (string, error)
	// KeyHeader carries the key. "": Authorization, with "Bearer " before it.
	KeyHeader string
	// Transport carries the requests; nil: the usual one.
	Transport http.RoundTripper
	// Patience is how long the first byte of an answer may take: local models are
	// loaded first. 0: five minutes.
	Patience time.Duration
	// Silence is how long a stream may send nothing after it began. 0: two minutes.
	Silence time.Duration
}

const (
	usualPatience = 5 * time.Minute
	usualSilence  = 2 * time.Minute
	maxAnswer     = 64 << 20 // of a whole answer: 32 vectors of 4,096 numbers are 3 MB
	maxRefusal    = 1 << 20
)

// Get reads what is at path into out.
func (s *Server) Get(ctx context.Context, path string, out any) error {
	return s.whole(ctx, http.MethodGet, path, nil, out)
}

// Post sends in as JSON to path, and reads the answer into out.
func (s *Server) Post(ctx context.Context, path string, in, out any) error {
	return s.whole(ctx, http.MethodPost, path, in, out)
}

func (s *Server) whole(ctx context.Context, method, path string, in, out any) error {
	b, err := s.open(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer b.Close()
	raw, err := io.ReadAll(io.LimitReader(b, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(raw) > maxAnswer {
		return &llm.Error{Kind: llm.BadRequest, Status: b.Status, Message: fmt.Sprintf("%s: the response is larger than %d bytes", b.where, maxAnswer)}
	}
	var instead struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &instead) == nil && len(instead.Error) > 0 && string(instead.Error) != "null" {
		e := Refusal(0, b.Header, raw) // LM Studio says 200 to what it does not know
		e.Message = b.scrub(e.Message)
		return e
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &llm.Error{Kind: llm.Server, Status: b.Status, Message: fmt.Sprintf("%s: the response cannot be read: %v", b.where, err)}
	}
	return nil
}

// Stream sends in as JSON to path. The body that it gives must be closed; that,
// and the end of ctx, makes the server stop.
func (s *Server) Stream(ctx context.Context, path string, in any) (*Body, error) {
	return s.open(ctx, http.MethodPost, path, in)
}

// connections are those of all adapters: anything in the program, or in a test,
// may close the idle ones of the default transport while one is being used.
var connections = http.DefaultTransport.(*http.Transport).Clone()

// open sends a request, and gives the body of a good answer.
func (s *Server) open(ctx context.Context, method, path string, in any) (*Body, error) {
	request, key, err := s.request(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	b := s.watched(ctx, request, key)
	// No limit on the whole of a request: a good answer may take an hour.
	transport := s.Transport
	if transport == nil {
		transport = connections
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request.WithContext(b.ctx))
	if err != nil {
		defer b.stop(nil)
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the cause alone: the client's own words repeat the address, with a password in it
		}
		return nil, b.explain(err)
	}
	b.body, b.Status, b.Header = answer.Body, answer.StatusCode, answer.Header
	if answer.StatusCode/100 == 2 {
		return b, nil
	}
	defer b.Close()
	if at := answer.Header.Get("Location"); answer.StatusCode/100 == 3 && at != "" {
		// Followed, a key would go to whoever is there.
		return nil, &llm.Error{Kind: llm.BadRequest, Status: answer.StatusCode, Message: s.scrub(key, b.where+": moved to "+at+"; set that address if it is correct")}
	}
	raw, err := io.ReadAll(io.LimitReader(b, maxRefusal))
	if err != nil && len(raw) == 0 {
		return nil, err
	}
	e := Refusal(answer.StatusCode, answer.Header, raw)
	e.Message = s.scrub(key, e.Message)
	return nil, e
}

func (s *Server) request(ctx context.Context, method, path string, in any) (*http.Request, string, error) {
	var body io.Reader
	if in != nil {
		raw, err := Marshal(in)
		if err != nil {
			return nil, "", err
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(s.Base, "/")+path, body)
	if err != nil || request.URL.Host == "" {
		return nil, "", fault.Field("url", "write it like http://localhost:11434", "is not a server address")
	}
	key := ""
	if s.Key != nil {
		if key, err = s.Key(); err != nil {
			return nil, "", err
		}
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
		// With it the transport sends the request again by itself when a kept
		// connection was closed under it.
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	for k, v := range s.Headers {
		request.Header.Set(k, v)
	}
	switch {
	case key == "":
	case s.KeyHeader == "":
		request.Header.Set("Authorization", "Bearer "+key)
	default:
		request.Header.Set(s.KeyHeader, key)
	}
	return request, key, nil
}

// scrub takes a key out of what a server said: some repeat what they were sent.
func (s *Server) scrub(key, text string) string {
	if len(key) < 4 {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}

// Local reports whether the server is on this machine. What it does with a
// question is another matter: it may be a gateway.
func (s *Server) Local() bool {
	u, err := url.Parse(s.Base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	at, err := netip.ParseAddr(host)
	return err == nil && at.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Marshal is JSON without the escapes for HTML: notes are full of what they are
// for, and state of a provider goes back as it came.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
