// Package conformance holds what the official conformance suites of the Model
// Context Protocol ask for by name: tools, resources and prompts that a server
// under test must have, and a client that plays their scenarios.
//
// Whatever our own registry can express is a tool there, and so goes the way of
// every tool; the rest is registered with the library. None of it is offered to
// anyone unless a hidden switch says so. The package knows no vault.
//
//lint:file-ignore SA1019 the suites ask for logging, sampling and roots, which are deprecated
package conformance

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
)

// Set is the toolset of the fixtures that are tools of the registry.
const Set = "conformance"

// extra adds the fixtures that the registry cannot express to a server.
func extra() *mcp.Extra {
	return &mcp.Extra{
		Options: func(o *sdk.ServerOptions) {
			o.Capabilities.Logging = &sdk.LoggingCapabilities{}
			o.Capabilities.Prompts.ListChanged = true
			o.Capabilities.Resources.Subscribe = true
			o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
			o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
		},
		Register: func(s *sdk.Server) {
			addContent(s)
			addNotices(s)
			addSchemas(s)
			addQuestions(s)
			addRounds(s)
			addResources(s)
			addPrompts(s)
			addTasks(s)
		},
	}
}

// nothing is the schema of a tool without arguments.
var nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// add registers a tool without arguments.
func add(s *sdk.Server, name, doc string, f sdk.ToolHandler) {
	s.AddTool(&sdk.Tool{Name: name, Description: doc, InputSchema: nothing}, f)
}

// says is a result of one text.
func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// always answers the same, whatever is asked.
func always(content ...sdk.Content) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}
