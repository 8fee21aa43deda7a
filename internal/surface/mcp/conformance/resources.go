package conformance

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources registers resources that are no notes.
func addResources(s *sdk.Server) {
	fixed := func(name, kind string, c sdk.ResourceContents) {
		uri := "test://" + name
		c.URI, c.MIMEType = uri, kind
		s.AddResource(&sdk.Resource{Name: name, Description: "For tests.", MIMEType: kind, URI: uri},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				out := c
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&out}}, nil
			})
	}
	fixed("static-text", "text/plain", sdk.ResourceContents{Text: "A text that does not change."})
	fixed("static-binary", "image/png", sdk.ResourceContents{Blob: picture})
	fixed("watched-resource", "text/plain", sdk.ResourceContents{Text: "A text to follow."})
	const before, after = "test://template/", "/data"
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", Description: "For tests.", MIMEType: "application/json", URITemplate: before + "{id}" + after},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			uri := req.Params.URI
			id := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
			b, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(b)}}}, err
		})
}

func prompt(content ...sdk.Content) *sdk.GetPromptResult {
	r := &sdk.GetPromptResult{Description: "For tests."}
	for _, c := range content {
		r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return r
}

func simplePrompt(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	return prompt(&sdk.TextContent{Text: "This is a simple prompt for testing."}), nil
}

// addPrompts registers prompts for every kind of content.
func addPrompts(s *sdk.Server) {
	register := func(name string, f func(args map[string]string) *sdk.GetPromptResult, args ...string) {
		p := &sdk.Prompt{Name: name, Description: "For tests."}
		for _, a := range args {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Description: "For tests.", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return f(req.Params.Arguments), nil
		})
	}
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "For tests."}, simplePrompt)
	register("test_prompt_with_arguments", func(args map[string]string) *sdk.GetPromptResult {
		return prompt(&sdk.TextContent{Text: "Prompt with arguments: arg1='" + args["arg1"] + "', arg2='" + args["arg2"] + "'"})
	}, "arg1", "arg2")
	register("test_prompt_with_embedded_resource", func(args map[string]string) *sdk.GetPromptResult {
		return prompt(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "An embedded text."}},
			&sdk.TextContent{Text: "Look at the text above."})
	}, "resourceUri")
	register("test_prompt_with_image", func(map[string]string) *sdk.GetPromptResult {
		return prompt(&sdk.ImageContent{Data: picture, MIMEType: "image/png"}, &sdk.TextContent{Text: "Look at the picture above."})
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "For tests."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if in := accepted(req.Params.InputResponses, "context"); in != nil {
				text, _ := in["context"].(string)
				return prompt(&sdk.TextContent{Text: "Context: " + text}), nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"context": form("What is it about?", `{"context":{"type":"string"}}`)}}, nil
		})
}
