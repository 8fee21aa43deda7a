package mcpadmin

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
	"lore/internal/machine/home"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/serverlist"
	"lore/internal/surface"
)

// serversOf reads the servers that a client's file names.
func serversOf(c configfile.Client, from, to string) ([]configfile.Server, error) {
	if ext := filepath.Ext(from); ext != ".json" {
		return nil, fault.Fix(fault.Invalid, "add them to "+to, "%s keeps its servers in a %s file, which Lore cannot read", c.Title, ext)
	}
	list, err := configfile.Read(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "%s has no servers here: there is no %s", c.Title, from)
	case err != nil:
		return nil, fault.New(fault.Invalid, "the servers in %s cannot be read: %v", c.Title, err)
	}
	return list, nil
}

// importServers plans to copy the servers of a client that are not here yet.
// Lore itself is none of them.
func (d *Admin) importServers(client string) (surface.Import, error) {
	at, err := d.Place()
	if err != nil {
		return surface.Import{}, err
	}
	c, err := configfile.ByID(client)
	if err != nil {
		return surface.Import{}, err
	}
	r, err := d.List("")
	if err != nil {
		return surface.Import{}, err
	}
	from, _ := c.Path(at, func(p string) bool { _, err := os.Stat(p); return err == nil })
	out := surface.Import{Client: c.ID, From: from, To: r.User}
	list, err := serversOf(c, from, r.User)
	if err != nil {
		return out, err
	}
	before, err := configfile.ReadText(r.User)
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
			if next, err = configfile.Copy(text, s); err != nil {
				why = err.Error()
			}
		}
		if why != "" {
			out.Skipped = append(out.Skipped, s.Name+": "+why)
			continue
		}
		text = next
		e := serverlist.Entry{Server: s, File: from, Digest: s.Digest()}
		out.Servers = append(out.Servers, shownServer(r, e))
	}
	out.Write = func() error { return replace(r.User, before, text) }
	return out, nil
}

// isLore reports whether a server is Lore: it would call itself.
func isLore(s configfile.Server) bool {
	program := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Command)), ".exe")
	return program == "lore" && len(s.Args) > 0 && s.Args[0] == "mcp"
}

// replacing lets nobody write between the look and the write of another.
var replacing sync.Mutex

// replace writes the file of servers, if it is still what it was.
func replace(file, before, after string) error {
	replacing.Lock()
	defer replacing.Unlock()
	if now, err := configfile.ReadText(file); now != before || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Fix(fault.Conflict, "try again", "%s changed in the meantime", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return home.Replace(file, []byte(after))
}

// own is a person's file of servers, as it is.
func (d *Admin) own() (file, text string, err error) {
	r, err := d.List("")
	if err != nil {
		return "", "", err
	}
	text, err = configfile.ReadText(r.User)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r.User, text, err
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// add names a server in the person's file.
func (d *Admin) add(in surface.NewServer) error {
	s := configfile.Server{Name: in.Name, Type: configfile.Stdio, Command: in.Command, Args: in.Args, Env: in.Env, URL: in.URL, Headers: in.Headers}
	switch {
	case !serverName.MatchString(in.Name):
		return fault.Field("name", "use 1 to 40 characters: letters, digits, _ and -", "%q is not a valid server name", in.Name)
	case (in.Command == "") == (in.URL == ""):
		return fault.Field("command", "give either a command or a url", "a server needs a command or a url")
	case in.URL != "":
		s.Type = configfile.HTTP
		if u, err := url.Parse(in.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Field("url", "write it as https://host/mcp", "%q is not a server address", in.URL)
		}
	}
	file, before, err := d.own()
	if err != nil {
		return err
	}
	text, err := configfile.Copy(before, s)
	if err != nil {
		return err
	}
	list, err := configfile.Parse(text)
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
func (d *Admin) remove(s surface.Server) error {
	file, before, err := d.own()
	if err != nil {
		return err
	}
	if s.File != file {
		return fault.Fix(fault.Invalid, "remove it from "+s.File, "%s is not defined in Lore's own file", s.Name)
	}
	text, err := configfile.Drop(before, s.Name)
	if err != nil {
		return err
	}
	return replace(file, before, text)
}
