package app

import (
	"context"

	"lore/internal/eval"
	"lore/internal/surface/cli"
)

// openToTry opens a vault in which a model is tried, with everything that belongs
// to it in a folder. What would change the outcome from one machine to the next
// is as it comes with the program: of the person's settings, only where models
// answer and how passages get their vectors is left.
func (a *app) openToTry(ctx context.Context, vault, own string) (*eval.Vault, error) {
	env, err := a.config().Apart(own, "embed.model", "embed.base_url", "embed.key_env")
	if err != nil {
		return nil, err
	}
	apart := *a
	apart.env = env
	s, face, err := apart.openFace(ctx, cli.Globals{Vault: vault}, cli.OpenOptions{Wait: true, Embed: true})
	if err != nil {
		return nil, err
	}
	mind := a.mind(s.state, face.Door, s.log)
	mind.Model = a.minds().Finder()
	return &eval.Vault{Agent: mind, Door: face.Door, Close: s.close}, nil
}
