package mcp

import (
	"context"
	"errors"
	"io"

	"lore/internal/surface/mcp/stdio"
)

// Run serves one client that writes to in and reads from out, until it hangs up
// or ctx ends. Nothing else may be written to out.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.opts.tasks.Close()
	err := s.sdk.Run(ctx, stdio.New(in, out))
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil // the client hung up, or we were told to stop: both are a good end
	}
	return err
}
