package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/mcp/answers"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// The names of what a client is asked to do, and of what is in a form.
const (
	formName  = "confirm"
	pageName  = "page"
	formYes   = "confirm"
	formWords = "word"
)

// confirm lets the client ask its user, where that may count: by a form of its
// own or our view, if a person gave the client the right to confirm, or by opening
// our page, at which only a person's session can answer. Else the call is held for
// a while, in which a person may answer elsewhere. The stored question is the truth in
// every case, and no tool answers one.
func (s *Server) confirm(ctx context.Context, req *sdk.CallToolRequest, res tool.Result) (*sdk.CallToolResult, error) {
	q := *res.Question
	var ask *sdk.ElicitParams
	name, page := formName, s.page(q.ID)
	switch {
	case showsForms(req) && s.mayElicit(q):
		ask = &sdk.ElicitParams{Mode: "form", Message: s.question(q), RequestedSchema: form()}
	case opensPages(req) && page != "":
		name = pageName
		ask = &sdk.ElicitParams{
			Mode: "url", URL: page, ElicitationID: q.ID,
			Message: draw.Revealed(q.Preview.Summary) + "\nOpen the page to see all of it, and to approve or deny it.",
		}
	case showsApps(req) && s.mayElicit(q):
		return s.waits(ctx, res) // its user answers in the view
	default:
		return s.hold(ctx, req, res)
	}
	state, err := s.seal(q, req.Params.Arguments, name)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{name: ask}}, nil
}

func form() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", PropertyOrder: []string{formYes, formWords}, Required: []string{formYes},
		Properties: map[string]*jsonschema.Schema{
			formYes:   {Type: "boolean", Title: "Yes, do it", Description: "Exactly what is shown; it can be undone."},
			formWords: {Type: "string", Title: "Message to the assistant", Description: "Optional."},
		},
	}
}

// page is the address at which a person can answer a question, or "" when there
// is none. It holds no secret: only a browser that is signed in can answer there.
func (s *Server) page(id string) string {
	if s.opts.Where == nil {
		return ""
	}
	where := s.opts.Where(id)
	if u, err := url.Parse(where); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return where
}

// showsForms reports whether the client can show a form. Clients of 2025-06-18
// name no mode and mean forms.
func showsForms(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// opensPages reports whether the client can send its user to a page.
func opensPages(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && c.Elicitation.URL != nil
}

// mayElicit reports whether an answer that comes through the client counts. A
// program could give it, so a person must have granted the right to confirm; what
// destroys or runs a command needs more trust still. No dialog of a client can ask
// for the PIN.
func (s *Server) mayElicit(q tool.Question) bool {
	r := q.Risk
	if !s.opts.Who.May(access.Confirm) || q.NeedsPIN || r == policy.Share { // an app does not decide what is shared with it
		return false
	}
	if r == policy.Create || r == policy.Change || r == policy.None {
		return true
	}
	return s.opts.Trusted != nil && s.opts.Trusted(s.opts.Who)
}

// mustApprove is all that a program is told about how to go on. It names no
// command: a program with a shell would run it.
const mustApprove = "A person must approve this in Lore."

// waits answers that a person must approve. It is no error: the model should tell
// the user, and not try again.
func (s *Server) waits(ctx context.Context, res tool.Result) (*sdk.CallToolResult, error) {
	res.Page = s.page(res.Question.ID)
	raw, err := schema.Marshal(res)
	if err != nil {
		return nil, err
	}
	more, err := schema.Marshal(struct {
		Status string `json:"status"`
		Next   string `json:"next"`
	}{"pending_confirmation", mustApprove})
	if err != nil {
		return nil, err
	}
	raw = append(append(raw[:len(raw)-1], ','), more[1:]...)
	out := &sdk.CallToolResult{Content: answers.Texts(string(raw)), StructuredContent: json.RawMessage(raw)}
	return out, s.addCard(ctx, out, *res.Question)
}

// How much of a diff a form shows.
const (
	shownLines = 40
	shownBytes = 4000
)

// question is what the client shows its user, made here from the stored
// question: nothing in it is the model's own word about what it does.
func (s *Server) question(q tool.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", draw.OneLine(q.Preview.Summary))
	for _, step := range q.Preview.Steps {
		fmt.Fprintf(&b, "- %s\n", draw.Revealed(draw.OneLine(step)))
	}
	for _, w := range q.Preview.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", draw.OneLine(w))
	}
	if len(q.Changes) == 0 && len(q.Args) > 0 { // it reaches outside: these are the bytes that leave
		args := string(q.Args)
		if len(args) > shownBytes {
			args = strings.ToValidUTF8(args[:shownBytes], "") + fmt.Sprintf("\n… shortened from %d bytes. See all of it in Lore, under Approvals.", len(q.Args))
		}
		fmt.Fprintf(&b, "\nWith: %s\n", draw.Revealed(args))
	}
	left, room := shownLines, shownBytes
	cut := 0
	for _, c := range q.Changes {
		if left <= 0 || room <= 0 {
			cut++
			continue
		}
		name := draw.OneLine(c.Path)
		if c.From != "" {
			name = draw.OneLine(c.From) + " → " + name
		}
		fmt.Fprintf(&b, "\n%s %s (+%d -%d)\n", c.Action, name, c.Added, c.Removed)
		for l := range strings.Lines(c.Diff) {
			if left--; left < 0 || len(l) > room {
				left, cut = 0, cut+1
				break
			}
			room -= len(l)
			b.WriteString(draw.Revealed(l))
		}
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\n… shortened in %d of %d files. See all of it in Lore, under Approvals.\n", cut, len(q.Changes))
	}
	return b.String()
}

// resume goes on with a call whose question the client brings an answer to.
func (s *Server) resume(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	st, err := s.unseal(req.Params.RequestState, req.Params.Name, req.Params.Arguments)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	q, err := s.door().Question(ctx, st.Question)
	switch {
	case err != nil:
		return answers.Failed(err)
	case !s.isOwn(q, st):
		return nil, errNotFor
	}
	if q.ShowsOutside() {
		if err := s.door().Taint(ctx, q.Who); err != nil {
			return answers.Failed(err)
		}
	}
	switch {
	case st.Asked == pageName:
		return s.returned(ctx, req, q)
	case !s.mayElicit(q):
		return nil, errNotFor
	case q.State == tool.Pending && (q.Revision != st.Revision || q.Plan != st.Plan):
		return answers.Failed(fault.Fix(fault.Conflict, "call again", "a file changed since the user was asked"))
	}
	r, _ := req.Params.InputResponses[formName].(*sdk.ElicitResult)
	yes, said := decision(r)
	if !said {
		return s.waits(ctx, tool.Result{Question: &q})
	}
	word, _ := r.Content[formWords].(string)
	return s.answer(ctx, req, q, tool.Answer{Approve: yes, Revision: st.Revision, Word: word})
}

// isOwn reports whether a question is the one of a state, and this client's.
func (s *Server) isOwn(q tool.Question, st state) bool {
	return q.ID == st.Question && q.Who.Kind == s.opts.Who.Kind && q.Who.ID == s.opts.Who.ID
}

// decision is what the user said. A form that was closed, or sent without the
// one box that counts, which it requires, says nothing.
func decision(r *sdk.ElicitResult) (yes, said bool) {
	if r == nil {
		return false, false
	}
	switch r.Action {
	case "decline":
		return false, true
	case "accept":
		yes, said = r.Content[formYes].(bool)
	}
	return yes, said
}

var errNotFor = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: this answer belongs to another approval"}

// returned goes on after the client has sent its user to our page, or has not.
// What the client says approves and denies nothing: the stored question tells
// how it stands, and whoever opened the page is given time to answer.
func (s *Server) returned(ctx context.Context, req *sdk.CallToolRequest, q tool.Question) (*sdk.CallToolResult, error) {
	r, _ := req.Params.InputResponses[pageName].(*sdk.ElicitResult)
	if opened := r != nil && r.Action == "accept"; !opened && !q.State.Over() {
		return s.waits(ctx, tool.Result{Question: &q})
	}
	return s.hold(ctx, req, tool.Result{Question: &q, Message: q.Preview.Summary})
}

// answer hands over what was said in the client's dialog, as what it is: an
// answer of that dialog, not of a person whom we know. The store takes one answer
// to a question, so the same state brought twice does nothing.
func (s *Server) answer(ctx context.Context, req *sdk.CallToolRequest, q tool.Question, a tool.Answer) (*sdk.CallToolResult, error) {
	who := s.opts.Who
	dialog := access.Principal{
		Kind: access.Dialog, ID: who.ID, Name: who.Name, Client: clientName(req), Surface: who.Surface, Scopes: []access.Scope{access.Approve},
	}
	res, err := s.door().Answer(ctx, dialog, q.ID, a)
	switch {
	case err != nil:
		return answers.Failed(err)
	case res.Question != nil: // computed again, because a file had changed
		return s.waits(ctx, res)
	}
	return answers.Of(res)
}

// longestName is how much of what a client calls itself is kept, in characters.
const longestName = 60

// clientName is what the client calls itself, on one line and with nothing
// hidden in it.
func clientName(req *sdk.CallToolRequest) string {
	info := req.ClientInfo()
	if info == nil {
		return ""
	}
	name := []rune(draw.Revealed(draw.OneLine(cmp.Or(info.Title, info.Name))))
	return strings.TrimSpace(string(name[:min(len(name), longestName)]))
}
