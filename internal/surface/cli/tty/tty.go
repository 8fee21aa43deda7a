// Package tty asks the person at the controlling terminal. It does not look at
// standard input and output, which a program can fill: what it opens is the
// terminal that the command was started on, and without one nobody is there to
// ask. It knows no tool and no vault.
package tty

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
)

// A Terminal is the controlling terminal of this process.
type Terminal struct {
	in, out *os.File
	lines   *bufio.Reader
}

// Open finds the terminal. What cannot be done without one is told by the error.
func Open() (*Terminal, error) {
	in, err := os.OpenFile(inName, os.O_RDWR, 0)
	if err != nil {
		return nil, errNone()
	}
	out := in
	if outName != inName {
		if out, err = os.OpenFile(outName, os.O_RDWR, 0); err != nil {
			_ = in.Close() // only opened
			return nil, errNone()
		}
	}
	if !term.IsTerminal(int(in.Fd())) {
		_ = in.Close() // only opened
		return nil, errNone()
	}
	draw.Flush(in) // what was typed before the question is no answer to it
	return &Terminal{in: in, out: out, lines: bufio.NewReader(in)}, nil
}

func errNone() error {
	return fault.Fix(fault.Denied, "use the web page, or run the command in a terminal", "a person must confirm this in a terminal, and there is none")
}

// Close lets the terminal go.
func (t *Terminal) Close() error {
	if t.out != t.in {
		_ = t.out.Close() // what was written is there
	}
	return t.in.Close()
}

// Say writes a line.
func (t *Terminal) Say(text string) { _, _ = fmt.Fprintln(t.out, draw.Harmless(text)) } // nobody is left to tell

// Confirm asks for y or n. Anything else is asked again; the end of the terminal
// is a no.
func (t *Terminal) Confirm(ctx context.Context, text string) (bool, error) {
	for {
		_, _ = fmt.Fprintf(t.out, "%s [y/n] ", draw.Harmless(text)) // reading tells whether it is there
		line, err := t.read(ctx, func() (string, error) { return t.lines.ReadString('\n') })
		switch word := strings.ToLower(strings.TrimSpace(line)); {
		case word == "y" || word == "yes":
			return true, nil
		case word == "n" || word == "no", err != nil:
			return false, ctx.Err()
		}
	}
}

// Secret asks for something that is not shown while it is typed.
func (t *Terminal) Secret(ctx context.Context, text string) (string, error) {
	_, _ = fmt.Fprintf(t.out, "%s: ", text) // reading tells whether it is there
	defer func() { _, _ = fmt.Fprintln(t.out) }()
	old, err := term.GetState(int(t.in.Fd()))
	if err != nil {
		return "", err
	}
	word, err := t.read(ctx, func() (string, error) {
		b, err := term.ReadPassword(int(t.in.Fd()))
		return string(b), err
	})
	if err != nil {
		_ = term.Restore(int(t.in.Fd()), old) // an interrupt must not leave it silent
	}
	return word, err
}

// read waits for a line, or for the end of ctx. The read itself cannot be
// stopped; the command ends then anyway.
func (t *Terminal) read(ctx context.Context, get func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := get()
		got <- line{text, err}
	}()
	select {
	case l := <-got:
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
