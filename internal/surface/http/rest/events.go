package rest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
	"lore/internal/vault/visibility"
)

// kept is how much final news can be asked for again.
const kept = 1024

// News remembers the last final events, and of progress only the latest of each
// topic. Readers hold a place in it and nothing else, so that a slow one costs
// nothing and loses progress alone; one that is too far behind is told.
type news struct {
	epoch string // numbers begin anew with every process
	sub   *event.Subscription
	done  chan struct{}

	mu       sync.Mutex
	final    []event.Event // by number
	lost     uint64        // the last number that was let go
	progress map[string]event.Event
	last     uint64
	changed  chan struct{}  // closed when there is something to read
	soon     *time.Timer    // until readers are told of progress; nil when there is none
	readers  map[string]int // streams that are open, by who reads
}

// gather is how long progress waits for more of its kind: two hundred readers
// need not hear of every step.
const gather = 50 * time.Millisecond

func follow(bus *event.Bus) *news {
	n := &news{
		epoch: strings.ToLower(rand.Text()[:8]), sub: bus.Subscribe(), done: make(chan struct{}),
		progress: map[string]event.Event{}, changed: make(chan struct{}), readers: map[string]int{},
	}
	go func() {
		defer close(n.done)
		for {
			e, ok := n.sub.Next(nil)
			if !ok {
				return
			}
			n.put(e)
		}
	}()
	return n
}

func (n *news) close() {
	n.sub.Close()
	<-n.done
}

func (n *news) put(e event.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = e.Seq
	if e.Topic == tool.TopicMissed { // every reader is behind
		n.final, n.lost = nil, e.Seq
		n.tell()
		return
	}
	if e.Final {
		n.final = append(n.final, e)
		if len(n.final) > kept {
			n.lost = n.final[0].Seq
			n.final = slices.Clone(n.final[1:])
		}
		n.tell()
		return
	}
	n.progress[e.Topic] = e
	if n.soon == nil {
		n.soon = time.AfterFunc(gather, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.tell()
		})
	}
}

// tell wakes the readers, with all that there is.
func (n *news) tell() {
	if n.soon != nil {
		n.soon.Stop()
		n.soon = nil
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// after returns what came after a number, in order, and a channel that is
// closed when there is more. Missed says that some of it is gone.
func (n *news) after(seq uint64) (list []event.Event, more <-chan struct{}, missed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i, _ := slices.BinarySearchFunc(n.final, seq+1, func(e event.Event, s uint64) int { return cmp.Compare(e.Seq, s) })
	list = slices.Clone(n.final[i:])
	for _, e := range n.progress {
		if e.Seq > seq {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b event.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, n.changed, seq < n.lost
}

func (n *news) now() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

// id names a place in the news across reconnections.
func (n *news) id(seq uint64) string { return n.epoch + "-" + strconv.FormatUint(seq, 10) }

// place reads an id; one of another process is unknown.
func (n *news) place(id string) (uint64, bool) {
	epoch, word, _ := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(word, 10, 64)
	return seq, err == nil && epoch == n.epoch && seq <= n.now()
}

// readersMost is how many streams one caller has open at once: a program that
// opens too many takes the news from nobody else.
const readersMost = 256

func (n *news) enter(who access.Principal) (leave func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := who.Key()
	if n.readers[key] >= readersMost {
		return nil, false
	}
	n.readers[key]++
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.readers[key]--; n.readers[key] == 0 {
			delete(n.readers, key)
		}
	}, true
}

// sendTime is how long one piece of news may take to leave. Who does not take
// it in that time is let go, and resumes when it can.
const sendTime = 15 * time.Second

// events streams the news, each typed by its topic. The first is "ready", whose
// id resumes from here, or "reset" when what was asked for is gone: then the
// reader looks at everything again.
func (a *API) events(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	leave, ok := a.news.enter(who)
	if !ok {
		return fault.Fix(fault.Busy, "close one", "%d streams are already open", readersMost)
	}
	defer leave()
	s := NewStream(w)
	seq, topic := a.news.now(), "ready"
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		if at, ok := a.news.place(id); ok {
			seq = at
		} else {
			topic = "reset"
		}
	}
	if err := s.Send(a.news.id(seq), topic, struct{}{}); err != nil {
		return nil // nobody is there
	}
	beat := time.NewTicker(a.o.Beat)
	defer beat.Stop()
	for {
		list, more, missed := a.news.after(seq)
		if missed {
			seq = a.news.now()
			list = nil
			if s.Send(a.news.id(seq), "reset", struct{}{}) != nil {
				return nil
			}
		}
		for _, e := range list {
			seq = e.Seq
			if !a.hears(r.Context(), who, e) {
				continue
			}
			data, err := a.stated(r.Context(), who, e)
			if err != nil || s.Send(a.news.id(e.Seq), e.Topic, data) != nil {
				return nil // the reader resumes after the last event that it got
			}
		}
		select {
		case <-more:
		case <-beat.C:
			if s.Beat() != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		case <-a.o.Closing:
			return nil
		case <-a.stops:
			return nil
		}
	}
}

// hears reports whether news is for a principal. Of questions, programs hear
// their own. Of other servers they hear nothing: that news names files of this
// machine and repeats what the servers say. How much there is to index is news
// for programs that may read everything.
func (a *API) hears(ctx context.Context, who access.Principal, e event.Event) bool {
	if q, ok := e.Data.(tool.Question); ok {
		return sees(who, q)
	}
	if who.Recipient() == "" {
		return true
	}
	switch e.Topic {
	case change.TopicFiles, tool.TopicCall, tool.TopicTools, tool.TopicVault, tool.TopicMissed:
		return true
	}
	return strings.HasSuffix(e.Topic, ".progress") && a.limitOf(ctx, who).Everything()
}

// limitOf is what of the vault a program may hear of; nothing where that is not
// known now.
func (a *API) limitOf(ctx context.Context, who access.Principal) visibility.Limit {
	nothing, err := visibility.Limit{}.Only(nil)
	if a.o.Shared == nil || err != nil {
		return nothing
	}
	limit, err := a.o.Shared(ctx, who)
	if err != nil {
		return nothing
	}
	return limit
}

// stateFor is the state of the vault as a principal may know it: how many notes
// are missing is for those who may read all of them.
func (a *API) stateFor(ctx context.Context, who access.Principal, v tool.VaultState) tool.VaultState {
	if who.Recipient() != "" && !a.limitOf(ctx, who).Everything() {
		return tool.VaultState{Mode: v.Mode}
	}
	return v
}

// stated adds how the call stands that news is about, in the words that front
// ends for models' tool calls share.
func (a *API) stated(ctx context.Context, who access.Principal, e event.Event) (any, error) {
	switch v := e.Data.(type) {
	case tool.Question:
		seen, err := a.visible(ctx, who, v)
		return struct {
			tool.Question
			Call string `json:"call_state"`
		}{seen, questionState(v)}, err
	case change.Files:
		return a.named(ctx, who, v), nil
	case tool.VaultState:
		return a.stateFor(ctx, who, v), nil
	case tool.Finished:
		if !tool.Sees(who, v.Who) {
			v.Summary, v.Operation, v.Who.ID = "", "", ""
		}
		return struct {
			tool.Finished
			Call string `json:"call_state"`
		}{v, finishedStates[v.Status]}, nil
	}
	return e.Data, nil
}

// named is the news about files without the names that are not shared with a
// program.
func (a *API) named(ctx context.Context, who access.Principal, f change.Files) change.Files {
	if who.Recipient() == "" {
		return f
	}
	limit, err := visibility.Limit{}.Only(nil)
	if a.o.Shared != nil && err == nil {
		limit, err = a.o.Shared(ctx, who)
	}
	if err != nil { // who may know what is not known now
		return change.Files{Many: true}
	}
	keep := func(list []string) []string {
		return visibility.Filter(limit, slices.Clone(list), func(p string) string { return p })
	}
	return change.Files{Added: keep(f.Added), Changed: keep(f.Changed), Removed: keep(f.Removed), Many: f.Many}
}

// The states of a call.
const (
	inputAvailable    = "input-available"
	approvalRequested = "approval-requested"
	approvalResponded = "approval-responded"
	outputAvailable   = "output-available"
	outputDenied      = "output-denied"
	outputError       = "output-error"
)

var finishedStates = map[tool.Status]string{
	tool.CallStarted: inputAvailable, tool.CallPending: approvalRequested, tool.CallDone: outputAvailable, tool.CallDryRun: outputAvailable,
	tool.CallDenied: outputDenied, tool.CallFailed: outputError, tool.CallCancelled: outputError,
}

func questionState(q tool.Question) string {
	switch q.State {
	case tool.Pending:
		return approvalRequested
	case tool.Approved, tool.Running:
		return approvalResponded
	case tool.Done:
		return outputAvailable
	case tool.Failed:
		return outputError
	}
	return outputDenied
}

// A Stream writes server-sent events.
type Stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

// NewStream begins one.
func NewStream(w http.ResponseWriter) Stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return Stream{w: w, out: http.NewResponseController(w)}
}

// Beat shows that the stream lives.
func (s Stream) Beat() error { return s.write(": still here\n\n") }

// Send writes one event; with an id, a reader can resume after it.
func (s Stream) Send(id, topic string, data any) error {
	b, err := schema.Marshal(data) // one line: JSON has no bare line breaks
	if err != nil {
		return err
	}
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", topic, b)
	if id != "" {
		text = "id: " + id + "\n" + text
	}
	return s.write(text)
}

func (s Stream) write(text string) error {
	_ = s.out.SetWriteDeadline(time.Now().Add(sendTime)) // not every writer has one
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.out.Flush()
}
