package agent

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/visibility"
)

// mostDenials is how often a person may say no before the run asks what to do.
const mostDenials = 3

// act brings the calls of one turn further. The turn is over when every call has
// its result; then the model gets all of them, in order.
func (w *worker) act(ctx context.Context, calls []chat.Call) (bool, error) {
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	if err := w.checkShared(ctx); err != nil {
		return false, err
	}
	w.sizeResults(len(calls))
	if err := w.recover(ctx, calls); err != nil {
		return false, err
	}
	if err := w.lookUp(ctx, calls); err != nil {
		return false, err
	}
	news, err := w.read(ctx, calls)
	if err != nil {
		return false, err
	}
	open := func(c chat.Call) bool { return !c.State.Over() }
	if len(news) > 0 && slices.ContainsFunc(calls, open) {
		// What comes next may take long. What is over is kept with its results.
		if err := w.keep(ctx, chat.Change{Calls: news}); err != nil {
			return false, err
		}
		news = nil
	}
	if err := w.write(ctx, calls); err != nil {
		return false, err
	}
	if slices.ContainsFunc(calls, open) {
		w.run.Status = chat.WaitingApproval
		return false, w.keep(ctx, chat.Change{})
	}
	return w.close(ctx, calls, news)
}

// close gives the results of a turn to the model. Of a run that a tool ends, the
// model's account of its work is the answer.
func (w *worker) close(ctx context.Context, calls, news []chat.Call) (bool, error) {
	say := []chat.Message{w.results(calls)}
	again := true
	for _, c := range calls {
		if t, err := w.Door.Find(c.Tool); err == nil && t.Ends && c.State == chat.Finished {
			account := summaryOf(c)
			w.end(chat.Done, summarize.Clip(account, 2000))
			again = false
			say = append(say, w.speak(account))
		}
	}
	if again {
		w.run.Status = chat.Running
	}
	switch {
	case !again:
	case w.run.Denials >= mostDenials:
		w.end(chat.WaitingUser, "you denied three calls: tell the model what you want instead")
		again = false
	case w.run.Nudges > mostNudges:
		w.end(chat.WaitingUser, "the model repeats itself: tell it how to continue")
		again = false
		say = append(say, w.speak(w.fallBack(ctx)))
	}
	return again, w.keep(ctx, chat.Change{Say: say, Amend: w.withhold(calls), Calls: news})
}

// results are what calls that are over gave, as a message.
func (w *worker) results(calls []chat.Call) chat.Message {
	msg := chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Message{Role: llm.Results}}
	for _, c := range calls {
		if c.State.Over() {
			msg.Parts = append(msg.Parts, llm.Part{Kind: llm.ToolResult, ID: c.ID, Name: c.Tool, Text: c.Result, IsError: c.State == chat.Mistaken || c.State == chat.Interrupted})
		}
	}
	return msg
}

// unsaid are the results of a turn that is broken off: the next run must know
// what was done, or it does it once more.
func (w *worker) unsaid() []chat.Message {
	if len(w.messages) == 0 {
		return nil
	}
	msg := w.results(w.turn(w.messages[len(w.messages)-1].Seq))
	if len(msg.Parts) == 0 {
		return nil
	}
	return []chat.Message{msg}
}

// find is the tool of a call, if it is offered.
func (w *worker) find(c *chat.Call) (*tool.Tool, error) {
	t, err := w.Door.Find(c.Tool)
	if err != nil {
		return nil, err
	}
	if !c.Attached && !w.offers(t) {
		return nil, fault.New(fault.NotFound, "the tool %q is not offered in this chat", c.Tool)
	}
	return t, nil
}

// reads reports whether a call changes nothing, whatever its arguments, and is
// not asked about by itself.
func reads(t *tool.Tool) bool { return t.Effect == access.Reads && t.Selects == "" }

// recover settles calls that were under way when a process died. What reads is
// read again; of the rest, what it left behind tells.
func (w *worker) recover(ctx context.Context, calls []chat.Call) error {
	var changed []chat.Call
	for i := range calls {
		c := &calls[i]
		if c.State != chat.Calling {
			continue
		}
		var trace Trace
		if w.Made != nil {
			var err error
			if trace, err = w.Made(ctx, w.run.ID, c.Tool, c.Args, c.Started); err != nil {
				return err
			}
			if w.known(trace) { // it is the trace of another call, just before
				trace = Trace{}
			}
		}
		switch {
		case trace.Question != "":
			c.State, c.Question = chat.Asked, trace.Question
		case trace.Operation != "":
			c.State, c.Operation, c.Ended = chat.Finished, trace.Operation, w.Now()
			c.Result = encode(map[string]any{"success": true, "operation_id": trace.Operation, "message": "It was done; the process ended before it could tell more."})
			c.Summary = "done before a restart"
		default:
			w.interrupt(c)
		}
		changed = append(changed, *c)
	}
	if len(changed) == 0 {
		return nil
	}
	return w.keep(ctx, chat.Change{Calls: changed})
}

// interrupt gives a call of which nobody knows how it ended its result.
func (w *worker) interrupt(c *chat.Call) {
	c.State, c.Ended = chat.Interrupted, w.Now()
	c.Result = encode(map[string]any{"success": false, "isError": true, "error": "The call was interrupted, and nothing tells that it was done. Look before you repeat it."})
	c.Summary = "interrupted"
}

// withdraw takes the question of one call back. If it is answered, that counts:
// the call gets its result, or, while it is being done, nobody knows.
func (w *worker) withdraw(ctx context.Context, one []chat.Call) error {
	err := w.Door.Cancel(ctx, w.who(&w.run), one[0].Question)
	switch {
	case err == nil, fault.Of(err) == fault.NotFound:
		return nil
	case fault.Of(err) != fault.Conflict:
		return err
	}
	q, err := w.Door.Question(ctx, one[0].Question)
	switch {
	case err != nil:
		return err
	case q.State.Over():
		return w.lookUp(ctx, one)
	}
	w.interrupt(&one[0])
	return nil
}

// known reports whether a trace is that of a call whose end is known.
func (w *worker) known(t Trace) bool {
	return slices.ContainsFunc(w.calls, func(c chat.Call) bool {
		return t.Operation != "" && c.Operation == t.Operation || t.Question != "" && c.Question == t.Question
	})
}

// lookUp sees which questions are answered.
func (w *worker) lookUp(ctx context.Context, calls []chat.Call) error {
	var changed []chat.Call
	for i := range calls {
		c := &calls[i]
		if c.State != chat.Asked {
			continue
		}
		q, err := w.Door.Question(ctx, c.Question)
		if err != nil && fault.Of(err) != fault.NotFound {
			return err
		}
		if err == nil && !q.State.Over() && q.State != tool.Approved {
			if c.Revision != q.Revision {
				c.Revision = q.Revision
				changed = append(changed, *c)
			}
			continue
		}
		var res tool.Result
		if err == nil {
			res, err = w.Door.Await(ctx, c.Question, q.Revision)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && res.Question != nil { // computed again, or there is more to decide
			c.Revision = res.Question.Revision
			changed = append(changed, *c)
			continue
		}
		w.recordResult(c, res, err)
		c.Limit = visibility.Widest(w.readUnder(ctx), w.granted(q))
		if q.Answer != nil && len(q.Answer.Args) > 0 {
			c.Result = "The person changed the arguments to " + string(q.Answer.Args) + " before allowing it.\n" + c.Result
		}
		changed = append(changed, *c)
	}
	if len(changed) == 0 {
		return nil
	}
	return w.keep(ctx, chat.Change{Calls: changed})
}

// read runs what reads, several at a time, and returns the calls that changed.
func (w *worker) read(ctx context.Context, calls []chat.Call) ([]chat.Call, error) {
	var todo []int
	for i := range calls {
		c := &calls[i]
		if c.State != chat.Proposed {
			continue
		}
		t, err := w.find(c)
		if err != nil || w.repeats(c) {
			w.refuse(c, err)
			continue
		}
		if reads(t) {
			todo = append(todo, i)
		}
	}
	limit := w.Parallel
	if limit <= 0 {
		limit = 4
	}
	gate := make(chan struct{}, limit)
	var wg sync.WaitGroup
	for _, i := range todo {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			calls[i].Started = w.Now()
			res, err := w.Door.Call(ctx, w.caller(&calls[i]), calls[i].Tool, calls[i].Args)
			w.recordResult(&calls[i], res, err)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err() // they are read again
	}
	under := w.readUnder(ctx)
	var changed []chat.Call
	for i := range calls {
		if calls[i].State.Over() && slices.Contains(todo, i) {
			calls[i].Limit = under
		}
		if known := slices.IndexFunc(w.calls, func(x chat.Call) bool { return x.Seq == calls[i].Seq }); known < 0 || w.calls[known].State != calls[i].State {
			changed = append(changed, calls[i])
		}
	}
	return changed, nil
}

// write makes the other calls one by one, in order. That a call begins is kept
// first, so that none is made twice.
func (w *worker) write(ctx context.Context, calls []chat.Call) error {
	for i := range calls {
		c := &calls[i]
		if c.State != chat.Proposed {
			continue
		}
		c.State, c.Started = chat.Calling, w.Now()
		if err := w.keep(ctx, chat.Change{Calls: []chat.Call{*c}}); err != nil {
			return err
		}
		res, err := w.Door.Call(ctx, w.caller(c), c.Tool, c.Args)
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		w.recordResult(c, res, err)
		c.Limit = w.readUnder(ctx)
		if err := w.keep(context.WithoutCancel(ctx), chat.Change{Calls: []chat.Call{*c}}); err != nil {
			return err
		}
	}
	return nil
}

// caller is the principal of a call: wary when outside words were read, or when
// the call was not made as one.
func (w *worker) caller(c *chat.Call) access.Principal {
	who := w.who(&w.run)
	if !w.info.Local {
		who.Sends = w.model.ID()
	}
	who.Tainted = w.outside || slices.ContainsFunc(w.calls, func(x chat.Call) bool { return x.Untrusted })
	who.Wary = who.Tainted || c.FromText || c.Repaired != ""
	return who
}

// refuse gives a call that is not made its result.
func (w *worker) refuse(c *chat.Call, err error) {
	if err == nil {
		w.run.Nudges++
		c.Repeats = true
		c.State, c.Result, c.Summary = chat.Mistaken, encode(map[string]any{"success": false, "isError": true, "error": sameAgain}), "not made: it repeats itself"
	} else {
		w.recordResult(c, tool.Result{}, err)
	}
	c.Ended = w.Now()
}

const sameAgain = "This is the same call again, and it had the same result. Change it, or answer with what you have."

// recordResult gives a call its result, or the question that it waits for.
func (w *worker) recordResult(c *chat.Call, res tool.Result, err error) {
	if err == nil && res.Question != nil {
		c.State, c.Question, c.Revision, c.Summary = chat.Asked, res.Question.ID, res.Question.Revision, res.Question.Preview.Summary
		return
	}
	c.Ended = w.Now()
	if err != nil {
		c.State, c.Result, c.Untrusted = chat.Mistaken, encode(tool.NewFailure(err)), tool.IsUntrusted(err)
		if t, e := w.Door.Find(c.Tool); e == nil && (t.Untrusted || t.Source != "") {
			c.Untrusted = true // an error has words of the server too
		}
		c.Summary = summarize.Clip(err.Error(), 200)
		return
	}
	c.State, c.Operation, c.Untrusted = chat.Finished, res.Operation, res.Untrusted
	if res.Refused != "" {
		c.State = chat.Refused
		w.mu.Lock()
		w.run.Denials++
		w.mu.Unlock()
	}
	w.render(c, res)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain values come here
	}
	return string(b)
}
