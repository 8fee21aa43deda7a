package external

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"lore/internal/tool"
)

// Providers of models take names of at most 64 letters, digits, _ and -.
const (
	maxName = 64
	maxSlug = 28
)

var (
	// plainServer has no two _ beside each other and none at its ends, so that
	// the first two _ after it end it, whatever the tool is called: no tool of
	// one server can have the name of another's.
	plainServer = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)
	plainTool   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	notPlain    = regexp.MustCompile(`[^A-Za-z0-9-]+`)
	notInTool   = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

func short(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// slug is the name of a server inside the names of its tools.
func slug(server string) string {
	if plainServer.MatchString(server) && len(server) <= maxSlug {
		return server
	}
	s := strings.Trim(notPlain.ReplaceAllString(server, "_"), "_")
	s = strings.TrimRight(s[:min(len(s), maxSlug-9)], "_")
	return strings.TrimLeft(s+"-"+short(server), "-")
}

// Name is the name of a server's tool in the registry. Where it cannot be the
// server's own, it ends with a hash of that.
func Name(server, own string) string {
	head := tool.ExternalPrefix + slug(server) + "__"
	if plainTool.MatchString(own) && len(head)+len(own) <= maxName {
		return head + own
	}
	s := notInTool.ReplaceAllString(own, "_")
	s = s[:min(len(s), maxName-len(head)-9)]
	return head + s + "_" + short(server, own)
}

// serverIn is the slug in the name of a tool.
func serverIn(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, tool.ExternalPrefix)
	if !ok {
		return "", false
	}
	s, _, ok := strings.Cut(rest, "__")
	return s, ok && s != ""
}
