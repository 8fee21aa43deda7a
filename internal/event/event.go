// Package event carries news from the parts that do work to whoever shows it:
// a progress bar, a web page, a log. It knows no event's meaning.
package event

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// An Event is one piece of news. Topic is a dotted name such as
// "index.progress"; Data is a value of a type that the topic's owner documents.
type Event struct {
	Seq   uint64 `json:"seq"`
	Topic string `json:"topic"`
	Data  any    `json:"data"`
	// Final news is never dropped; progress may be, when a reader is slow.
	Final bool `json:"final"`
}

// A Bus hands every event to every subscriber, in the order of publication.
//
// Publish never blocks. A slow subscriber loses progress events, never final
// ones: those are kept for it, however many.
type Bus struct {
	mu   sync.Mutex
	seq  uint64
	subs map[*Subscription]struct{}
	kept map[string]Event // the last announcement of each topic
}

// NewBus makes an empty bus.
func NewBus() *Bus { return &Bus{subs: map[*Subscription]struct{}{}, kept: map[string]Event{}} }

// Publish sends one event. A nil Bus publishes to nobody.
func (b *Bus) Publish(topic string, data any, final bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(topic, data, final)
}

// publish sends one event. The caller holds b.mu: numbers and queues have one
// order.
func (b *Bus) publish(topic string, data any, final bool) Event {
	b.seq++
	e := Event{Seq: b.seq, Topic: topic, Data: data, Final: final}
	for s := range b.subs {
		s.put(e)
	}
	return e
}

// Announce sends a final event about something that lasts, such as a state. The
// bus keeps the last one of each topic for [Bus.Last], and everyone who
// subscribes later receives it first. A nil Bus announces to nobody.
func (b *Bus) Announce(topic string, data any) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[topic] = b.publish(topic, data, true)
}

// Last returns the data of the last announcement of a topic, or nil.
func (b *Bus) Last(topic string) any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[topic].Data
}

// Subscribe returns a subscription that sees the last announcements and
// everything published from now on. The caller must Close it.
func (b *Bus) Subscribe(topics ...string) *Subscription {
	s := &Subscription{bus: b, wake: make(chan struct{}, 1), done: make(chan struct{})}
	for _, t := range topics {
		if s.topics == nil {
			s.topics = map[string]bool{}
		}
		s.topics[t] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.SortedFunc(maps.Values(b.kept), func(x, y Event) int { return cmp.Compare(x.Seq, y.Seq) }) {
		s.put(e)
	}
	b.subs[s] = struct{}{}
	return s
}

// pending is how many progress events may wait for one subscriber.
const pending = 256

// A Subscription is one reader of a bus.
type Subscription struct {
	bus    *Bus
	topics map[string]bool
	wake   chan struct{}
	done   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	queue   []Event
	dropped int
}

func (s *Subscription) put(e Event) {
	if s.topics != nil && !s.topics[e.Topic] {
		return
	}
	s.mu.Lock()
	if !e.Final && len(s.queue) >= pending {
		s.dropped++
		s.mu.Unlock()
		return
	}
	s.queue = append(s.queue, e)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for the next event. It returns false when the subscription was
// closed or stop was, after the events that were already there.
func (s *Subscription) Next(stop <-chan struct{}) (Event, bool) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return e, true
		}
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-s.done:
			return Event{}, false
		case <-stop:
			return Event{}, false
		}
	}
}

// Dropped tells how many progress events this reader was too slow for.
func (s *Subscription) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.once.Do(func() {
		s.bus.mu.Lock()
		delete(s.bus.subs, s)
		s.bus.mu.Unlock()
		close(s.done)
	})
}
