// Package rest is the HTTP interface under /api/v1: every tool by its name, the
// questions that wait for a person, and the news of the program as a stream. It
// reaches the vault only through the door of tools, knows no tool by name, and
// leaves to serve who may come in.
package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"lore/internal/doctor"
	"lore/internal/event"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/visibility"
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
	// Doctor looks for everything that is wrong; nil looks at nothing.
	Doctor func(context.Context) ([]doctor.Finding, error)
	// Shared is what of the vault a program may hear of; nil tells no program any
	// name.
	Shared func(context.Context, access.Principal) (visibility.Limit, error)
	// More are routes of others, described beside the own ones, with the types that
	// they name in Out and In.
	More  []Route
	Types map[string]reflect.Type
	// Unlocked reports whether the session of that id may approve now: there is no
	// PIN, or it was given a short while ago. Nil knows no PIN.
	Unlocked func(ctx context.Context, session string) (bool, error)
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

// A Route is a route of the shell with what the description says about it.
type Route struct {
	serve.Route
	ID      string // of the operation in the description
	Summary string
	Query   map[string]string // parameter to what it means
	In, Out string            // names of schemas; "" is none
	Status  int               // of a success
	Pending bool              // it may answer that a person is asked
}

// Routes lists what the shell serves.
func (a *API) Routes() []serve.Route {
	var out []serve.Route
	for _, r := range a.routes() {
		out = append(out, r.Route)
	}
	return out
}

func (a *API) routes() []Route { return slices.Concat(a.own(), a.o.More) }

func (a *API) own() []Route {
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
	wait := map[string]string{"revision": "revision of the approval as you know it", "seconds": "how long to wait; default 25, at most 50"}
	mean := map[string]string{meantParameter: "1: a person's own act, which does not ask (person only)"}
	return []Route{
		{Route: get("/tools", a.listTools), ID: "listTools", Summary: "List the tools that are turned on, with their schemas", Out: "Tools", Status: ok,
			Query: map[string]string{briefParameter: "1: without output schemas and instructions for models"}},
		{Route: get("/tools/{name}", a.showTool), ID: "showTool", Summary: "Get a tool", Out: "Tool", Status: ok},
		{Route: post("/tools/{name}", a.callTool), ID: "callTool", Summary: "Call a tool", In: "Arguments", Out: "Result", Status: ok, Pending: true,
			Query: map[string]string{tool.DryRun: "1: plan only, change nothing", viewParameter: "1: also return \"view\", the answer as people see it, in parts",
				meantParameter: "1: a person confirmed this exact call; only destructive changes still need approval (person only)"}},
		{Route: get("/approvals", a.listApprovals), ID: "listApprovals", Summary: "List approvals; a token sees only its own", Out: "Approvals", Status: ok,
			Query: map[string]string{"state": "only these states, separated by commas; \"all\" for every state"}},
		{Route: get("/approvals/{id}", a.showApproval), ID: "showApproval", Summary: "Get an approval with its diff", Out: "Approval", Status: ok},
		{Route: person(post("/approvals/{id}/answer", a.answer)), ID: "answerApproval", Summary: "Answer an approval (person only)", In: "Answer", Out: "Result", Status: ok, Pending: true},
		{Route: person(post("/approvals/{id}/rehearse", a.rehearse)), ID: "rehearseApproval", Summary: "Preview the result of an answer (person only)", In: "Answer", Out: "Approval", Status: ok},
		{Route: get("/approvals/{id}/await", a.await), ID: "awaitApproval", Summary: "Wait until an approval is finished", Out: "Result", Status: ok, Pending: true, Query: wait},
		{Route: post("/approvals/{id}/cancel", a.cancel), ID: "cancelApproval", Summary: "Withdraw an approval request", Status: http.StatusNoContent},
		{Route: person(get("/rules", a.listRules)), ID: "listRules", Summary: "List the rules (person only)", Out: "Rules", Status: ok},
		{Route: person(post("/rules/{id}/forget", a.forget)), ID: "forgetRule", Summary: "Delete a rule (person only)", Status: http.StatusNoContent},
		{Route: get("/activity", a.activity), ID: "activity", Summary: "List activity, newest first", Out: "Result", Status: ok,
			Query: map[string]string{"limit": "maximum number", "after": "only entries after the \"next\" of an earlier response", "path": "only entries about this note", "tool": "only calls to this tool"}},
		{Route: person(get("/activity/verify", a.verify)), ID: "verifyActivity", Summary: "Verify the audit log (person only)", Out: "Verified", Status: ok},
		{Route: person(get("/doctor", a.doctor)), ID: "doctor", Summary: "Check the vault and the setup for problems (person only)", Out: "Findings", Status: ok},
		{Route: get("/operations/{id}", a.showOperation), ID: "showOperation", Summary: "Get a change with its diff", Out: "Result", Status: ok},
		{Route: writes(post("/operations/{id}/undo", a.undo)), ID: "undoOperation", Summary: "Undo a change; needs approval like any other change", In: "Arguments", Out: "Result", Status: ok, Pending: true, Query: mean},
		{Route: writes(post("/operations/{id}/redo", a.redo)), ID: "redoOperation", Summary: "Redo a change", In: "Arguments", Out: "Result", Status: ok, Pending: true, Query: mean},
		{Route: get("/status", a.status), ID: "status", Summary: "Get the vault, the version and your permissions", Out: "Status", Status: ok},
		{Route: get("/events", a.events), ID: "events", Summary: "Stream events (server-sent events; Last-Event-ID resumes)", Status: ok},
		{Route: get("/openapi.json", a.openAPI), ID: "openapi", Summary: "Get this description", Status: ok},
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
	// State is that of the vault; nil until it was looked at.
	State *tool.VaultState `json:"state,omitempty"`
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
	if v, ok := a.o.Bus.Last(tool.TopicVault).(tool.VaultState); ok {
		v = a.stateFor(r.Context(), who, v)
		st.State = &v
	}
	return serve.JSON(w, http.StatusOK, st)
}

// sees reports whether a principal may know of a question: persons of all,
// programs of their own.
func sees(who access.Principal, q tool.Question) bool {
	return tool.Sees(who, q.Who)
}

// path fills the names of a pattern in.
func path(parts ...string) string { return Prefix + "/" + strings.Join(parts, "/") }
