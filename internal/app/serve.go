package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"lore/internal/agent/runner"
	"lore/internal/doctor"
	"lore/internal/machine/state"
	"lore/internal/surface/cli"
	"lore/internal/surface/http/chats"
	"lore/internal/surface/http/connect"
	"lore/internal/surface/http/files"
	"lore/internal/surface/http/page"
	"lore/internal/surface/http/prefs"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/vault"
	"lore/internal/vault/visibility"
	"lore/internal/workspace"
	"lore/internal/workspace/endpoint"
	"lore/internal/workspace/process"
	"lore/web"
)

// A server answers over HTTP for a process that stays with a vault.
type server struct {
	*workspace.Resident
	app *app
	g   cli.Globals
}

// serve answers over HTTP until ctx ends, and stays with the vault: it holds
// it, or works through the process that does.
func (a *app) serve(ctx context.Context, g cli.Globals, o cli.ServeOptions) error {
	r, err := a.opener().Reside(flags(g))
	if err != nil {
		return err
	}
	first, err := r.Enter(ctx, workspace.Options{UpToDate: true, Progress: o.Progress})
	if err != nil {
		return err
	}
	if err := addFixtures(first, o); err != nil {
		return errors.Join(err, first.Close())
	}
	db, _ := a.opener().OpenRecords(first.Dir, first.Log) // of its own: tokens outlive what is behind the door
	// Requests that are being answered when ctx ends still need the vault.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { r.Live(living, first) })
	err = (&server{r, a, g}).listen(ctx, o, db)
	leave()
	wg.Wait()
	return errors.Join(err, db.Close())
}

func (s *server) listen(ctx context.Context, o cli.ServeOptions, db *state.File) (err error) {
	name := filepath.Base(s.Dir)
	pages, broken := page.New(page.Options{App: web.Files()})
	shell, err := serve.New(serve.Options{Listen: o.Listen, Expose: o.Expose, Hosts: o.Hosts, Tokens: token.New(db, s.app.now), Log: s.Log})
	if err = errors.Join(err, broken); err != nil {
		return err
	}
	l, err := shell.Listen(ctx)
	if err != nil {
		return err
	}
	where := func(id string) string { return shell.Address(l) + page.Path(id) }
	mind := s.app.newAgent(db, s.Door, s.Log, s.Dir, s.sharedWith)
	attends := runner.New(mind, s.Bus, s.Log)
	talks := chats.New(chats.Options{Agent: mind, Runner: attends, Host: s.app.host(), Closing: shell.Closing()})
	prefer := prefs.New(prefs.Options{Host: s.app.host(), Flags: flags(s.g), Vault: s.Dir, Unlocked: token.New(db, s.app.now).Unlocked})
	connects := connect.New(connect.Options{Vault: s.Dir, Tokens: token.New(db, s.app.now), Host: s.app.host(), Closing: shell.Closing()})
	api := rest.New(rest.Options{
		Door: s.Door, Bus: s.Bus, Vault: name, Version: o.Version, Page: where, Verify: s.verify, Doctor: s.doctor, Shared: s.sharedWith, Closing: shell.Closing(), Unlocked: token.New(db, s.app.now).Unlocked,
		More: slices.Concat(talks.Routes(), prefer.Routes(), connects.Routes(), files.New(s.vault).Routes()), Types: connect.Types(prefs.Types(chats.Types())),
	})
	defer api.Close()
	shell.Add(api.Routes()...)
	shell.Add(pages.Routes()...)
	shell.Front(pages.Refused)
	protocol := s.mcpEndpoint(o, where, shell.Closing())
	defer protocol.Close()
	shell.Add(protocol.Routes()...)
	s.Log.Info("listening", "address", shell.Address(l))
	putOut, err := endpoint.Light(db.Dir(), shell.Address(l))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, putOut()) }()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return shell.Serve(ctx, l) })
	g.Go(func() error { protocol.Follow(ctx); return nil })
	g.Go(func() error { attends.Run(ctx); return nil })
	g.Go(func() error { s.runSchedules(ctx, db); return nil })
	g.Go(func() error { s.printNotices(ctx); return nil })
	g.Go(func() error { return s.serveFixtures(ctx, o) })
	g.Go(func() error {
		if o.Ready == nil {
			return nil
		}
		return o.Ready(shell.Address(l), func() (string, error) { return shell.LoginURL(ctx, l, process.Own()) })
	})
	return g.Wait()
}

// doctor looks at the vault; beside the process that holds it, if that is
// another one.
func (s *server) doctor(ctx context.Context) ([]doctor.Finding, error) {
	open, release, err := s.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if !open.UsesOtherProcess() {
		return s.app.patient(open).Look(ctx)
	}
	release() // it has a session of its own
	beside, err := s.app.opener().Open(ctx, flags(s.g), workspace.Options{UpToDate: true})
	if err != nil {
		return nil, err
	}
	list, err := s.app.patient(beside).Look(ctx)
	return list, errors.Join(err, beside.Close())
}

// verify looks whether the record of what was done is whole.
func (s *server) verify(ctx context.Context) (int, error) {
	open, release, err := s.Hold(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	v, err := open.History.Verify(ctx)
	return v.Entries, err
}

// mcpEndpoint offers the tools to MCP clients over HTTP.
func (s *server) mcpEndpoint(o cli.ServeOptions, where func(id string) string, closing <-chan struct{}) *mcp.Endpoint {
	return mcp.Handler(func() tool.Door { return s.Door }, mcp.Options{
		Version: o.Version, Bus: s.Bus, Log: s.Log, Now: s.app.now, Where: where, Hold: o.Hold, Closing: closing, Program: serve.Program, Knows: s.app.knows(s.Resident), Shares: s.app.shares(s.Resident),
	})
}

// sharedWith is what of the vault a program may hear of.
func (s *server) sharedWith(ctx context.Context, who access.Principal) (visibility.Limit, error) {
	return s.app.sharedBy(ctx, s.Resident, who)
}

// sharedBy is [app.sharing] for a vault that may come and go.
func (a *app) sharedBy(ctx context.Context, r *workspace.Resident, who access.Principal) (visibility.Limit, error) {
	limit, err := a.sharing(ctx, r.Door, r.Dir, who)
	if err != nil || limit.Everything() {
		return limit, err
	}
	open, release, err := r.Hold(ctx)
	if err != nil {
		return visibility.Limit{}, err
	}
	defer release()
	return limit.Through(open.Vault.Real), nil
}

// knows tells which files a program may hear of; none when that is not known now.
func (a *app) knows(r *workspace.Resident) func(context.Context, access.Principal, []string) []string {
	return func(ctx context.Context, who access.Principal, paths []string) []string {
		limit, err := a.sharedBy(ctx, r, who)
		if err != nil {
			return nil
		}
		return visibility.Filter(limit, paths, func(p string) string { return p })
	}
}

// vault is the vault that stands open, until release is called.
func (s *server) vault(ctx context.Context) (v *vault.Vault, release func(), err error) {
	open, release, err := s.Hold(ctx)
	if err != nil {
		return nil, nil, err
	}
	return open.Vault, release, nil
}

// shares notes what a program may read, and tells later whether that is less by
// then. What is not known is less.
func (a *app) shares(r *workspace.Resident) func(context.Context, access.Principal) func(context.Context) bool {
	return func(ctx context.Context, who access.Principal) func(context.Context) bool {
		then, unknown := a.sharing(ctx, r.Door, r.Dir, who)
		return func(ctx context.Context) bool {
			now, err := a.sharing(ctx, r.Door, r.Dir, who)
			hidden, all := now.Patterns().Lost(then.Patterns())
			return errors.Join(unknown, err) != nil || all || len(hidden) > 0
		}
	}
}
