// Package clock holds the tools that tell and compute times. One file is one tool.
package clock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/tool"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Now func() time.Time
	// Timer is the work timer of the vault; may be nil.
	Timer *Timer
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("clock", docs,
		tool.Read[GetCurrentTime](env, tool.Drawn(tool.Text), tool.Alias("getCurrentTime")),
		tool.Read[GetTimeRange](env, tool.Drawn(tool.Text), tool.Alias("getTimeRange")),
		tool.Read[ConvertTime](env, tool.Drawn(tool.Text), tool.Alias("convertTime")),
		tool.Read[GetTimeInfo](env, tool.Drawn(tool.Text), tool.Alias("getTimeInfo")),
		tool.Read[Pomodoro](env, tool.Drawn(tool.Text), tool.Short("pomodoro")),
	)
}

// A Moment is one time in one time zone.
type Moment struct {
	// Time as RFC 3339.
	Time string `json:"time"`
	// Date as 2026-06-15.
	Date string `json:"date"`
	// Weekday in English.
	Weekday string `json:"weekday"`
	// Timezone is its name, for example Europe/Berlin.
	Timezone string `json:"timezone"`
	// Offset from UTC, as +02:00.
	Offset string `json:"utc_offset"`
	// Unix is the seconds since 1970.
	Unix int64 `json:"unix"`
}

func momentOf(t time.Time) Moment {
	return Moment{t.Format(time.RFC3339), t.Format(time.DateOnly), t.Weekday().String(), zoneOf(t), t.Format("-07:00"), t.Unix()}
}

// zoneOf is the name of a moment's time zone; the offset where it has none.
func zoneOf(t time.Time) string {
	switch name := t.Location().String(); name {
	case "":
	case "Local":
		if own := ownZone(); own != "" {
			return own
		}
	default:
		return name
	}
	return "UTC" + t.Format("-07:00")
}

// ownZone is the name of this computer's time zone, as far as it can be found out.
func ownZone() string {
	if name := os.Getenv("TZ"); name != "" {
		return strings.TrimPrefix(name, ":")
	}
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(filepath.ToSlash(target), "zoneinfo/")
	return name
}

// line is the moment for people.
func (m Moment) line() string {
	return fmt.Sprintf("%s, %s (%s)", m.Weekday, m.Time, m.Timezone)
}

// in is the present moment in a time zone; "" is the one of this computer.
func (e Env) in(zone string) (time.Time, error) {
	now := e.Now()
	if zone == "" {
		return now, nil
	}
	place, err := location(zone)
	if err != nil {
		return now, fault.Field("timezone", zoneFix, "%q is not a time zone", zone)
	}
	return now.In(place), nil
}

const zoneFix = "use a name such as Europe/Berlin, America/New_York or UTC, or an offset such as +02:00"

// location is a time zone by its name or its offset.
func location(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone("UTC"+name, offset), nil
	}
	if name == "Local" {
		return nil, errors.New("no name of a time zone")
	}
	return time.LoadLocation(name)
}
