package clock

import (
	"context"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/clock/timespan"
)

// ConvertTime: Convert a time to another time zone. Do not compute it yourself.
type ConvertTime struct {
	// As "2026-06-15 14:00", "14:00" or "now".
	Time string `json:"time"`
	// Time zone, such as Asia/Tokyo.
	To string `json:"to" alias:"toTimezone,to_timezone"`
	// Time zone of the time.
	From string `json:"from,omitempty" alias:"fromTimezone,from_timezone"`
}

// Help is the text for people.
func (ConvertTime) Help() tool.Help {
	return tool.Help{
		Short: "Convert a time to another time zone",
		Flags: map[string]string{
			"time": `the time: "2026-06-15 14:00", 14:00 (today), RFC 3339 or now`,
			"to":   "time zone to convert to, for example Asia/Tokyo",
			"from": "time zone of the time (default this computer's)",
		},
		Examples: []string{`"2026-06-15 14:00" Asia/Tokyo --from Europe/Berlin`, "now UTC"},
		Hidden:   true,
	}
}

// ConvertedTime is one moment in two time zones.
type ConvertedTime struct {
	From Moment `json:"from"`
	To   Moment `json:"to"`
	// Warning says that this time exists twice or not at all in its time zone.
	Warning string `json:"warning,omitempty"`
}

// Run converts.
func (in ConvertTime) Run(_ context.Context, env Env) (ConvertedTime, error) {
	now, err := env.in(in.From)
	if err != nil {
		return ConvertedTime{}, fault.Field("from", zoneFix, "%q is not a time zone", in.From)
	}
	to, err := location(in.To)
	if err != nil {
		return ConvertedTime{}, fault.Field("to", zoneFix, "%q is not a time zone", in.To)
	}
	t, ok := timespan.Instant(in.Time, now)
	if !ok {
		return ConvertedTime{}, fault.Field("time", `use "2026-06-15 14:00", "14:00", RFC 3339 or "now"`, "%q is not a time", in.Time)
	}
	return ConvertedTime{From: momentOf(t), To: momentOf(t.In(to)), Warning: clockChange(t, in.Time)}, nil
}

// clockChange tells of a time of day that the change to or from summer time skips
// or repeats. A time with an offset is exact.
func clockChange(t time.Time, written string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "15:04"} {
		if w, err := time.Parse(layout, written); err == nil && (w.Hour() != t.Hour() || w.Minute() != t.Minute()) {
			return "this time does not exist there: the clocks skip it that day"
		}
	}
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		if other := t.Add(by); other.Format("2006-01-02 15:04") == t.Format("2006-01-02 15:04") {
			return "this time exists twice that day: the clocks are set back"
		}
	}
	return ""
}

// View is both moments, one a line.
func (c ConvertedTime) View() tool.View {
	text := c.From.line() + "\n" + c.To.line() + "\n"
	if c.Warning != "" {
		text += "Warning: " + c.Warning + "\n"
	}
	return tool.View{Text: text}
}
