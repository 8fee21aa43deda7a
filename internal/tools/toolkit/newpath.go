package toolkit

import (
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault"
)

// notNotes are endings of files that are no notes: whoever writes one of these
// does not mean a note of that name.
var notNotes = []string{
	".txt", ".json", ".html", ".htm", ".csv", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".js", ".ts", ".css",
	".yml", ".yaml", ".xml", ".toml", ".py", ".go", ".sh", ".zip", ".mp3", ".mp4", ".canvas", ".base",
}

// IsOtherFile reports whether a name ends as files do that are no notes.
func IsOtherFile(p string) bool { return slices.Contains(notNotes, strings.ToLower(path.Ext(p))) }

// NewNotePath is the path of a note that is to be made: ".md" is added where it is
// missing, and no path that could hold something else is taken.
func NewNotePath(field, p string) (string, error) {
	p = strings.TrimSpace(p)
	if vault.KindOf(p) == vault.Attachment || vault.KindOf(p) == vault.Canvas {
		if IsOtherFile(p) {
			return "", fault.Field(field, "use a name that ends in .md", "%q is not a note name", p)
		}
		p += ".md"
	}
	key, err := vault.CleanNew(p)
	return key, fault.Rename(err, "", field)
}
