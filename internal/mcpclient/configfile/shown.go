package configfile

import (
	"net/url"
	"regexp"
	"strings"
)

// What a person is shown of a server, or of a client's file, has no secrets in
// it. Which values are, their names give away; a value that names a variable is
// none: it says where the secret comes from.

// secretWords are parts of the names of secrets.
const secretWords = `key|token|secret|pass|pwd|auth|credential|cookie|session|bearer`

var secretName = regexp.MustCompile(`(?i)(` + secretWords + `|pat$)`)

// masked stands where a secret does.
const masked = "(secret)"

// ShownValues are names and values as they are written, but for secrets.
func ShownValues(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[name] = shownValue(name, value)
	}
	return out
}

func shownValue(name, value string) string {
	if strings.Contains(value, "${") {
		return value
	}
	if secretName.MatchString(name) {
		return masked
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		return Shown(value)
	}
	return value
}

// parameter is one of an address.
var parameter = regexp.MustCompile(`([?&])([^=&#]+)=([^&#]*)`)

// Shown is an address without the password, the keys and the tokens that may
// stand in it.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(no address)"
	}
	if _, has := u.User.Password(); has {
		address = u.Redacted()
	}
	return parameter.ReplaceAllStringFunc(address, func(s string) string {
		p := parameter.FindStringSubmatch(s)
		return p[1] + p[2] + "=" + shownValue(p[2], p[3])
	})
}

var (
	// named is a name with its text, as JSON and TOML write them.
	named = regexp.MustCompile(`("?([A-Za-z0-9_.-]+)"?\s*[:=]\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	// flagged are words of a command line: a flag and the text that follows it.
	flagged = regexp.MustCompile(`(?i)(["']-[^"'\n]*(?:` + secretWords + `)[^"'\n=]*["']\s*,\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	// joined are a flag with its value in one word, and what follows "Bearer".
	joined = regexp.MustCompile(`(?i)(["']-[^"'\n]*(?:` + secretWords + `)[^"'\n=]*=|\bbearer )[^"'\n$]+`)
)

// ShownText is the text of a configuration file without secrets, line by line as
// it is. It reads no syntax, so that it hides rather too much.
func ShownText(text string) string {
	replace := func(form *regexp.Regexp, value func(part []string) string) {
		text = form.ReplaceAllStringFunc(text, func(s string) string { return value(form.FindStringSubmatch(s)) })
	}
	replace(named, func(p []string) string {
		quote, value := p[3][:1], p[3][1:len(p[3])-1]
		return p[1] + quote + shownValue(p[2], value) + quote
	})
	replace(flagged, func(p []string) string {
		return p[1] + p[2][:1] + shownValue("secret", p[2][1:len(p[2])-1]) + p[2][:1]
	})
	replace(joined, func(p []string) string { return p[1] + masked })
	return text
}
