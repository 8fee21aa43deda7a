package draw

import (
	"context"
	"io"
)

// A Terminal is where a command is typed and shows its results.
type Terminal struct {
	Vault, LogLevel string // flags
	JSON            bool
	Out, Err        io.Writer
	Screen          Screen // what Out can show
	Notice          Screen // what Err can show
	Encode          func(any) error
	Say             func(string)
	AtTerminal      bool // a person can be asked
	// Ask waits for y or n; ok is false when nobody answers.
	Ask func(ctx context.Context, text string) (yes, ok bool)
}
