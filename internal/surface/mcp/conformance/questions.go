package conformance

//lint:file-ignore SA1019 the suites ask for sampling and roots, which are deprecated

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// form asks the client's user to fill in a form.
func form(message, properties string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`)}
}

// sample asks the client's model.
func sample(text string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}

// asks is a result that waits for answers.
func asks(state string, questions sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: questions, RequestState: state}
}

// accepted is what the user filled in, or nil.
func accepted(in sdk.InputResponseMap, key string) map[string]any {
	r, _ := in[key].(*sdk.ElicitResult)
	if r == nil || r.Action != "accept" {
		return nil
	}
	return r.Content
}

// sampled is what the model said.
func sampled(in sdk.InputResponseMap, key string) (string, bool) {
	r, _ := in[key].(*sdk.CreateMessageWithToolsResult)
	if r == nil {
		return "", false
	}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text, true
		}
	}
	return "", true
}

// once registers a tool that asks one question and tells the answer.
func once(s *sdk.Server, name, doc string, question sdk.InputRequest) {
	add(s, name, doc, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, ok := req.Params.InputResponses["answer"]
		if !ok {
			return asks("", sdk.InputRequestMap{"answer": question}), nil
		}
		b, err := json.Marshal(answer)
		return says("answered: " + string(b)), err
	})
}

// addQuestions registers tools that ask in ways that our own forms do not.
func addQuestions(s *sdk.Server) {
	s.AddTool(&sdk.Tool{
		Name: "test_sampling", Description: "Asks the client's model.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`),
	}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if text, ok := sampled(req.Params.InputResponses, "answer"); ok {
			return says("the model says: " + text), nil
		}
		var in struct{ Prompt string }
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return asks("", sdk.InputRequestMap{"answer": sample(in.Prompt)}), nil
	})
	once(s, "test_elicitation", "Asks who the user is.", form("Who are you?", `{"username": {"type": "string"}, "email": {"type": "string"}}`))
	once(s, "test_elicitation_sep1034_defaults", "Asks with a form that is filled in.", form("Is this right?", `{
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}}`))
	const titled = `[{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]`
	once(s, "test_elicitation_sep1330_enums", "Asks with every kind of choice.", form("Which ones?", `{
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": `+titled+`},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": `+titled+`}}}`))
}

// askName is the question that most of them ask.
func askName() *sdk.ElicitParams { return form("What is your name?", `{"name":{"type":"string"}}`) }

// addRounds registers tools that need more than one round.
func addRounds(s *sdk.Server) {
	const prefix = "test_input_required_result_"
	add(s, prefix+"elicitation", "Asks for a name.", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if name, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string); name != "" {
			return says("Hello, " + name), nil
		}
		return asks("", sdk.InputRequestMap{"user_name": askName()}), nil
	})
	once(s, prefix+"sampling", "Asks the client's model.", sample("What is the capital of France?"))
	once(s, prefix+"list_roots", "Asks where the client works.", &sdk.ListRootsParams{})
	add(s, prefix+"multiple_inputs", "Asks three things at once.", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in := req.Params.InputResponses
		name := accepted(in, "user_name")
		text, ok := sampled(in, "greeting")
		if r, _ := in["roots"].(*sdk.ListRootsResult); r != nil && ok && name != nil {
			return says(fmt.Sprintf("%s, %v: %d roots", text, name["name"], len(r.Roots))), nil
		}
		return asks("three", sdk.InputRequestMap{"user_name": askName(), "greeting": sample("Greet someone."), "roots": &sdk.ListRootsParams{}}), nil
	})
	add(s, prefix+"multi_round", "Asks one thing after the other.", rounds)
	add(s, prefix+"capabilities", "Asks only what the client declared.", declared)
}

// rounds remembers between its rounds in the state alone.
func rounds(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	in, state := req.Params.InputResponses, req.Params.RequestState
	switch name, second := strings.CutPrefix(state, "second:"); {
	case state == "":
		return asks("first", sdk.InputRequestMap{"name": askName()}), nil
	case !second:
		return asks(fmt.Sprintf("second:%v", accepted(in, "name")["name"]),
			sdk.InputRequestMap{"color": form("What is your favourite colour?", `{"color":{"type":"string"}}`)}), nil
	default:
		return says(fmt.Sprintf("%s likes %v", name, accepted(in, "color")["color"])), nil
	}
}

func declared(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	questions, c := sdk.InputRequestMap{}, req.ClientCapabilities()
	if c != nil && c.Elicitation != nil {
		questions["user_name"] = askName()
	}
	if c != nil && c.Sampling != nil {
		questions["greeting"] = sample("Greet someone.")
	}
	if len(req.Params.InputResponses) > 0 || len(questions) == 0 {
		return says("nothing more to ask"), nil
	}
	return asks("", questions), nil
}
