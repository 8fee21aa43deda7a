package desk

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

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
		case isLore(s):
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
	out.Write = func() error { return replace(r.User, before, text) }
	return out, nil
}

// isLore reports whether a server is Lore: it would call itself.
func isLore(s mcpconfig.Server) bool {
	program := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Command)), ".exe")
	return program == "lore" && len(s.Args) > 0 && s.Args[0] == "mcp"
}

// replacing lets nobody write between the look and the write of another.
var replacing sync.Mutex

// replace writes the file of servers, if it is still what it was.
func replace(file, before, after string) error {
	replacing.Lock()
	defer replacing.Unlock()
	if now, err := mcpconfig.ReadText(file); now != before || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Fix(fault.Conflict, "try again", "%s changed meanwhile", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return home.Replace(file, []byte(after))
}

// own is a person's file of servers, as it is.
func (d *Desk) own() (file, text string, err error) {
	r, err := d.Roster("")
	if err != nil {
		return "", "", err
	}
	text, err = mcpconfig.ReadText(r.User)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r.User, text, err
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// add names a server in the person's file.
func (d *Desk) add(in servers.NewServer) error {
	s := mcpconfig.Server{Name: in.Name, Type: mcpconfig.Stdio, Command: in.Command, Args: in.Args, Env: in.Env, URL: in.URL, Headers: in.Headers}
	switch {
	case !serverName.MatchString(in.Name):
		return fault.Field("name", "use 1 to 40 letters, digits, _ and -", "%q is no name of a server", in.Name)
	case (in.Command == "") == (in.URL == ""):
		return fault.Field("command", "give a program to start, or an address to call", "a server is one of the two")
	case in.URL != "":
		s.Type = mcpconfig.HTTP
		if u, err := url.Parse(in.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Field("url", "write it as https://host/mcp", "%q is no address of a server", in.URL)
		}
	}
	file, before, err := d.own()
	if err != nil {
		return err
	}
	text, err := mcpconfig.Copy(before, s)
	if err != nil {
		return err
	}
	list, err := mcpconfig.Parse(text)
	if err != nil {
		return err
	}
	for _, o := range list {
		if o.Name == s.Name && o.Problem != nil {
			return o.Problem
		}
	}
	return replace(file, before, text)
}

// remove names a server in the person's file no more.
func (d *Desk) remove(s servers.Server) error {
	file, before, err := d.own()
	if err != nil {
		return err
	}
	if s.File != file {
		return fault.Fix(fault.Invalid, "take it out of "+s.File, "%s is not named in Lore's own file", s.Name)
	}
	text, err := mcpconfig.Drop(before, s.Name)
	if err != nil {
		return err
	}
	return replace(file, before, text)
}
