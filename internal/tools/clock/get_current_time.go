package clock

import (
	"context"

	"lore/internal/tool"
)

// GetCurrentTime: Get the date, time and weekday. You do not know today's.
type GetCurrentTime struct {
	// Such as Europe/Berlin.
	Timezone string `json:"timezone,omitempty" word:"true"`
}

// Help is the text for people.
func (GetCurrentTime) Help() tool.Help {
	return tool.Help{
		Short: "Show the current time",
		Flags: map[string]string{
			"timezone": "time zone, for example Europe/Berlin (default this computer's)",
		},
		Examples: []string{"", "Asia/Tokyo"},
		Hidden:   true,
	}
}

// Run tells the time.
func (in GetCurrentTime) Run(_ context.Context, env Env) (Moment, error) {
	now, err := env.in(in.Timezone)
	return momentOf(now), err
}

// View is one line.
func (m Moment) View() tool.View { return tool.View{Text: m.line() + "\n"} }
