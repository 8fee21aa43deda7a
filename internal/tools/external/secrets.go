package external

import (
	"net/url"
	"regexp"
	"strings"

	"lore/internal/mcpclient/configfile"
)

// secretFlag are the flags whose value is a secret.
var secretFlag = regexp.MustCompile(`(?i)^-.*(key|token|secret|passw|auth|credential)`)

// least is how long a value must be to be hidden: shorter ones stand everywhere.
const least = 6

// secrets replaces the values that a server was given, wherever it, or an error
// about it, repeats them.
func secrets(s configfile.Server) *strings.Replacer {
	var pairs []string
	hide := func(v string) {
		if len(v) >= least {
			pairs = append(pairs, v, "(secret)")
		}
	}
	// What stands behind the host of an address lets many a caller in.
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		if rest := u.RequestURI(); len(rest) >= least {
			pairs = append(pairs, s.URL, u.Scheme+"://"+u.Host+"/…")
		}
		for _, values := range u.Query() {
			for _, v := range values {
				hide(v)
				hide(url.QueryEscape(v))
			}
		}
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, v := range m {
			hide(v)
			// The second word of "Bearer x" is a secret without the first.
			if _, rest, ok := strings.Cut(v, " "); ok {
				hide(rest)
			}
		}
	}
	for i, word := range s.Args {
		if !secretFlag.MatchString(word) {
			continue
		}
		if _, v, ok := strings.Cut(word, "="); ok {
			hide(v)
		} else if i+1 < len(s.Args) {
			hide(s.Args[i+1])
		}
	}
	return strings.NewReplacer(pairs...)
}
