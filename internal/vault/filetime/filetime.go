// Package filetime tells how far the times of files can be trusted.
package filetime

import "time"

// Clocks of file systems are coarse: two changes close to each other carry the
// same time, and so do a change and the reading before it.
const (
	fineGrain   = int64(50 * time.Millisecond) // a few ticks of any kernel's clock
	coarseGrain = int64(2 * time.Second)       // FAT and exFAT keep two seconds, HFS+ and some servers one
	// FarAhead is how far ahead a time must lie to stem from a clock that was wrong.
	FarAhead = int64(24 * time.Hour)
)

// grain is how long a clock may stand still that shows the time t. A clock that
// counts in whole seconds gives itself away.
func grain(t int64) int64 {
	if t%int64(time.Second) == 0 {
		return coarseGrain
	}
	return fineGrain
}

// AreReliable reports whether what was seen at a moment can be recognised by its
// times: any later change gives it other ones. All are in nanoseconds since
// 1970; a changed of 0 is not known.
func AreReliable(modified, changed, moment int64) bool {
	if changed == 0 {
		return past(modified, moment)
	}
	// A program can set the modification time to any day, and a day to come says
	// nothing then.
	return past(changed, moment) && (modified > moment || past(modified, moment))
}

// past reports whether the clock has moved on since t. A time far ahead stems
// from a clock that was wrong: that clock will not show it again.
func past(t, moment int64) bool { return t+grain(t) < moment || t > moment+FarAhead }
