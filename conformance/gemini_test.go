package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"lore/internal/llm"
	adapter "lore/internal/llm/gemini"
)

// generate is a request in the types of the SDK, whose own type for all of it is
// not the one that is sent.
type generate struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

func gemini(name string, t llm.Tuning) *wire {
	return &wire{
		model: func(base string) llm.Model {
			return adapter.New(adapter.Config{BaseURL: base, Key: key}).Model(name, t)
		},
		official: func(t *testing.T, a asked, base string) reading { return geminiOfficial(t, name, a, base) },
		headers:  []string{"X-Goog-Api-Key", "Content-Type"},
		same:     geminiSame,
	}
}

// geminiSame leaves out what the SDK leaves out or adds, and what means the same.
func geminiSame(object map[string]any, key string, v any) (any, bool) {
	switch key {
	case "thoughtSignature": // bytes: compared as such, because base64 can say them in several ways
		raw, err := base64.StdEncoding.DecodeString(v.(string))
		if err != nil || string(raw) == bypass {
			return bypass, v == bypass || string(raw) == bypass
		}
		return string(raw), true
	case "text": // an empty text beside a signature; ours goes back as it came
		return v, v != ""
	case "args": // of a call without any
		args, _ := v.(map[string]any)
		return v, len(args) > 0
	case "generationConfig": // the SDK sends an empty one
		config, _ := v.(map[string]any)
		return v, len(config) > 0
	case "systemInstruction": // the SDK gives it a role, which the API does not look at
		if in, ok := v.(map[string]any); ok {
			return in["parts"], true
		}
	}
	return v, true
}

func geminiClient(t *testing.T, base string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "a key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base + "/", APIVersion: "v1beta"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// strictly decodes with encoding/json, which the types of this SDK are made for.
func strictly(t *testing.T, body []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

// bypass is what Google tells to send in place of a signature. The API takes it as
// it is; the SDK would write its bytes in base64.
const bypass = "skip_thought_signature_validator"

func geminiOfficial(t *testing.T, name string, a asked, base string) reading {
	t.Helper()
	var g generate
	strictly(t, bytes.ReplaceAll(a.body, []byte(`"`+bypass+`"`), []byte(`"`+base64.StdEncoding.EncodeToString([]byte(bypass))+`"`)), &g)
	if len(g.Contents) == 0 {
		t.Errorf("no contents: %s", a.body)
	}
	config := &genai.GenerateContentConfig{SystemInstruction: g.SystemInstruction, Tools: g.Tools, ToolConfig: g.ToolConfig}
	if c := g.GenerationConfig; c != nil {
		config.Temperature, config.MaxOutputTokens, config.ThinkingConfig = c.Temperature, c.MaxOutputTokens, c.ThinkingConfig
		config.ResponseMIMEType, config.ResponseJsonSchema = c.ResponseMIMEType, c.ResponseJsonSchema
	}
	var r reading
	var reason genai.FinishReason
	for res, err := range geminiClient(t, base).Models.GenerateContentStream(t.Context(), name, g.Contents, config) {
		if err != nil {
			t.Fatal(err)
		}
		if u := res.UsageMetadata; u != nil {
			r.In, r.Out = int(u.PromptTokenCount+u.ToolUsePromptTokenCount), int(u.CandidatesTokenCount+u.ThoughtsTokenCount)
			r.Cached, r.Unsaid = int(u.CachedContentTokenCount), int(u.ThoughtsTokenCount)
		}
		if res.PromptFeedback != nil && res.PromptFeedback.BlockReason != "" {
			r.Stop = llm.Filtered
		}
		if len(res.Candidates) == 0 {
			continue
		}
		c := res.Candidates[0]
		if c.FinishReason != "" {
			reason = c.FinishReason
		}
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				args, err := json.Marshal(p.FunctionCall.Args)
				if err != nil {
					t.Fatal(err)
				}
				if string(args) == "null" {
					args = []byte("{}")
				}
				r.Calls = append(r.Calls, call{p.FunctionCall.ID, p.FunctionCall.Name, canonical(args)})
			case p.Thought:
				r.Thought += p.Text
			default:
				r.Text += p.Text
			}
		}
	}
	switch reason {
	case genai.FinishReasonStop:
		r.Stop = llm.Stopped
		if len(r.Calls) > 0 {
			r.Stop = llm.WantsTool
		}
	case genai.FinishReasonMaxTokens:
		r.Stop = llm.TooLong
	}
	return r
}

func TestGemini(t *testing.T) {
	answer := recorded(t, "gemini", "answer.sse")
	for name, tuning := range map[string]llm.Tuning{"gemini-3-pro-preview": {Effort: "high"}, "gemini-2.5-flash": {}, "gemini-2.0-flash": {}} {
		for _, first := range []string{"tools.sse", "ids.sse"} {
			t.Run(name+" "+first, func(t *testing.T) {
				gemini(name, tuning).turn(t, llm.Request{Think: true, MaxTokens: 500}, recorded(t, "gemini", first), answer)
			})
		}
	}
	warm := 0.5
	for name, r := range map[string]llm.Request{
		"limits": {MaxTokens: 900, Temperature: &warm}, "required": {Tools: tools(), ToolChoice: "required"}, "none": {Tools: tools(), ToolChoice: "none"}, "one": {Tools: tools(), ToolChoice: "read_note"},
		"format": {Format: json.RawMessage(formatSchema)},
	} {
		t.Run(name, func(t *testing.T) {
			r.Messages = []llm.Message{llm.Say(llm.User, "Hi")}
			gemini("gemini-3-flash", llm.Tuning{Effort: "low"}).ask(t, r, answer)
			gemini("gemini-2.5-pro", llm.Tuning{Effort: "low"}).ask(t, r, answer)
		})
	}
	t.Run("blocked", func(t *testing.T) {
		gemini("gemini-2.5-pro", llm.Tuning{}).ask(t, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "Hi")}}, recorded(t, "gemini", "blocked.sse"))
	})
}

// TestGeminiAfterAnother: a history that another model made.
func TestGeminiAfterAnother(t *testing.T) {
	w := gemini("gemini-3-pro-preview", llm.Tuning{})
	r := llm.Request{Tools: tools(), Messages: []llm.Message{
		llm.Say(llm.User, "Hi"),
		{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.ToolCall, ID: "call_1", Name: "read_note", Args: json.RawMessage(`{"path":"a"}`)}}},
		{Role: llm.Results, Parts: []llm.Part{{Kind: llm.ToolResult, ID: "call_1", Name: "read_note", Text: "a text"}}},
	}}
	w.ask(t, r, recorded(t, "gemini", "answer.sse"))
}

// TestVectorsOfGemini: texts go in one request, as the SDK's do.
func TestVectorsOfGemini(t *testing.T) {
	answer := `{"embeddings":[{"values":[1,-0.25]},{"values":[0.5,2]}]}`
	mine, theirs := serve(t, answer), serve(t, answer)
	got, _, err := adapter.New(adapter.Config{BaseURL: mine.url, Key: key}).Embed(t.Context(), "gemini-embedding-001", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := geminiClient(t, theirs.url).Models.EmbedContent(t.Context(), "gemini-embedding-001", []*genai.Content{{Parts: []*genai.Part{{Text: "a"}}}, {Parts: []*genai.Part{{Text: "b"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	(&wire{headers: []string{"X-Goog-Api-Key"}}).sameRequest(t, mine.got(), theirs.got())
	for i, e := range want.Embeddings {
		for k, n := range e.Values {
			if got[i][k] != n {
				t.Errorf("%v and %v", e.Values, got[i])
			}
		}
	}
	if len(want.Embeddings) != len(got) || !strings.Contains(mine.got().path, "batchEmbedContents") {
		t.Error(len(got), mine.got().path)
	}
}
