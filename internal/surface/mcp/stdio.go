package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the largest message that is read: a note of a few megabytes fits.
const maxLine = 16 << 20

// Run serves one client that writes to in and reads from out, until it hangs up
// or ctx ends. Nothing else may be written to out.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	r, ok := in.(io.ReadCloser)
	if !ok {
		r = io.NopCloser(in)
	}
	defer s.opts.tasks.Close()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: r, Writer: stays{out}, MaxLineLength: maxLine})
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil // the client hung up, or we were told to stop: both are a good end
	}
	return err
}

// stays is a writer that is not closed: it is not ours.
type stays struct{ io.Writer }

func (stays) Close() error { return nil }
