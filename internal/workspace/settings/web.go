package settings

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lore/internal/fault"
)

func checkWebSearch(s string) error {
	all := []string{"off", "searxng", "brave", "google", "tavily"}
	if !slices.Contains(all, s) {
		return fault.Field("web.search", "use "+strings.Join(all, ", "), "%q is not a supported search engine", s)
	}
	return nil
}

// checkWebURL does not repeat an address that may hold a password.
func checkWebURL(s string) error {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return fault.Field("web.base_url", "put user:password in an environment variable, and set web.key_env to its name", "contains a user name or password")
	}
	return checkURL("web.base_url", "write it as http://localhost:8080 or https://search.example.org")(s)
}

// Hosts are the words of web.allow.
func Hosts(s string) []string {
	var out []string
	for w := range strings.SplitSeq(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// place is a host, with or without its port.
var place = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func checkWebAllow(s string) error {
	for _, w := range Hosts(s) {
		_, err := netip.ParsePrefix(w)
		if !place.MatchString(w) && err != nil {
			return fault.Field("web.allow", "write hosts such as wiki.local, wiki.local:8080 or 10.1.0.0/16, separated by commas", "%q is not a host", w)
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkVariable finds people who write the key where its name belongs. It does
// not repeat what they wrote.
func checkVariable(key, like string) func(string) error {
	return func(s string) error {
		if !variable.MatchString(s) {
			return fault.Field(key, "give the name of an environment variable, such as "+like+", that holds the key", "is not the name of an environment variable")
		}
		return nil
	}
}
