// Package pattern decides whether a path fits one of a list of patterns, as
// people write them to name files and folders. It knows paths as text and opens
// nothing.
//
// "*", "?" and "[...]" stay inside one name, "**" stands for any number of
// folders, and a pattern without a slash fits a name at any depth.
package pattern

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
)

// A List is a compiled list of patterns. The empty List fits nothing.
type List []pattern

type pattern struct {
	parts []part
	name  bool // fits a name at any depth
}

// A part is a pattern of one name. The two plain forms that nearly every
// pattern has are decided without a matcher: they are asked of every file.
type part struct {
	text   string
	glob   bool   // text holds a wildcard
	suffix string // text is "*" and this, without another wildcard
}

const wildcards = `*?[\`

func newPart(text string) (part, error) {
	_, err := path.Match(text, "")
	p := part{text: text, glob: strings.ContainsAny(text, wildcards)}
	if rest, ok := strings.CutPrefix(text, "*"); ok && rest != "" && !strings.ContainsAny(rest, wildcards) {
		p.suffix = rest
	}
	return p, err
}

// any reports whether the part stands for any number of folders.
func (p part) any() bool { return p.text == "**" }

func (p part) match(name string) bool {
	switch {
	case !p.glob:
		return p.text == name
	case p.suffix != "":
		return strings.HasSuffix(name, p.suffix)
	}
	ok, _ := path.Match(p.text, name) // the pattern was tried when it was read
	return ok
}

// Compile reads patterns. One that cannot be read is an error that names it.
func Compile(list []string) (List, error) {
	var out List
	for _, s := range list {
		text := strings.Trim(norm.NFC.String(s), "/")
		if text == "" {
			return nil, fault.Field("exclude", `write a pattern such as "Private/**"`, "pattern %q is empty", s)
		}
		p := pattern{name: !strings.Contains(text, "/") && !strings.Contains(s, "/")}
		for name := range strings.SplitSeq(text, "/") {
			one, err := newPart(name)
			if err != nil {
				return nil, fault.Field("exclude", `close the bracket, or write "\\[" for the character`, "pattern %q is not valid", s)
			}
			p.parts = append(p.parts, one)
		}
		// "folder/**" means the folder itself too: what is in it is what counts.
		if n := len(p.parts); n > 1 && p.parts[n-1].any() {
			p.parts = p.parts[:n-1]
		}
		out = append(out, p)
	}
	return out, nil
}

// Literal is a pattern that fits one path and what is below it, whatever
// characters are in it.
func Literal(path string) string {
	var b strings.Builder
	b.WriteByte('/') // a name without a slash would fit at any depth
	for _, r := range strings.Trim(path, "/") {
		if strings.ContainsRune(wildcards, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Match reports whether a pattern fits the path itself, not a folder above it.
// It is asked about every file of a vault, so it splits the path only when a
// pattern's first name leaves a chance.
func (ps List) Match(key string) bool {
	var names []string
	for _, p := range ps {
		first := p.parts[0]
		if p.name {
			if first.match(key[strings.LastIndexByte(key, '/')+1:]) {
				return true
			}
			continue
		}
		if head, _, _ := strings.Cut(key, "/"); !first.any() && !first.match(head) {
			continue
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

// Covers reports whether a pattern fits the path or a folder above it.
func (ps List) Covers(key string) bool {
	if len(ps) == 0 {
		return false
	}
	for i := range len(key) {
		if key[i] == '/' && ps.Match(key[:i]) {
			return true
		}
	}
	return ps.Match(key)
}

func fits(parts []part, names []string) bool {
	for len(parts) > 0 {
		if parts[0].any() {
			for i := range len(names) + 1 {
				if fits(parts[1:], names[i:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 || !parts[0].match(names[0]) {
			return false
		}
		parts, names = parts[1:], names[1:]
	}
	return len(names) == 0
}
