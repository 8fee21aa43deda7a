package app

import (
	"context"
	"path/filepath"
	"strings"

	"lore/internal/eval"
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
	c, err := a.config().Read()
	if err != nil {
		return nil, err
	}
	fixed := map[string]string{"XDG_DATA_HOME": data, "XDG_CONFIG_HOME": filepath.Join(data, "config")}
	for key, name := range map[string]string{"embed.model": "LORE_EMBED_MODEL", "embed.base_url": "LORE_EMBED_BASE_URL", "embed.key_env": "LORE_EMBED_KEY_ENV"} {
		if fixed[name], err = a.config().Get(&c, key); err != nil {
			return nil, err
		}
	}
	own := *a
	own.env = func(key string) string {
		if v, ok := fixed[key]; ok || strings.HasPrefix(key, "LORE_") {
			return v
		}
		return a.env(key)
	}
	s, face, err := own.openFace(ctx, cli.Globals{Vault: vault}, cli.OpenOptions{Wait: true, Embed: true})
	if err != nil {
		return nil, err
	}
	mind := s.mind(face.Door)
	mind.Model = a.finder()
	return &eval.Vault{Agent: mind, Door: face.Door, Close: s.close}, nil
}
