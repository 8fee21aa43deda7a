package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"lore/internal/access"
	"lore/internal/agent/attendant"
	"lore/internal/beacon"
	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/keys"
	"lore/internal/policy"
	"lore/internal/process"
	"lore/internal/state"
	"lore/internal/surface/chats"
	"lore/internal/surface/cli"
	"lore/internal/surface/connect"
	"lore/internal/surface/files"
	"lore/internal/surface/mcp"
	"lore/internal/surface/page"
	"lore/internal/surface/prefs"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/token"
	"lore/internal/tool"
	"lore/internal/vault"
	"lore/internal/visibility"
	"lore/web"
)

// tokens are those of this vault.
func (s *session) tokens() *token.Store { return token.New(s.state, s.app.now) }

// serve answers over HTTP until ctx ends, and stays with the vault: it holds
// it, or leans on the process that does.
func (a *app) serve(ctx context.Context, g cli.Globals, o cli.ServeOptions) error {
	r, err := a.resident(g)
	if err != nil {
		return err
	}
	st, err := r.enter(ctx, cli.OpenOptions{Wait: true, Progress: o.Progress})
	if err != nil {
		return err
	}
	if err := furnishFixtures(st, o); err != nil {
		return errors.Join(err, st.s.close())
	}
	db, _ := r.app.records(st.s.dir, st.s.log) // of its own: tokens outlive what stands behind the door
	// Requests that are being answered when ctx ends still need the vault.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	left := make(chan error, 1)
	go func() { left <- r.live(living, st) }()
	err = r.listen(ctx, o, db)
	leave()
	return errors.Join(err, <-left, db.Close())
}

func (r *resident) listen(ctx context.Context, o cli.ServeOptions, db *state.File) (err error) {
	name := filepath.Base(r.dir)
	pages, broken := page.New(page.Options{App: web.Files()})
	server, err := serve.New(serve.Options{Listen: o.Listen, Expose: o.Expose, Hosts: o.Hosts, Tokens: token.New(db, r.app.now), Log: r.log})
	if err = errors.Join(err, broken); err != nil {
		return err
	}
	l, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	where := func(id string) string { return server.Address(l) + page.Path(id) }
	mind := r.app.mind(db, r.door, r.log)
	attends := attendant.New(mind, r.bus, r.log)
	talks := chats.New(chats.Options{Agent: mind, Attendant: attends, Minds: r.app.minds().Listed, Usual: r.app.minds().Usual, Closing: server.Closing()})
	prefer := prefs.New(prefs.Options{Place: r.app.config(), Flags: flags(r.g), Vault: r.dir, Tools: r.tools})
	connects := connect.New(connect.Options{
		Vault: r.dir, Tokens: token.New(db, r.app.now), Keys: func() keys.Store { return r.app.minds().Keys }, Providers: r.providers,
		Servers: r.app.desk().Host(), Clients: r.app.installer(), Closing: server.Closing(),
	})
	api := rest.New(rest.Options{
		Door: r.door, Bus: r.bus, Vault: name, Version: o.Version, Page: where, Verify: r.verify, Doctor: r.doctor, Shared: r.sharedWith, Closing: server.Closing(), Unlocked: token.New(db, r.app.now).Unlocked,
		More: slices.Concat(talks.Routes(), prefer.Routes(), connects.Routes(), files.New(r.vault).Routes()), Types: connect.Types(prefs.Types(chats.Types())),
	})
	defer api.Close()
	server.Add(api.Routes()...)
	server.Add(pages.Routes()...)
	server.Front(pages.Refused)
	endpoint := r.mcpEndpoint(o, where, server.Closing())
	defer endpoint.Close()
	server.Add(endpoint.Routes()...)
	r.log.Info("listening", "address", server.Address(l))
	putOut, err := beacon.Light(db.Dir(), server.Address(l))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, putOut()) }()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx, l) })
	g.Go(func() error { endpoint.Follow(ctx); return nil })
	g.Go(func() error { attends.Run(ctx); return nil })
	g.Go(func() error { return r.serveFixtures(ctx, o) })
	g.Go(func() error {
		if o.Ready == nil {
			return nil
		}
		return o.Ready(server.Address(l), func() (string, error) { return server.LoginURL(ctx, l, process.Own()) })
	})
	return g.Wait()
}

// tools are all that a person can switch, those of other servers too.
func (r *resident) tools() ([]*tool.Tool, error) {
	others, err := r.app.desk().Tools(r.dir)
	return slices.Concat(catalogue(), others), err
}

// providers are those that can have a key.
func (r *resident) providers() ([]string, error) {
	c, err := r.app.minds().Catalog()
	if err != nil {
		return nil, err
	}
	return c.Names(), nil
}

// doctor looks at the vault; beside the process that holds it, if that is
// another one.
func (r *resident) doctor(ctx context.Context) ([]doctor.Finding, error) {
	s, release, err := r.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.link == nil {
		return s.patient().Look(ctx)
	}
	release() // it has a session of its own
	beside, face, err := r.app.openFace(ctx, r.g, cli.OpenOptions{Wait: true})
	if err != nil {
		return nil, err
	}
	list, err := face.Doctor(ctx)
	return list, errors.Join(err, beside.close())
}

// verify looks whether the record of what was done is whole.
func (r *resident) verify(ctx context.Context) (int, error) {
	s, release, err := r.hold(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	return s.verify(ctx)
}

// mcpEndpoint offers the tools to MCP clients over HTTP.
func (r *resident) mcpEndpoint(o cli.ServeOptions, where func(id string) string, closing <-chan struct{}) *mcp.Endpoint {
	return mcp.Handler(func() tool.Door { return r.door }, mcp.Options{
		Version: o.Version, Bus: r.bus, Log: r.log, Now: r.app.now, Where: where, Hold: o.Hold, Closing: closing, Program: serve.Program,
	})
}

// hold is what stands behind the door, and stays there until release is called.
// Where nothing does, it is about to: the settings changed, or the holder is
// another one. That is waited for, not for ever.
func (r *resident) hold(ctx context.Context) (s *session, release func(), err error) {
	soon, cancel := context.WithTimeout(ctx, ending)
	defer cancel()
	if release, err = r.door.Hold(soon); err == nil {
		if s = r.open.Load(); s != nil {
			return s, release, nil
		}
		release()
	}
	if err == nil || ctx.Err() == nil && soon.Err() != nil {
		err = fault.New(fault.Busy, "the vault is being opened")
	}
	return nil, nil, err
}

// sharedWith is what of the vault a program may hear of.
func (r *resident) sharedWith(ctx context.Context, who access.Principal) (visibility.Limit, error) {
	c, err := r.app.config().Read()
	if err != nil {
		return visibility.Limit{}, err
	}
	p, _, err := r.app.policyOf(&c, r.dir)
	if err != nil {
		return visibility.Limit{}, err
	}
	rules, err := r.door.Rules(ctx)
	if err != nil {
		return visibility.Limit{}, err
	}
	s := p.Sharing(who.Recipient(), who.Client, who.ID, rules, r.app.now())
	if s.Verdict != policy.Allow {
		return visibility.Limit{}.Only(nil)
	}
	v, release, err := r.vault(ctx)
	if err != nil {
		return visibility.Limit{}, err
	}
	defer release()
	return s.Limit.Through(v.Real), nil
}

// vault is the vault that stands open, until release is called.
func (r *resident) vault(ctx context.Context) (v *vault.Vault, release func(), err error) {
	s, release, err := r.hold(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s.vault, release, nil
}
