package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// quick is a model that answers at once: with calls until a number of steps is
// made, then with words.
type quick struct {
	steps int
	asked int
	first func() // before the first word
}

func (*quick) ID() string { return "test/quick" }

func (m *quick) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.asked++
		if m.asked <= m.steps {
			args := fmt.Sprintf(`{"path":"Tea","offset":%d}`, m.asked)
			part := llm.Part{Kind: llm.ToolCall, ID: fmt.Sprint("c", m.asked), Name: "read_note", Args: json.RawMessage(args)}
			_ = yield(llm.Event{Type: llm.PartDone, Part: &part}, nil) && yield(llm.Event{Type: llm.Finish, Stop: llm.WantsTool}, nil)
			return
		}
		if m.first != nil {
			m.first()
		}
		_ = yield(llm.Event{Type: llm.TextDelta, Text: "Done."}, nil) &&
			yield(llm.Event{Type: llm.PartDone, Part: &llm.Part{Kind: llm.Text, Text: "Done."}}, nil) &&
			yield(llm.Event{Type: llm.Finish, Stop: llm.Stopped}, nil)
	}
}

// bench is a world whose model answers at once.
func bench(b *testing.B) (*world, *quick) {
	b.Helper()
	w := newWorld(b)
	m := &quick{}
	w.Agent.Model = func(context.Context, string) (llm.Model, llm.Info, error) {
		return m, llm.Info{Context: 1 << 20, Local: true, Mute: false}, nil
	}
	return w, m
}

// run answers one request, in a chat that has its name.
func (w *world) run(b *testing.B, id string, tell func(agent.Event)) {
	b.Helper()
	if err := w.Store.Put(b.Context(), chat.Chat{ID: id, Titled: chat.ByPerson, Sets: []string{"notes"}}); err != nil {
		b.Fatal(err)
	}
	r, err := w.Start(b.Context(), id, agent.Request{Text: "Go", Limits: chat.Limits{Steps: 1000}})
	if err != nil {
		b.Fatal(err)
	}
	if r, err = w.Work(b.Context(), r.ID, tell); err != nil || r.Status != chat.Done {
		b.Fatal(err, r)
	}
}

// BenchmarkStep is what the loop costs around a model and a tool that cost nothing
// to speak of: everything is kept on the way.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{5, 25, 100} {
		b.Run(fmt.Sprint("steps=", n), func(b *testing.B) {
			w, m := bench(b)
			b.ReportAllocs()
			for i := range b.N {
				m.steps, m.asked = n, 0
				w.run(b, fmt.Sprint("chat-", i), nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*(n+1)), "µs/step")
		})
	}
}

// BenchmarkFirstWord is how long the first word of a model takes to whoever
// listens.
func BenchmarkFirstWord(b *testing.B) {
	w, m := bench(b)
	var spoken time.Time
	var total time.Duration
	m.first = func() { spoken = time.Now() }
	for i := range b.N {
		m.asked = 0
		heard := false
		w.run(b, fmt.Sprint("chat-", i), func(e agent.Event) {
			if e.Type == agent.Text && !heard {
				heard = true
				total += time.Since(spoken)
			}
		})
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns-to-first-word")
}

// BenchmarkLongChat is one more answer in a chat of two hundred messages, and the
// memory that it needs.
func BenchmarkLongChat(b *testing.B) {
	w, m := bench(b)
	var list []chat.Message
	for i := range 100 {
		list = append(list, chat.Message{Message: llm.Say(llm.User, fmt.Sprint("Question ", i))},
			chat.Message{Message: llm.Say(llm.Assistant, strings.Repeat("An answer of some length. ", 40))})
	}
	if err := w.Store.Put(b.Context(), chat.Chat{ID: "long", Titled: chat.ByPerson, Sets: []string{"notes"}}); err != nil {
		b.Fatal(err)
	}
	if err := w.Store.Apply(b.Context(), "long", chat.Change{Say: list}); err != nil {
		b.Fatal(err)
	}
	var peak, before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m.first = func() { runtime.GC(); runtime.ReadMemStats(&peak) }
	b.ReportAllocs()
	for i := range b.N {
		m.asked = 0
		fork, err := w.Store.Fork(b.Context(), "long", fmt.Sprint("chat-", i), 200)
		if err != nil {
			b.Fatal(err)
		}
		w.run(b, fork.ID, nil)
	}
	b.ReportMetric(float64(peak.HeapAlloc)/1024-float64(before.HeapAlloc)/1024, "KB-held")
}
