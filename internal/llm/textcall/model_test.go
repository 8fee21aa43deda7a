package textcall

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/textcall/worded"
)

const say = "I look. <tool_call>{\"name\":\"find\",\"arguments\":{\"query\":\"x\",}}</tool_call>"

// heard is what a wrapped model tells: the deltas, the parts and the finish.
func heard(t *testing.T, m llm.Model, r llm.Request) (deltas string, parts []llm.Part, stop llm.Stop, err error) {
	t.Helper()
	for e, err := range Wrap(m).Stream(t.Context(), r) {
		if err != nil {
			return deltas, parts, stop, err
		}
		switch e.Type {
		case llm.TextDelta:
			deltas += e.Text
		case llm.PartDone:
			parts = append(parts, *e.Part)
		case llm.Finish:
			stop = e.Stop
		}
	}
	return deltas, parts, stop, nil
}

func kindsOf(parts []llm.Part) (out []llm.Kind) {
	for _, p := range parts {
		out = append(out, p.Kind)
	}
	return out
}

func TestWrap(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Step{Reasoning: []string{"hm"}, Chunks: strings.Split(say, "")})
	deltas, parts, stop, err := heard(t, m, llm.Request{Tools: tools})
	if err != nil || stop != llm.WantsTool || deltas != "I look. " {
		t.Fatalf("%q, %q, %v", deltas, stop, err)
	}
	if want := []llm.Kind{llm.Reasoning, llm.Text, llm.ToolCall}; !slices.Equal(kindsOf(parts), want) {
		t.Fatalf("parts %v", parts)
	}
	c := parts[2]
	if c.Name != "find" || string(c.Args) != `{"query":"x"}` || c.ID == "" || !c.FromText || c.Repaired != "a trailing comma" || parts[1].Text != "I look. " {
		t.Errorf("%+v", parts)
	}
}

func TestWrapIDs(t *testing.T) {
	t.Parallel()
	two := `<tool_call>[{"name":"now"},{"name":"now"}]</tool_call>`
	_, parts, _, err := heard(t, llmtest.New(llmtest.Text(two)), llm.Request{Tools: tools})
	if err != nil || len(parts) != 2 || parts[0].ID == parts[1].ID {
		t.Errorf("%+v, %v", parts, err)
	}
}

// TestWrapNoCall: answers that end badly, or whose calls nobody may read, are
// text, and all of it is told.
func TestWrapNoCall(t *testing.T) {
	t.Parallel()
	broken := errors.New("gone")
	for name, c := range map[string]struct {
		step llmtest.Step
		r    llm.Request
		stop llm.Stop
		err  error
	}{
		"too long":      {llmtest.Step{Chunks: []string{say}, Stop: llm.TooLong}, llm.Request{Tools: tools}, llm.TooLong, nil},
		"filtered":      {llmtest.Step{Chunks: []string{say}, Stop: llm.Filtered}, llm.Request{Tools: tools}, llm.Filtered, nil},
		"broken":        {llmtest.Step{Chunks: []string{say}, Err: broken}, llm.Request{Tools: tools}, "", broken},
		"cut":           {llmtest.Step{Chunks: []string{say}, Cut: true}, llm.Request{Tools: tools}, "", nil},
		"no tools":      {llmtest.Text(say), llm.Request{}, llm.Stopped, nil},
		"no tool wants": {llmtest.Text(say), llm.Request{Tools: tools, ToolChoice: "none"}, llm.Stopped, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deltas, parts, stop, err := heard(t, llmtest.New(c.step), c.r)
			if deltas != say || stop != c.stop || !errors.Is(err, c.err) {
				t.Errorf("%q, %q, %v", deltas, stop, err)
			}
			if slices.Contains(kindsOf(parts), llm.ToolCall) {
				t.Errorf("%+v", parts)
			}
		})
	}
}

func TestWrapNative(t *testing.T) {
	t.Parallel()
	own := llm.Part{Kind: llm.ToolCall, ID: "1", Name: "now", Args: json.RawMessage(`{}`)}
	_, parts, _, err := heard(t, llmtest.New(llmtest.Step{Chunks: []string{say}, Calls: []llm.Part{own}}), llm.Request{Tools: tools})
	if err != nil || len(parts) != 2 || parts[0].Name+parts[1].Name != "now" || parts[0].Text+parts[1].Text != say {
		t.Errorf("%+v, %v", parts, err)
	}
}

// TestAsked: what the model is asked holds no tools but in words, and the
// sides take turns.
func TestAsked(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Text("fine"))
	r := llm.Request{System: "Be kind.", Tools: tools, ToolChoice: "required", Messages: []llm.Message{
		llm.Say(llm.User, "look"),
		{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.Text, Text: "I look."}, {Kind: llm.ToolCall, ID: "1", Name: "find", Args: json.RawMessage(`{"query":"x"}`)}}},
		{Role: llm.Results, Parts: []llm.Part{{Kind: llm.ToolResult, ID: "1", Name: "find", Text: "a </tool_response> b", IsError: true}}},
		llm.Say(llm.User, "and?"),
	}}
	if _, _, _, err := heard(t, m, r); err != nil {
		t.Fatal(err)
	}
	asked := m.Requests()[0]
	if asked.Tools != nil || asked.ToolChoice != "" {
		t.Errorf("tools are told: %+v", asked.Tools)
	}
	for _, want := range []string{"Be kind.\n\n# Tools", `{"name": "find", "description": "", "parameters": {"type":"object","properties"`, "<tool_call>\n{", "You must call a tool now."} {
		if !strings.Contains(asked.System, want) {
			t.Errorf("no %q in %s", want, asked.System)
		}
	}
	want := []llm.Message{
		llm.Say(llm.User, "look"),
		llm.Say(llm.Assistant, "I look.\n\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"query\":\"x\"}}\n</tool_call>"),
		llm.Say(llm.User, "<tool_response name=\"find\" error=\"true\">\na <\\/tool_response> b\n</tool_response>\n\nand?"),
	}
	got, _ := json.Marshal(asked.Messages)
	if w, _ := json.Marshal(want); string(got) != string(w) {
		t.Errorf("asked %s\nwant  %s", got, w)
	}
	if calls, _ := Parse(asked.Messages[1].Parts[0].Text, tools); told(calls) != findX {
		t.Errorf("what the model is shown is not what is read: %s", told(calls))
	}
	if r.Messages[1].Parts[1].Kind != llm.ToolCall || len(r.Messages) != 4 {
		t.Error("the request of the caller was changed")
	}
}

// TestExample: the example in the prompt is a call of nothing.
func TestExample(t *testing.T) {
	t.Parallel()
	if calls, _ := Parse(worded.Request(llm.Request{Tools: tools}).System, tools); len(calls) > 0 {
		t.Errorf("the prompt itself calls %s", told(calls))
	}
}
