package chat

import (
	"path"
	"strings"

	"lore/internal/vault/visibility"
)

// IsShared reports whether the result of a call may still go to the model that it
// was read for, which sees only a part of the vault now. After one file was
// hidden, results that do not name it may go; after anything else, only those that
// were read under the same limit or a narrower one.
func (c *Call) IsShared(now visibility.Limit) bool {
	hidden, all := now.Patterns().Lost(c.Limit)
	if all {
		return false
	}
	for _, p := range hidden {
		name, ok := fileName(p)
		if !ok || c.names(name) {
			return false
		}
	}
	return true
}

// fileName is the name in a pattern that hides one file, without its extension.
func fileName(pattern string) (string, bool) {
	var b strings.Builder
	escaped := false
	for _, r := range path.Base(pattern) {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
			continue
		case strings.ContainsRune("*?[", r):
			return "", false
		}
		b.WriteRune(r)
	}
	name := b.String()
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext), ext != "" && ext != name
}

// names reports whether a call or its result names a file, in any case.
func (c *Call) names(file string) bool {
	quoted := strings.Trim(encode(file), `"`) // as it is written in JSON
	for _, text := range []string{string(c.Args), c.Result, c.Uncut, string(c.Whole)} {
		text = strings.ToLower(text)
		if strings.Contains(text, file) || strings.Contains(text, quoted) {
			return true
		}
	}
	return false
}
