package clock

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/event"
	"lore/internal/tool"
)

// A timer survives a restart, is paused and resumed, and tells its end once.
func TestPomodoro(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timer.json")
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	do := func(p Pomodoro, want string) {
		t.Helper()
		// A new Timer each time is a new process.
		got, err := p.Run(t.Context(), Env{Now: func() time.Time { return now }, Timer: NewTimer(file)})
		text := strings.TrimSpace(got.View().Text)
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != want {
			t.Errorf("%s: %q, want %q", p.Action, text, want)
		}
	}
	do(Pomodoro{Action: "status"}, "There is no timer.")
	do(Pomodoro{Action: "pause"}, "error: action: no timer is running; start one first")
	do(Pomodoro{Action: "start", Minutes: 25, Label: "Tea"}, "The timer “Tea” runs: 25:00 left, until 2026-06-15T12:25:00Z.")
	do(Pomodoro{Action: "start", Minutes: 5}, "error: action: a timer is already running; stop it first, or resume it")
	now = now.Add(10 * time.Minute)
	do(Pomodoro{Action: "pause"}, "The timer “Tea” is paused with 15:00 left.")
	now = now.Add(time.Hour)
	do(Pomodoro{Action: "resume"}, "The timer “Tea” runs: 15:00 left, until 2026-06-15T13:25:00Z.")
	bus := event.NewBus()
	sub := bus.Subscribe(tool.TopicNotice)
	defer sub.Close()
	if wait, err := NewTimer(file).tell(now, bus); err != nil || wait != 15*time.Minute {
		t.Error(wait, err)
	}
	now = now.Add(time.Hour) // it ended while no process was there
	do(Pomodoro{Action: "status"}, "The timer “Tea” ended at 2026-06-15T13:25:00Z.")
	for range 3 {
		if _, err := NewTimer(file).tell(now, bus); err != nil {
			t.Error(err)
		}
	}
	bus.Publish(tool.TopicNotice, tool.Notice{Text: "last"}, true)
	for _, want := range []string{"The timer ended: 25 minutes for Tea", "last"} {
		if e, _ := sub.Next(t.Context().Done()); e.Data.(tool.Notice).Text != want {
			t.Errorf("%v, want %q", e.Data, want)
		}
	}
	do(Pomodoro{Action: "start", Minutes: 1}, "The timer runs: 1:00 left, until 2026-06-15T14:11:00Z.")
	do(Pomodoro{Action: "stop"}, "There is no timer.")
	do(Pomodoro{Action: "stop"}, "error: action: there is no timer; start one first")
}

// A process that stays tells the end of a timer that is started meanwhile.
func TestPomodoroIsFollowed(t *testing.T) {
	timer := NewTimer(filepath.Join(t.TempDir(), "timer.json"))
	bus := event.NewBus()
	sub := bus.Subscribe(tool.TopicNotice)
	defer sub.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { timer.Follow(ctx, time.Now, bus); close(ended) }()
	past := func() time.Time { return time.Now().Add(-time.Hour) } // it was started an hour ago
	if _, err := (Pomodoro{Action: "start", Minutes: 1}).Run(ctx, Env{Now: past, Timer: timer}); err != nil {
		t.Fatal(err)
	}
	if e, ok := sub.Next(ctx.Done()); !ok || e.Data.(tool.Notice).Text != "The timer ended: 1 minute" {
		t.Error(e.Data)
	}
	stop()
	<-ended
}
