package runner

import (
	"context"
	"sync"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
)

// A work is a run that is worked on here, or being ended, with what is said and
// not kept yet.
type work struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it is over, or waits

	mu      sync.Mutex
	speech  speech
	kept    int           // how often something was kept
	changed chan struct{} // closed when there is news
}

func newWork(cancel context.CancelCauseFunc) *work {
	return &work{cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
}

// A speech is the answer that is being given.
type speech struct {
	number        int // of the answer: another one begins from nothing
	text, thought []byte
}

// tell hears what happens in the run.
func (w *work) tell(e agent.Event) {
	w.mu.Lock()
	switch e.Type {
	case agent.Text:
		w.speech.text = append(w.speech.text, e.Text...)
	case agent.Reasoning:
		w.speech.thought = append(w.speech.thought, e.Text...)
	case agent.Restarted:
		w.speech = speech{number: w.speech.number + 1}
	case agent.Said:
		w.speech = speech{number: w.speech.number + 1}
		w.kept++
	default:
		w.kept++
	}
	w.mu.Unlock()
	w.notify()
}

func (w *work) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// A Piece is what a watcher gets to know.
type Piece struct {
	// State is what is kept of the run; nil when that did not change.
	State *State `json:"state,omitempty"`
	// Answer numbers the answer that is being given; the pieces of another one
	// begin anew. Text and Thought follow on what was sent of it before.
	Answer  int    `json:"answer"`
	Text    string `json:"text,omitempty"`
	Thought string `json:"thought,omitempty"`
}

// A State is a run with its calls and with the messages that a watcher has not
// seen.
type State struct {
	Run      chat.Run       `json:"run"`
	Calls    []chat.Call    `json:"calls"`
	Messages []chat.Message `json:"messages"`
}

// frame is how long pieces are gathered: an eye sees no more.
const frame = 30 * time.Millisecond

// A watcher is how far somebody has seen.
type watcher struct {
	a      *Runner
	run    string
	seq    int // the last message that was sent
	work   *work
	kept   int
	mark   time.Time // when the chat changed last
	number int
	text   int // how much of the answer was sent
	though int
}

// Watch sends what happens in a run, beginning with how it stands and with the
// messages after seq, until it is over, ctx ends or send fails. It is no error
// when the run is over.
func (a *Runner) Watch(ctx context.Context, run string, seq int, send func(Piece) error) error {
	w := &watcher{a: a, run: run, seq: seq, kept: -1}
	for {
		changed := w.join()
		p, over, err := w.next(ctx)
		if err != nil {
			return err
		}
		if p != nil {
			if err := send(*p); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		if err := w.wait(ctx, changed); err != nil {
			return err
		}
	}
}

// join finds who works on the run here, if anybody, and what tells of news.
func (w *watcher) join() <-chan struct{} {
	now := w.a.work(w.run)
	if now != w.work {
		w.work, w.kept, w.number, w.text, w.though = now, -1, w.number+1, 0, 0
	}
	if now == nil {
		return nil
	}
	now.mu.Lock()
	defer now.mu.Unlock()
	return now.changed
}

// next is what a watcher has not seen.
func (w *watcher) next(ctx context.Context) (*Piece, bool, error) {
	var p Piece
	fresh, said := w.work == nil, false
	if w.work != nil {
		w.work.mu.Lock()
		s := w.work.speech
		fresh = w.work.kept != w.kept
		w.kept = w.work.kept
		text, thought := s.text, s.thought
		w.work.mu.Unlock()
		if s.number != w.number {
			w.number, w.text, w.though = s.number, 0, 0
		}
		// What was said before is not written again, so it can be read unlocked.
		p.Text, p.Thought = string(text[w.text:]), string(thought[w.though:])
		w.text, w.though = len(text), len(thought)
		said = p.Text != "" || p.Thought != ""
	}
	p.Answer = w.number
	if !fresh {
		if !said {
			return nil, false, nil
		}
		return &p, false, nil
	}
	state, over, err := w.state(ctx)
	if err != nil {
		return nil, false, err
	}
	if p.State = state; state == nil && !said {
		return nil, over, nil
	}
	return &p, over, nil
}

// state reads what is kept; nil when it is what was seen.
func (w *watcher) state(ctx context.Context) (*State, bool, error) {
	store := w.a.agent.Store
	r, err := store.Run(ctx, w.run)
	if err != nil {
		return nil, false, err
	}
	c, err := store.Get(ctx, r.Chat)
	if err != nil {
		return nil, false, err
	}
	if c.Changed.Equal(w.mark) {
		return nil, r.Status.Over() && w.a.work(w.run) == nil, nil
	}
	// Once more: it must not be older than the mark, by which it counts as seen.
	if r, err = store.Run(ctx, w.run); err != nil {
		return nil, false, err
	}
	over := r.Status.Over() && w.a.work(w.run) == nil
	calls, err := store.Calls(ctx, r.ID)
	if err != nil {
		return nil, false, err
	}
	out := &State{Run: r, Calls: append([]chat.Call{}, calls...), Messages: []chat.Message{}}
	for i := range out.Calls {
		out.Calls[i].Uncut = "" // it is for the model, and may be long
	}
	messages, err := store.Messages(ctx, r.Chat)
	if err != nil {
		return nil, false, err
	}
	for _, m := range messages {
		if m.Seq > w.seq || m.Run == w.run && len(m.Citations)+len(m.Quotes) > 0 {
			out.Messages = append(out.Messages, m)
		}
	}
	if n := len(messages); n > 0 {
		w.seq = max(w.seq, messages[n-1].Seq)
	}
	w.mark = c.Changed
	return out, over, nil
}

// wait waits for news, and at least for a frame. A run that nobody here works on
// is looked at from time to time.
func (w *watcher) wait(ctx context.Context, changed <-chan struct{}) error {
	look := time.NewTimer(every / 4)
	defer look.Stop()
	if changed == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			return nil
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-w.work.done: // it may have ended before changed was looked at
	}
	breath := time.NewTimer(frame)
	defer breath.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-breath.C:
		return nil
	}
}
