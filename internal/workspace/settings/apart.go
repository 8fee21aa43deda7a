package settings

import (
	"path/filepath"
	"strings"
)

// Apart is the environment of somebody whose things all lie in dir and who has
// decided nothing, but for the settings that are kept: those are as they are in
// force here. What is not Lore's is seen as it is.
func (p Place) Apart(dir string, keep ...string) (func(string) string, error) {
	c, err := p.Read()
	if err != nil {
		return nil, err
	}
	fixed := map[string]string{"XDG_DATA_HOME": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": filepath.Join(dir, "config")}
	for _, key := range keep {
		v, err := p.setting(key)
		if err != nil {
			return nil, err
		}
		if fixed[v.env], err = p.Get(&c, key); err != nil {
			return nil, err
		}
	}
	return func(key string) string {
		if v, ok := fixed[key]; ok || strings.HasPrefix(key, "LORE_") {
			return v
		}
		return p.Env(key)
	}, nil
}
