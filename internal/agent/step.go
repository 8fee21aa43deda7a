package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/agent/bounds"
	"lore/internal/agent/chat"
	"lore/internal/agent/citation"
	"lore/internal/agent/focus"
	"lore/internal/agent/prompt"
	"lore/internal/llm"
	"lore/internal/llm/retry"
	"lore/internal/tool"
	"lore/internal/vault/visibility"
)

// A worker is a run while it is worked on.
type worker struct {
	*Agent
	chat     chat.Chat
	run      chat.Run
	messages []chat.Message
	calls    []chat.Call // of this run
	model    llm.Model
	info     llm.Info
	tools    []*tool.Tool      // that are offered, by name
	offered  []llm.Tool        // the same, as the model is told of them
	prompt   string            // the system prompt, once it is made
	prompted string            // the vault's instructions that it was made with
	visible  visibility.Limit  // what the model may get; checkShared sets it
	limited  bool              // the model is remote, and may not get every note
	outside  bool              // words from outside were read in this conversation before
	per      float64           // characters of a token, as the last answer showed; 0: not known yet
	half     string            // what the model said of an answer that is not whole
	tight    int               // how often the newest results were shortened: the provider counts otherwise than we do
	quoted   []citation.Source // what was looked up in the model's place

	instructions string // of the vault, see readInstructions

	makesRoom  bool // results but the newest are left out, see sizeResults
	mostResult int  // characters of a result that there is room for, see sizeResults
	prefs      Prefs
	tell       func(Event)
	mark       time.Time  // since when work was not counted yet
	mu         sync.Mutex // of what calls at the same time count
}

// load reads everything that the work depends on.
func (a *Agent) load(ctx context.Context, id string, tell func(Event)) (*worker, error) {
	r, err := a.Store.Run(ctx, id)
	w := &worker{Agent: a, run: r, tell: tell, mark: a.Now()}
	if err != nil {
		return w, err
	}
	if w.chat, err = a.Store.Get(ctx, r.Chat); err != nil {
		return w, err
	}
	if w.messages, err = a.Store.Messages(ctx, r.Chat); err != nil {
		return w, err
	}
	if w.calls, err = a.Store.Calls(ctx, id); err != nil {
		return w, err
	}
	var runs []string // a fork has messages of others
	told := false
	for _, m := range w.messages {
		told = told || m.BringsOutside()
		if m.Role == llm.Results && !slices.Contains(runs, m.Run) {
			runs = append(runs, m.Run)
		}
	}
	if len(runs) > 0 {
		w.outside, err = a.Store.Outside(ctx, runs)
	}
	w.outside = w.outside || told
	return w, err
}

// keep stores what a step changed and tells it.
func (w *worker) keep(ctx context.Context, c chat.Change) error {
	now := w.Now()
	w.run.Worked += now.Sub(w.mark)
	w.mark = now
	w.run.Near = bounds.Near(&w.run)
	c.Run, c.Holder = &w.run, w.Holder
	if err := w.Store.Apply(ctx, w.run.Chat, c); err != nil {
		return err
	}
	for i := range c.Say {
		w.messages = append(w.messages, c.Say[i])
		w.tell(Event{Type: Said, Message: &c.Say[i]})
	}
	for _, call := range c.Calls {
		if i := slices.IndexFunc(w.calls, func(x chat.Call) bool { return x.Seq == call.Seq }); i >= 0 {
			w.calls[i] = call
		} else {
			w.calls = append(w.calls, call)
		}
	}
	if len(c.Calls) > 0 {
		w.tell(Event{Type: Calls, Calls: c.Calls})
	}
	run := w.run
	w.tell(Event{Type: Stepped, Run: &run})
	return nil
}

// end closes a run.
func (w *worker) end(s chat.Status, reason string) {
	w.run.Status, w.run.Reason, w.run.Ended = s, reason, w.Now()
}

// step acts once. It reports whether there is more to do now.
func (w *worker) step(ctx context.Context) (bool, error) {
	last := w.messages[len(w.messages)-1]
	if last.Role == llm.Assistant && last.Marker == "" {
		open := w.turn(last.Seq)
		if len(open) == 0 {
			return false, w.finish(ctx, last)
		}
		return w.act(ctx, open)
	}
	if fetched, err := w.fetch(ctx, last); fetched || err != nil {
		return true, err
	}
	err := w.ask(ctx)
	return !w.run.Status.Over(), err
}

// turn are the calls that a message wants.
func (w *worker) turn(message int) []chat.Call {
	var out []chat.Call
	for _, c := range w.calls {
		if c.Message == message {
			out = append(out, c)
		}
	}
	return out
}

// ready finds the model and the tools of the run.
func (w *worker) ready(ctx context.Context) error {
	if w.model != nil {
		return nil
	}
	var err error
	if w.model, w.info, err = w.Model(ctx, w.run.Model); err != nil {
		return err
	}
	w.run.Model = w.model.ID()
	if err := w.checkShared(ctx); err != nil {
		w.model = nil
		return err
	}
	w.readInstructions(ctx)
	if w.chat.NoTools || w.prefs.NoTools || w.chat.Purpose == chat.Rewriting {
		return nil
	}
	for _, t := range w.Door.On() {
		if w.offers(t) {
			w.tools = append(w.tools, t)
		}
	}
	if focus.IsSmall(w.info.Context) && !w.info.Mute && slices.Contains(w.run.Sets, Usual) {
		w.tools = focus.Tools(w.question(), w.tools)
	}
	for _, t := range w.tools {
		told, err := described(t)
		if err != nil {
			return err
		}
		w.offered = append(w.offered, told)
	}
	return nil
}

// offers reports whether a tool is of a set that the chat uses, or shows the rest
// of what another returned.
func (w *worker) offers(t *tool.Tool) bool {
	switch {
	case t.Persons:
		return false
	case w.info.Mute, slices.Contains(t.Roles, tool.ReadsResult):
		return true // without a model, a person names the tool
	case slices.Contains(w.run.Sets, Usual) && (t.Set == typedSet || t.Set == clockSet) && w.info.Context > 0 && w.info.Context <= smallWindow:
		return false
	case slices.Contains(t.Roles, tool.FindsTools) && slices.Contains(w.run.Sets, Usual) && (w.info.Context == 0 || w.info.Context > smallWindow):
		return true // so that a model can tell a person which toolset it needs
	}
	return slices.Contains(w.run.Sets, t.Set) || slices.Contains(w.run.Sets, "all")
}

// Usual stands for the toolsets of a chat that names none: those for notes, for
// times and for typed nodes. The latter need three thousand tokens, so a vault
// without such nodes does without them, and a small window without both.
const (
	Usual       = "usual"
	clockSet    = "clock"
	typedSet    = "knowledge"
	smallWindow = 16_384
)

// usual are those toolsets, as this vault needs them.
func (a *Agent) usual(ctx context.Context, r *chat.Run) []string {
	sets := []string{"notes", clockSet}
	i := slices.IndexFunc(a.Door.On(), func(t *tool.Tool) bool { return slices.Contains(t.Roles, tool.ListsNodes) })
	if i < 0 {
		return sets
	}
	who := a.who(r)
	who.Unasked = true
	res, err := a.Door.Call(ctx, who, a.Door.On()[i].Name, json.RawMessage(`{"limit":1}`))
	var found struct{ Nodes []json.RawMessage }
	if err == nil && json.Unmarshal([]byte(encode(res)), &found) == nil && len(found.Nodes) > 0 {
		sets = append(sets, typedSet)
	}
	return sets
}

// ask lets the model speak.
func (w *worker) ask(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if err := w.checkPictures(); err != nil {
		return err
	}
	if why := bounds.Reached(&w.run, w.estimate, w.price); why != "" && !w.run.Last {
		w.run.Last, w.run.Reason = true, why
	}
	answer, err := w.exchange(ctx)
	for w.tight = 0; isTooLong(err) && w.tight <= mostTight; w.tight++ {
		if w.tight == 0 {
			if err := w.compact(ctx, true); err != nil && ctx.Err() == nil {
				w.Log.Warn("a chat could not be summarized", "run", w.run.ID, "error", err)
			}
		}
		if w.half != "" {
			w.tell(Event{Type: Restarted})
		}
		answer, err = w.exchange(ctx)
	}
	// What was said is kept whoever ends the work in this moment: it was read, and
	// paid for.
	lasting := context.WithoutCancel(ctx)
	if errors.Is(err, errLate) {
		w.end(chat.Limited, fmt.Sprintf("the limit of %s of work is reached", w.run.Limits.Time))
		return w.keep(lasting, chat.Change{Say: w.broken()})
	}
	if isTooLong(err) && !w.info.Mute && ctx.Err() == nil {
		w.run.Last, w.run.Reason = true, "the chat is too long for the model"
		return w.storeAnswer(lasting, llm.Answer{Stop: llm.Stopped})
	}
	if err != nil {
		return err
	}
	return w.storeAnswer(lasting, answer)
}

// mostTight is how often the newest results are halved for a provider that finds
// a request too long, after older messages were told in short.
const mostTight = 4

func isTooLong(err error) bool {
	var bad *llm.Error
	return errors.As(err, &bad) && bad.Kind == llm.ContextLength
}

// exchange sends a request and hears the answer. When less is shared by the time
// that it must be sent once more, it is made anew.
func (w *worker) exchange(ctx context.Context) (llm.Answer, error) {
	for {
		req, err := w.request(ctx)
		if err != nil {
			return llm.Answer{}, err
		}
		if answer, err := w.streamAnswer(ctx, req); !errors.Is(err, errUnshared) {
			return answer, err
		}
	}
}

// broken is what was said of an answer that broke off: whoever read it goes on
// from there. Thoughts and calls count only when they are whole.
func (w *worker) broken() []chat.Message {
	if strings.TrimSpace(w.half) == "" {
		return nil
	}
	msg := chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Say(llm.Assistant, w.half), Model: w.model.ID(), Stop: llm.Broken}
	w.half = ""
	w.cite(&msg)
	return []chat.Message{msg}
}

// lastTime is how long a last answer may take, whatever was used before.
const lastTime = 2 * time.Minute

var errLate = errors.New("the time limit of the run was reached while the model was answering")

// leave ends work whose context is over. Whoever ended it may go on with it, so
// what was begun is not kept, unless a person wanted no more of it.
func (w *worker) leave(ctx context.Context) error {
	say := w.broken()
	if say == nil || !errors.Is(context.Cause(ctx), ErrStopped) {
		return nil
	}
	w.end(chat.Cancelled, ErrStopped.Error())
	return w.keep(context.WithoutCancel(ctx), chat.Change{Say: say})
}

// streamAnswer passes on what the model says while it says it.
func (w *worker) streamAnswer(ctx context.Context, req llm.Request) (llm.Answer, error) {
	if l := w.run.Limits.Time; l > 0 {
		// A model that says a word a minute must end too. What is left is at least
		// enough for a last answer.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, max(l-w.run.Worked, lastTime), errLate)
		defer cancel()
	}
	var a llm.Answer
	done := false
	var whole, part strings.Builder // the text of parts that are done, and of the one that comes
	defer func() { w.half = whole.String() + part.String() }()
	for e, err := range w.model.Stream(retry.WithCheck(ctx, func() error { return w.recheckShared(ctx) }), req) {
		if err != nil {
			if errors.Is(context.Cause(ctx), errLate) {
				err = errLate
			}
			return a, err
		}
		switch e.Type {
		case llm.TextDelta:
			part.WriteString(e.Text)
			if !w.prefs.Whole {
				w.tell(Event{Type: Text, Text: e.Text})
			}
		case llm.ReasoningDelta:
			w.tell(Event{Type: Reasoning, Text: e.Text})
		case llm.PartDone:
			a.Parts = append(a.Parts, *e.Part)
			if e.Part.Kind != llm.Text {
				break
			}
			part.Reset()
			whole.WriteString(e.Part.Text)
			if w.prefs.Whole {
				w.tell(Event{Type: Text, Text: e.Part.Text})
			}
		case llm.Finish:
			a.Usage, a.Stop, done = e.Usage, e.Stop, true
		}
	}
	if !done {
		return a, llm.ErrCut
	}
	w.measure(req, a.Usage)
	whole.Reset() // it is kept as it is
	part.Reset()
	return a, nil
}

// mostCalls is how many calls one answer may want.
const mostCalls = 32

// storeAnswer keeps an answer and the calls that it wants.
func (w *worker) storeAnswer(ctx context.Context, a llm.Answer) error {
	w.run.Steps++
	w.run.Usage = w.run.Usage.Add(a.Usage)
	w.run.Priced = w.run.Priced && (a.Usage.CostUSD != nil || w.info.Local)
	msg := chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Message{Role: llm.Assistant}, Model: w.model.ID(), Usage: &a.Usage, Stop: a.Stop}
	var calls []chat.Call
	whole := a.Stop == llm.Stopped || a.Stop == llm.WantsTool
	for _, p := range a.Parts {
		if p.Kind != llm.ToolCall {
			msg.Parts = append(msg.Parts, p)
			continue
		}
		if !whole || w.run.Last || len(w.tools) == 0 {
			continue // never run, and never kept: half of one is no JSON
		}
		if p.ID == "" {
			p.ID = w.ID("call")
		}
		msg.Parts = append(msg.Parts, p)
		c := chat.Call{ID: p.ID, Tool: p.Name, Args: p.Args, State: chat.Proposed, FromText: p.FromText, Repaired: p.Repaired, Limit: w.visible.Patterns()}
		if len(calls) >= mostCalls {
			c.State, c.Ended, c.Excess, c.Summary = chat.Mistaken, w.Now(), true, "not made: too many at once"
			c.Result = encode(map[string]any{"success": false, "isError": true, "error": fmt.Sprintf("Only the first %d calls of an answer are made. Go on with fewer.", mostCalls)})
		}
		calls = append(calls, c)
	}
	if len(calls) == 0 && a.Stop != llm.Filtered && !w.info.Mute && strings.TrimSpace(a.Text()) == "" {
		if !w.run.Empty && !w.run.Last {
			w.run.Empty = true
			return w.keep(ctx, chat.Change{}) // and asked once more, see request
		}
		w.quoteInstead(ctx, &msg, "the model gave no answer")
		a.Stop = llm.Stopped
	}
	var say []chat.Message
	if len(calls) == 0 && whole {
		say = w.misread(ctx, &msg)
	}
	if len(msg.Parts) == 0 {
		msg.Parts = []llm.Part{{Kind: llm.Text}}
	}
	say = append([]chat.Message{msg}, say...)
	switch a.Stop {
	case llm.Filtered:
		w.end(chat.Failed, "the provider blocked the answer")
	case llm.TooLong:
		if w.run.Last || w.run.Nudges >= 2 || !slices.ContainsFunc(a.Parts, func(p llm.Part) bool { return p.Kind == llm.ToolCall }) {
			break // an answer that is long, and nothing more
		}
		w.run.Nudges++
		say = append(say, w.notify(prompt.Cut))
	}
	seq := w.messages[len(w.messages)-1].Seq + 1
	for i := range calls {
		calls[i].Message = seq
	}
	return w.keep(ctx, chat.Change{Say: say, Calls: calls})
}

// notice marks what Lore says to the model in the person's place.
const notice = "notice"

// price guesses what the next answer costs: as much for each token as the ones
// before.
func (w *worker) price() float64 {
	u := w.run.Usage
	if u.CostUSD == nil || u.In+u.Out == 0 {
		return 0
	}
	return *u.CostUSD / float64(u.In+u.Out) * float64(w.estimate())
}

// finish ends a run with its answer.
func (w *worker) finish(ctx context.Context, answer chat.Message) error {
	status, reason := chat.Done, ""
	if w.run.Last {
		status, reason = chat.Limited, w.run.Reason
	}
	if w.run.Status == chat.Failed {
		status, reason = chat.Failed, w.run.Reason
	}
	w.end(status, reason)
	w.cite(&answer)
	answer.Uncited = w.uncited(&answer)
	if err := w.keep(ctx, chat.Change{Amend: []chat.Message{answer}}); err != nil {
		return err
	}
	w.entitle(ctx)
	return nil
}
