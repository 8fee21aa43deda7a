// Package noteuri has the addresses of notes as resources: note:///Notes/Tea.md.
package noteuri

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Of is the address of a note: note:///Projects/Alpha.md, with whatever an
// address cannot hold written as %XX.
func Of(path string) string { return (&url.URL{Scheme: "note", Path: "/" + path}).String() }

// All are the ways in which a path becomes an address: as we list it, and
// as clients make it from our template, which leaves more characters alone.
func All(path string) []string {
	own, made := Of(path), "note:///"
	for _, c := range []byte(path) {
		if isAlnum(c) || strings.IndexByte("-._~:/?#[]@!$&'()*+,;=", c) >= 0 {
			made += string(rune(c))
		} else {
			made += "%" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:])
		}
	}
	if made == own {
		return []string{own}
	}
	return []string{own, made}
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// A Place is what an address means: a note, or a part of it.
type Place struct {
	Path    string
	Section string // as the tool that reads notes takes it; "" is the whole note
}

// IsKnown reports whether a whole note is told by this address.
func (p Place) IsKnown(uri string) bool { return slices.Contains(All(p.Path), uri) }

// Parse reads an address. There is one vault, so there is no host.
func Parse(uri string) (Place, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "note" || u.Host != "" || u.Fragment != "" || u.Opaque != "" || u.User != nil {
		return Place{}, false
	}
	p, ok := strings.CutPrefix(u.Path, "/")
	at := Place{Path: p}
	if !ok || p == "" {
		return Place{}, false
	}
	asked, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(asked) > 1 {
		return Place{}, false
	}
	for key, values := range asked {
		switch {
		case len(values) != 1 || values[0] == "":
			return Place{}, false
		case key == "heading":
			at.Section = values[0]
		case key == "block":
			at.Section = "^" + strings.TrimPrefix(values[0], "^")
		default:
			return Place{}, false
		}
	}
	return at, true
}

// SamePath reports whether two paths are one, however their letters are put
// together.
func SamePath(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }
