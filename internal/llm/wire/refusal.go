package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lore/internal/llm"
)

// Refusal reads what a server answered instead: {"error":{…}}, {"error":"…"},
// an error in JSON in such a string, a list with one in it, {"message":…},
// {"detail":…}, or plain text. For an error in the middle of a stream status is
// 0 and header nil; what the body says of both counts then.
func Refusal(status int, header http.Header, body []byte) *llm.Error {
	var s said
	s.read(body, 0)
	e := &llm.Error{Status: status, Message: s.message, RetryAfter: retryAfter(header)}
	if e.Status/100 <= 2 && s.status >= 400 {
		e.Status = s.status
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(string(body[:min(len(body), 2000)]))
	}
	if strings.HasPrefix(e.Message, "<") {
		e.Message = fmt.Sprintf("%d %s, with a web page instead of data; check the address", status, http.StatusText(status))
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the server answered %d %s without a reason", status, http.StatusText(status))
	}
	if e.RetryAfter == 0 {
		e.RetryAfter = s.delay
	}
	e.Kind = kind(e.Status, strings.ToLower(s.codes), strings.ToLower(e.Message))
	return e
}

// said is what a refusal tells.
type said struct {
	message string
	codes   string // all words for programs, in one line
	status  int
	delay   time.Duration
}

// read looks for the error in a value, and in what that holds.
func (s *said) read(raw []byte, depth int) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > 4 {
		return
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			s.read(list[0], depth+1)
		}
	case '"':
		var text string
		if json.Unmarshal(raw, &text) == nil {
			s.message = text
			if strings.HasPrefix(strings.TrimSpace(text), "{") {
				s.read([]byte(text), depth+1)
			}
		}
	case '{':
		s.object(raw, depth)
	}
}

func (s *said) object(raw []byte, depth int) {
	// Field by field: servers differ in the types of any of them.
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	for _, name := range []string{"type", "status", "code", "reason"} {
		var word string
		var number float64
		switch {
		case json.Unmarshal(o[name], &word) == nil:
			s.codes += " " + word
			if n, err := strconv.Atoi(word); err == nil && name == "code" {
				s.status = n
			}
		case json.Unmarshal(o[name], &number) == nil && name != "type":
			s.status = int(number)
		}
	}
	var text string
	for _, name := range []string{"message", "detail"} {
		if s.message == "" || name == "message" {
			if json.Unmarshal(o[name], &text) == nil && text != "" {
				s.message = text
			}
		}
	}
	var details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(o["details"], &details) == nil {
		for _, d := range details {
			s.codes += " " + d.Reason
			if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
				s.delay = wait
			}
		}
	}
	var meta struct {
		Raw string `json:"raw"` // OpenRouter: what the provider behind it said
	}
	if json.Unmarshal(o["metadata"], &meta) == nil && meta.Raw != "" {
		s.message += ": " + meta.Raw[:min(len(meta.Raw), 500)]
	}
	s.read(o["error"], depth+1)
}

// retryAfter is how long a server asks to wait.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// tells are the words by which refusals are known whatever their status, in the
// order in which they are looked for. Codes are words for programs.
var tells = []struct {
	kind         llm.ErrorKind
	codes, words []string
}{
	{llm.NoTools, nil, []string{
		"does not support tools", "does not support function calling", "support tool use",
		"enable-auto-tool-choice", "tools param requires --jinja",
	}},
	{llm.BadRequest, nil, []string{"does not support embeddings", "does not support thinking"}},
	{
		llm.ContextLength,
		[]string{"context_length_exceeded", "exceed_context_size", "request_too_large", "model_context_window_exceeded"},
		[]string{
			"maximum context length", "prompt is too long", "prompt too long", "exceeds the maximum number of tokens", "exceed_context_size",
			"input length and `max_tokens`", "exceeds the context window", "exceeds the context length", "exceeds the available context size",
			"context length exceeded", "when context the overflows", "context size has been exceeded",
		},
	},
	{llm.Billing, []string{"insufficient_quota", "billing", "insufficient_credits"}, []string{"credit balance is too low", "insufficient balance", "insufficient credits"}},
	{llm.Auth, []string{"api_key_invalid", "authentication_error", "invalid_api_key"}, []string{"api key not valid"}},
	{llm.RateLimit, []string{"rate_limit", "resource_exhausted", "too_many_requests"}, nil},
	{llm.Overloaded, []string{"overloaded", "unavailable"}, []string{"overloaded"}},
	{llm.NotFound, []string{"model_not_found", "not_found_error"}, []string{"unexpected endpoint or method"}},
}

// kind says what a caller does about a refusal.
func kind(status int, codes, words string) llm.ErrorKind {
	for _, t := range tells {
		if containsAny(codes, t.codes) || containsAny(words, t.words) {
			return t.kind
		}
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		return llm.ContextLength
	case http.StatusPaymentRequired:
		return llm.Billing
	case http.StatusTooManyRequests:
		return llm.RateLimit
	case http.StatusServiceUnavailable, 529:
		return llm.Overloaded
	case http.StatusUnauthorized:
		return llm.Auth
	case http.StatusForbidden:
		if strings.Contains(words, "moderation") || strings.Contains(words, "flagged") {
			return llm.BadRequest
		}
		return llm.Auth
	case http.StatusNotFound:
		return llm.NotFound
	case http.StatusNotImplemented:
		return llm.BadRequest
	case http.StatusRequestTimeout, http.StatusConflict:
		return llm.Server
	}
	if status >= 500 || status < 400 && !strings.Contains(codes, "invalid_request") {
		return llm.Server // in the middle of a stream the request was good
	}
	return llm.BadRequest
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
