//go:build !linux && !darwin

package jail

import (
	"context"
	"runtime"

	"lore/internal/fault"
)

// Main belongs to Linux.
func Main([]string) (int, bool) { return 0, false }

// run refuses: this system has no jail that Lore can use.
func run(context.Context, Command, func(Stream, []byte)) (Outcome, error) {
	return Outcome{}, fault.Fix(fault.Unavailable, "run it yourself in a terminal", "Lore cannot run commands on %s, because it has no sandbox for that system", runtime.GOOS)
}
