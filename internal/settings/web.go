package settings

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lore/internal/fault"
)

func checkWebSearch(s string) error {
	all := []string{"off", "searxng", "brave", "google", "tavily"}
	if !slices.Contains(all, s) {
		return fault.Field("web.search", "use "+strings.Join(all, ", "), "%q is no search engine", s)
	}
	return nil
}

// checkWebURL does not repeat an address that may hold a password.
func checkWebURL(s string) error {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return fault.Field("web.base_url", "write user:password into an environment variable, and its name into web.key_env", "has a user name or a password in it")
	}
	return checkURL("web.base_url", "write it as http://localhost:8080 or https://search.example.org")(s)
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkVariable finds people who write the key where its name belongs. It does
// not repeat what they wrote.
func checkVariable(key, like string) func(string) error {
	return func(s string) error {
		if !variable.MatchString(s) {
			return fault.Field(key, "write the name of an environment variable, like "+like+", and the key into that", "is no name of a variable")
		}
		return nil
	}
}
