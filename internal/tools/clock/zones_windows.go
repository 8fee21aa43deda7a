package clock

// Windows has no table of time zones that Go can read.
import _ "time/tzdata"
