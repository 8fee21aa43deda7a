package settings

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
)

// CheckModel refuses what cannot be the id of a model.
func CheckModel(s string) error {
	provider, name, ok := strings.Cut(s, "/")
	if s == "quote" || s == "auto" || ok && provider != "" && name != "" {
		return nil
	}
	return fault.Field("model", "write provider/name, such as ollama/qwen3:8b; \"auto\"; or \"quote\" for no model", "%q is not a model", s)
}

func checkVerdict(key string) func(string) error {
	return func(s string) error {
		if s != "ask" && s != "allow" {
			return fault.Field(key, "use ask or allow", "%q is not valid", s)
		}
		return nil
	}
}

func checkShare(s string) error {
	if !slices.Contains([]string{"ask", "allow", "never"}, s) {
		return fault.Field("approve.share", "use ask, allow or never", "%q is not valid", s)
	}
	return nil
}

// CheckSwitch refuses what is no state of a tool.
func CheckSwitch(s string) error {
	if !slices.Contains([]string{"on", "off", "ask", "allow"}, s) {
		return fault.Field("tools", "use on, off, ask or allow", "%q is not valid", s)
	}
	return nil
}

// checkFolder refuses what is no folder of a vault.
func checkFolder(key string) func(string) error {
	return func(s string) error {
		if _, err := vault.CleanNew(s + "/x.md"); err != nil {
			return fault.Field(key, "give a folder in the vault, such as Nodes or Ideas/Nodes", "%q is not a folder name", s)
		}
		return nil
	}
}

func checkNumber(key string) func(string) error {
	return func(s string) error {
		if n, err := strconv.Atoi(s); err != nil || n < 1 {
			return fault.Field(key, "give a whole number above 0", "%q is not valid", s)
		}
		return nil
	}
}

func checkURL(key, fix string) func(string) error {
	return func(s string) error {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fault.Field(key, fix, "%q is not a server address", s)
		}
		if u.User != nil {
			return fault.Field(key, "store the key with lore key set, or name its variable in key_env", "the address contains a user name or password, and everyone who sees the settings can read it")
		}
		return nil
	}
}

// CheckLevel refuses what is no level of the log.
func CheckLevel(s string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, s) {
		return fault.Field("log_level", "use debug, info, warn or error", "%q is not a log level", s)
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
	return fault.Field("embed.model", "use builtin, none, ollama:MODEL or openai:MODEL", "%q is not an embedding model", s)
}
