package clock

import (
	"context"
	"time"

	"lore/internal/tool"
	"lore/internal/tools/clock/timespan"
)

// GetTimeRange: Turn "last week", "past 7 days" or "March 2026" into dates.
type GetTimeRange struct {
	// In English.
	Expression string `json:"expression"`
	// Time zone.
	Timezone string `json:"timezone,omitempty"`
}

// Help is the text for people.
func (GetTimeRange) Help() tool.Help {
	return tool.Help{
		Short: "Turn words such as \"last week\" into dates",
		Flags: map[string]string{
			"expression": "words for the range, in English",
			"timezone":   "time zone, for example Europe/Berlin (default this computer's)",
		},
		Examples: []string{`"last week"`, `"2026-03-01 to 2026-03-15"`},
		Hidden:   true,
	}
}

// TimeRange is a stretch of time.
type TimeRange struct {
	// Start is the first moment, as RFC 3339.
	Start string `json:"start"`
	// End is the first moment after it.
	End string `json:"end"`
	// First day and last day of it.
	First string `json:"first_day"`
	Last  string `json:"last_day"`
	// Days that it touches.
	Days     int    `json:"days"`
	Timezone string `json:"timezone"`
}

// Run reads the words.
func (in GetTimeRange) Run(_ context.Context, env Env) (TimeRange, error) {
	now, err := env.in(in.Timezone)
	if err != nil {
		return TimeRange{}, err
	}
	s, err := timespan.Parse(in.Expression, now)
	if err != nil {
		return TimeRange{}, err
	}
	last := s.End
	if s.End.After(s.Start) {
		last = s.End.Add(-1)
	}
	midnight := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return TimeRange{
		Start: s.Start.Format(time.RFC3339), End: s.End.Format(time.RFC3339), First: s.Start.Format(time.DateOnly), Last: last.Format(time.DateOnly),
		Days: 1 + int(midnight(last).Sub(midnight(s.Start)).Hours()/24), Timezone: zoneOf(now),
	}, nil
}

// View is the days, and the exact moments below.
func (r TimeRange) View() tool.View {
	return tool.View{Text: r.First + " to " + r.Last + " (" + r.Timezone + ")\nfrom " + r.Start + "\nto " + r.End + "\n"}
}
