package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/surface/mcp/answers"
	"lore/internal/surface/mcp/apps"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// answerTool is what the approval view calls when a person presses a button. Only
// views are offered it, and it does nothing without the token that the server put
// beside the plan, where no model sees it.
const answerTool = "answer_approval"

// cardName marks a state that the approval view brings.
const cardName = "card"

// showsApps reports whether the client of a request shows views.
func showsApps(req sdk.Request) bool {
	r, ok := req.(interface {
		ClientCapabilities() *sdk.ClientCapabilities
	})
	if !ok {
		return false
	}
	c := r.ClientCapabilities()
	return c != nil && apps.Shows(c.Extensions)
}

// viewOf is the address of the view that shows the answers of a tool, or "".
func viewOf(t *tool.Tool) string {
	switch {
	case slices.Contains(t.Roles, tool.SearchesNotes):
		return apps.Search
	case t.Effect != access.Reads:
		return apps.Approval
	}
	return ""
}

// addApps registers the views, and the tool by which one of them answers. Clients
// that show no views are told of none of it.
func (s *Server) addApps() {
	for _, v := range apps.Views() {
		s.sdk.AddResource(&sdk.Resource{
			URI: v.URI, Name: v.Name, Title: v.Title, Description: v.Description, MIMEType: apps.MIMEType, Meta: viewMeta(),
		}, s.readView)
	}
	if !s.opts.Who.May(access.Confirm) {
		return
	}
	yes, no := true, false
	s.sdk.AddTool(&sdk.Tool{
		Name: answerTool, Title: "Answer an approval", Description: "For Lore's approval view: send what the user pressed.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string"},"approve":{"type":"boolean"},"word":{"type":"string"}},"required":["token","approve"]}`),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
		Meta:        sdk.Meta{"ui": map[string]any{"resourceUri": apps.Approval, "visibility": []string{"app"}}},
	}, s.answerCard)
}

// viewMeta says what a view may reach: nothing.
func viewMeta() sdk.Meta {
	return sdk.Meta{"ui": map[string]any{"csp": map[string]any{"connectDomains": []string{}, "resourceDomains": []string{}}, "prefersBorder": true}}
}

// withViews tells a client of the views of its tools, or leaves all of it out.
// The tools themselves are shared with other clients.
func (s *Server) withViews(list *sdk.ListToolsResult, shows bool) {
	if !shows {
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(d *sdk.Tool) bool { return isAnswer(d) })
		return
	}
	list.Tools = slices.Clone(list.Tools)
	for i, d := range list.Tools {
		t, err := s.door().Find(d.Name)
		if err != nil || viewOf(t) == "" {
			continue
		}
		shown := *d
		shown.Meta = sdk.Meta{"ui": map[string]any{"resourceUri": viewOf(t)}}
		list.Tools[i] = &shown
	}
}

// isAnswer reports whether a tool is ours for the approval view, and not one of the
// vault with the same name.
func isAnswer(d *sdk.Tool) bool { return d.Name == answerTool && d.Meta != nil }

// readView answers with a view, for clients that show them.
func (s *Server) readView(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	read := ""
	if t := s.playing(tool.ReadsNote); t != nil && s.opts.offers(t) {
		read = t.Name
	}
	uri := req.Params.URI
	page := apps.HTML(uri, answerTool, read)
	if page == "" || !showsApps(req) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: apps.MIMEType, Text: page, Meta: viewMeta()}}}, nil
}

type cardKey struct{}

// showing marks a call whose client shows the approval view beside the answer.
func showing(ctx context.Context, req sdk.Request) context.Context {
	if !showsApps(req) {
		return ctx
	}
	return context.WithValue(ctx, cardKey{}, true)
}

// cardBytes is how much of all diffs a view is sent.
const cardBytes = 256 << 10

// addCard puts beside the answer what the approval view needs and no model: the
// diffs, and a token for the answer of a person, where one through this client
// counts.
func (s *Server) addCard(ctx context.Context, out *sdk.CallToolResult, q tool.Question) error {
	if ctx.Value(cardKey{}) == nil {
		return nil
	}
	room := cardBytes
	changes := slices.Clone(q.Changes)
	for i := range changes {
		if room -= len(changes[i].Diff); room < 0 {
			changes[i].Diff = ""
		}
	}
	card := map[string]any{"changes": changes}
	if q.ShowsOutside() {
		if err := s.door().Taint(ctx, q.Who); err != nil {
			return err
		}
	}
	if q.State == tool.Pending && s.mayElicit(q) {
		token, err := s.seal(q, nil, cardName)
		if err != nil {
			return err
		}
		card["token"] = token
	}
	out.Meta = sdk.Meta{apps.CardKey: card}
	return nil
}

// answerCard takes the answer that the approval view brings. The rules are those of
// a form that the client shows.
func (s *Server) answerCard(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var said struct {
		Token   string `json:"token"`
		Approve *bool  `json:"approve"`
		Word    string `json:"word"`
	}
	if !showsApps(req) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", answerTool)}
	}
	if err := json.Unmarshal(req.Params.Arguments, &said); err != nil || said.Approve == nil {
		return answers.Failed(fault.Field("approve", "send true or false, with the token of the approval", "the answer cannot be read"))
	}
	st, err := s.verify(said.Token)
	if err != nil || st.Asked != cardName {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: errState.Error()}
	}
	q, err := s.door().Question(ctx, st.Question)
	switch {
	case err != nil:
		return answers.Failed(err)
	case !s.isOwn(q, st), !s.mayElicit(q):
		return nil, errNotFor
	case q.State == tool.Pending && (q.Revision != st.Revision || q.Plan != st.Plan):
		return answers.Failed(fault.Fix(fault.Conflict, "ask for the change again", "a file changed since the plan was shown"))
	}
	if q.ShowsOutside() {
		if err := s.door().Taint(ctx, q.Who); err != nil {
			return answers.Failed(err)
		}
	}
	return s.answer(showing(ctx, req), req, q, tool.Answer{Approve: *said.Approve, Revision: st.Revision, Word: said.Word})
}
