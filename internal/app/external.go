package app

import (
	"lore/internal/app/mcpadmin"
)

// serverAdmin is what is known of other servers.
func (a *app) serverAdmin() *mcpadmin.Admin {
	return &mcpadmin.Admin{Now: a.now, Home: a.home(), Place: a.place, Log: a.logger, Version: version(), Default: func() (string, error) {
		c, err := a.config().Read()
		return c.Vault, err
	}}
}
