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
	if p.g.JSON || !interactive(p.err) {
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

var labels = map[string]string{"index.progress": "reading notes", "embed.progress": "learning meaning"}

// bar draws one line over the last one. Runs of a moment are not worth one.
func (p *program) bar(topic string, s stepper, final bool) bool {
	done, total, left := s.Steps()
	if total < 50 || final {
		return false
	}
	const width = 30
	full := width * done / max(total, 1)
	line := fmt.Sprintf("%s %s%s %d of %d", labels[topic], strings.Repeat("█", full), strings.Repeat("░", width-full), done, total)
	if left > time.Second {
		line += ", " + left.Round(time.Second).String() + " left"
	}
	fmt.Fprint(p.err, "\r\x1b[K"+line)
	return true
}
