package event_test

import (
	"sync"
	"testing"

	"lore/internal/event"
)

func drain(s *event.Subscription) []event.Event {
	stop := make(chan struct{})
	close(stop)
	var out []event.Event
	for {
		e, ok := s.Next(stop)
		if !ok {
			return out
		}
		out = append(out, e)
	}
}

func TestOrderAndTopics(t *testing.T) {
	b := event.NewBus()
	b.Publish("early", 0, true)
	all, some := b.Subscribe(), b.Subscribe("b")
	defer all.Close()
	defer some.Close()
	for i, topic := range []string{"a", "b", "a", "b"} {
		b.Publish(topic, i, i == 3)
	}
	got := drain(all)
	if len(got) != 4 {
		t.Fatalf("got %v", got)
	}
	for i, e := range got {
		if e.Data != i || e.Seq != uint64(i+2) || e.Final != (i == 3) {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if got := drain(some); len(got) != 2 || got[0].Data != 1 || got[1].Data != 3 {
		t.Errorf("got %v", got)
	}
}

func TestASlowReaderLosesProgressAndNothingElse(t *testing.T) {
	b := event.NewBus()
	s := b.Subscribe()
	defer s.Close()
	const progress, final = 1000, 500
	for i := range progress {
		b.Publish("p", i, false)
	}
	for i := range final {
		b.Publish("f", i, true)
	}
	got := drain(s)
	finals := 0
	for i, e := range got {
		if e.Final {
			if e.Data != finals {
				t.Fatalf("final event %d is %v", finals, e.Data)
			}
			finals++
		} else if e.Data != i {
			t.Fatalf("progress event %d is %v", i, e.Data)
		}
	}
	if finals != final || s.Dropped() != progress-(len(got)-final) || s.Dropped() == 0 {
		t.Errorf("%d finals, %d events, %d dropped", finals, len(got), s.Dropped())
	}
}

func TestClose(t *testing.T) {
	b := event.NewBus()
	s := b.Subscribe()
	b.Publish("a", 1, true)
	s.Close()
	s.Close()
	b.Publish("a", 2, true)
	if e, ok := s.Next(nil); !ok || e.Data != 1 {
		t.Errorf("what was there is lost: %v %v", e, ok)
	}
	if e, ok := s.Next(nil); ok {
		t.Errorf("got %v after the end", e)
	}
	var none *event.Bus
	none.Publish("a", 1, true) // a nil bus publishes to nobody
}

func TestNextWaits(t *testing.T) {
	b := event.NewBus()
	s := b.Subscribe()
	var wg sync.WaitGroup
	var got []any
	last := uint64(0)
	wg.Go(func() {
		for {
			e, ok := s.Next(nil)
			if !ok {
				return
			}
			if e.Seq <= last {
				t.Errorf("event %d came after event %d", e.Seq, last)
			}
			last = e.Seq
			got = append(got, e.Data)
			if e.Data == "last" {
				s.Close()
			}
		}
	})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 10 {
				b.Publish("t", "x", true)
			}
		})
	}
	writers.Wait()
	b.Publish("t", "last", true)
	wg.Wait()
	if len(got) != 41 {
		t.Errorf("got %d events", len(got))
	}
}

// An announcement lasts: who comes later receives the last one of each topic.
func TestAnnounce(t *testing.T) {
	b := event.NewBus()
	if b.Last("state") != nil {
		t.Error("nothing was announced")
	}
	early := b.Subscribe()
	defer early.Close()
	b.Announce("state", "bad")
	b.Announce("other", 1)
	b.Announce("state", "well")
	b.Publish("news", 2, true)
	late, some := b.Subscribe(), b.Subscribe("state")
	defer late.Close()
	defer some.Close()
	if got := b.Last("state"); got != "well" {
		t.Errorf("last: %v", got)
	}
	if got := drain(early); len(got) != 4 || got[0].Data != "bad" || !got[0].Final {
		t.Errorf("early: %v", got)
	}
	if got := drain(late); len(got) != 2 || got[0].Data != 1 || got[1].Data != "well" || got[1].Seq != 3 {
		t.Errorf("late: %v", got)
	}
	if got := drain(some); len(got) != 1 || got[0].Data != "well" {
		t.Errorf("some: %v", got)
	}
}
