package conformance

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp/tasks"
)

// planned says which fixtures become tasks.
func planned(r *sdk.CallToolRequest) tasks.Plan {
	switch r.Params.Name {
	case "slow_compute", "protocol_error_job", "confirm_delete", "multi_input":
		return tasks.Plan{AtOnce: true}
	case "failing_job":
		return tasks.Plan{AtOnce: true, Required: true}
	case "test_tool_with_task": // it asks first, and is a task when it has its answer
		return tasks.Plan{AtOnce: len(r.Params.InputResponses) > 0}
	}
	return tasks.Plan{}
}

// open is the schema of a tool that takes what it likes.
var open = json.RawMessage(`{"type":"object"}`)

// addTasks registers tools that take long, ask, or fail.
func addTasks(s *sdk.Server) {
	tool := func(name string, f sdk.ToolHandler) {
		s.AddTool(&sdk.Tool{Name: name, Description: "For tests.", InputSchema: open}, f)
	}
	tool("greet", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Name string }
		err := json.Unmarshal(req.Params.Arguments, &in)
		return says("Hello, " + in.Name + "!"), err
	})
	tool("slow_compute", slowCompute)
	tool("failing_job", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res := says("The job failed.")
		res.IsError = true
		return res, nil
	})
	tool("protocol_error_job", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The job broke."}
	})
	tool("confirm_delete", questions("Deleted.", "confirm"))
	tool("multi_input", questions("Both were answered.", "first", "second"))
	tool("test_tool_with_task", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in := accepted(req.Params.InputResponses, "user_name")
		if in == nil {
			return asks("", sdk.InputRequestMap{"user_name": form("Who are you?", `{"name":{"type":"string"}}`)}), nil
		}
		name, _ := in["name"].(string)
		return says("Hello, " + name + "!"), nil
	})
}

func slowCompute(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Seconds float64 }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	select {
	case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
		return says("Computed."), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// questions asks several at once and goes on when all are answered.
func questions(done string, keys ...string) sdk.ToolHandler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		open := sdk.InputRequestMap{}
		for _, k := range keys {
			if req.Params.InputResponses[k] == nil {
				open[k] = form("Go on?", `{"confirm":{"type":"boolean"}}`)
			}
		}
		if len(open) > 0 {
			return asks("", open), nil
		}
		return says(done), nil
	}
}
