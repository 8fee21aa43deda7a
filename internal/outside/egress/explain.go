package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"lore/internal/fault"
)

// body is what is read of an answer.
type body struct {
	io.ReadCloser
	c    *Client
	ctx  context.Context
	from *url.URL
	rest int64
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.rest == 0 {
		return b.end()
	}
	if int64(len(p)) > b.rest {
		p = p[:b.rest]
	}
	n, err := b.ReadCloser.Read(p)
	b.rest -= int64(n)
	if err != nil && err != io.EOF {
		err = b.c.explain(b.ctx, b.from, err)
	}
	return n, err
}

// end tells a body that is just as long as it may be from one that goes on.
func (b *body) end() (int, error) {
	if b.c.o.Cut {
		return 0, io.EOF
	}
	var one [1]byte
	for {
		n, err := b.ReadCloser.Read(one[:])
		switch {
		case n > 0:
			return 0, b.c.tooLarge(b.from)
		case err == io.EOF:
			return 0, err
		case err != nil:
			return 0, b.c.explain(b.ctx, b.from, err)
		}
	}
}

func (c *Client) tooLarge(u *url.URL) error {
	return fault.New(fault.TooLarge, "%s: the response is larger than %d bytes", plain(u.Host), c.o.MaxBody)
}

// explain makes a fault of what went wrong on the way. The words of the HTTP
// client are not used where they repeat the address.
func (c *Client) explain(ctx context.Context, u *url.URL, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var known *fault.Report
	var lookup *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var slow net.Error
	host := plain(u.Host)
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return fault.Fix(fault.Unavailable, "check the address", "there is no host %s", host)
	case errors.As(err, &untrusted):
		return fault.Fix(fault.Unavailable, "use another address; this check cannot be turned off", "%s: its certificate cannot be trusted: %s", host, cut(untrusted.Err.Error()))
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fault.Fix(fault.Unavailable, "try again later", "%s did not respond within %s", host, c.o.Timeout)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fault.Fix(fault.Unavailable, "try again", "%s closed the connection before its response was complete", host)
	}
	return fault.Fix(fault.Unavailable, "check the address, or try again later", "%s: %s", host, cut(err.Error()))
}

// plain is a host, which others chose, fit to stand in a message.
func plain(host string) string {
	return strings.Trim(strconv.QuoteToASCII(cut(host)), `"`)
}

// cut keeps a foreign text short.
func cut(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}
