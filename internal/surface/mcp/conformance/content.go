package conformance

//lint:file-ignore SA1019 the suites ask for logging, which is deprecated

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The smallest picture and the shortest sound.
var (
	picture = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	sound   = decoded("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=")
)

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// addContent registers a tool for every kind of content that ours never send.
func addContent(s *sdk.Server) {
	embedded := func(uri string) sdk.Content {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded text."}}
	}
	image := &sdk.ImageContent{Data: picture, MIMEType: "image/png"}
	add(s, "test_image_content", "Answers with a picture.", always(image))
	add(s, "test_audio_content", "Answers with a sound.", always(&sdk.AudioContent{Data: sound, MIMEType: "audio/wav"}))
	add(s, "test_embedded_resource", "Answers with a resource.", always(embedded("test://embedded-resource")))
	add(s, "test_multiple_content_types", "Answers with a text, a picture and a resource.",
		always(&sdk.TextContent{Text: "Three kinds of content:"}, image, embedded("test://mixed-content-resource")))
	add(s, "test_streaming_elicitation", "Answers on a stream that carries no request.", always(&sdk.TextContent{Text: "no request was sent"}))
}

// addNotices registers tools that tell something while they run.
func addNotices(s *sdk.Server) {
	log := func(name, doc string, lines ...string) {
		add(s, name, doc, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, l := range lines {
				if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: l}); err != nil {
					return nil, err
				}
			}
			return says("logged"), nil
		})
	}
	log("test_tool_with_logging", "Logs three lines.", "begun", "under way", "done")
	log("test_logging_tool", "Logs one line to whoever wants to hear it.", "called")
	add(s, "test_tool_with_progress", "Tells how far it is.", progress)
	add(s, "test_reconnection", "Hangs up in the middle of a call.", hangUp)
	add(s, "test_missing_capability", "Needs a client that can sample.", needsSampling)
	add(s, "test_trigger_prompt_change", "Makes the list of prompts another one.", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "test_passing_prompt", Description: "Makes the list another one."}, simplePrompt)
		return says("the list of prompts has changed"), nil
	})
}

func progress(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100, Message: fmt.Sprintf("%.0f of 100", done)}
		if err := req.Session.NotifyProgress(ctx, p); err != nil {
			return nil, err
		}
	}
	return says(fmt.Sprint(token)), nil
}

// away is how long a client has to notice that the stream ended.
const away = 100 * time.Millisecond

// hangUp closes the stream of its own call: the client must come back for the
// answer.
func hangUp(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: away / 10})
	}
	select {
	case <-time.After(away):
		return says("you came back"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return says("the client can sample"), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: data}
}

// addSchemas registers tools whose schemas must come through as they are.
func addSchemas(s *sdk.Server) {
	s.AddTool(&sdk.Tool{Name: "json_schema_2020_12_tool", Description: "Has a schema with everything in it.", InputSchema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"},
			"address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"},
			"email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false
	}`)}, always(&sdk.TextContent{Text: "called"}))
	s.AddTool(&sdk.Tool{Name: "test_x_mcp_header", Description: "Has an argument that stands in a header, too.", InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {
			"region": {"type": "string", "description": "Stands in Mcp-Param-Region.", "x-mcp-header": "Region"},
			"level": {"type": "integer", "description": "Stands in no header."}
		}
	}`)}, always(&sdk.TextContent{Text: "called"}))
}
