// Package rest is the HTTP interface under /api/v1: every tool by its name, the
// questions that wait for a person, and the news of the program as a stream. It
// reaches the vault only through the door of tools, knows no tool by name, and
// leaves to serve who may come in.
package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/event"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// Prefix is where everything of this interface lies.
const Prefix = "/api/v1"

// Options say what an API stands on.
type Options struct {
	Door    tool.Door
	Bus     *event.Bus // nil has no news
	Vault   string     // the name of the vault's folder, without where it lies
	Version string
	// Page is the address at which a person answers a question; nil has none.
	Page func(id string) string
	// Verify checks the record of everything that was done and counts it; nil
	// has none.
	Verify func(context.Context) (int, error)
	// Closing ends the streams; nil never does.
	Closing <-chan struct{}
	// Beat is how often a stream shows that it lives; zero is every 15 seconds.
	Beat time.Duration
}

// An API is the interface to one vault.
type API struct {
	o     Options
	news  *news
	stops chan struct{}
}

// New makes the interface. The caller must Close it.
func New(o Options) *API {
	if o.Bus == nil {
		o.Bus = event.NewBus()
	}
	if o.Beat == 0 {
		o.Beat = 15 * time.Second
	}
	return &API{o: o, news: follow(o.Bus), stops: make(chan struct{})}
}

// Close ends the streams.
func (a *API) Close() {
	close(a.stops)
	a.news.close()
}

// A route is a route of the shell with what the description says about it.
type route struct {
	serve.Route
	id      string // of the operation in the description
	summary string
	query   map[string]string // parameter to what it means
	in, out string            // names of schemas; "" is none
	status  int               // of a success
	pending bool              // it may answer that a person is asked
}

// Routes lists what the shell serves.
func (a *API) Routes() []serve.Route {
	var out []serve.Route
	for _, r := range a.routes() {
		out = append(out, r.Route)
	}
	return out
}

func (a *API) routes() []route {
	get := func(path string, h serve.Handle) serve.Route {
		return serve.Route{Method: http.MethodGet, Pattern: Prefix + path, Scope: access.Read, Handle: h}
	}
	post := func(path string, h serve.Handle) serve.Route {
		r := get(path, h)
		r.Method = http.MethodPost
		return r
	}
	person := func(r serve.Route) serve.Route {
		r.Scope, r.Person = access.Approve, true
		return r
	}
	writes := func(r serve.Route) serve.Route {
		r.Scope = access.Write
		return r
	}
	ok := http.StatusOK
	wait := map[string]string{"revision": "of the question as it was seen", "seconds": "how long to wait; 25 unless told, at most 50"}
	return []route{
		{Route: get("/tools", a.listTools), id: "listTools", summary: "The tools that are switched on, with their schemas", out: "Tools", status: ok},
		{Route: get("/tools/{name}", a.showTool), id: "showTool", summary: "One tool", out: "Tool", status: ok},
		{Route: post("/tools/{name}", a.callTool), id: "callTool", summary: "Call a tool", in: "Arguments", out: "Result", status: ok, pending: true,
			query: map[string]string{tool.DryRun: "1: plan only, and do nothing", viewParameter: "1: and \"view\", the answer as people see it, in parts"}},
		{Route: get("/approvals", a.listApprovals), id: "listApprovals", summary: "What waits for a person; to a token, what it asked itself", out: "Approvals", status: ok,
			query: map[string]string{"state": "only these states, separated by commas; \"all\" for every one"}},
		{Route: get("/approvals/{id}", a.showApproval), id: "showApproval", summary: "One question with its diff", out: "Approval", status: ok},
		{Route: person(post("/approvals/{id}/answer", a.answer)), id: "answerApproval", summary: "Answer a question (persons)", in: "Answer", out: "Result", status: ok, pending: true},
		{Route: person(post("/approvals/{id}/rehearse", a.rehearse)), id: "rehearseApproval", summary: "What an answer would come to (persons)", in: "Answer", out: "Approval", status: ok},
		{Route: get("/approvals/{id}/await", a.await), id: "awaitApproval", summary: "Wait until a question is over", out: "Result", status: ok, pending: true, query: wait},
		{Route: post("/approvals/{id}/cancel", a.cancel), id: "cancelApproval", summary: "Withdraw a question", status: http.StatusNoContent},
		{Route: person(get("/rules", a.listRules)), id: "listRules", summary: "The standing answers (persons)", out: "Rules", status: ok},
		{Route: person(post("/rules/{id}/forget", a.forget)), id: "forgetRule", summary: "Take a standing answer back (persons)", status: http.StatusNoContent},
		{Route: get("/activity", a.activity), id: "activity", summary: "What was done, newest first, by whom, and how it ended", out: "Result", status: ok,
			query: map[string]string{"limit": "how many", "after": "only what came after the \"next\" of an earlier answer", "path": "only what touched this note", "tool": "only calls of this tool"}},
		{Route: person(get("/activity/verify", a.verify)), id: "verifyActivity", summary: "Whether the record of what was done is whole (persons)", out: "Verified", status: ok},
		{Route: get("/operations/{id}", a.showOperation), id: "showOperation", summary: "One change, with its diff", out: "Result", status: ok},
		{Route: writes(post("/operations/{id}/undo", a.undo)), id: "undoOperation", summary: "Take a change back; asked about like any other", in: "Arguments", out: "Result", status: ok, pending: true},
		{Route: writes(post("/operations/{id}/redo", a.redo)), id: "redoOperation", summary: "Bring a change back", in: "Arguments", out: "Result", status: ok, pending: true},
		{Route: get("/status", a.status), id: "status", summary: "What this server serves, and who you are to it", out: "Status", status: ok},
		{Route: get("/events", a.events), id: "events", summary: "News as server-sent events; Last-Event-ID resumes", status: ok},
		{Route: get("/openapi.json", a.openAPI), id: "openapi", summary: "This description", status: ok},
	}
}

// A Status tells what a server serves.
type Status struct {
	Vault   string         `json:"vault"`
	Version string         `json:"version"`
	Tools   int            `json:"tools"`
	Pending int            `json:"pending"` // of those that the caller may see
	Kind    access.Kind    `json:"kind"`    // of the caller
	Scopes  []access.Scope `json:"scopes"`
}

func (a *API) status(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	list, err := a.o.Door.Questions(r.Context(), tool.Pending)
	if err != nil {
		return err
	}
	st := Status{Vault: a.o.Vault, Version: a.o.Version, Tools: len(a.o.Door.On()), Kind: who.Kind, Scopes: who.Scopes}
	for _, q := range list {
		if sees(who, q) {
			st.Pending++
		}
	}
	return serve.JSON(w, http.StatusOK, st)
}

// sees reports whether a principal may know of a question: persons of all,
// programs of their own.
func sees(who access.Principal, q tool.Question) bool {
	return who.Kind == access.Person || who.Kind == q.Who.Kind && who.ID == q.Who.ID
}

// path fills the names of a pattern in.
func path(parts ...string) string { return Prefix + "/" + strings.Join(parts, "/") }
