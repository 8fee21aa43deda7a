package app

import (
	"context"
	"io"
	"sync"

	"lore/internal/surface/acp"
	"lore/internal/surface/cli"
	"lore/internal/surface/http/page"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/token"
	"lore/internal/vault/visibility"
	"lore/internal/workspace"
)

// acp serves one editor, and stays with the vault as long as the editor stays. The
// editor is greeted at once, and the vault is opened meanwhile.
func (a *app) acp(ctx context.Context, g cli.Globals, o cli.ACPOptions, in io.Reader, out io.Writer) error {
	r, err := a.opener().Reside(flags(g))
	if err != nil {
		return err
	}
	return acp.Run(ctx, acp.Options{
		Version: version(), Models: a.models().Listed, Default: a.models().Usual, Confirm: o.Confirm || o.Trust, Trust: o.Trust,
		Open: func(ctx context.Context) (*acp.Vault, error) { return a.openForEditor(ctx, r, o) },
		Page: func(id string) string {
			if address := r.Server(); address != "" {
				return address + page.Path(id)
			}
			return ""
		},
	}, in, out)
}

// openForEditor opens the vault with an agent. Its calls come from the editor, which
// cannot answer them but by a dialog that its user allowed.
func (a *app) openForEditor(ctx context.Context, r *workspace.Resident, o cli.ACPOptions) (*acp.Vault, error) {
	first, err := r.Enter(ctx, workspace.Options{UpToDate: true})
	if err != nil {
		return nil, err
	}
	db, _ := a.opener().OpenRecords(first.Dir, first.Log)
	// What is under way when the editor leaves still needs the vault.
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { r.Live(living, first) })
	door := cli.BesideScreen(cli.AtTerminal(&cli.Session{Door: r.Door, Tokens: token.New(db, a.now)}))
	shares := func(ctx context.Context, who access.Principal) (visibility.Limit, error) {
		return a.sharedBy(ctx, r, who)
	}
	mind := a.newAgent(db, door, r.Log, r.Dir, shares)
	if o.Confirm || o.Trust {
		mind.Scopes = append(mind.Scopes, access.Confirm)
	}
	return &acp.Vault{
		Dir: r.Dir, Agent: mind, Door: door, Allow: approval.New(db, a.now).AddRule,
		Close: func() error {
			leave()
			wg.Wait()
			return db.Close()
		},
	}, nil
}
