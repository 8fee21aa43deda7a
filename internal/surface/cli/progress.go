package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"lore/internal/event"
)

// progress draws a bar on standard error while something long runs, when a
// person watches. It shows what has a Steps method, whatever it counts.
func (p *program) progress() func(*event.Bus) func() {
	if p.g.JSON || !p.notice.Terminal || p.notice.Dumb {
		return nil
	}
	return func(bus *event.Bus) func() {
		sub := bus.Subscribe()
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			drawn := false
			for {
				e, ok := sub.Next(stop)
				if !ok {
					break
				}
				if s, ok := e.Data.(stepper); ok {
					drawn = p.bar(e.Topic, s, e.Final) || drawn
				}
			}
			if drawn {
				fmt.Fprint(p.err, "\r\x1b[K")
			}
		})
		return func() {
			close(stop)
			sub.Close()
			wg.Wait()
		}
	}
}

// A stepper is news of a run that counts its steps.
type stepper interface {
	Steps() (done, total int, left time.Duration)
}

var labels = map[string]string{"index.progress": "Indexing notes", "embed.progress": "Computing embeddings"}

// bar draws one line over the last one. Runs of a moment are not worth one.
func (p *program) bar(topic string, s stepper, final bool) bool {
	done, total, left := s.Steps()
	if total < 50 || final {
		return false
	}
	fmt.Fprint(p.err, "\r\x1b[K"+barLine(labels[topic], done, total, left, p.notice.Width))
	return true
}

// barLine is a bar that fits into one line of a Terminal: one that is wrapped
// could not be drawn over.
func barLine(label string, done, total int, left time.Duration, width int) string {
	done = min(done, total)
	tail := fmt.Sprintf(" %d of %d", done, total)
	if left > time.Second {
		tail += ", " + left.Round(time.Second).String() + " left"
	}
	if label != "" {
		label += " "
	}
	room := min(30, width-1-len(label)-len(tail))
	if room < 5 {
		line := label + strings.TrimPrefix(tail, " ")
		return line[:min(len(line), max(0, width-1))]
	}
	full := room * done / max(total, 1)
	return label + strings.Repeat("█", full) + strings.Repeat("░", room-full) + tail
}
