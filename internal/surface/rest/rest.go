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

	"lore/internal/access"
	"lore/internal/doctor"
	"lore/internal/event"
	"lore/internal/surface/serve"
	"lore/internal/tool"
	"lore/internal/visibility"
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
	wait := map[string]string{"revision": "of the question as it was seen", "seconds": "how long to wait; 25 unless told, at most 50"}
	return []Route{
		{Route: get("/tools", a.listTools), ID: "listTools", Summary: "The tools that are switched on, with their schemas", Out: "Tools", Status: ok},
		{Route: get("/tools/{name}", a.showTool), ID: "showTool", Summary: "One tool", Out: "Tool", Status: ok},
		{Route: post("/tools/{name}", a.callTool), ID: "callTool", Summary: "Call a tool", In: "Arguments", Out: "Result", Status: ok, Pending: true,
			Query: map[string]string{tool.DryRun: "1: plan only, and do nothing", viewParameter: "1: and \"view\", the answer as people see it, in parts",
				meantParameter: "1: a person's own act, seen and meant; only what destroys is asked about (persons)"}},
		{Route: get("/approvals", a.listApprovals), ID: "listApprovals", Summary: "What waits for a person; to a token, what it asked itself", Out: "Approvals", Status: ok,
			Query: map[string]string{"state": "only these states, separated by commas; \"all\" for every one"}},
		{Route: get("/approvals/{id}", a.showApproval), ID: "showApproval", Summary: "One question with its diff", Out: "Approval", Status: ok},
		{Route: person(post("/approvals/{id}/answer", a.answer)), ID: "answerApproval", Summary: "Answer a question (persons)", In: "Answer", Out: "Result", Status: ok, Pending: true},
		{Route: person(post("/approvals/{id}/rehearse", a.rehearse)), ID: "rehearseApproval", Summary: "What an answer would come to (persons)", In: "Answer", Out: "Approval", Status: ok},
		{Route: get("/approvals/{id}/await", a.await), ID: "awaitApproval", Summary: "Wait until a question is over", Out: "Result", Status: ok, Pending: true, Query: wait},
		{Route: post("/approvals/{id}/cancel", a.cancel), ID: "cancelApproval", Summary: "Withdraw a question", Status: http.StatusNoContent},
		{Route: person(get("/rules", a.listRules)), ID: "listRules", Summary: "The standing answers (persons)", Out: "Rules", Status: ok},
		{Route: person(post("/rules/{id}/forget", a.forget)), ID: "forgetRule", Summary: "Take a standing answer back (persons)", Status: http.StatusNoContent},
		{Route: get("/activity", a.activity), ID: "activity", Summary: "What was done, newest first, by whom, and how it ended", Out: "Result", Status: ok,
			Query: map[string]string{"limit": "how many", "after": "only what came after the \"next\" of an earlier answer", "path": "only what touched this note", "tool": "only calls of this tool"}},
		{Route: person(get("/activity/verify", a.verify)), ID: "verifyActivity", Summary: "Whether the record of what was done is whole (persons)", Out: "Verified", Status: ok},
		{Route: person(get("/doctor", a.doctor)), ID: "doctor", Summary: "What is wrong with the vault or the set-up, and what to do about it (persons)", Out: "Findings", Status: ok},
		{Route: get("/operations/{id}", a.showOperation), ID: "showOperation", Summary: "One change, with its diff", Out: "Result", Status: ok},
		{Route: writes(post("/operations/{id}/undo", a.undo)), ID: "undoOperation", Summary: "Take a change back; asked about like any other", In: "Arguments", Out: "Result", Status: ok, Pending: true},
		{Route: writes(post("/operations/{id}/redo", a.redo)), ID: "redoOperation", Summary: "Bring a change back", In: "Arguments", Out: "Result", Status: ok, Pending: true},
		{Route: get("/status", a.status), ID: "status", Summary: "What this server serves, and who you are to it", Out: "Status", Status: ok},
		{Route: get("/events", a.events), ID: "events", Summary: "News as server-sent events; Last-Event-ID resumes", Status: ok},
		{Route: get("/openapi.json", a.openAPI), ID: "openapi", Summary: "This description", Status: ok},
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
