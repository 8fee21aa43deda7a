// Package chats is the part of the HTTP interface for chats with a model:
// conversations, messages as they arrive, and the list of models. Tokens cannot
// use it: a run acts for the person who started it.
package chats

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/agent/chat/notebook"
	"lore/internal/agent/runner"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// Options say what the interface stands on.
type Options struct {
	Agent  *agent.Agent
	Runner *runner.Runner
	Host   surface.Host
	// Closing ends the streams; nil never does.
	Closing <-chan struct{}
	// Beat is how often a stream shows that it lives; zero is every 15 seconds.
	Beat time.Duration
}

// An API is the interface to the conversations of one vault.
type API struct{ o Options }

// New makes the interface.
func New(o Options) *API {
	if o.Beat == 0 {
		o.Beat = 15 * time.Second
	}
	return &API{o: o}
}

// Types are those that the routes name.
func Types() map[string]reflect.Type {
	return map[string]reflect.Type{
		"Chats": reflect.TypeFor[Chats](), "Chat": reflect.TypeFor[chat.Chat](), "Conversation": reflect.TypeFor[Conversation](), "Run": reflect.TypeFor[chat.Run](), "Runs": reflect.TypeFor[Runs](),
		"NewChat": reflect.TypeFor[Settings](), "Saying": reflect.TypeFor[Saying](), "Fork": reflect.TypeFor[Fork](), "Models": reflect.TypeFor[Models](), "Markdown": reflect.TypeFor[Markdown](),
		"Opening": reflect.TypeFor[Opening](), "Opened": reflect.TypeFor[notebook.Opened](),
		"Piece": reflect.TypeFor[runner.Piece](),
	}
}

// Routes lists what there is.
func (a *API) Routes() []rest.Route {
	at := func(method, path string, h serve.Handle) serve.Route {
		return serve.Route{Method: method, Pattern: rest.Prefix + path, Scope: access.Approve, Person: true, Handle: h}
	}
	get := func(path string, h serve.Handle) serve.Route { return at(http.MethodGet, path, h) }
	post := func(path string, h serve.Handle) serve.Route { return at(http.MethodPost, path, h) }
	ok, none := http.StatusOK, http.StatusNoContent
	pages := map[string]string{"limit": "maximum number; default 50, at most 200", "offset": "number to skip"}
	return []rest.Route{
		{Route: get("/chats", a.list), ID: "listChats", Summary: "List chats, newest first (person only)", Query: pages, Out: "Chats", Status: ok},
		{Route: post("/chats", a.create), ID: "createChat", Summary: "Begin a conversation (persons)", In: "NewChat", Out: "Chat", Status: ok},
		{Route: post("/chats/open", a.open), ID: "openChat", Summary: "Continue a chat that is stored in a note (person only)", In: "Opening", Out: "Opened", Status: ok},
		{Route: get("/chats/{id}", a.show), ID: "showChat", Summary: "Get a chat with its messages, runs and calls (person only)", Out: "Conversation", Status: ok},
		{Route: get("/chats/{id}/markdown", a.markdown), ID: "exportChat", Summary: "Get a chat as a Markdown file (person only)", Out: "Markdown", Status: ok},
		{Route: post("/chats/{id}", a.change), ID: "changeChat", Summary: "Change the name, model, tools or options of a chat (person only)", In: "NewChat", Out: "Chat", Status: ok},
		{Route: post("/chats/{id}/messages", a.say), ID: "say", Summary: "Send a message; the run that answers it starts immediately (person only)", In: "Saying", Out: "Run", Status: http.StatusAccepted},
		{Route: post("/chats/{id}/fork", a.fork), ID: "forkChat", Summary: "Branch a chat from one of its messages (person only)", In: "Fork", Out: "Chat", Status: ok},
		{Route: post("/chats/{id}/delete", a.remove), ID: "deleteChat", Summary: "Delete a chat; changes that it made stay (person only)", Status: none},
		{Route: get("/runs", a.runs), ID: "listRuns", Summary: "Get runs by ID, with model, progress and usage (person only)",
			Query: map[string]string{"id": "IDs separated by commas; at most 100"}, Out: "Runs", Status: ok},
		{Route: get("/runs/{id}/events", a.watch), ID: "watchRun", Summary: "Stream a run while it happens; each event is a Piece (person only)",
			Query: map[string]string{"after": "only messages after this one"}, Status: ok},
		{Route: post("/runs/{id}/stop", a.stop), ID: "stopRun", Summary: "Stop a run; changes that it made stay (person only)", Status: none},
		{Route: get("/models", a.models), ID: "listModels", Summary: "List available models (person only)", Out: "Models", Status: ok},
	}
}

// Chats is a list of conversations.
type Chats struct {
	Chats []chat.Chat `json:"chats"`
}

func (a *API) list(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	limit, err := rest.Number(r, "limit", 50, 1, 200)
	if err != nil {
		return err
	}
	offset, err := rest.Number(r, "offset", 0, 0, 1<<30)
	if err != nil {
		return err
	}
	list, err := a.o.Agent.Store.List(r.Context(), limit, offset)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Chats{append([]chat.Chat{}, list...)})
}

// Settings are what a person decides about a conversation. What is not given
// stays as it is.
type Settings struct {
	Title   *string   `json:"title,omitempty"`
	Model   *string   `json:"model,omitempty"`
	Sets    *[]string `json:"toolsets,omitempty"`
	NoTools *bool     `json:"no_tools,omitempty"`
	System  *string   `json:"system,omitempty"`
	Think   *bool     `json:"think,omitempty"`
	// Purpose is given when a chat begins: "rewrite", or nothing.
	Purpose chat.Purpose `json:"purpose,omitempty"`
}

func (s Settings) apply(c *chat.Chat) {
	if s.Title != nil {
		c.Title, c.Titled = *s.Title, chat.ByPerson
	}
	if s.Model != nil {
		c.Model = *s.Model
	}
	if s.Sets != nil {
		c.Sets = *s.Sets
	}
	if s.NoTools != nil {
		c.NoTools = *s.NoTools
	}
	if s.System != nil {
		c.System = *s.System
	}
	if s.Think != nil {
		c.Think = *s.Think
	}
}

func (a *API) create(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Settings
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	if in.Purpose != "" && in.Purpose != chat.Rewriting {
		return fault.Field("purpose", "use rewrite, or leave it out", "%q is not valid", in.Purpose)
	}
	c := chat.Chat{ID: a.o.Agent.ID("chat"), Created: a.o.Agent.Now(), Purpose: in.Purpose}
	in.apply(&c)
	if err := a.o.Agent.Store.Put(r.Context(), c); err != nil {
		return err
	}
	c, err := a.o.Agent.Store.Get(r.Context(), c.ID)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, c)
}

func (a *API) change(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Settings
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	c, err := a.o.Agent.Store.Change(r.Context(), r.PathValue("id"), in.apply)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, c)
}

// A Conversation is everything that is kept of a chat.
type Conversation struct {
	Chat     chat.Chat              `json:"chat"`
	Messages []chat.Message         `json:"messages"`
	Runs     []chat.Run             `json:"runs"`
	Calls    map[string][]chat.Call `json:"calls"` // by run
	Branches []chat.Branching       `json:"branches"`
}

func (a *API) show(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	ctx, store := r.Context(), a.o.Agent.Store
	c, err := store.Get(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	out := Conversation{Chat: c, Calls: map[string][]chat.Call{}}
	if out.Messages, err = store.Messages(ctx, c.ID); err != nil {
		return err
	}
	if out.Runs, err = store.Runs(ctx, c.ID); err != nil {
		return err
	}
	if out.Branches, err = store.Branchings(ctx, c.ID); err != nil {
		return err
	}
	for _, m := range out.Messages { // a fork has messages of runs that are not its own
		if _, have := out.Calls[m.Run]; have || m.Run == "" {
			continue
		}
		calls, err := store.Calls(ctx, m.Run)
		if err != nil {
			return err
		}
		out.Calls[m.Run] = append([]chat.Call{}, calls...)
	}
	out.Messages, out.Runs, out.Branches = append([]chat.Message{}, out.Messages...), append([]chat.Run{}, out.Runs...), append([]chat.Branching{}, out.Branches...)
	return serve.JSON(w, http.StatusOK, out)
}

// An Opening names the note of a conversation.
type Opening struct {
	Path string `json:"path"`
}

func (a *API) open(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var in Opening
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	book := notebook.Book{Store: a.o.Agent.Store, Door: a.o.Agent.Door, ID: a.o.Agent.ID}
	o, err := book.Open(r.Context(), who, in.Path)
	if err != nil {
		return fault.Rename(err, "from", "path")
	}
	return serve.JSON(w, http.StatusOK, o)
}

// A Saying is what a person says, and what about it is different this time.
type Saying struct {
	Text   string       `json:"text"`
	Model  string       `json:"model,omitempty"`
	Note   string       `json:"note,omitempty"` // the note that the person looks at
	Limits *chat.Limits `json:"limits,omitempty"`
	// Attached is what the person sends along.
	Attached []chat.Attachment `json:"attached,omitempty"`
}

func (a *API) say(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Saying
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	id := r.PathValue("id")
	if _, err := a.o.Agent.Store.Get(r.Context(), id); err != nil {
		return err
	}
	q := agent.Request{Text: in.Text, Model: in.Model, Note: in.Note, Attached: in.Attached}
	if in.Limits != nil {
		q.Limits = *in.Limits
	}
	run, err := a.o.Runner.Send(context.WithoutCancel(r.Context()), id, q)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusAccepted, run)
}

// A Fork says from where on another conversation goes on.
type Fork struct {
	After int `json:"after"` // the last message that it keeps; 0 keeps none
}

func (a *API) fork(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	var in Fork
	if err := rest.Decode(r.Body, &in); err != nil {
		return err
	}
	c, err := a.o.Agent.Store.Fork(r.Context(), r.PathValue("id"), a.o.Agent.ID("chat"), in.After)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, c)
}

func (a *API) remove(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	id := r.PathValue("id")
	runs, err := a.o.Agent.Store.Runs(r.Context(), id)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if !run.Status.Over() {
			if err := a.o.Runner.Stop(r.Context(), run.ID); err != nil {
				return err
			}
		}
	}
	if err := a.o.Agent.Store.Delete(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Runs are some runs, without those that do not exist any more.
type Runs struct {
	Runs []chat.Run `json:"runs"`
}

// mostRuns is how many runs one request may name.
const mostRuns = 100

func (a *API) runs(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	ids := strings.Split(r.URL.Query().Get("id"), ",")
	if len(ids) > mostRuns {
		return fault.Field("id", fmt.Sprintf("name at most %d", mostRuns), "%d runs are too many", len(ids))
	}
	out := Runs{Runs: []chat.Run{}}
	for _, id := range ids {
		run, err := a.o.Agent.Store.Run(r.Context(), id)
		switch {
		case fault.Of(err) == fault.NotFound:
		case err != nil:
			return err
		default:
			out.Runs = append(out.Runs, run)
		}
	}
	return serve.JSON(w, http.StatusOK, out)
}

func (a *API) stop(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if err := a.o.Runner.Stop(context.WithoutCancel(r.Context()), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// watch streams a run. Each event is a [attendant.Piece]; "end" is the last.
func (a *API) watch(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	after, err := rest.Number(r, "after", 0, 0, 1<<30)
	if err != nil {
		return err
	}
	if _, err := a.o.Agent.Store.Run(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := rest.NewStream(w)
	var mu sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() {
		beat := time.NewTicker(a.o.Beat)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-a.o.Closing:
				cancel()
				return
			case <-beat.C:
				mu.Lock()
				err := s.Beat()
				mu.Unlock()
				if err != nil {
					cancel()
					return
				}
			}
		}
	})
	err = a.o.Runner.Watch(ctx, r.PathValue("id"), after, func(p runner.Piece) error {
		mu.Lock()
		defer mu.Unlock()
		return s.Send("", "piece", p)
	})
	over := ctx.Err() == nil
	cancel()
	wg.Wait()
	if err == nil && over {
		_ = s.Send("", "end", struct{}{}) // who does not hear it asks again
	}
	return nil // the stream has begun: there is nobody to tell
}

// Models are the models that can be reached, by provider.
type Models struct {
	Usual     string        `json:"usual"` // the one that answers when none is named
	Providers []llm.Listing `json:"providers"`
}

func (a *API) models(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	usual, err := a.o.Host.DefaultModel(r.Context())
	if err != nil {
		return err
	}
	minds, err := a.o.Host.Models()
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Models{usual, llm.List(r.Context(), minds, minds.Names())})
}
