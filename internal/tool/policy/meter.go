package policy

import (
	"fmt"
	"math"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
)

// A Limit is how many calls may begin within a span of time.
type Limit struct {
	Calls int
	Per   time.Duration
}

// Limits are what callers that are no persons may do in a minute, so that a
// loop of a model cannot wear out the machine or the reader of approvals.
type Limits struct {
	Calls   Limit // of any tool
	Changes Limit // of tools that change or act
	Models  Limit // requests to remote models that tools make
}

// DefaultLimits leave room for a busy agent and stop a runaway one.
func DefaultLimits() Limits {
	return Limits{Calls: Limit{300, time.Minute}, Changes: Limit{60, time.Minute}, Models: Limit{60, time.Minute}}
}

// A Meter counts calls for each principal. It may be used from several
// goroutines.
type Meter struct {
	limits Limits

	mu   sync.Mutex
	used map[meterKey][]time.Time // when the calls within the span began
}

type meterKey struct {
	kind access.Kind
	id   string
	what string
}

// NewMeter makes a meter that has counted nothing.
func NewMeter(l Limits) *Meter { return &Meter{limits: l, used: map[meterKey][]time.Time{}} }

// TakeModel counts one request to a remote model that a tool makes for a caller,
// or refuses it.
func (m *Meter) TakeModel(who access.Principal, now time.Time) error {
	if who.Kind == access.Person {
		return nil
	}
	return m.take(who, []step{{"requests to models", m.limits.Models}}, now)
}

// Take counts one call, or refuses it with the time after which it may be tried
// again. own is the tool's own limit, which holds for everyone; the others hold
// for callers that are no persons.
func (m *Meter) Take(who access.Principal, tool string, effect access.Effect, own Limit, now time.Time) error {
	var steps []step
	if who.Kind != access.Person {
		steps = append(steps, step{"calls", m.limits.Calls})
		if effect != access.Reads {
			steps = append(steps, step{"changes", m.limits.Changes})
		}
	}
	if own.Calls > 0 {
		steps = append(steps, step{"calls of " + tool, own})
	}
	if len(steps) == 0 {
		return nil
	}
	return m.take(who, steps, now)
}

// A step is one limit that a call counts against.
type step struct {
	what  string
	limit Limit
}

func (m *Meter) take(who access.Principal, steps []step, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range steps {
		key := meterKey{who.Kind, who.ID, s.what}
		recent := m.used[key]
		for len(recent) > 0 && now.Sub(recent[0]) >= s.limit.Per {
			recent = recent[1:]
		}
		m.used[key] = recent
		if s.limit.Calls > 0 && len(recent) >= s.limit.Calls {
			wait := max(1, int(math.Ceil((s.limit.Per - now.Sub(recent[0])).Seconds())))
			return &fault.Report{
				Kind: fault.RateLimited, Retry: wait, Fix: "try again in " + span(time.Duration(wait)*time.Second),
				Message: fmt.Sprintf("the limit of %d %s in %s is reached", s.limit.Calls, s.what, span(s.limit.Per)),
			}
		}
	}
	for _, s := range steps {
		key := meterKey{who.Kind, who.ID, s.what}
		m.used[key] = append(m.used[key], now)
	}
	m.tidy(now)
	return nil
}

// span is a duration as a person says it.
func span(d time.Duration) string {
	n, unit := int(d/time.Second), "second"
	if d%time.Minute == 0 && d > 0 {
		n, unit = int(d/time.Minute), "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// keys is how many principals are remembered before the idle ones are dropped.
const keys = 1024

func (m *Meter) tidy(now time.Time) {
	if len(m.used) < keys {
		return
	}
	for k, times := range m.used {
		if len(times) == 0 || now.Sub(times[len(times)-1]) > time.Hour {
			delete(m.used, k)
		}
	}
}
