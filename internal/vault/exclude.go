package vault

import (
	"path"
	"strings"

	"lore/internal/fault"
)

// patterns is a compiled list of [Options.Exclude].
type patterns []pattern

type pattern struct {
	parts []string
	name  bool // fits a name at any depth
}

func compile(list []string) (patterns, error) {
	var out patterns
	for _, s := range list {
		text := strings.Trim(Key(s), "/")
		if text == "" {
			return nil, fault.Field("exclude", `write a pattern such as "Private/**"`, "pattern %q is empty", s)
		}
		p := pattern{parts: strings.Split(text, "/"), name: !strings.Contains(strings.TrimPrefix(Key(s), "/"), "/") && !strings.HasPrefix(s, "/")}
		for _, part := range p.parts {
			if _, err := path.Match(part, ""); err != nil {
				return nil, fault.Field("exclude", `close the bracket, or write "\\[" for the character`, "pattern %q cannot be read", s)
			}
		}
		// "folder/**" means the folder itself too: what is in it is what counts.
		if n := len(p.parts); n > 1 && p.parts[n-1] == "**" {
			p.parts = p.parts[:n-1]
		}
		out = append(out, p)
	}
	return out, nil
}

// match reports whether a pattern fits the path itself, not a folder above it.
// It is asked about every file of a vault, so it splits the path only when a
// pattern's first name leaves a chance.
func (ps patterns) match(key string) bool {
	var names []string
	for _, p := range ps {
		first := p.parts[0]
		if p.name {
			if ok, _ := path.Match(first, key[strings.LastIndexByte(key, '/')+1:]); ok || first == "**" {
				return true
			}
			continue
		}
		if head, _, _ := strings.Cut(key, "/"); first != "**" {
			if ok, _ := path.Match(first, head); !ok {
				continue
			}
		}
		if names == nil {
			names = strings.Split(key, "/")
		}
		if fits(p.parts, names) {
			return true
		}
	}
	return false
}

// covers reports whether a pattern fits the path or a folder above it.
func (ps patterns) covers(key string) bool {
	if len(ps) == 0 {
		return false
	}
	for i := range len(key) {
		if key[i] == '/' && ps.match(key[:i]) {
			return true
		}
	}
	return ps.match(key)
}

func fits(parts, names []string) bool {
	for len(parts) > 0 {
		if parts[0] == "**" {
			for i := range len(names) + 1 {
				if fits(parts[1:], names[i:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 {
			return false
		}
		if ok, _ := path.Match(parts[0], names[0]); !ok {
			return false
		}
		parts, names = parts[1:], names[1:]
	}
	return len(names) == 0
}
