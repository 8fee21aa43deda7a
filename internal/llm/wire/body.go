package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"lore/internal/llm"
)

// A Body is what a server answers, while it does. Its errors are those that a
// model's stream hands over: the end of the context, or an [llm.Error] of kind
// [llm.Connection], which is [llm.ErrCut] too when the answer had begun.
type Body struct {
	Status int
	Header http.Header

	body    io.ReadCloser
	where   string // the address without a password in it
	scrub   func(string) string
	asked   context.Context // the caller's
	ctx     context.Context // ends with the caller's, and when nothing comes
	stop    context.CancelCauseFunc
	timer   *time.Timer
	limit   time.Duration // of waiting for the next byte
	silence time.Duration // what limit is after the first
	begun   bool
	room    int // bytes that may still come
}

// silent is why a request ended to which nothing came.
type silent struct{}

func (silent) Error() string { return "no data arrived" }

// watched makes the body of an answer that is about to be asked for.
func (s *Server) watched(ctx context.Context, request *http.Request, key string) *Body {
	b := &Body{asked: ctx, where: request.URL.Redacted(), limit: s.Patience, silence: s.Silence, room: maxAnswer + 1}
	b.scrub = func(text string) string { return s.scrub(key, text) }
	if b.limit == 0 {
		b.limit = usualPatience
	}
	if b.silence == 0 {
		b.silence = usualSilence
	}
	b.ctx, b.stop = context.WithCancelCause(ctx)
	b.timer = time.AfterFunc(b.limit, func() { b.stop(silent{}) })
	return b
}

// Scrub takes the key of the request out of what the server said.
func (b *Body) Scrub(text string) string { return b.scrub(text) }

// Read reads, and ends the request when nothing comes.
func (b *Body) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit) // while it is read alone: a slow reader is not the server's silence
	n, err := b.body.Read(p)
	b.timer.Stop()
	if n > 0 {
		b.begun, b.limit = true, b.silence
	}
	if b.room -= n; b.room < 0 { // unpacked, as it is read: a small answer may be packed a thousandfold
		return n, &llm.Error{Kind: llm.BadRequest, Status: b.Status, Message: fmt.Sprintf("%s: the response is larger than %d bytes", b.where, maxAnswer)}
	}
	if err != nil && err != io.EOF {
		err = b.explain(err)
	}
	return n, err
}

// Close ends the request.
func (b *Body) Close() error {
	b.timer.Stop()
	b.stop(nil)
	return b.body.Close()
}

// explain makes an error of the connection one that callers can act on.
func (b *Body) explain(err error) error {
	b.timer.Stop()
	if e := b.asked.Err(); e != nil {
		return e
	}
	var quiet silent
	if errors.As(context.Cause(b.ctx), &quiet) {
		err = fmt.Errorf("no data arrived for %v", b.limit)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		err = fmt.Errorf("%w; check that the server is running and that the address is correct", err)
	}
	kind := llm.Connection
	if errors.Is(err, syscall.ECONNREFUSED) {
		kind = llm.Absent
	}
	out := &llm.Error{Kind: kind, Status: b.Status, Message: b.scrub(fmt.Sprintf("%s: %v", b.where, err))}
	if b.begun {
		return fmt.Errorf("%w: %w", llm.ErrCut, out)
	}
	return out
}
