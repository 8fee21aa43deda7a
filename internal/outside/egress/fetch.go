package egress

import (
	"context"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
)

// A Request is a request as a person declared it.
type Request struct {
	Method string
	URL    string
	Header map[string]string
	Body   string
}

// An Answer is what came back, as text.
type Answer struct {
	Status int
	Type   string // the media type
	Text   string
}

// Fetch sends a request and reads the whole answer, which must be text.
func (c *Client) Fetch(ctx context.Context, r Request) (Answer, error) {
	var body io.Reader
	if r.Body != "" {
		body = strings.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return Answer{}, fault.New(fault.Invalid, "the address or method is not valid")
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	answer, err := c.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return Answer{}, err
	}
	if !utf8.Valid(data) {
		return Answer{}, fault.New(fault.Invalid, "%s did not answer with text", req.URL.Hostname())
	}
	return Answer{Status: answer.StatusCode, Type: answer.Header.Get("Content-Type"), Text: string(data)}, nil
}
