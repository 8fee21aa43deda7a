package app

import (
	"context"

	"lore/internal/eval"
	"lore/internal/llm/quote"
	"lore/internal/surface/cli"
	"lore/internal/surface/talk"
)

// examiner is what lore eval needs of this machine.
func (a *app) examiner() talk.Examiner {
	find := a.finder()
	return talk.Examiner{
		Open: a.openToTry,
		Find: func(ctx context.Context, id string) (string, error) {
			m, _, err := find(ctx, id)
			if err != nil {
				return "", err
			}
			return m.ID(), nil
		},
	}
}

// openToTry opens a vault in which a model is tried. Its data lies where it is
// told, and what would change the outcome from one machine to the next is as it
// comes with the program: of the person's settings, only where models answer and
// how passages get their vectors is left.
func (a *app) openToTry(ctx context.Context, vault, data string) (*eval.Vault, error) {
	fixed := map[string]string{
		"XDG_DATA_HOME": data, "LORE_MODEL": quote.ID, "LORE_APPROVE_CREATE": "ask", "LORE_APPROVE_MANY": "20", "LORE_NODES_FOLDER": "Nodes", "LORE_WEB_SEARCH": "off",
	}
	own := *a
	own.env = func(key string) string {
		if v, ok := fixed[key]; ok {
			return v
		}
		return a.env(key)
	}
	s, face, err := own.openFace(ctx, cli.Globals{Vault: vault}, cli.OpenOptions{Wait: true, Embed: true})
	if err != nil {
		return nil, err
	}
	return &eval.Vault{Agent: s.mind(face.Door), Door: face.Door, Close: s.close}, nil
}
