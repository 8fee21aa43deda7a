// Package chats is the part of the HTTP interface at which a person talks with a
// mind: conversations, what is said in them while it is said, and the models that
// there are. No token reaches it: a run acts for the person who began it.
package chats

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"time"

	"lore/internal/access"
	"lore/internal/agent"
	"lore/internal/agent/attendant"
	"lore/internal/chat"
	"lore/internal/chat/notebook"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
)

// Options say what the interface stands on.
type Options struct {
	Agent     *agent.Agent
	Attendant *attendant.Attendant
	Minds     func() (llm.Minds, error)
	// Usual is the model of a chat that names none.
	Usual func(ctx context.Context) (string, error)
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
		"Chats": reflect.TypeFor[Chats](), "Chat": reflect.TypeFor[chat.Chat](), "Conversation": reflect.TypeFor[Conversation](), "Run": reflect.TypeFor[chat.Run](),
		"NewChat": reflect.TypeFor[Settings](), "Saying": reflect.TypeFor[Saying](), "Fork": reflect.TypeFor[Fork](), "Models": reflect.TypeFor[Models](),
		"Opening": reflect.TypeFor[Opening](), "Opened": reflect.TypeFor[notebook.Opened](),
		"Piece": reflect.TypeFor[attendant.Piece](),
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
	pages := map[string]string{"limit": "how many; 50 unless told, at most 200", "offset": "how many to skip"}
	return []rest.Route{
		{Route: get("/chats", a.list), ID: "listChats", Summary: "Conversations, the last one first (persons)", Query: pages, Out: "Chats", Status: ok},
		{Route: post("/chats", a.create), ID: "createChat", Summary: "Begin a conversation (persons)", In: "NewChat", Out: "Chat", Status: ok},
		{Route: post("/chats/open", a.open), ID: "openChat", Summary: "Go on with the conversation that a note holds (persons)", In: "Opening", Out: "Opened", Status: ok},
		{Route: get("/chats/{id}", a.show), ID: "showChat", Summary: "A conversation with its messages, runs and calls (persons)", Out: "Conversation", Status: ok},
		{Route: post("/chats/{id}", a.change), ID: "changeChat", Summary: "Name it, or change its model, tools or wishes (persons)", In: "NewChat", Out: "Chat", Status: ok},
		{Route: post("/chats/{id}/messages", a.say), ID: "say", Summary: "Say something; the run that answers begins at once (persons)", In: "Saying", Out: "Run", Status: http.StatusAccepted},
		{Route: post("/chats/{id}/fork", a.fork), ID: "forkChat", Summary: "Go on elsewhere from one of its messages (persons)", In: "Fork", Out: "Chat", Status: ok},
		{Route: post("/chats/{id}/delete", a.remove), ID: "deleteChat", Summary: "Delete a conversation; what it changed stays (persons)", Status: none},
		{Route: get("/runs/{id}/events", a.watch), ID: "watchRun", Summary: "What happens in a run while it happens, each piece a Piece (persons)",
			Query: map[string]string{"after": "only messages after this one"}, Status: ok},
		{Route: post("/runs/{id}/stop", a.stop), ID: "stopRun", Summary: "End a run; what it did stays done (persons)", Status: none},
		{Route: get("/models", a.models), ID: "listModels", Summary: "The models that can be reached (persons)", Out: "Models", Status: ok},
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
	c := chat.Chat{ID: a.o.Agent.ID("chat"), Created: a.o.Agent.Now()}
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
	out.Messages, out.Runs = append([]chat.Message{}, out.Messages...), append([]chat.Run{}, out.Runs...)
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
	q := agent.Request{Text: in.Text, Model: in.Model, Note: in.Note}
	if in.Limits != nil {
		q.Limits = *in.Limits
	}
	run, err := a.o.Attendant.Send(context.WithoutCancel(r.Context()), id, q)
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
			if err := a.o.Attendant.Stop(r.Context(), run.ID); err != nil {
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

func (a *API) stop(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if err := a.o.Attendant.Stop(context.WithoutCancel(r.Context()), r.PathValue("id")); err != nil {
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
	err = a.o.Attendant.Watch(ctx, r.PathValue("id"), after, func(p attendant.Piece) error {
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
	usual, err := a.o.Usual(r.Context())
	if err != nil {
		return err
	}
	minds, err := a.o.Minds()
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Models{usual, llm.List(r.Context(), minds, minds.Names())})
}
