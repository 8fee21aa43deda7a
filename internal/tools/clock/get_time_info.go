package clock

import (
	"context"
	"fmt"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/clock/timespan"
)

// GetTimeInfo: Get weekday, week, quarter and distance of a date.
type GetTimeInfo struct {
	// As "2026-06-15" or "2026-06-15 14:00".
	Time string `json:"time,omitempty" word:"true"`
	// Time zone.
	Timezone string `json:"timezone,omitempty"`
}

// Help is the text for people.
func (GetTimeInfo) Help() tool.Help {
	return tool.Help{
		Short: "Show facts about a date: weekday, week, quarter",
		Flags: map[string]string{
			"time":     "the date or time (default now)",
			"timezone": "time zone, for example Europe/Berlin (default this computer's)",
		},
		Examples: []string{"2026-12-24", ""},
		Hidden:   true,
	}
}

// TimeInfo is what the calendar says about a moment.
type TimeInfo struct {
	Moment
	// Week as 2026-W25, by ISO 8601.
	Week        string `json:"iso_week"`
	Quarter     int    `json:"quarter"`
	DayOfYear   int    `json:"day_of_year"`
	DaysInMonth int    `json:"days_in_month"`
	LeapYear    bool   `json:"leap_year"`
	// SummerTime says that the clocks there are set forward.
	SummerTime bool `json:"summer_time"`
	// Relative to now, for example "in 3 days".
	Relative string `json:"relative"`
}

// Run looks it up.
func (in GetTimeInfo) Run(_ context.Context, env Env) (TimeInfo, error) {
	now, err := env.in(in.Timezone)
	if err != nil {
		return TimeInfo{}, err
	}
	t := now
	if in.Time != "" {
		var ok bool
		if t, ok = timespan.Instant(in.Time, now); !ok {
			return TimeInfo{}, fault.Field("time", `use "2026-06-15", "2026-06-15 14:00" or RFC 3339`, "%q is not a time", in.Time)
		}
	}
	y, w := t.ISOWeek()
	return TimeInfo{
		Moment: momentOf(t), Week: fmt.Sprintf("%d-W%02d", y, w), Quarter: (int(t.Month()) + 2) / 3, DayOfYear: t.YearDay(), DaysInMonth: timespan.DaysIn(t),
		LeapYear: time.Date(t.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay() == 366, SummerTime: t.IsDST(), Relative: timespan.Ago(t, now),
	}, nil
}

// View is a few lines.
func (i TimeInfo) View() tool.View {
	return tool.View{Text: fmt.Sprintf("%s, %s\nWeek %s, quarter %d, day %d of the year\n", i.line(), i.Relative, i.Week, i.Quarter, i.DayOfYear)}
}
