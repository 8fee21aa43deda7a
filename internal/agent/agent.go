// Package agent lets a language model work with tools until a request is
// answered. It is a state machine whose state lies in the chat store: a run is
// loaded once for each stretch of work, and every step of it is kept when it is
// made, so that it goes on where it was after anything, in whatever process. It waits for nobody: a call that needs a person is left
// as a question, and the run goes on when it is answered.
//
// The agent knows no tool by name and no provider.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/agent/chat"
	"lore/internal/agent/passage"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/visibility"
)

// An Agent works on runs. Its fields are set once.
type Agent struct {
	Store *chat.Store
	Door  tool.Door
	// Model finds a model by its id; "" is the one that the settings name.
	Model func(ctx context.Context, id string) (llm.Model, llm.Info, error)
	Now   func() time.Time
	ID    func(word string) string // "run" gives a new id that begins so
	Log   *slog.Logger
	// Holder names this process among those that work on runs.
	Holder string
	// Gone reports that a process that worked on runs is no more; nil: nobody
	// knows, and its time must be over.
	Gone func(holder string) bool
	// Made finds what became of a call that was under way when its process died:
	// the operation or the question that it left, if any.
	Made func(ctx context.Context, run, toolName string, args json.RawMessage, since time.Time) (Trace, error)
	// Prefs are what the person wants of every conversation; nil: nothing.
	Prefs func() (Prefs, error)
	// Shares is what of the vault a model that is not on this machine may get; nil:
	// everything.
	Shares func(ctx context.Context, who access.Principal) (visibility.Limit, error)
	// Has reports whether there is a file at the top of the vault; nil: nobody knows.
	Has func(name string) bool
	// Scopes are the rights of runs.
	Scopes []access.Scope
	// Parallel is how many reading calls run at once; 0 is 4.
	Parallel int
}

// A Trace is what a call left behind.
type Trace struct {
	Operation string
	Question  string
}

// A Request is what a person asks for.
type Request struct {
	Text  string
	Model string // "": the chat's, or the usual one
	// Note is the path of the note that the person is looking at.
	Note string
	// Limits bound the run; what is zero is as the person's settings have it, and
	// what is negative is not bounded.
	Limits chat.Limits
	// Attached is what the person sends along.
	Attached []chat.Attachment
	// Outside says that a note says it for the person.
	Outside bool
}

// Prefs hold for every conversation.
type Prefs struct {
	NoTools  bool
	NoTitles bool
	Whole    bool   // an answer is told when it is whole
	System   string // what every answer should heed
	// NoInstructions leaves out the vault's own instructions.
	NoInstructions bool
	Limits         chat.Limits
}

// prefs are those of the person, with the usual limits where none is set.
func (a *Agent) prefs() (Prefs, error) {
	var p Prefs
	if a.Prefs != nil {
		var err error
		if p, err = a.Prefs(); err != nil {
			return p, err
		}
	}
	p.Limits = bounded(p.Limits, DefaultLimits())
	return p, nil
}

// bounded fills in the limits that are not given. A negative one bounds nothing.
func bounded(l, usual chat.Limits) chat.Limits {
	return chat.Limits{Steps: cmp.Or(l.Steps, usual.Steps), Time: cmp.Or(l.Time, usual.Time), Tokens: cmp.Or(l.Tokens, usual.Tokens), Cost: cmp.Or(l.Cost, usual.Cost)}
}

// DefaultLimits bound a run when nobody said otherwise.
func DefaultLimits() chat.Limits {
	return chat.Limits{Steps: 25, Time: 10 * time.Minute, Tokens: 200_000, Cost: 1}
}

// Start puts a request into a chat and makes the run that will answer it. The
// chat is made when it does not exist.
func (a *Agent) Start(ctx context.Context, chatID string, q Request) (chat.Run, error) {
	if strings.TrimSpace(q.Text) == "" {
		return chat.Run{}, fault.Field("text", "type a message", "is empty")
	}
	if err := chat.CheckAttachments(q.Attached); err != nil {
		return chat.Run{}, err
	}
	runs, err := a.Store.Runs(ctx, chatID)
	if err != nil {
		return chat.Run{}, err
	}
	for _, r := range runs {
		if !r.Status.Over() {
			return chat.Run{}, fault.Fix(fault.Busy, "wait for the run to finish, answer its approval requests, or stop it", "this chat has an unfinished run: %s", r.ID)
		}
	}
	prefs, err := a.prefs()
	if err != nil {
		return chat.Run{}, err
	}
	q.Limits = bounded(q.Limits, prefs.Limits)
	c, err := a.meet(ctx, chatID, q)
	if err != nil {
		return chat.Run{}, err
	}
	r := chat.Run{ID: a.ID("run"), Chat: chatID, Status: chat.Running, Model: c.Model, Started: a.Now(), Limits: q.Limits, Priced: true, Sets: c.Sets, Keeper: a.Holder}
	if c.Sets == nil {
		r.Sets = []string{Usual}
	}
	if slices.Contains(r.Sets, Usual) {
		r.Sets = append(r.Sets[:len(r.Sets):len(r.Sets)], a.usual(ctx, &r)...)
	}
	say := chat.Message{Run: r.ID, Time: a.Now(), Message: llm.Say(llm.User, q.Text), Note: q.Note, Attached: q.Attached, Outside: q.Outside}
	return r, a.Store.Apply(ctx, chatID, chat.Change{Run: &r, Say: []chat.Message{say}})
}

// meet is the chat of a request, with what the request says about it.
func (a *Agent) meet(ctx context.Context, id string, q Request) (chat.Chat, error) {
	heed := func(c *chat.Chat) {
		if c.Title == "" && c.Titled == chat.ByWords {
			c.Title = summarize.Title(q.Text, 80)
		}
		if q.Model != "" {
			c.Model = q.Model
		}
	}
	c, err := a.Store.Change(ctx, id, heed)
	if fault.Of(err) != fault.NotFound {
		return c, err
	}
	c = chat.Chat{ID: id, Created: a.Now()}
	heed(&c)
	return c, a.Store.Put(ctx, c)
}

// An EventType says what has just happened in a run.
type EventType string

// The types of events.
const (
	Text      EventType = "text"      // a piece of an answer
	Reasoning EventType = "reasoning" // a piece of a thought
	Calls     EventType = "calls"     // calls changed their state
	Said      EventType = "message"   // a whole message is kept
	Stepped   EventType = "run"       // the run has another state
	Restarted EventType = "restart"   // what was said since the last message does not count
)

// An Event is news of a run, for people who watch.
type Event struct {
	Type    EventType
	Run     *chat.Run
	Text    string
	Message *chat.Message
	Calls   []chat.Call
}

// hold is how long a process that died keeps others from a run.
const hold = 30 * time.Second

// ErrStopped is the cause of a context that a person ended: the work on a run is
// not to be gone on with, and what was said until then is kept.
var ErrStopped = errors.New("stopped by a person")

// Work goes on with a run until it is over or waits for somebody, and tells what
// happens. A run that another process works on is left alone: [chat.ErrTaken].
func (a *Agent) Work(ctx context.Context, id string, tell func(Event)) (chat.Run, error) {
	if tell == nil {
		tell = func(Event) {}
	}
	if won, err := a.take(ctx, id); err != nil || !won {
		return chat.Run{}, errors.Join(err, chat.ErrTaken)
	}
	lasting := context.WithoutCancel(ctx)
	defer func() {
		if err := a.Store.Leave(lasting, id, a.Holder); err != nil {
			a.Log.Warn("a run could not be released", "run", id, "error", err)
		}
	}()
	stop := a.renew(ctx, id)
	defer stop()
	// Nobody else changes a run that is held: what is kept need not be read again.
	w, err := a.load(ctx, id, tell)
	if err != nil || w.run.Status.Over() {
		return w.run, err
	}
	if w.prefs, err = a.prefs(); err != nil {
		return w.run, err
	}
	for w.run.Keeper = a.Holder; ; {
		again, err := w.step(ctx)
		if ctx.Err() != nil {
			return w.run, errors.Join(ctx.Err(), w.leave(ctx))
		}
		if err != nil {
			if errors.Is(err, chat.ErrTaken) {
				return w.run, err
			}
			w.end(chat.Failed, err.Error())
			say := append(w.unsaid(), w.broken()...)
			if found := w.passages(); len(found) > 0 && w.model != nil && !w.info.Mute {
				say = append(say, w.speak(passage.Quoted(found)))
			}
			return w.run, errors.Join(err, w.keep(lasting, chat.Change{Say: say}))
		}
		if !again {
			return w.run, nil
		}
	}
}

// take holds a run, from a process that died too.
func (a *Agent) take(ctx context.Context, id string) (bool, error) {
	won, err := a.Store.Hold(ctx, id, a.Holder, hold)
	if err != nil || won || a.Gone == nil {
		return won, err
	}
	return a.Store.Seize(ctx, id, a.Holder, hold, a.Gone)
}

// renew keeps the hold on a run while it is worked on.
func (a *Agent) renew(ctx context.Context, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(hold / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if _, err := a.Store.Hold(ctx, id, a.Holder, hold); err != nil && ctx.Err() == nil {
					a.Log.Warn("the lock on a run could not be renewed", "run", id, "error", err)
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// Cancel ends a run. What it asked is withdrawn, what it did stays done, and what
// was answered in that moment keeps its result.
func (a *Agent) Cancel(ctx context.Context, id string) error {
	r, err := a.Store.Run(ctx, id)
	if err != nil || r.Status.Over() {
		return err
	}
	won, err := a.take(ctx, id)
	if err != nil {
		return err
	}
	if !won {
		return fault.Fix(fault.Busy, "wait for it to finish, or stop it in that process", "another process is working on %s", id)
	}
	defer func() { _ = a.Store.Leave(context.WithoutCancel(ctx), id, a.Holder) }()
	w, err := a.load(ctx, id, func(Event) {})
	if err != nil {
		return err
	}
	// A call that was under way may have left something: a change, or a question.
	if err := w.recover(ctx, w.calls); err != nil {
		return err
	}
	var calls []chat.Call
	for i := range w.calls {
		c := &w.calls[i]
		if c.State.Over() {
			continue
		}
		if c.State == chat.Asked {
			if err := w.withdraw(ctx, w.calls[i:i+1]); err != nil {
				return err
			}
		}
		if !c.State.Over() {
			c.State, c.Result, c.Ended = chat.Refused, `{"success":false,"isError":false,"error":"User cancelled tool execution"}`, a.Now()
		}
		calls = append(calls, *c)
	}
	w.end(chat.Cancelled, ErrStopped.Error())
	return w.keep(ctx, chat.Change{Calls: calls, Say: w.unsaid()})
}

// who is the principal of a run.
func (a *Agent) who(r *chat.Run) access.Principal {
	return access.Principal{Kind: access.Agent, ID: r.ID, Name: r.Model, Surface: "agent", Scopes: a.Scopes}
}
