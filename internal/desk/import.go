package desk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/mcpconfig"
	"lore/internal/roster"
	"lore/internal/surface/servers"
)

// serversOf reads the servers that a client's file names.
func serversOf(c mcpconfig.Client, from, to string) ([]mcpconfig.Server, error) {
	if ext := filepath.Ext(from); ext != ".json" {
		return nil, fault.Fix(fault.Invalid, "write them into "+to, "%s keeps its servers in a %s file, which is not read", c.Title, ext)
	}
	list, err := mcpconfig.Read(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "%s has no servers here: there is no %s", c.Title, from)
	case err != nil:
		return nil, fault.New(fault.Invalid, "%s: its servers cannot be read: %v", c.Title, err)
	}
	return list, nil
}

// importServers plans to copy the servers of a client that are not here yet.
// Lore itself is none of them.
func (d *Desk) importServers(_ servers.Terminal, client string) (servers.Import, error) {
	at, err := d.Place()
	if err != nil {
		return servers.Import{}, err
	}
	c, err := mcpconfig.ByID(client)
	if err != nil {
		return servers.Import{}, err
	}
	r, err := d.Roster("")
	if err != nil {
		return servers.Import{}, err
	}
	from, _ := c.Path(at, func(p string) bool { _, err := os.Stat(p); return err == nil })
	out := servers.Import{Client: c.ID, From: from, To: r.User}
	list, err := serversOf(c, from, r.User)
	if err != nil {
		return out, err
	}
	before, err := mcpconfig.ReadText(r.User)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	text := before
	for _, s := range list {
		next, why := "", ""
		switch {
		case s.Problem != nil:
			why = s.Problem.Error()
		case filepath.Base(s.Command) == "lore" && len(s.Args) > 0 && s.Args[0] == "mcp":
			why = "it is Lore"
		default:
			if next, err = mcpconfig.Copy(text, s); err != nil {
				why = err.Error()
			}
		}
		if why != "" {
			out.Skipped = append(out.Skipped, s.Name+": "+why)
			continue
		}
		text = next
		e := roster.Entry{Server: s, File: from, Digest: s.Digest()}
		out.Servers = append(out.Servers, shownServer(r, e))
	}
	out.Write = func() error {
		if now, err := mcpconfig.ReadText(r.User); now != before || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Fix(fault.Conflict, "try again", "%s changed meanwhile", r.User)
		}
		if err := os.MkdirAll(filepath.Dir(r.User), 0o700); err != nil {
			return err
		}
		return home.Replace(r.User, []byte(text))
	}
	return out, nil
}
