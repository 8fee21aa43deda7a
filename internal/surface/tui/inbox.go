package tui

import (
	"sync"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
)

// wake says that there is news, tick that it is time to look for more.
type (
	wake struct{}
	tick struct{}
)

// news is an event, or a line that somebody wrote; pieces of one text are one.
type news struct {
	agent.Event
	text []byte
	line string
}

// An inbox gathers what happens while the screen is being drawn, so that a fast
// model costs one drawing for each frame and not for each word.
type inbox struct {
	wake func()

	mu    sync.Mutex
	list  []news
	woken bool
}

// tell takes an event of a run.
func (b *inbox) tell(e agent.Event) {
	b.mu.Lock()
	if e.Type == agent.Text || e.Type == agent.Reasoning {
		if n := len(b.list); n > 0 && b.list[n-1].Type == e.Type {
			b.list[n-1].text = append(b.list[n-1].text, e.Text...)
			b.mu.Unlock() // whoever was woken has not looked yet
			return
		}
		b.put(news{Event: agent.Event{Type: e.Type}, text: []byte(e.Text)})
		return
	}
	b.put(news{Event: e})
}

// say takes a line that is no event.
func (b *inbox) say(line string) {
	b.mu.Lock()
	b.put(news{line: line})
}

// put adds news, and wakes whoever draws. It gives the lock back.
func (b *inbox) put(n news) {
	b.list = append(b.list, n)
	first := !b.woken
	b.woken = true
	b.mu.Unlock()
	if first && b.wake != nil {
		b.wake()
	}
}

// take empties the inbox. When it was empty, the next news wakes again.
func (b *inbox) take() []news {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.list
	b.list, b.woken = nil, len(out) > 0
	return out
}

// drain shows all news, and looks again a frame later while there is some.
func (m *model) drain() tea.Cmd {
	list := m.h.box.take()
	for i := range list {
		m.hear(&list[i])
	}
	if len(list) == 0 {
		return nil
	}
	return m.after(frame, tick{})
}
