package app

import (
	"context"

	"lore/internal/desk"
)

// desk is what is known of other servers.
func (a *app) desk() *desk.Desk {
	return &desk.Desk{Now: a.now, Home: a.home(), Place: a.place, Log: a.logger, Version: version(), Default: func() (string, error) {
		c, err := a.config().Read()
		return c.Vault, err
	}}
}

// fetch brings in one tool of another server.
func (s *session) fetch(ctx context.Context, name string) error { return s.hub.Fetch(ctx, name) }
