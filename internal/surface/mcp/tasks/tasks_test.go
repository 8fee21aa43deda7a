package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp/tasks"
)

type args struct {
	Name    string  `json:"name,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

func asks(keys ...string) *sdk.CallToolResult {
	res := &sdk.CallToolResult{RequestState: "state", InputRequests: sdk.InputRequestMap{}}
	for _, k := range keys {
		res.InputRequests[k] = &sdk.ElicitParams{Mode: "form", Message: k, RequestedSchema: &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
		}}
	}
	return res
}

// fixtures adds the tools that the suite of the protocol asks for, and one that
// says itself that it takes long.
func fixtures(s *sdk.Server, release <-chan struct{}) {
	add := func(name string, f func(context.Context, *sdk.CallToolRequest, args) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: name}, func(ctx context.Context, r *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
			res, err := f(ctx, r, in)
			return res, nil, err
		})
	}
	add("greet", func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, error) {
		return text("Hello, " + in.Name + "!"), nil
	})
	slow := func(ctx context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, error) {
		if in.Seconds == 0 {
			return text("done"), nil
		}
		select {
		case <-release:
			return text("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	add("slow_compute", slow)
	add("unplanned", slow)
	add("failing_job", func(context.Context, *sdk.CallToolRequest, args) (*sdk.CallToolResult, error) {
		return nil, errors.New("the job failed")
	})
	add("protocol_error_job", func(context.Context, *sdk.CallToolRequest, args) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "boom"}
	})
	add("confirm_delete", func(_ context.Context, r *sdk.CallToolRequest, _ args) (*sdk.CallToolResult, error) {
		if r.Params.InputResponses["yes"] == nil {
			return asks("yes"), nil
		}
		return text(r.Params.RequestState + " " + r.Params.InputResponses["yes"].(*sdk.ElicitResult).Action), nil
	})
	add("multi_input", func(_ context.Context, r *sdk.CallToolRequest, _ args) (*sdk.CallToolResult, error) {
		if len(r.Params.InputResponses) < 2 {
			return asks("one", "two"), nil
		}
		return text("both"), nil
	})
	add("test_tool_with_task", func(_ context.Context, r *sdk.CallToolRequest, _ args) (*sdk.CallToolResult, error) {
		if r.Params.InputResponses["user_name"] == nil {
			return asks("user_name"), nil
		}
		return text(fmt.Sprint("Hello ", r.Params.InputResponses["user_name"].(*sdk.ElicitResult).Content["name"])), nil
	})
	add("patient", func(ctx context.Context, _ *sdk.CallToolRequest, _ args) (*sdk.CallToolResult, error) {
		became := tasks.Promote(ctx, 2*time.Hour, "waiting")
		select {
		case <-release:
			return text(fmt.Sprint("task: ", became, tasks.Say(ctx, "over"))), nil
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, cancelled: %v", ctx.Err(), tasks.Cancelled(ctx))
		}
	})
}

// planned says of the fixtures what the suite wants of them.
func planned(r *sdk.CallToolRequest) tasks.Plan {
	switch r.Params.Name {
	case "slow_compute", "confirm_delete", "multi_input", "protocol_error_job":
		return tasks.Plan{AtOnce: true}
	case "failing_job":
		return tasks.Plan{AtOnce: true, Required: true}
	case "test_tool_with_task":
		return tasks.Plan{AtOnce: len(r.Params.InputResponses) > 0}
	}
	return tasks.Plan{}
}

// A site serves the fixtures to several owners, told by a header.
type site struct {
	t       *testing.T
	url     string
	release chan struct{}
	book    *tasks.Book
	less    atomic.Bool // less is shared than before
}

func (s *site) shares(context.Context) func(context.Context) bool {
	return func(context.Context) bool { return s.less.Load() }
}

func serve(t *testing.T, o tasks.Options) *site {
	t.Helper()
	s := &site{t: t, release: make(chan struct{}), book: tasks.New(o)}
	faces := map[string]*sdk.Server{}
	for _, owner := range []string{"anna", "bert"} {
		caps := &sdk.ServerCapabilities{}
		caps.AddExtension(tasks.Extension, nil)
		f := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{Capabilities: caps})
		fixtures(f, s.release)
		if err := s.book.Register(f, owner, func(context.Context, json.RawMessage) error { return nil }); err != nil {
			t.Fatal(err)
		}
		f.AddReceivingMiddleware(s.book.Middleware(owner, planned, s.shares))
		faces[owner] = f
	}
	h := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return faces[r.Header.Get("Who")] },
		&sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(s.book.Close)
	s.url = srv.URL
	return s
}

type reply struct {
	Result map[string]any
	Error  *struct {
		Code int
		Data map[string]any
	}
}

const with, without = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{"elicitation":{"form":{}}}`

func (s *site) send(who, can, method, name, params string) reply {
	s.t.Helper()
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, method, params, can)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, bytes.NewReader([]byte(msg)))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name, "Who": who,
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if d, ok := strings.CutPrefix(l, "data: "); ok {
			b = []byte(d)
		}
	}
	var out reply
	if err := json.Unmarshal(b, &out); err != nil {
		s.t.Fatalf("%v: %s", err, b)
	}
	return out
}

// call calls a tool as Anna, who has tasks.
func (s *site) call(name, params string) reply {
	s.t.Helper()
	return s.send("anna", with, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{%s}`, name, params))
}

// make calls a tool and returns the task that it became.
func (s *site) make(name, params string) string {
	s.t.Helper()
	r := s.call(name, params)
	id, _ := r.Result["taskId"].(string)
	if r.Result["resultType"] != "task" || id == "" || r.Result["result"] != nil || r.Result["requestState"] != nil || r.Result["inputRequests"] != nil {
		s.t.Fatalf("%s is no task: %+v", name, r)
	}
	return id
}

func (s *site) about(method, id, more string) reply {
	s.t.Helper()
	return s.send("anna", with, method, id, fmt.Sprintf(`"taskId":%q%s`, id, more))
}

// until asks until a task is in one of these states.
func (s *site) until(id string, states ...string) map[string]any {
	s.t.Helper()
	for s.t.Context().Err() == nil {
		r := s.about("tasks/get", id, "")
		if st, _ := r.Result["status"].(string); r.Error != nil || slices.Contains(states, st) {
			if r.Result["resultType"] != "complete" || r.Result["requestState"] != nil {
				s.t.Errorf("tasks/get: %+v", r)
			}
			return r.Result
		}
	}
	return nil
}

func isAck(r reply) bool {
	return r.Result["resultType"] == "complete" && r.Result["taskId"] == nil && r.Result["status"] == nil
}

func textOf(m map[string]any) string {
	b, _ := json.Marshal(m)
	return string(b)
}

func TestLifeOfTasks(t *testing.T) {
	s := serve(t, tasks.Options{})
	if r := s.call("greet", `"name":"x"`); r.Result["resultType"] != "complete" || r.Result["taskId"] != nil || r.Result["content"] == nil {
		t.Errorf("a quick call: %+v", r)
	}
	id := s.make("slow_compute", `"seconds":1`)
	if got := s.until(id, "working"); got["result"] != nil || got["ttlMs"].(float64) <= 0 || got["pollIntervalMs"].(float64) <= 0 {
		t.Errorf("working: %v", got)
	}
	lost := s.make("slow_compute", `"seconds":60`)
	if r := s.about("tasks/cancel", lost, ""); !isAck(r) {
		t.Errorf("cancel: %+v", r)
	}
	s.until(lost, "cancelled")
	close(s.release)
	if got := s.until(id, "completed", "failed"); !strings.Contains(textOf(got), `"text":"done"`) || got["error"] != nil {
		t.Errorf("completed: %v", got)
	}
	if r := s.about("tasks/cancel", id, ""); !isAck(r) || s.until(id, "completed", "cancelled")["status"] != "completed" {
		t.Errorf("cancelled when it was over: %+v", r)
	}
	if got := s.until(s.make("failing_job", ""), "completed", "failed"); got["status"] != "completed" || !strings.Contains(textOf(got), `"isError":true`) {
		t.Errorf("a tool that fails: %v", got)
	}
	if got := s.until(s.make("protocol_error_job", ""), "completed", "failed"); got["status"] != "failed" || got["result"] != nil || !strings.Contains(textOf(got), `"message":"boom"`) {
		t.Errorf("a protocol error: %v", got)
	}
}

// TestResultsOfTasksAreShared: a result waits in its task only as long as it may be
// told to the owner.
func TestResultsOfTasksAreShared(t *testing.T) {
	s := serve(t, tasks.Options{})
	id := s.make("slow_compute", `"seconds":1`)
	close(s.release)
	if got := s.until(id, "completed", "failed"); got["result"] == nil {
		t.Fatalf("%v", got)
	}
	s.less.Store(true)
	if got := s.until(id, "completed", "failed"); got["status"] != "failed" || got["result"] != nil || !strings.Contains(textOf(got), "no longer shared") {
		t.Errorf("%v", got)
	}
}

func TestTasksThatAsk(t *testing.T) {
	s := serve(t, tasks.Options{})
	id := s.make("confirm_delete", "")
	if got := s.until(id, "input_required"); !strings.Contains(textOf(got), `"inputRequests":{"yes":{"method":"elicitation/create"`) {
		t.Errorf("asks: %v", got)
	}
	if r := s.about("tasks/update", id, `,"inputResponses":{"other":{"ignored":true}}`); !isAck(r) || s.until(id, "input_required", "completed")["status"] != "input_required" {
		t.Errorf("an answer to nothing: %+v", r)
	}
	if r := s.about("tasks/update", id, `,"inputResponses":{"yes":{"action":"accept","content":{}}}`); !isAck(r) {
		t.Errorf("update: %+v", r)
	}
	if got := s.until(id, "completed"); !strings.Contains(textOf(got), "state accept") {
		t.Errorf("answered: %v", got)
	}
	id = s.make("multi_input", "")
	s.until(id, "input_required")
	s.about("tasks/update", id, `,"inputResponses":{"one":{"action":"accept","content":{}}}`)
	if got := s.until(id, "input_required", "completed"); !strings.Contains(textOf(got), `"two":`) || strings.Contains(textOf(got), `"one":`) {
		t.Errorf("half answered: %v", got)
	}
	s.about("tasks/update", id, `,"inputResponses":{"two":{"action":"decline"}}`)
	s.until(id, "completed")
	id = s.make("multi_input", "")
	s.until(id, "input_required")
	if r := s.about("tasks/cancel", id, ""); !isAck(r) || s.until(id, "cancelled")["inputRequests"] != nil {
		t.Errorf("cancelled while it asks: %+v", r)
	}
	// A call may ask first, and be a task when it has its answers.
	r := s.call("test_tool_with_task", "")
	if r.Result["resultType"] != "input_required" || r.Result["taskId"] != nil {
		t.Fatalf("first round: %+v", r)
	}
	r = s.send("anna", with, "tools/call", "test_tool_with_task",
		`"name":"test_tool_with_task","arguments":{},"requestState":"state","inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}}}`)
	if r.Result["resultType"] != "task" || r.Result["requestState"] != nil || !strings.Contains(textOf(s.until(r.Result["taskId"].(string), "completed")), "Hello Alice") {
		t.Errorf("second round: %+v", r)
	}
}

// TestWhoseTasks: nobody sees the task of another, and who does not declare the
// extension sees none.
func TestWhoseTasks(t *testing.T) {
	s := serve(t, tasks.Options{})
	id := s.make("slow_compute", `"seconds":60`)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		params := fmt.Sprintf(`"taskId":%q`, id)
		for name, c := range map[string]struct {
			r    reply
			code int
		}{
			"another":       {s.send("bert", with, method, id, params), jsonrpc.CodeInvalidParams},
			"no extension":  {s.send("anna", without, method, id, params), -32021},
			"wrong header":  {s.send("anna", with, method, "task-x", params), -32020},
			"no header":     {s.send("anna", with, method, "", params), -32020},
			"unknown task":  {s.about(method, "task-none", ""), jsonrpc.CodeInvalidParams},
			"no id":         {s.send("anna", with, method, "", `"x":1`), jsonrpc.CodeInvalidParams},
			"removed":       {s.about("tasks/result", id, ""), jsonrpc.CodeMethodNotFound},
			"removed, list": {s.about("tasks/list", id, ""), jsonrpc.CodeMethodNotFound},
		} {
			if c.r.Error == nil || c.r.Error.Code != c.code {
				t.Errorf("%s, %s: %+v, want %d", method, name, c.r, c.code)
			}
		}
	}
	if s.until(id, "working", "cancelled")["status"] != "working" {
		t.Error("a stranger cancelled it")
	}
	r := s.send("anna", without, "tools/call", "failing_job", `"name":"failing_job","arguments":{}`)
	if r.Error == nil || r.Error.Code != -32021 || !strings.Contains(textOf(r.Error.Data), `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`) {
		t.Errorf("a call that needs tasks: %+v", r)
	}
	r = s.send("anna", without, "tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":0}`)
	if r.Result["resultType"] != "complete" || r.Result["content"] == nil {
		t.Errorf("a call without tasks: %+v", r)
	}
}

// TestPromotion: a call becomes a task when its handler says so, or when it has
// taken a while.
func TestPromotion(t *testing.T) {
	now, soon := time.Unix(1000, 0), make(chan time.Time, 1)
	s := serve(t, tasks.Options{Now: func() time.Time { return now }, After: func(time.Duration) <-chan time.Time { return soon }})
	id := s.make("patient", "")
	if got := s.until(id, "working"); got["statusMessage"] != "waiting" || got["ttlMs"] != 7200000.0 {
		t.Errorf("%v", got)
	}
	s.about("tasks/cancel", id, "")
	s.until(id, "cancelled")
	soon <- now // time passes
	id = s.make("unplanned", `"seconds":60`)
	s.about("tasks/cancel", id, "")
	s.until(id, "cancelled")
	id = s.make("patient", "")
	close(s.release)
	if got := s.until(id, "completed"); !strings.Contains(textOf(got), "task: true true") {
		t.Errorf("%v", got)
	}
	// Life is over some time.
	now = now.Add(3 * time.Hour)
	if r := s.about("tasks/get", id, ""); r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("after its life: %+v", r)
	}
}

func TestNoRoom(t *testing.T) {
	s := serve(t, tasks.Options{})
	for range 64 {
		s.make("slow_compute", `"seconds":60`)
	}
	close(s.release)
	if r := s.call("slow_compute", `"seconds":60`); r.Result["resultType"] != "complete" || r.Result["taskId"] != nil {
		t.Errorf("the 65th: %+v", r)
	}
	if r := s.send("bert", with, "tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":60}`); r.Result["resultType"] != "task" {
		t.Errorf("another has room: %+v", r)
	}
}
