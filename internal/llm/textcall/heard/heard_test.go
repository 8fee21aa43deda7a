package heard

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/llmtest"
)

var tools = []llm.Tool{
	{Name: "find", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
	{Name: "now", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
}

// TestWrap: calls that are written as text although the model could call are made;
// everything else comes as it was said, in its order.
func TestWrap(t *testing.T) {
	t.Parallel()
	const written = "I look. <tool_call>{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}</tool_call>"
	own := llm.Part{Kind: llm.ToolCall, ID: "own", Name: "now", Args: json.RawMessage(`{}`)}
	for name, c := range map[string]struct {
		step llmtest.Step
		want string // kinds of parts, texts and calls
		said string
		stop llm.Stop
	}{
		"written":             {llmtest.Step{Chunks: strings.Split(written, "")}, "text(I look. ) find", "I look. ", llm.WantsTool},
		"only a call":         {llmtest.Text("<tool_call>{\"name\":\"now\"}</tool_call>"), "now", "", llm.WantsTool},
		"after thoughts":      {llmtest.Step{Reasoning: []string{"hm"}, Chunks: []string{written}}, "reasoning text(I look. ) find", "I look. ", llm.WantsTool},
		"beside its own":      {llmtest.Step{Chunks: []string{written}, Calls: []llm.Part{own}}, "text(" + written + ") now", written, llm.WantsTool},
		"plain":               {llmtest.Step{Chunks: []string{"Tea ", "is green."}}, "text(Tea is green.)", "Tea is green.", llm.Stopped},
		"in a sentence":       {llmtest.Text(written + " would be such a call."), "text(" + written + " would be such a call.)", written + " would be such a call.", llm.Stopped},
		"in code":             {llmtest.Text("Write it so:\n\n```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```\nas I said."), "text(Write it so:\n\n```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```\nas I said.)", "Write it so:\n\n```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```\nas I said.", llm.Stopped},
		"cut":                 {llmtest.Step{Chunks: []string{written}, Stop: llm.TooLong}, "text(" + written + ")", written, llm.TooLong},
		"a tool of no one's":  {llmtest.Text("<tool_call>{\"name\":\"nothing\"}</tool_call>"), "text(<tool_call>{\"name\":\"nothing\"}</tool_call>)", "<tool_call>{\"name\":\"nothing\"}</tool_call>", llm.Stopped},
		"its own and a word":  {llmtest.Step{Chunks: []string{"Now."}, Calls: []llm.Part{own}}, "text(Now.) now", "Now.", llm.WantsTool},
		"broken off in a tag": {llmtest.Step{Chunks: []string{"I look. <tool_call>{\"name\""}, Err: errors.New("reset")}, "error", "I look. <tool_call>{\"name\"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var parts []string
			said, stop := "", llm.Stop("")
			for e, err := range Wrap(llmtest.New(c.step)).Stream(t.Context(), llm.Request{Tools: tools}) {
				switch {
				case err != nil:
					parts = append(parts, "error")
				case e.Type == llm.TextDelta:
					said += e.Text
				case e.Type == llm.Finish:
					stop = e.Stop
				case e.Type != llm.PartDone:
				case e.Part.Kind == llm.Text:
					parts = append(parts, "text("+e.Part.Text+")")
				case e.Part.Kind == llm.ToolCall:
					if isOwn := e.Part.ID == "own"; isOwn == e.Part.FromText {
						t.Errorf("%+v", e.Part)
					}
					parts = append(parts, e.Part.Name)
				default:
					parts = append(parts, string(e.Part.Kind))
				}
			}
			if got := strings.Join(parts, " "); got != c.want || said != c.said || stop != c.stop {
				t.Errorf("parts %s\nsaid %q, stop %q", got, said, stop)
			}
		})
	}
}

// TestArgumentsAreMended: arguments that are nearly JSON are read as those of a written call
// are; what is open stays as it came.
func TestArgumentsAreMended(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"query": "x",}`:     `{"query":"x"} a trailing comma`,
		`{'query': 'x'}`:      `{"query":"x"} single quotes`,
		`{"query": "x"`:       `"{\"query\": \"x\"" `,
		`{"query": "x"} done`: `"{\"query\": \"x\"} done" `,
		`words`:               `"words" `,
	} {
		args, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		a, err := llm.Ask(t.Context(), Wrap(llmtest.New(llmtest.Step{Calls: []llm.Part{{ID: "a", Name: "find", Args: args}}})), llm.Request{Tools: tools})
		if err != nil || len(a.Parts) != 1 {
			t.Fatalf("%v: %+v", err, a)
		}
		if got := string(a.Parts[0].Args) + " " + a.Parts[0].Repaired; got != want {
			t.Errorf("%s became %s", said, got)
		}
	}
}
