package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"lore/internal/fault"
	"lore/internal/surface/cli"
)

// A config is the configuration file. Nothing inside a vault can change it.
type config struct {
	Vault    string `toml:"vault,omitempty" doc:"the vault that is opened when no other is named"`
	LogLevel string `toml:"log_level,omitempty" doc:"what is logged: debug, info, warn, error"`
	Embed    struct {
		Model   string `toml:"model,omitempty" doc:"builtin, none, ollama:MODEL or openai:MODEL"`
		BaseURL string `toml:"base_url,omitempty" doc:"where the embedding server listens"`
		KeyEnv  string `toml:"key_env,omitempty" doc:"the environment variable that holds the server's key"`
	} `toml:"embed,omitempty"`
	Vaults map[string]vaultConfig `toml:"vaults,omitempty"`
}

// A vaultConfig is a section [vaults."/path"] of the file.
type vaultConfig struct {
	Exclude []string `toml:"exclude,omitempty"`
}

// A value is a setting with its default and the environment variable that
// overrides the file.
type value struct {
	key, doc, def, env string
	at                 func(*config) *string
	check              func(string) error
}

func values() []value {
	return []value{
		{"vault", "the vault that is opened when no other is named", "", "LORE_VAULT", func(c *config) *string { return &c.Vault }, nil},
		{"log_level", "what is logged: debug, info, warn, error", "warn", "LORE_LOG_LEVEL", func(c *config) *string { return &c.LogLevel }, checkLevel},
		{"embed.model", "builtin, none, ollama:MODEL or openai:MODEL", "builtin", "LORE_EMBED_MODEL", func(c *config) *string { return &c.Embed.Model }, checkModel},
		{"embed.base_url", "where the embedding server listens", "", "LORE_EMBED_BASE_URL", func(c *config) *string { return &c.Embed.BaseURL }, nil},
		{"embed.key_env", "the environment variable that holds the server's key", "", "LORE_EMBED_KEY_ENV", func(c *config) *string { return &c.Embed.KeyEnv }, nil},
	}
}

func checkLevel(s string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s) {
		return fault.Field("log_level", "use debug, info, warn or error", "%q is no level", s)
	}
	return nil
}

func checkModel(s string) error {
	kind, name, _ := strings.Cut(s, ":")
	switch {
	case s == "builtin" || s == "none":
		return nil
	case (kind == "ollama" || kind == "openai") && name != "":
		return nil
	}
	return fault.Field("embed.model", "use builtin, none, ollama:MODEL or openai:MODEL", "%q is no embedding model", s)
}

// configPath is where the configuration file lies.
func (a *app) configPath() (string, error) {
	dir := a.env("XDG_CONFIG_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", fault.Fix(fault.Invalid, "set $HOME or $XDG_CONFIG_HOME", "no folder for the settings: %v", err)
		}
	}
	return filepath.Join(dir, "lore", "config.toml"), nil
}

// readConfig reads the file. A missing one is an empty one; a key that does not
// exist is an error, because a mistyped setting is worse than none.
func (a *app) readConfig() (config, error) {
	var c config
	path, err := a.configPath()
	if err != nil {
		return c, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the settings: %w", err)
	}
	d := toml.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			return c, fault.Fix(fault.Invalid, "lore config lists the settings", "%s: unknown setting %s", path, strings.Join(strict.Errors[0].Key(), "."))
		}
		return c, fault.New(fault.Invalid, "%s: %v", path, err)
	}
	return c, nil
}

// force returns one setting as it is in force, and where it comes from.
func (a *app) force(c *config, v value) (string, string, error) {
	val, from := v.def, "default"
	if s := *v.at(c); s != "" {
		val, from = s, "file"
	}
	if s := a.env(v.env); s != "" {
		val, from = s, "environment"
	}
	if v.check != nil && from != "default" {
		if err := v.check(val); err != nil {
			return "", "", err
		}
	}
	return val, from, nil
}

// get is force by key.
func (a *app) get(c *config, key string) (string, error) {
	for _, v := range values() {
		if v.key == key {
			val, _, err := a.force(c, v)
			return val, err
		}
	}
	panic("no setting " + key)
}

func (a *app) settings(g cli.Globals) ([]cli.Setting, error) {
	c, err := a.readConfig()
	if err != nil {
		return nil, err
	}
	path, err := a.configPath()
	if err != nil {
		return nil, err
	}
	var out []cli.Setting
	for _, v := range values() {
		val, from, err := a.force(&c, v)
		if err != nil {
			return nil, err
		}
		if v.key == "vault" && g.Vault != "" {
			val, from = g.Vault, "flag"
		}
		if v.key == "log_level" && g.LogLevel != "" {
			val, from = g.LogLevel, "flag"
		}
		out = append(out, cli.Setting{Key: v.key, Value: val, Source: from, Doc: v.doc})
	}
	for name, vc := range c.Vaults {
		out = append(out, cli.Setting{Key: fmt.Sprintf("vaults.%q.exclude", name), Value: strings.Join(vc.Exclude, ", "), Source: "file", Doc: "what Lore must not see of this vault"})
	}
	data, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	out = append(out,
		cli.Setting{Key: "(settings file)", Value: path, Source: "", Doc: "where these are kept"},
		cli.Setting{Key: "(data folder)", Value: data, Source: "", Doc: "indexes; may be deleted at any time"})
	return out, nil
}

// set changes one line of the configuration file and keeps the others as they
// are, comments too.
func (a *app) set(key, val string) error {
	i := slices.IndexFunc(values(), func(v value) bool { return v.key == key })
	if i < 0 {
		return fault.Fix(fault.NotFound, "lore config lists them", "no setting %q", key)
	}
	if check := values()[i].check; check != nil {
		if err := check(val); err != nil {
			return err
		}
	}
	path, err := a.configPath()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := spliceTOML(string(old), key, val)
	var c config
	if err := toml.Unmarshal([]byte(text), &c); err != nil || *values()[i].at(&c) != val {
		return fault.Fix(fault.Invalid, "edit "+path+" by hand", "the setting could not be changed without rewriting the file")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, []byte(text))
}

// spliceTOML sets "key" or "table.key" in a TOML text.
func spliceTOML(text, key, val string) string {
	table, name, nested := strings.Cut(key, ".")
	if !nested {
		table, name = "", key
	}
	line := fmt.Sprintf("%s = %q\n", name, val)
	lines := strings.SplitAfter(text, "\n")
	at, current := -1, ""
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if strings.HasPrefix(t, "[") {
			current = strings.Trim(t, "[] ")
		}
		if current != table {
			continue
		}
		if k, _, ok := strings.Cut(t, "="); ok && strings.TrimSpace(k) == name {
			lines[i] = line
			return strings.Join(lines, "")
		}
		if t != "" {
			at = i + 1
		}
	}
	switch {
	case at >= 0:
		lines = slices.Insert(lines, at, line)
	case table == "":
		lines = slices.Insert(lines, 0, line)
	default:
		if n := len(lines); n > 0 && lines[n-1] != "" {
			lines = append(lines, "\n")
		}
		lines = append(lines, "["+table+"]\n", line)
	}
	return strings.Join(lines, "")
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".lore-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // err is the news
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
