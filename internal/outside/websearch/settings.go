package websearch

import (
	"net/url"
	"time"

	"lore/internal/outside/egress"
)

// FromSettings makes the searcher that a person chose, nil when they chose
// none. get reads a setting by its key, env the environment. What lies at
// web.base_url may be on a private network, because a person wrote it there:
// that host and port, and nothing else.
func FromSettings(get func(key string) (string, error), env func(name string) string) (Searcher, error) {
	var val [4]string
	for i, key := range []string{"web.search", "web.base_url", "web.key_env", "web.engine"} {
		s, err := get(key)
		if err != nil {
			return nil, err
		}
		val[i] = s
	}
	kind, base, keyEnv, engine := val[0], val[1], val[2], val[3]
	if kind == "" || kind == "off" {
		return nil, nil
	}
	c := Config{Kind: kind, BaseURL: base, Engine: engine}
	if keyEnv != "" {
		c.Key = func() string { return env(keyEnv) }
	}
	o := egress.Options{Timeout: 20 * time.Second, MaxBody: 4 << 20}
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		o.Allow = []string{egress.Place(u)}
	}
	client, err := egress.New(o)
	if err != nil {
		return nil, err
	}
	return New(c, client)
}
