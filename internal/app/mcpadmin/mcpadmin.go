// Package mcpadmin answers the command lore servers: it brings together which other
// servers there are, what a person decided, who is logged in, and what a
// connection shows. It decides nothing itself, and keeps no connection.
package mcpadmin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/serverlist"
	"lore/internal/mcpclient/signin"
	"lore/internal/surface"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/external"
)

// An Admin is what lore servers needs of this computer.
type Admin struct {
	Now func() time.Time
	// Home knows Lore's folders, and Default the vault of the settings.
	Home    home.Home
	Default func() (string, error)
	// Place is where the files of clients are looked for.
	Place   func() (configfile.Place, error)
	Log     func(level string) (*slog.Logger, error)
	Version string
}

// List is where other servers are named, for a vault or for none.
func (d *Admin) List(vault string) (*serverlist.List, error) {
	config, err := d.Home.Config()
	if err != nil {
		return nil, err
	}
	data, err := d.Home.Data()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(vault); err == nil {
		vault = real // what was agreed to holds whatever name leads there
	}
	return &serverlist.List{
		User: filepath.Join(config, "servers.json"), Vault: vault, Dir: filepath.Join(data, "servers"), Now: d.Now, Env: os.LookupEnv,
	}, nil
}

// logins are kept beside what was decided about servers.
func (d *Admin) logins(r *serverlist.List) *signin.Store {
	return &signin.Store{Path: filepath.Join(r.Dir, "tokens.json"), Now: d.Now}
}

// Options are those of every hub. In the background nobody is asked to log in.
func (d *Admin) Options(r *serverlist.List, log *slog.Logger) external.Options {
	logins := d.logins(r)
	return external.Options{
		Log: log, Now: d.Now, Version: d.Version, Servers: r, Watched: []string{logins.Path},
		Swap: func(string, []*tool.Tool) error { return nil },
		Auth: func(_ serverlist.Entry, address string) (auth.OAuthHandler, error) {
			return logins.Resting(address), nil
		},
	}
}

// Hub is what brings the tools of other servers into a registry, but for those
// that are switched off. It is connected to nothing yet.
func (d *Admin) Hub(vault string, log *slog.Logger, reg *tool.Registry, bus *event.Bus, off []string) (*external.Hub, error) {
	r, err := d.List(vault)
	if err != nil {
		return nil, err
	}
	o := d.Options(r, log)
	o.Swap, o.Bus = reg.Swap, bus
	o.Off = func(name string) bool { return slices.Contains(off, name) || slices.Contains(off, tool.External) }
	return external.New(o), nil
}

// ClientScopes are the rights of a client that starts Lore itself. Who asks for
// the tools of other servers, or for one of our own that reaches outside, gets
// the rights that those take; each call is still asked about. Confirm is given
// only when a person said so.
func ClientScopes(toolsets, tools []string, own []*tool.Tool, confirm bool) []access.Scope {
	toolsets = tool.CurrentSets(toolsets)
	out := []access.Scope{access.Read, access.Write, access.Destroy, access.Model}
	wants := func(s string) bool { return tool.IsExternal(s) || s == "all" }
	if slices.ContainsFunc(toolsets, wants) || slices.ContainsFunc(tools, wants) {
		out = append(out, access.Egress, access.Exec)
	}
	for _, t := range own {
		if t.Needs != "" && !slices.Contains(out, t.Needs) && (slices.Contains(toolsets, t.Set) || slices.Contains(tools, t.Name)) {
			out = append(out, t.Needs)
		}
	}
	if confirm {
		out = append(out, access.Confirm)
	}
	return out
}

// Servers are what surfaces can do with other servers.
func (d *Admin) Servers() surface.Servers {
	return surface.Servers{
		List: d.listServers, Tools: d.serverTools, Accept: d.acceptTool, Login: d.login, Logout: d.logout, Import: d.importServers, Add: d.add, Remove: d.remove,
		Allow: func(ctx context.Context, at surface.Scope, s surface.Server) error {
			return d.decide(at, s, func(r *serverlist.List, e serverlist.Entry) error { return r.Allow(ctx, e) })
		},
		Deny: func(ctx context.Context, at surface.Scope, s surface.Server) error {
			return d.decide(at, s, func(r *serverlist.List, e serverlist.Entry) error { return r.Deny(ctx, e) })
		},
	}
}

// listFor is the list of servers for the vault that the flags mean; without a vault the
// person's own file counts alone.
func (d *Admin) listFor(flag string) (*serverlist.List, error) {
	usual, err := d.Default()
	if err != nil {
		return nil, err
	}
	dir, err := d.Home.Vault(flag, usual)
	if err != nil {
		return d.List("") // no folder of notes
	}
	if dir, err = filepath.Abs(home.Expand(dir)); err != nil {
		return nil, err
	}
	return d.List(dir)
}

// decide keeps what a person said about a server, if it is what they saw.
func (d *Admin) decide(at surface.Scope, s surface.Server, f func(*serverlist.List, serverlist.Entry) error) error {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return err
	}
	e, err := r.Find(s.Name)
	switch {
	case err != nil:
		return err
	case e.Digest != s.Digest:
		return fault.Fix(fault.Conflict, "review it again", "the server %q changed in the meantime", s.Name)
	}
	return f(r, e)
}

// shownServer is an entry as a person sees it: as it is written, but for secrets.
// What a program is started with is shown whole, because that is what they decide
// about.
func shownServer(r *serverlist.List, e serverlist.Entry) surface.Server {
	s := surface.Server{
		Name: e.Name, File: e.File, InVault: e.InVault, Transport: e.Type, State: string(e.State), Why: e.Why, URL: e.URL, EnvFile: e.EnvFile,
		Env: configfile.ShownValues(e.Env), Headers: configfile.ShownValues(e.Headers), Digest: e.Digest, Warnings: e.Warnings,
	}
	if e.URL != "" {
		s.URL = configfile.Shown(e.URL)
	}
	if e.Command != "" {
		s.Command = append([]string{e.Command}, e.Args...)
		s.Dir = cmp.Or(e.Dir, "your home folder")
		if serverlist.StartsInVault(e) {
			s.Dir = cmp.Or(e.Dir, r.Vault)
		}
	}
	return s
}

func (d *Admin) listServers(ctx context.Context, at surface.Scope, try bool) ([]surface.Server, []string, error) {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return nil, nil, err
	}
	list, bad := r.List()
	var trouble []string
	for _, b := range bad {
		trouble = append(trouble, fmt.Sprintf("%s: %v", b.File, b.Err))
	}
	hub, err := d.tryHub(at, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = hub.Close() }() // it only waits
	logins := d.logins(r)
	out := make([]surface.Server, len(list))
	done := make(chan int)
	for i, e := range list {
		go func() {
			out[i] = d.status(ctx, r, logins, e)
			if try && e.State == serverlist.Ready {
				if st, err := hub.Try(ctx, e); err == nil {
					take(&out[i], st)
				}
			}
			done <- i
		}()
	}
	for range list {
		<-done
	}
	return out, trouble, ctx.Err()
}

// status is what is known of a server without connecting to it.
func (d *Admin) status(_ context.Context, r *serverlist.List, logins *signin.Store, e serverlist.Entry) surface.Server {
	s := shownServer(r, e)
	pins, err := r.Pins(e.Key)
	if err != nil {
		s.State, s.Why = string(serverlist.Broken), err.Error()
	}
	for _, p := range serverlist.Offers(pins) {
		s.Changed = append(s.Changed, p.Definition.Name)
	}
	s.Tools = len(pins) - len(s.Changed)
	if full, err := r.Resolve(e); err == nil && full.URL != "" {
		if s.LoggedIn, err = logins.Known(full.URL); err != nil {
			s.Why = err.Error()
		}
	}
	return s
}

// take puts what a connection showed over what was known.
func take(s *surface.Server, st external.Status) {
	s.State, s.Why, s.Changed, s.LeftOut, s.Software = string(st.State), st.Why, st.Changed, st.LeftOut, st.Software
	if st.State == external.Connected {
		s.Tools = len(st.Tools)
	}
}

// tryHub is a hub for one look.
func (d *Admin) tryHub(at surface.Scope, r *serverlist.List) (*external.Hub, error) {
	log, err := d.serverLog(at)
	if err != nil {
		return nil, err
	}
	return external.New(d.Options(r, log)), nil
}

// serverLog is quiet where the answer says the same.
func (d *Admin) serverLog(at surface.Scope) (*slog.Logger, error) {
	return d.Log(cmp.Or(at.LogLevel, "error"))
}

func (d *Admin) serverTools(ctx context.Context, at surface.Scope, name string, try bool) (surface.Server, []surface.Tool, error) {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return surface.Server{}, nil, err
	}
	e, err := r.Find(name)
	if err != nil {
		return surface.Server{}, nil, err
	}
	s := d.status(ctx, r, d.logins(r), e)
	now := []string(nil)
	if try && e.State == serverlist.Ready {
		hub, err := d.tryHub(at, r)
		if err != nil {
			return s, nil, err
		}
		st, err := hub.Try(ctx, e)
		if err := errors.Join(err, hub.Close()); err != nil {
			return s, nil, err
		}
		if take(&s, st); st.State == external.Connected {
			now = append(st.Tools, "")
		}
	}
	pins, err := r.Pins(e.Key)
	if err != nil {
		return s, nil, err
	}
	var out []surface.Tool
	for _, own := range slices.Sorted(maps.Keys(pins)) {
		one := shownTool(e, pins[own])
		if now == nil || one.Change != nil || slices.Contains(now, one.Name) {
			out = append(out, one)
		}
	}
	return s, out, nil
}

func shownTool(e serverlist.Entry, p serverlist.Pin) surface.Tool {
	t := surface.Tool{Name: external.Name(e.Name, p.Definition.Name), Own: p.Definition.Name, Title: p.Definition.Title, Description: p.Definition.Description}
	if p.Offered != nil {
		t.Change = &surface.Change{Digest: p.Offered.Digest, Old: written(p.Definition), New: written(p.Offered.Definition)}
	}
	return t
}

// written is a definition as a text whose lines can be compared.
func written(d serverlist.Definition) string {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(b), `\n`, "\n") + "\n"
}

func (d *Admin) acceptTool(ctx context.Context, at surface.Scope, server, own, digest string) error {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return err
	}
	e, err := r.Find(server)
	if err != nil {
		return err
	}
	return r.Accept(ctx, e.Key, own, digest)
}

// login takes a person through the browser and connects once.
func (d *Admin) login(ctx context.Context, at surface.Scope, name string, show func(string)) (surface.Server, error) {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return surface.Server{}, err
	}
	e, err := r.Find(name)
	switch {
	case err != nil:
		return surface.Server{}, err
	case e.State != serverlist.Ready:
		return surface.Server{}, fault.New(fault.Denied, "Lore does not use the server %s: %s", name, e.Why)
	case e.Type != configfile.HTTP:
		return surface.Server{}, fault.New(fault.Invalid, "%s is a server of type %s and needs no sign-in", name, e.Type)
	}
	full, err := r.Resolve(e)
	if err != nil {
		return surface.Server{}, err
	}
	logins := d.logins(r)
	handler, stop, err := logins.Interactive(ctx, signin.Login{
		Address: full.URL, ClientID: full.OAuth.ClientID, ClientSecret: full.OAuth.ClientSecret, Metadata: full.OAuth.Metadata, Port: full.OAuth.Port,
		Show: show, Open: d.browser,
	})
	if err != nil {
		return surface.Server{}, err
	}
	defer stop()
	log, err := d.serverLog(at)
	if err != nil {
		return surface.Server{}, err
	}
	o := d.Options(r, log)
	o.Auth = func(serverlist.Entry, string) (auth.OAuthHandler, error) { return handler, nil }
	o.Times.Connect = signin.Patience
	hub := external.New(o)
	st, err := hub.Try(ctx, e)
	if err := errors.Join(err, hub.Close()); err != nil {
		return surface.Server{}, err
	}
	s := d.status(ctx, r, logins, e)
	if take(&s, st); st.State != external.Connected {
		return s, fault.New(fault.Unavailable, "signing in to %s failed: %s", name, st.Why)
	}
	if !s.LoggedIn {
		return s, fault.New(fault.Invalid, "%s does not require sign-in", name)
	}
	return s, nil
}

// browser opens an address, unless a person asked for none.
func (d *Admin) browser(address string) error {
	if d.Home.Env("LORE_NO_BROWSER") != "" {
		return nil
	}
	return signin.Browser(address)
}

func (d *Admin) logout(ctx context.Context, at surface.Scope, name string) (bool, error) {
	r, err := d.listFor(at.Vault)
	if err != nil {
		return false, err
	}
	e, err := r.Find(name)
	if err != nil {
		return false, err
	}
	full, err := r.Resolve(e)
	if err != nil {
		return false, err
	}
	return d.logins(r).Forget(ctx, full.URL)
}

// Tools describes the tools of other servers as they were last seen, without
// connecting to any.
func (d *Admin) Tools(vault string) ([]*tool.Tool, error) {
	r, err := d.listFor(vault)
	if err != nil {
		return nil, err
	}
	var out []*tool.Tool
	list, _ := r.List()
	for _, e := range list {
		pins, err := r.Pins(e.Key)
		if err != nil || e.State != serverlist.Ready {
			continue
		}
		for _, own := range slices.Sorted(maps.Keys(pins)) {
			if pins[own].Offered != nil {
				continue
			}
			t, err := external.Tool(e, pins[own].Definition, func(context.Context, json.RawMessage) (any, error) {
				return nil, fault.New(fault.Unavailable, "the server %s is not connected", e.Name)
			})
			if err == nil {
				out = append(out, t)
			}
		}
	}
	return out, nil
}
