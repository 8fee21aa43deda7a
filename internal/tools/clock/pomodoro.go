package clock

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
)

// Pomodoro: Start, pause, resume or stop a work timer, or tell how it stands.
type Pomodoro struct {
	// What to do.
	Action string `json:"action,omitempty" default:"status" enum:"start,pause,resume,stop,status" word:"true"`
	// For start.
	Minutes int `json:"minutes,omitempty" default:"25" min:"1" max:"240"`
	// What it is for.
	Label string `json:"label,omitempty"`
}

// Help is the text for people.
func (Pomodoro) Help() tool.Help {
	return tool.Help{
		Short: "Use a work timer",
		Long:  "There is one timer for each vault. It survives a restart. When it ends, the page shows a notice if lore serve or another lore process that stays is running; otherwise the status tells that it ended.",
		Flags: map[string]string{
			"action":  "what to do",
			"minutes": "how long it runs",
			"label":   "what it is for",
		},
		Examples: []string{"", "start --minutes 50 --label Writing"},
	}
}

// TimerState is how the timer stands.
type TimerState struct {
	// State is "none", "running", "paused" or "ended".
	State   string `json:"state"`
	Label   string `json:"label,omitempty"`
	Minutes int    `json:"minutes,omitempty"`
	// Remaining seconds.
	Remaining int `json:"remaining_seconds,omitempty"`
	// Ends is when it ends or ended, as RFC 3339.
	Ends string `json:"ends,omitempty"`
}

// A Timer is the file that the timer is in. One process changes it: the one that
// calls run in.
type Timer struct {
	File string

	mu      sync.Mutex
	changed chan struct{}
}

// timers are those of this process, by their files: a tool and its follower share
// one.
var timers sync.Map

// TimerIn is the timer in a file, the same one for everybody in this process.
func TimerIn(file string) *Timer {
	t, _ := timers.LoadOrStore(file, NewTimer(file))
	return t.(*Timer)
}

// NewTimer is a timer in a file.
func NewTimer(file string) *Timer { return &Timer{File: file, changed: make(chan struct{}, 1)} }

// kept is what is in the file.
type kept struct {
	Label   string        `json:"label,omitempty"`
	Minutes int           `json:"minutes"`
	Ends    time.Time     `json:"ends,omitzero"`   // while it runs
	Left    time.Duration `json:"left,omitempty"`  // while it is paused
	Told    bool          `json:"told,omitempty"`  // that it ended
	State   string        `json:"state,omitempty"` // "running" or "paused"
}

func (t *Timer) read() (kept, error) {
	b, err := os.ReadFile(t.File)
	if os.IsNotExist(err) {
		return kept{}, nil
	}
	var k kept
	if err == nil && json.Unmarshal(b, &k) != nil {
		return kept{}, nil // it was damaged; there is none
	}
	return k, err
}

func (t *Timer) write(k kept) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(t.File), ".timer.tmp")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, t.File)
}

// Run does what is asked.
func (in Pomodoro) Run(_ context.Context, env Env) (TimerState, error) {
	if env.Timer == nil {
		return TimerState{}, fault.New(fault.Unavailable, "this process has no timer")
	}
	t, now := env.Timer, env.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.read()
	if err != nil {
		return TimerState{}, fault.New(fault.Unavailable, "the timer cannot be read")
	}
	next, err := in.next(k, now)
	if err != nil {
		return TimerState{}, err
	}
	if next != k {
		if err := t.write(next); err != nil {
			return TimerState{}, fault.New(fault.Unavailable, "the timer cannot be saved: %v", err)
		}
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
	return next.state(now), nil
}

// next is the timer after an action.
func (in Pomodoro) next(k kept, now time.Time) (kept, error) {
	runs := k.State == "running" && now.Before(k.Ends)
	switch in.Action {
	case "start":
		if runs || k.State == "paused" {
			return k, fault.Field("action", "stop it first, or resume it", "a timer is already %s", k.state(now).State)
		}
		return kept{Label: in.Label, Minutes: in.Minutes, Ends: now.Add(time.Duration(in.Minutes) * time.Minute), State: "running"}, nil
	case "pause":
		if !runs {
			return k, fault.Field("action", "start one first", "no timer is running")
		}
		k.Left, k.Ends, k.State = k.Ends.Sub(now), time.Time{}, "paused"
	case "resume":
		if k.State != "paused" {
			return k, fault.Field("action", "pause one first", "no timer is paused")
		}
		k.Ends, k.Left, k.State = now.Add(k.Left), 0, "running"
	case "stop":
		if k.State == "" {
			return k, fault.Field("action", "start one first", "there is no timer")
		}
		return kept{}, nil
	}
	return k, nil
}

func (k kept) state(now time.Time) TimerState {
	out := TimerState{State: k.State, Label: k.Label, Minutes: k.Minutes}
	switch {
	case k.State == "":
		return TimerState{State: "none"}
	case k.State == "paused":
		out.Remaining = int(k.Left.Round(time.Second).Seconds())
		return out
	case !now.Before(k.Ends):
		out.State = "ended"
	default:
		out.Remaining = int(k.Ends.Sub(now).Round(time.Second).Seconds())
	}
	out.Ends = k.Ends.Format(time.RFC3339)
	return out
}

// View says it in one line.
func (s TimerState) View() tool.View {
	name := "The timer"
	if s.Label != "" {
		name += " “" + s.Label + "”"
	}
	left := fmt.Sprintf("%d:%02d", s.Remaining/60, s.Remaining%60)
	switch s.State {
	case "none":
		return tool.View{Text: "There is no timer.\n"}
	case "paused":
		return tool.View{Text: fmt.Sprintf("%s is paused with %s left.\n", name, left)}
	case "ended":
		return tool.View{Text: fmt.Sprintf("%s ended at %s.\n", name, s.Ends)}
	}
	return tool.View{Text: fmt.Sprintf("%s runs: %s left, until %s.\n", name, left, s.Ends)}
}

// Follow tells on the bus when the timer ends, until ctx ends: also when it ended
// while no process was there. It is told once.
func (t *Timer) Follow(ctx context.Context, now func() time.Time, bus *event.Bus) {
	for {
		wait, err := t.tell(now(), bus)
		if err != nil {
			wait = time.Minute // the disk is full, or gone
		}
		var end <-chan time.Time
		if wait > 0 {
			clock := time.NewTimer(wait)
			defer clock.Stop()
			end = clock.C
		}
		select {
		case <-ctx.Done():
			return
		case <-t.changed:
		case <-end:
		}
	}
}

// tell tells of a timer that ended, and returns how long it is until one ends; 0
// when none runs.
func (t *Timer) tell(now time.Time, bus *event.Bus) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.read()
	if err != nil || k.State != "running" || k.Told {
		return 0, err
	}
	if now.Before(k.Ends) {
		return k.Ends.Sub(now), nil
	}
	k.Told = true
	if err := t.write(k); err != nil {
		return 0, err
	}
	text := fmt.Sprintf("The timer ended: %d minutes", k.Minutes)
	if k.Minutes == 1 {
		text = "The timer ended: 1 minute"
	}
	if k.Label != "" {
		text += " for " + k.Label
	}
	bus.Publish(tool.TopicNotice, tool.Notice{Text: text}, true)
	return 0, nil
}
