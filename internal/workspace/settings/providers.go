package settings

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lore/internal/fault"
)

// A Provider is a section [providers.NAME] of the file: a server of language
// models.
type Provider struct {
	Kind    string `toml:"kind,omitempty"`
	BaseURL string `toml:"base_url,omitempty"`
	KeyEnv  string `toml:"key_env,omitempty"`
	API     string `toml:"api,omitempty"`
	Context scalar `toml:"context,omitempty"`
	Local   string `toml:"local,omitempty"`
}

// providerFields are what can be set of a provider, each with what it means.
func providerFields() map[string]value {
	return map[string]value{
		"kind":     {doc: "API of the provider: openai, anthropic, gemini or ollama", check: checkKind},
		"base_url": {doc: "address of the provider", check: checkURL("base_url", "use http://host:port or https://host/v1")},
		"key_env":  {doc: "environment variable that holds the API key", check: checkKeyEnv},
		"api":      {doc: "API variant for kind openai: chat or responses", check: checkAPI},
		"local":    {doc: "yes if its models run on this computer and send nothing elsewhere; they can read notes without approval", check: checkLocal},
		"context":  {doc: "context window of its models, in tokens", check: checkContext},
	}
}

func (p *Provider) field(name string) *string {
	switch name {
	case "kind":
		return &p.Kind
	case "base_url":
		return &p.BaseURL
	case "key_env":
		return &p.KeyEnv
	case "api":
		return &p.API
	case "local":
		return &p.Local
	}
	return (*string)(&p.Context)
}

func checkKind(s string) error {
	if !slices.Contains([]string{"openai", "anthropic", "gemini", "ollama"}, s) {
		return fault.Field("kind", "use openai, anthropic, gemini or ollama", "%q is not valid", s)
	}
	return nil
}

func checkAPI(s string) error {
	if s != "chat" && s != "responses" {
		return fault.Field("api", "use chat or responses", "%q is not valid", s)
	}
	return nil
}

func checkLocal(s string) error {
	if s != "yes" && s != "no" {
		return fault.Field("local", "use yes or no", "%q is not valid", s)
	}
	return nil
}

func checkContext(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1024 {
		return fault.Field("context", "give a number of tokens, at least 1024", "%q is not valid", s)
	}
	return nil
}

var envName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// checkKeyEnv refuses a key where the name of a variable belongs, without
// repeating it.
func checkKeyEnv(s string) error {
	if !envName.MatchString(s) {
		return fault.Field("key_env", "give the name of a variable, such as OPENAI_API_KEY, that holds the key", "this is not the name of an environment variable")
	}
	return nil
}

var providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,30}$`)

// providerSetting finds the setting of one field of one provider.
func providerSetting(key string) (value, error) {
	name, field, _ := strings.Cut(strings.TrimPrefix(key, "providers."), ".")
	v, ok := providerFields()[field]
	if !ok {
		return value{}, fault.Fix(fault.NotFound, "the settings for a provider are "+strings.Join(slices.Sorted(maps.Keys(providerFields())), ", "), "unknown setting %q", key)
	}
	if !providerName.MatchString(name) {
		return value{}, fault.Field("providers", "use lowercase letters, digits and -", "%q is not a valid provider name", name)
	}
	v.key = key
	v.at = func(c *File) *string { p := c.Providers[name]; return p.field(field) }
	return v, nil
}

// providerSettings lists what the file says of providers.
func providerSettings(c *File) []Setting {
	var out []Setting
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		for _, field := range slices.Sorted(maps.Keys(providerFields())) {
			if s := *p.field(field); s != "" {
				out = append(out, Setting{Key: "providers." + name + "." + field, Value: s, Source: "file", Doc: providerFields()[field].doc, Choices: choices("providers." + name + "." + field)})
			}
		}
	}
	return out
}

// BadPrice is what is wrong with a line of [prices].
func BadPrice(id, text string) error {
	return fault.Field("prices", `give US dollars per million tokens, in and out: "1.25/10"`, "%q is not a valid price for %s", text, id)
}
