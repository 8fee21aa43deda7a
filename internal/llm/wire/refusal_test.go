package wire_test

import (
	"net/http"
	"testing"
	"time"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		kind    llm.ErrorKind
		message string
	}{
		"OpenAI, key":          {401, `{"error":{"message":"Incorrect API key provided: sk-1***9.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.Auth, "Incorrect API key provided: sk-1***9."},
		"OpenAI, rate":         {429, `{"error":{"message":"Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM)","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, llm.RateLimit, "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM)"},
		"OpenAI, quota":        {429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.Billing, "You exceeded your current quota, please check your plan and billing details."},
		"OpenAI, length":       {400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ContextLength, "This model's maximum context length is 128000 tokens."},
		"OpenAI, model":        {404, `{"error":{"message":"The model 'x' does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, llm.NotFound, "The model 'x' does not exist"},
		"OpenAI, bad":          {400, `{"error":{"message":"Invalid schema","type":"invalid_request_error","param":"tools","code":null}}`, llm.BadRequest, "Invalid schema"},
		"OpenRouter, behind":   {502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"boom","provider_name":"X"}}}`, llm.Server, "Provider returned error: boom"},
		"OpenRouter, credits":  {402, `{"error":{"message":"Insufficient credits","code":402}}`, llm.Billing, "Insufficient credits"},
		"OpenRouter, tools":    {404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.NoTools, "No endpoints found that support tool use."},
		"OpenRouter, held":     {403, `{"error":{"message":"Your input was flagged","code":403}}`, llm.BadRequest, "Your input was flagged"},
		"OpenRouter, midway":   {0, `{"id":"gen-1","error":{"code":429,"message":"slow down"}}`, llm.RateLimit, "slow down"},
		"llama, length":        {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}`, llm.ContextLength, "the request exceeds the available context size, try increasing it"},
		"llama, loading":       {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Overloaded, "Loading model"},
		"vLLM, tools":          {400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`, llm.NoTools, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`},
		"Anthropic, over":      {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, llm.Overloaded, "Overloaded"},
		"Anthropic, midway":    {0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Overloaded, "Overloaded"},
		"Anthropic, length":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, llm.ContextLength, "prompt is too long: 208310 tokens > 200000 maximum"},
		"Anthropic, credit":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, llm.Billing, "Your credit balance is too low to access the Anthropic API."},
		"Gemini, list":         {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`, llm.Auth, "API key not valid. Please pass a valid API key."},
		"Gemini, rate":         {429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, llm.RateLimit, "You exceeded your current quota, please check your plan and billing details."},
		"Gemini, length":       {400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, llm.ContextLength, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		"Ollama, string":       {404, `{"error":"model 'x' not found"}`, llm.NotFound, "model 'x' not found"},
		"Ollama, tools":        {400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`, llm.NoTools, "registry.ollama.ai/library/gemma:2b does not support tools"},
		"Ollama, JSON inside":  {400, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (9 tokens) exceeds the available context size (8 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9,\"n_ctx\":8}}"}`, llm.ContextLength, "request (9 tokens) exceeds the available context size (8 tokens), try increasing it"},
		"FastAPI":              {422, `{"detail":"no such field"}`, llm.BadRequest, "no such field"},
		"plain":                {502, "Bad Gateway\n", llm.Server, "Bad Gateway"},
		"nothing":              {500, "", llm.Server, "the server answered 500 Internal Server Error without a reason"},
		"too large":            {413, "", llm.ContextLength, "the server answered 413 Request Entity Too Large without a reason"},
		"a page":               {404, "<!DOCTYPE html><html>…", llm.NotFound, "404 Not Found, with a web page instead of data; check the address"},
		"Ollama, embeddings":   {500, `{"error":"This server does not support embeddings. Start it with ` + "`--embeddings`" + `"}`, llm.BadRequest, "This server does not support embeddings. Start it with `--embeddings`"},
		"not implemented":      {501, "no", llm.BadRequest, "no"},
		"timeout":              {408, "late", llm.Server, "late"},
		"conflict":             {409, "conflict", llm.Server, "conflict"},
		"midway, unknown":      {0, `{"error":{"message":"CUDA error"}}`, llm.Server, "CUDA error"},
		"midway, bad":          {0, `{"error":{"message":"no","type":"invalid_request_error"}}`, llm.BadRequest, "no"},
		"LM Studio, a string":  {400, `{"error":"Trying to keep the first 9 tokens when context the overflows."}`, llm.ContextLength, "Trying to keep the first 9 tokens when context the overflows."},
		"types that nobody is": {400, `{"error":{"message":"m","type":7,"code":[1]}}`, llm.BadRequest, "m"},
	} {
		got := wire.Refusal(c.status, nil, []byte(c.body))
		if got.Kind != c.kind || got.Message != c.message {
			t.Errorf("%s: %s %q", name, got.Kind, got.Message)
		}
		if c.status > 0 && got.Status != c.status {
			t.Errorf("%s: status %d", name, got.Status)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	delay := `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"18.5s"}]}}`
	for name, c := range map[string]struct {
		header, value, body string
		want                time.Duration
	}{
		"milliseconds": {"retry-after-ms", "1500", "", 1500 * time.Millisecond},
		"seconds":      {"retry-after", "20", "", 20 * time.Second},
		"float":        {"retry-after", "0.5", "", 500 * time.Millisecond},
		"past":         {"retry-after", "Mon, 02 Jan 2006 15:04:05 GMT", "", 0},
		"Gemini":       {"", "", delay, 18500 * time.Millisecond},
		"both":         {"retry-after", "3", delay, 3 * time.Second},
		"garbage":      {"retry-after", "soon", "", 0},
		"negative":     {"retry-after", "-3", "", 0},
		"none":         {"", "", "", 0},
	} {
		h := http.Header{}
		if c.header != "" {
			h.Set(c.header, c.value)
		}
		if got := wire.Refusal(429, h, []byte(c.body)); got.RetryAfter != c.want {
			t.Errorf("%s: %v", name, got.RetryAfter)
		}
	}
	h := http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}
	if got := wire.Refusal(429, h, nil); got.RetryAfter < 50*time.Minute || got.RetryAfter > time.Hour {
		t.Error(got.RetryAfter)
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, []byte(`{"error":"{\"error\":{\"code\":400,\"message\":\"m\",\"type\":\"t\"}}"}`))
	f.Add(0, []byte(`[{"error":{"code":"429","details":[{"retryDelay":"3s"}]}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if e := wire.Refusal(status, nil, body); e.Kind == "" || e.Message == "" {
			t.Fatalf("%+v", e)
		}
	})
}
