// Package stdio carries the messages of a protocol over standard input and
// output, one in each line. The MCP library has a transport of its own for that;
// it ends a session at the first line that is not JSON, and decodes a message
// three times, each time in a new buffer of 32 kB.
//
// It owns what a line means, and what is said to one that means nothing. It
// knows no method but the one that negotiates a version.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine is the largest message that is read: a note of a few megabytes fits.
	maxLine = 16 << 20
	// usual is what lines are read and written in, again and again. Room for a
	// longer one is made for it alone, so that none is kept.
	usual = 16 << 10
)

// A Transport is one client.
type Transport struct {
	in  io.Reader
	out io.Writer
}

// New makes a transport for a client that writes to in and reads from out. In is
// closed with the connection if it can be; out is not.
func New(in io.Reader, out io.Writer) *Transport { return &Transport{in, out} }

// Connect implements [sdk.Transport].
func (t *Transport) Connect(context.Context) (sdk.Connection, error) {
	c := &conn{out: t.out, arrived: make(chan arrival), closed: make(chan struct{})}
	c.in, _ = t.in.(io.Closer)
	// Reading happens apart because standard input cannot be interrupted: what
	// waits for it then stays behind, and the connection ends without it.
	go c.readAll(bufio.NewReaderSize(t.in, usual))
	return c, nil
}

// An arrival is one line: a message, several, or none that can be understood.
type arrival struct {
	msg     jsonrpc.Message
	batch   []jsonrpc.Message
	refusal []byte // the answer to a line that is no message
	err     error  // why there are no more
}

type conn struct {
	in      io.Closer // may be nil
	arrived chan arrival
	queue   []jsonrpc.Message // the rest of a batch; only Read knows it

	writing sync.Mutex
	out     io.Writer
	buf     []byte

	mu      sync.Mutex
	hello   jsonrpc.ID // of the request that negotiates the version
	version string     // that was negotiated
	batches map[jsonrpc.ID]*batch

	once     sync.Once
	closed   chan struct{}
	closeErr error
}

// A batch is answered when each of its calls is.
type batch struct {
	answers []*jsonrpc.Response // in the order of the calls
	place   map[jsonrpc.ID]int  // of the calls that are not answered
}

func (c *conn) SessionID() string { return "" }

// readAll hands over line after line, until there are no more or nobody wants
// them.
func (c *conn) readAll(r *bufio.Reader) {
	for {
		line, whole, err := readLine(r)
		var a arrival
		switch {
		case !whole:
			a.refusal = refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a line is longer than %d bytes, and was not read", maxLine))
		case len(line) > 0:
			a = decodeLine(line, cap(line) > usual) // larger than the reader's buffer: not part of it
		}
		if (a.msg != nil || a.batch != nil || a.refusal != nil) && !c.deliver(a) {
			return
		}
		if err != nil {
			c.deliver(arrival{err: err})
			return
		}
	}
}

func (c *conn) deliver(a arrival) bool {
	select {
	case c.arrived <- a:
		return true
	case <-c.closed:
		return false
	}
}

// readLine reads a line and takes the space around it away; one that is too long
// is passed over. A last line needs no end. What fits into the buffer of r is
// good until the next call, and what does not is the caller's own.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	line, err = r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = append(make([]byte, 0, 4*usual), line...)
		for part := []byte(nil); errors.Is(err, bufio.ErrBufferFull); {
			part, err = r.ReadSlice('\n')
			if len(line) <= maxLine+len("\r\n") {
				line = append(line, part...)
			}
		}
	}
	if len(bytes.TrimRight(line, "\r\n")) > maxLine {
		return nil, false, err
	}
	return bytes.Trim(line, " \t\r\n"), true, err
}

// Read implements [sdk.Connection]. It answers what is no message itself.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(c.queue) > 0 {
			msg := c.queue[0]
			c.queue = c.queue[1:]
			return msg, nil
		}
		var a arrival
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case a = <-c.arrived:
		}
		switch {
		case a.err != nil:
			return nil, a.err
		case a.batch != nil:
			if why := c.expect(a.batch); why != "" {
				a.refusal = refuse(nil, jsonrpc.CodeInvalidRequest, why)
			} else {
				c.queue = a.batch
			}
		case a.msg != nil:
			c.heard(a.msg)
			return a.msg, nil
		}
		if a.refusal != nil {
			if err := c.send(func(b []byte) ([]byte, error) { return append(b, a.refusal...), nil }); err != nil {
				return nil, err
			}
		}
	}
}

// heard remembers which answer will tell the version: the library tells it only
// to transports of its own.
func (c *conn) heard(msg jsonrpc.Message) {
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "initialize" && req.IsCall() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hello = req.ID
	}
}

// noBatches is the first version without batches.
const noBatches = "2025-06-18"

// expect keeps a batch in mind until it is answered, or says why it is refused.
func (c *conn) expect(msgs []jsonrpc.Message) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !HasBatches(c.version) {
		return "batches are not supported in version " + c.version + " of the protocol: send one message in each line"
	}
	b := &batch{place: map[jsonrpc.ID]int{}}
	for _, msg := range msgs {
		req, ok := msg.(*jsonrpc.Request)
		if !ok || !req.IsCall() {
			continue
		}
		if _, twice := b.place[req.ID]; twice || c.batches[req.ID] != nil {
			return fmt.Sprintf("the id %v is used twice", req.ID.Raw())
		}
		b.place[req.ID] = len(b.answers)
		b.answers = append(b.answers, nil)
	}
	for id := range b.place {
		if c.batches == nil {
			c.batches = map[jsonrpc.ID]*batch{}
		}
		c.batches[id] = b
	}
	return ""
}

// answered notes an answer. One to a call of a batch waits for the others: the
// first result is all of them, once they are there, and the second is true.
func (c *conn) answered(res *jsonrpc.Response) ([]*jsonrpc.Response, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hello.IsValid() && res.ID == c.hello {
		c.hello = jsonrpc.ID{}
		var said struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if res.Error == nil && json.Unmarshal(res.Result, &said) == nil {
			c.version = said.ProtocolVersion
		}
	}
	b := c.batches[res.ID]
	if b == nil {
		return nil, false
	}
	b.answers[b.place[res.ID]] = res
	delete(b.place, res.ID)
	delete(c.batches, res.ID)
	if len(b.place) > 0 {
		return nil, true
	}
	return b.answers, true
}

// Write implements [sdk.Connection]: the whole line or an error, one at a time.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if res, ok := msg.(*jsonrpc.Response); ok {
		if all, ok := c.answered(res); ok {
			if len(all) == 0 {
				return nil
			}
			return c.send(func(b []byte) ([]byte, error) { return appendBatch(b, all) })
		}
	}
	return c.send(func(b []byte) ([]byte, error) { return appendMessage(b, msg) })
}

// send writes the line that fill adds to a buffer.
func (c *conn) send(fill func([]byte) ([]byte, error)) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	line, err := fill(c.buf[:0])
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	line = append(line, '\n')
	if cap(line) <= usual {
		c.buf = line
	}
	_, err = c.out.Write(line)
	return err
}

// Close implements [sdk.Connection].
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		if c.in != nil {
			c.closeErr = c.in.Close()
		}
	})
	return c.closeErr
}
