package quote

import (
	"encoding/json"
	"strings"
	"testing"

	"lore/internal/llm"
)

var tools = []llm.Tool{
	{Name: "find_it", Description: "Finds things. More.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`), Roles: []string{Search}},
	{Name: "rename", Description: "Renames.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"path":{"type":"string"},"new":{"type":"string"},"why":{"type":"string"},"tags":{"type":"array"},"deep":{"type":"boolean"}},"required":["path","new"]}`)},
}

func ask(messages ...llm.Message) llm.Part {
	return answer(&llm.Request{Tools: tools, Messages: messages})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`/rename a b`:         `{"new":"b","path":"a"}`,
		`/rename "a b" 'c d'`: `{"new":"c d","path":"a b"}`,
		`/rename a b c`:       `{"new":"b c","path":"a"}`,
		`/rename path=x new="y z" n=3 deep=true tags=a,b`: `{"deep":true,"n":3,"new":"y z","path":"x","tags":["a","b"]}`,
		`/rename a b "because of it"`:                     `{"new":"b","path":"a","why":"because of it"}`,
		`/rename {"path": "a"}`:                           `{"path": "a"}`,
		`/rename {"path": `:                               "/rename: the arguments are not JSON",
		`/rename a`:                                       "/rename: new is missing",
		`/rename path=a new=b c`:                          `/rename: unexpected argument "c"; write key=value, or JSON`,
		`/nam`:                                            "There is no tool /nam. Did you mean /rename?",
		`/nothing at all`:                                 "There is no tool /nothing. /help lists them.",
		`/help`:                                           "- /rename PATH NEW: Renames",
	} {
		p := ask(llm.Say(llm.User, text))
		got := p.Text
		if p.Kind == llm.ToolCall {
			got = string(p.Args)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	p := ask(llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.Text, Text: "(now)"}, {Kind: llm.Text, Text: "how hot?"}}})
	if p.Kind != llm.ToolCall || p.Name != "find_it" || string(p.Args) != `{"query":"how hot?","top_k":5}` {
		t.Fatalf("%+v", p)
	}
	said := []llm.Message{llm.Say(llm.User, "how hot?"), {Role: llm.Assistant, Parts: []llm.Part{p}}}
	found := func(text string) string {
		return ask(append(said, llm.Message{Role: llm.Results, Parts: []llm.Part{{Kind: llm.ToolResult, ID: "search", Text: text}}})...).Text
	}
	got := found(`{"success":true,"results":[{"path":"a/Tea.md","heading":"Tea > Brewing","chunk":"At 80.\nNot more."},{"path":"b.md","chunk":"x"},{"path":"c.md","chunk":"y"},{"path":"d.md","chunk":"z"}]}`)
	for _, want := range []string{"> At 80.\n> Not more.", "[[a/Tea#Brewing]]", "See also [[d]].", "No language model is connected"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if got := found(`{"success":true,"results":[]}`); !strings.Contains(got, `No note matches "how hot?"`) {
		t.Error(got)
	}
	if got := found(`{"success":false,"error":"broken"}`); !strings.Contains(got, "The search failed") {
		t.Error(got)
	}
	if got := answer(&llm.Request{Messages: said[:1]}).Text; !strings.Contains(got, "nothing to quote") {
		t.Error(got)
	}
}
