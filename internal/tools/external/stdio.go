package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

// What a program may write.
const (
	maxLine     = 8 << 20 // bytes of one message
	maxNews     = 2000    // messages that answer nothing, in one window
	maxNoise    = 2000    // lines that are no messages, in one window
	window      = 10 * time.Second
	keptErrors  = 5        // last lines of standard error, for the reason of an end
	maxErrors   = 500      // lines of standard error that are logged
	maxErrorLen = 64 << 10 // bytes of a line of standard error that are looked at
	lineShown   = 400      // characters of it
)

// A child is a server that runs as a program of ours. Its standard output are
// messages, its standard error is its log.
type child struct {
	cmd    *exec.Cmd
	text   *stdout
	stdin  io.WriteCloser
	out    *io.PipeReader
	errs   *stderr
	grace  time.Duration
	done   chan struct{} // closed when the program ended
	ended  error         // how, once done is closed
	first  atomic.Int32  // who ended it: it alone, or stop
	once   sync.Once
	closed chan struct{}
	now    func() time.Time
}

// Who ended a program.
const (
	running int32 = iota
	itself
	us
)

// start runs the program of a server. There is no shell: the words are the
// program's arguments as they stand in the file.
func start(s configfile.Server, env []string, o *Options) (*child, error) {
	c := &child{grace: o.Times.Terminate, done: make(chan struct{}), closed: make(chan struct{}), now: o.Now}
	c.cmd = exec.Command(s.Command, s.Args...)
	c.cmd.Dir, c.cmd.Env = s.Dir, env
	c.cmd.WaitDelay = o.Times.Terminate
	alone(c.cmd)
	var w *io.PipeWriter
	c.out, w = io.Pipe()
	c.errs = &stderr{log: o.Log, server: s.Name, hide: secrets(s)}
	c.text = &stdout{to: w, now: o.Now}
	c.cmd.Stdout, c.cmd.Stderr = c.text, c.errs
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fault.New(fault.Unavailable, "%s cannot be started: %s", line(s.Command, 200), startError(err))
	}
	go func() {
		c.ended = c.cmd.Wait()
		c.first.CompareAndSwap(running, itself)
		kill(c.cmd)                   // what it started may have outlived it
		_ = w.CloseWithError(c.why()) // always nil
		close(c.done)
	}()
	return c, nil
}

// startError is why a program did not start, without the path that the caller
// names already.
func startError(err error) string {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return line(err.Error(), 300)
}

// left is how the program ended by itself, or what it did that is not borne; nil
// when it runs, or was ended for another reason, which its end says nothing of.
func (c *child) left() error {
	select {
	case <-c.done:
	default:
		return nil
	}
	if c.first.Load() == us && c.text.err == nil {
		return nil
	}
	return c.why()
}

// why is how the program ended, in one line. Whoever asks has seen that it did.
func (c *child) why() error {
	if c.text.err != nil {
		return c.text.err
	}
	text := "it ended"
	if c.ended != nil {
		text = "it ended with " + c.ended.Error()
	}
	if last := c.errs.last(); last != "" {
		text += ": " + last
	}
	return fault.New(fault.Unavailable, "%s", text)
}

// Connect makes the child a transport.
func (c *child) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := (&sdk.IOTransport{Reader: c.out, Writer: stdinOf{c}, MaxLineLength: maxLine + 1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &quiet{Connection: conn, rate: rate{most: maxNews, now: c.now}}, nil
}

// stdinOf is the child's standard input. To close it is to end the child.
type stdinOf struct{ c *child }

func (s stdinOf) Write(p []byte) (int, error) {
	n, err := s.c.stdin.Write(p)
	if err != nil { // nobody reads: it is about to be known that the program went
		s.c.first.CompareAndSwap(running, itself)
	}
	return n, err
}

func (s stdinOf) Close() error {
	s.c.stop()
	return nil
}

// stop ends the program: it is told by the end of its input, then by a signal,
// then it is killed, with everything that it started.
func (c *child) stop() {
	c.once.Do(func() {
		defer close(c.closed)
		c.first.CompareAndSwap(running, us)
		_ = c.stdin.Close() // it may be gone already
		_ = c.out.Close()
		for _, push := range []func(*exec.Cmd){terminate, kill} {
			select {
			case <-c.done:
				return
			case <-time.After(c.grace):
				push(c.cmd)
			}
		}
		<-c.done
	})
	<-c.closed
}

// A rate counts what comes in one window of time.
type rate struct {
	most  int
	now   func() time.Time
	since time.Time
	n     int
}

// over counts one more and reports whether that is too much.
func (r *rate) over() bool {
	if now := r.now(); now.Sub(r.since) > window {
		r.since, r.n = now, 0
	}
	r.n++
	return r.n > r.most
}

// quiet is a connection that breaks when the other side talks too much.
type quiet struct {
	sdk.Connection
	rate rate
}

// Read reads the next message. Answers are as many as the questions were; all
// else is counted.
func (q *quiet) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := q.Connection.Read(ctx)
	if _, ok := m.(*jsonrpc.Request); ok && q.rate.over() {
		return nil, fault.New(fault.TooLarge, "it sent more than %d messages in %s", maxNews, window)
	}
	return m, err
}

// stdout passes on the lines that can be messages. Programs that print
// something else there are wrong, and common.
type stdout struct {
	to    *io.PipeWriter
	now   func() time.Time
	noise rate
	line  []byte
	err   error // that ended it
}

func (s *stdout) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		at := bytes.IndexByte(p, '\n')
		part := p
		if at >= 0 {
			part = p[:at+1]
		}
		if len(s.line)+len(part) > maxLine {
			return 0, s.fail("it sent a message of more than %d MB", maxLine>>20)
		}
		s.line = append(s.line, part...)
		p = p[len(part):]
		if at < 0 {
			break
		}
		if err := s.pass(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// pass hands over one line.
func (s *stdout) pass() error {
	text := bytes.TrimSpace(s.line)
	s.line = s.line[:0]
	switch {
	case len(text) == 0:
		return nil
	case text[0] == '{' || text[0] == '[':
		_, err := s.to.Write(append(text, '\n'))
		return err
	}
	s.noise.most, s.noise.now = maxNoise, s.now
	if s.noise.over() {
		return s.fail("it writes too much to standard output")
	}
	return nil
}

func (s *stdout) fail(format string, args ...any) error {
	s.err = fault.New(fault.TooLarge, format, args...)
	_ = s.to.CloseWithError(s.err) // always nil
	return s.err
}

// stderr logs what a program says, as far as anybody will read it.
type stderr struct {
	log    *slog.Logger
	server string
	hide   *strings.Replacer

	mu   sync.Mutex
	line []byte
	n    int
	tail []string
}

func (e *stderr) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range p {
		if b != '\n' {
			if len(e.line) < maxErrorLen {
				e.line = append(e.line, b)
			}
			continue
		}
		e.end()
	}
	return len(p), nil
}

// end takes one whole line.
func (e *stderr) end() {
	text := line(e.hide.Replace(string(e.line)), lineShown)
	e.line = e.line[:0]
	if text == "" {
		return
	}
	if e.tail = append(e.tail, text); len(e.tail) > keptErrors {
		e.tail = e.tail[1:]
	}
	if e.n++; e.n > maxErrors {
		return
	}
	if e.n == maxErrors {
		text = "(more is not logged)"
	}
	e.log.Debug("a server said", "server", e.server, "text", text)
}

// last is what the program said at the end. Of several lines the one that names
// an error tells most.
func (e *stderr) last() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.tail {
		if strings.Contains(strings.ToLower(t), "error") {
			return t
		}
	}
	if len(e.tail) == 0 {
		return ""
	}
	return e.tail[len(e.tail)-1]
}

// environment is what a program is given: what programs need to run, and what
// its entry says. Keys of ours are not among it.
func environment(s configfile.Server, lookup func(string) (string, bool)) []string {
	var out []string
	for _, name := range inherited {
		if _, own := s.Env[name]; own {
			continue
		}
		if v, ok := lookup(name); ok {
			out = append(out, name+"="+v)
		}
	}
	for name, v := range s.Env {
		out = append(out, fmt.Sprintf("%s=%s", name, v))
	}
	return out
}
