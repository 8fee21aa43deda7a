package configfile

import (
	"maps"
	"slices"
	"strings"

	"lore/internal/fault"
)

// Copy adds a server to the text of a file of servers, with everything that
// starts or calls it, and leaves every other byte as it is. A name that is there
// already is refused. Variables stay variables: what they hold is not copied.
func Copy(text string, s Server) (string, error) {
	have, err := Parse(text)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(have, func(o Server) bool { return o.Name == s.Name }) {
		return "", fault.New(fault.Conflict, "the server %s already exists", quote(s.Name))
	}
	out, err := putJSON(text, generic.group, s.Name, s.fields())
	if err != nil {
		return "", err
	}
	return out, checkJSON(text, out, generic.group, s.Name)
}

// Drop takes the server called name out of the text of such a file and leaves
// every other byte as it is.
func Drop(text, name string) (string, error) {
	out, err := removeJSON(text, generic.group, name)
	if err != nil {
		return "", err
	}
	return out, checkJSON(text, out, generic.group, name)
}

// fields writes a server the way most clients do.
func (s Server) fields() []field {
	var out []field
	add := func(key string, value any, there bool) {
		if there {
			out = append(out, field{key, value})
		}
	}
	add("type", s.Type, s.Type != Stdio)
	add("command", s.Command, s.Command != "")
	add("args", s.Args, len(s.Args) > 0)
	add("env", s.Env, len(s.Env) > 0)
	add("envFile", s.EnvFile, s.EnvFile != "")
	add("cwd", s.Dir, s.Dir != "")
	add("url", s.URL, s.URL != "")
	add("headers", s.Headers, len(s.Headers) > 0)
	add("includeTools", s.Include, len(s.Include) > 0)
	add("excludeTools", s.Exclude, len(s.Exclude) > 0)
	return out
}

// jsonTable writes names and values as one object.
func jsonTable(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, quote(k)+": "+quote(m[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
