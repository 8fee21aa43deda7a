package gemini

import (
	"encoding/json"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// sent is the request that a model would send.
func sent(t *testing.T, name string, tune llm.Tuning, r llm.Request) map[string]any {
	t.Helper()
	m, _ := New(Config{}).Model(name, tune).(*model)
	body, err := m.body(&r, wire.NewToolbox(r.Tools))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// is compares one field with what it should be, in JSON; "" is nothing.
func is(t *testing.T, what string, got any, want string) {
	t.Helper()
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if want == "" {
		want = "null"
	}
	same(t, what, raw, []byte(want))
}

func hello(m ...llm.Message) []llm.Message {
	return append([]llm.Message{llm.Say(llm.User, "Hello")}, m...)
}

func TestThinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, effort string
		think         bool
		most          int
		want          string
	}{
		{"gemini-3-pro-preview", "", false, 0, ""},
		{"gemini-3-pro-preview", "", true, 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-3-pro-preview", "low", true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"gemini-3-pro-preview", "medium", true, 0, `{"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-3.1-pro-preview", "medium", false, 0, `{"thinkingConfig":{"thinkingLevel":"MEDIUM"}}`},
		{"gemini-flash-latest", "high", false, 0, `{"thinkingConfig":{"thinkingLevel":"HIGH"}}`},
		{"gemini-3.8-flash", "", false, 500, `{"thinkingConfig":{"thinkingLevel":"LOW"},"maxOutputTokens":2548}`},
		{"gemini-2.5-pro", "", true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}}`},
		{"gemini-2.5-pro", "high", false, 0, `{"thinkingConfig":{"thinkingBudget":24576}}`},
		{"gemini-2.5-pro", "", false, 500, `{"thinkingConfig":{"thinkingBudget":2048},"maxOutputTokens":2548}`},
		{"gemini-2.5-flash", "", false, 500, `{"thinkingConfig":{"thinkingBudget":0},"maxOutputTokens":500}`},
		{"gemini-2.0-flash", "high", true, 500, `{"maxOutputTokens":500}`},
		{"gemma-4-31b-it", "high", true, 0, ""},
	} {
		is(t, c.model+" "+c.effort, sent(t, c.model, llm.Tuning{Effort: c.effort}, llm.Request{Messages: hello(), Think: c.think, MaxTokens: c.most})["generationConfig"], c.want)
	}
}

func TestFormatAndTemperature(t *testing.T) {
	t.Parallel()
	cold := 0.0
	format := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	r := llm.Request{Messages: hello(), Format: format, Temperature: &cold}
	want := `{"responseMimeType":"application/json","responseJsonSchema":` + string(format) + `,"temperature":0}`
	is(t, "alone", sent(t, "gemini-2.5-flash", llm.Tuning{}, r)["generationConfig"], want)
	r.Tools = tools
	is(t, "with tools", sent(t, "gemini-3-flash-preview", llm.Tuning{}, r)["generationConfig"], want)
	is(t, "with tools, older", sent(t, "gemini-2.5-flash", llm.Tuning{}, r)["generationConfig"], `{"temperature":0}`)
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{
		"": "", "auto": "", "none": `{"functionCallingConfig":{"mode":"NONE"}}`, "required": `{"functionCallingConfig":{"mode":"ANY"}}`,
		"read_note": `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read_note"]}}`,
	} {
		is(t, choice, sent(t, "gemini-3-pro", llm.Tuning{}, llm.Request{Messages: hello(), Tools: tools, ToolChoice: choice})["toolConfig"], want)
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	const me = "gemini/gemini-3-pro"
	call := func(id, by string) llm.Part {
		p := llm.Part{Kind: llm.ToolCall, ID: id, Name: "mcp.read", Args: json.RawMessage(`{"a":1}`)}
		if by != "" {
			p.Opaque, p.OpaqueBy = json.RawMessage(`"sig"`), by
		}
		return p
	}
	results := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.Results}
		for _, id := range ids {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.ToolResult, ID: id, Text: id})
		}
		return m
	}
	says := func(p ...llm.Part) llm.Message { return llm.Message{Role: llm.Assistant, Parts: p} }
	const hi = `{"role":"user","parts":[{"text":"Hello"}]}`
	fc := func(id, sig string) string {
		out := `{"functionCall":{"name":"mcp_read","args":{"a":1}`
		if id != "" {
			out += `,"id":"` + id + `"`
		}
		if out += "}"; sig != "" {
			out += `,"thoughtSignature":"` + sig + `"`
		}
		return out + "}"
	}
	fr := func(id, text string) string {
		out := `{"functionResponse":{"name":"mcp_read","response":{"output":"` + text + `"}`
		if id != "" {
			out += `,"id":"` + id + `"`
		}
		return out + "}}"
	}
	const skip = "skip_thought_signature_validator"
	for name, c := range map[string]struct {
		model string
		in    []llm.Message
		want  string
	}{
		"a picture": {"gemini-3-pro", []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.Text, Text: "See"}, {Kind: llm.Image, Name: "a.png", Media: "image/png", Data: []byte("pic")}}}},
			`{"role":"user","parts":[{"text":"See"},{"inlineData":{"mimeType":"image/png","data":"cGlj"}}]}`},
		"parallel, signed by itself": {"gemini-3-pro", hello(says(call("made_1", me), call("made_2", "")), results("made_1", "made_2")),
			hi + `,{"role":"model","parts":[` + fc("", "sig") + `,` + fc("", "") + `]},{"role":"user","parts":[` + fr("", "made_1") + `,` + fr("", "made_2") + `]}`},
		"one after the other, each signed": {"gemini-3-pro", hello(says(call("made_1", me)), results("made_1"), says(call("made_2", me)), results("made_2")),
			hi + `,{"role":"model","parts":[` + fc("", "sig") + `]},{"role":"user","parts":[` + fr("", "made_1") + `]},{"role":"model","parts":[` + fc("", "sig") + `]},{"role":"user","parts":[` + fr("", "made_2") + `]}`},
		"from elsewhere, the first of each turn": {"gemini-3-pro", hello(says(call("a", "gemini/gemini-2.5-pro"), call("b", "openai/gpt")), results("b", "a"), says(call("c", "")), results("c")),
			hi + `,{"role":"model","parts":[` + fc("a", skip) + `,` + fc("b", "") + `]},{"role":"user","parts":[` + fr("a", "a") + `,` + fr("b", "b") + `]},{"role":"model","parts":[` + fc("c", skip) + `]},{"role":"user","parts":[` + fr("c", "c") + `]}`},
		"older models want no signature": {"gemini-2.5-pro", hello(says(call("a", "")), results("a")),
			hi + `,{"role":"model","parts":[` + fc("a", "") + `]},{"role":"user","parts":[` + fr("a", "a") + `]}`},
		"ids that come again are not sent": {"gemini-2.5-pro", hello(says(call("a", "")), results("a"), says(call("a", "")), results("a")),
			hi + `,{"role":"model","parts":[` + fc("", "") + `]},{"role":"user","parts":[` + fr("", "a") + `]},{"role":"model","parts":[` + fc("", "") + `]},{"role":"user","parts":[` + fr("", "a") + `]}`},
		"thoughts stay here, signatures go": {"gemini-3-pro", hello(says(llm.Part{Kind: llm.Reasoning, Text: "hm"},
			llm.Part{Kind: llm.Reasoning, Text: "ah", Opaque: json.RawMessage(`"t"`), OpaqueBy: me},
			llm.Part{Kind: llm.Text, Opaque: json.RawMessage(`"s"`), OpaqueBy: me}, llm.Part{Kind: llm.Text, Text: "So.", Opaque: json.RawMessage(`"x"`), OpaqueBy: "gemini/other"}, llm.Part{Kind: llm.Text})),
			hi + `,{"role":"model","parts":[{"text":"ah","thought":true,"thoughtSignature":"t"},{"text":"","thoughtSignature":"s"},{"text":"So."}]}`},
		"neighbours are joined, results first": {"gemini-2.5-pro", hello(says(call("a", ""), call("b", "")), results("a"), llm.Say(llm.User, "wait"), results("b")),
			hi + `,{"role":"model","parts":[` + fc("a", "") + `,` + fc("b", "") + `]},{"role":"user","parts":[` + fr("a", "a") + `,` + fr("b", "b") + `,{"text":"wait"}]}`},
	} {
		is(t, name, sent(t, c.model, llm.Tuning{}, llm.Request{Messages: c.in})["contents"], "["+c.want+"]")
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gemini-3-pro":  "/v1beta/models/gemini-3-pro:x",
		"tunedModels/a": "/v1beta/tunedModels/a:x",
		"a?key=b":       "/v1beta/models/a%3Fkey=b:x",
	} {
		if got := path(name, "x"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestExtra(t *testing.T) {
	t.Parallel()
	got := sent(t, "gemini-3-pro", llm.Tuning{Extra: json.RawMessage(`{"safetySettings":[]}`)}, llm.Request{Messages: hello()})
	is(t, "extra", got["safetySettings"], "[]")
	m, _ := New(Config{}).Model("gemini", llm.Tuning{Extra: json.RawMessage(`[]`)}).(*model)
	if _, err := m.body(&llm.Request{}, wire.NewToolbox(nil)); err == nil {
		t.Error("extra fields that are no object")
	}
}
