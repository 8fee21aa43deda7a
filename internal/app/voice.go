package app

import (
	"io"
	"strings"
	"sync"
)

// A voice is where the program says what is no answer: on standard error, or to
// whoever has the whole terminal and must not be written over.
type voice struct {
	mu   sync.Mutex
	out  io.Writer
	tell func(line string)
}

// Write says something. Whoever listens hears it line by line.
func (v *voice) Write(b []byte) (int, error) {
	v.mu.Lock()
	tell := v.tell
	v.mu.Unlock()
	if tell == nil {
		return v.out.Write(b)
	}
	for line := range strings.Lines(string(b)) {
		tell(strings.TrimRight(line, "\r\n"))
	}
	return len(b), nil
}

// hear lets somebody listen until the function that it returns is called.
func (v *voice) hear(tell func(line string)) (end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tell = tell
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.tell = nil
	}
}
