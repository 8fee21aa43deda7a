package configfile

import (
	"maps"
	"slices"
	"strings"

	"lore/internal/fault"
)

// A Ref is a place in a value that something else is put into: ${NAME},
// ${NAME:-default}, ${env:NAME} or ${input:ID}.
type Ref struct {
	Kind string // "env" or "input"
	Name string
}

// String writes a reference as files do.
func (r Ref) String() string {
	if r.Kind == "input" {
		return "${input:" + r.Name + "}"
	}
	return "${" + r.Name + "}"
}

// Expand puts into every value of a server what lookup gives for the variables
// and inputs it refers to. What comes in is not expanded again. A variable that
// is not set and has no default is an error that names it; lookup reports that
// by false. The server it is called on does not change.
func (s Server) Expand(lookup func(Ref) (string, bool)) (Server, error) {
	x := expander{lookup: lookup}
	s.Command = x.expand(s.Command)
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = x.expand(s.Args[i])
	}
	s.Env = x.all(s.Env)
	s.EnvFile = x.expand(s.EnvFile)
	s.Dir = x.expand(s.Dir)
	s.URL = x.expand(s.URL)
	s.Headers = x.all(s.Headers)
	s.OAuth.ClientID, s.OAuth.ClientSecret = x.expand(s.OAuth.ClientID), x.expand(s.OAuth.ClientSecret)
	if x.err != nil {
		return Server{}, fault.New(fault.Invalid, "the server %s: %v", quote(s.Name), x.err)
	}
	return s, nil
}

// An expander keeps the first mistake.
type expander struct {
	lookup func(Ref) (string, bool)
	err    error
}

// all expands in the order of the names, so that the first mistake is always
// the same one.
func (x *expander) all(m map[string]string) map[string]string {
	m = maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		m[k] = x.expand(m[k])
	}
	return m
}

func (x *expander) expand(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		word, after, ok := strings.Cut(rest, "}")
		if !ok {
			x.fail("${%s is not closed", word)
			return ""
		}
		b.WriteString(x.value(word))
		s = after
	}
}

// value gives what stands for one word between the braces.
func (x *expander) value(word string) string {
	ref := Ref{Kind: "env"}
	var def string
	var has bool
	switch {
	case strings.HasPrefix(word, "env:"):
		ref.Name = word[len("env:"):]
	case strings.HasPrefix(word, "input:"):
		ref.Kind, ref.Name = "input", word[len("input:"):]
	default:
		ref.Name, def, has = strings.Cut(word, ":-")
	}
	if ref.Name == "" || strings.ContainsAny(ref.Name, "${:") || strings.Contains(def, "${") {
		x.fail("${%s} is not a variable", word)
		return ""
	}
	if v, ok := x.lookup(ref); ok && (v != "" || !has) {
		return v
	}
	if !has {
		what := "the variable " + ref.Name + " is not set"
		if ref.Kind == "input" {
			what = "the input " + ref.Name + " has no answer"
		}
		x.fail("%s", what)
	}
	return def
}

func (x *expander) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fault.New(fault.Invalid, format, args...)
	}
}
