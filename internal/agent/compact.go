package agent

import (
	"cmp"
	"context"
	"errors"

	"lore/internal/agent/chat"
	"lore/internal/fault"
)

// Compact lets a model tell the older messages of a chat in short now, all but its last
// answer. It reports whether there was something to tell. "" is the model of the last
// run.
func (a *Agent) Compact(ctx context.Context, chatID, model string) (bool, error) {
	runs, err := a.Store.Runs(ctx, chatID)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	last := runs[len(runs)-1]
	if !last.Status.Over() {
		return false, fault.Fix(fault.Busy, "wait for the run to finish, or stop it", "this chat has an unfinished run: %s", last.ID)
	}
	if won, err := a.take(ctx, last.ID); err != nil || !won {
		return false, errors.Join(err, chat.ErrTaken)
	}
	defer func() { _ = a.Store.Leave(context.WithoutCancel(ctx), last.ID, a.Holder) }()
	stop := a.renew(ctx, last.ID)
	defer stop()
	w, err := a.load(ctx, last.ID, func(Event) {})
	if err != nil {
		return false, err
	}
	if w.prefs, err = a.prefs(); err != nil {
		return false, err
	}
	run := w.run
	w.run.Model = cmp.Or(model, w.run.Model)
	if err := w.ready(ctx); err != nil {
		return false, err
	}
	switch w.run = run; {
	case w.info.Mute:
		return false, fault.Fix(fault.Invalid, "choose a model with /model", "without a model, there is nothing to summarize")
	case w.limited:
		return false, fault.New(fault.Denied, "not every note is shared with %s, so it cannot use a summary of earlier messages", w.model.ID())
	}
	before := len(w.messages)
	err = w.summarize(ctx, 0, true)
	return len(w.messages) > before, err
}
