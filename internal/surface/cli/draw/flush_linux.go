package draw

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Flush forgets what was typed at a terminal and not read yet: keys that were
// pressed before a question was shown are no answer to it.
func Flush(in io.Reader) {
	if f, ok := in.(*os.File); ok && AtTerminal(f) {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // a terminal that cannot keeps what it has
	}
}
