package serverlist

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

// Resolve gives an entry its values: variables, the file of variables, folders
// by their whole path. A variable that is not set is an error of this server.
func (r *List) Resolve(e Entry) (configfile.Server, error) {
	s, err := e.Expand(r.lookup(e))
	if err != nil {
		return s, err
	}
	if s.EnvFile != "" {
		if err := r.readEnv(e, &s); err != nil {
			return s, err
		}
	}
	switch {
	case s.Type == configfile.Stdio && s.Dir != "":
		s.Dir = r.path(e, s.Dir)
	case s.Type == configfile.Stdio && StartsInVault(e):
		s.Dir = r.Vault
	case s.Type == configfile.Stdio:
		if s.Dir, err = os.UserHomeDir(); err != nil {
			return s, fault.Fix(fault.Invalid, "give the server a cwd", "the home folder cannot be determined: %v", err)
		}
	default:
		err = checkAddress(s)
	}
	return s, err
}

// runners fetch a package and run it, wherever they are started; and if the
// folder that they are started in has one of that name, they run that instead.
var runners = []string{"npx", "bunx", "uvx", "pipx"}

// StartsInVault reports whether a server whose entry names no folder is started
// in the vault, as other programs do with a project's servers. One that a runner
// fetches is not: whoever can put a file into the vault could choose what runs.
func StartsInVault(e Entry) bool {
	name := strings.ToLower(filepath.Base(e.Command))
	return e.InVault && !slices.Contains(runners, strings.TrimSuffix(name, filepath.Ext(name)))
}

// lookup knows the variables of the environment and the names that editors put
// into such files.
func (r *List) lookup(e Entry) func(configfile.Ref) (string, bool) {
	return func(ref configfile.Ref) (string, bool) {
		if ref.Kind == "input" {
			for _, in := range e.Inputs {
				if in.ID == ref.Name && in.Default != "" && !in.Password {
					return in.Default, true
				}
			}
			return "", false
		}
		switch ref.Name {
		case "workspaceFolder":
			return r.Vault, r.Vault != ""
		case "workspaceFolderBasename":
			return filepath.Base(r.Vault), r.Vault != ""
		case "userHome":
			dir, err := os.UserHomeDir()
			return dir, err == nil
		}
		return r.Env(ref.Name)
	}
}

// readEnv adds the lines NAME=value of a file; what the entry itself says stands
// over them.
func (r *List) readEnv(e Entry, s *configfile.Server) error {
	text, err := configfile.ReadText(r.path(e, s.EnvFile))
	if err != nil {
		return fault.New(fault.Invalid, "its envFile cannot be read: %v", err)
	}
	if e.InVault && digestWith(e, textDigest(text)) != e.Digest {
		// A server that ended is started again long after it was looked at.
		return fault.Fix(fault.Invalid, "see lore servers allow "+e.Name, "its envFile changed since you allowed it")
	}
	env := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.HasPrefix(line, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		env[name] = value
	}
	for name, value := range s.Env {
		env[name] = value
	}
	s.Env = env
	return nil
}

// checkAddress lets through what can be called: http and https, and what is not
// encrypted on this machine alone, unless the entry says otherwise.
func checkAddress(s configfile.Server) error {
	u, err := url.Parse(s.URL)
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return fault.Fix(fault.Invalid, "use https", "addresses that start with %q are not supported", u.Scheme)
	case err != nil || u.Host == "":
		return fault.New(fault.Invalid, "%q is not an address", configfile.Shown(s.URL))
	case u.Scheme == "https":
		return nil
	case s.PlainHTTP || Loopback(u.Hostname()):
		return nil
	}
	return fault.Fix(fault.Invalid, `use https, or add "allowPlainHttp": true to the entry`, "%s is on another computer, and the connection is not encrypted", u.Host)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
