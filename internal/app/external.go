package app

import (
	"context"
	"path/filepath"

	"lore/internal/desk"
	"lore/internal/home"
	"lore/internal/tool"
)

// desk is what is known of other servers.
func (a *app) desk() *desk.Desk {
	return &desk.Desk{
		Now: a.now, Env: a.env, Data: a.home().Data, Place: a.place, Log: a.logger, Version: version(),
		Config: func() (string, error) {
			path, err := a.configPath()
			return filepath.Dir(path), err
		},
		Vault: a.vaultMeant,
	}
}

// vaultMeant is the vault of a command that can do without one.
func (a *app) vaultMeant(flag string) (string, error) {
	c, err := a.readConfig()
	if err != nil {
		return "", err
	}
	dir, err := a.home().Vault(flag, c.Vault)
	if err != nil {
		return "", nil
	}
	return filepath.Abs(home.Expand(dir))
}

// openHub prepares what brings in the tools of other servers. It connects to
// none before [session.follow] or a call that names one.
func (s *session) openHub(reg *tool.Registry) (err error) {
	if s.hub, err = s.app.desk().Hub(s.vault.Dir(), s.log, reg, s.bus, s.off); err == nil {
		s.closers = append(s.closers, s.hub.Close)
	}
	return err
}

// fetch brings in one tool of another server.
func (s *session) fetch(ctx context.Context, name string) error { return s.hub.Fetch(ctx, name) }
