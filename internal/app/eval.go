package app

import (
	"context"

	"lore/internal/agent/eval"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
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
	s, err := apart.opener().Open(ctx, settings.Flags{Vault: vault}, workspace.Options{UpToDate: true, Vectors: workspace.AllVectors})
	if err != nil {
		return nil, err
	}
	mind := a.newAgent(s.State, s.Door, s.Log, s.Vault.Dir(), a.sharesOf(s, s.Door))
	mind.Model = a.models().Finder()
	return &eval.Vault{Agent: mind, Door: s.Door, Close: s.Close}, nil
}
