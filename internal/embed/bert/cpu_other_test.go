//go:build !unix

package bert

import "time"

// cpuTime is not known here; the benchmark then reports no rate.
func cpuTime() time.Duration { return 0 }
