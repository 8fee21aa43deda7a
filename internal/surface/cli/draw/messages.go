package draw

import (
	"io"
	"strings"
	"sync"
)

// Messages are what a program says besides its answer: on standard error, or to
// whoever has the whole terminal and must not be written over.
type Messages struct {
	Out io.Writer

	mu   sync.Mutex
	tell func(line string)
}

// Write says something. Whoever listens hears it line by line.
func (v *Messages) Write(b []byte) (int, error) {
	v.mu.Lock()
	tell := v.tell
	v.mu.Unlock()
	if tell == nil {
		return v.Out.Write(b)
	}
	for line := range strings.Lines(string(b)) {
		tell(strings.TrimRight(line, "\r\n"))
	}
	return len(b), nil
}

// Redirect lets somebody listen until the function that it returns is called.
func (v *Messages) Redirect(tell func(line string)) (end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tell = tell
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.tell = nil
	}
}
