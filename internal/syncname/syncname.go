// Package syncname tells from the name of a file alone what a sync tool, a
// browser or an editor made of it. It opens nothing.
package syncname

import (
	"path"
	"regexp"
	"strings"
)

// The names that sync tools give to the copy that lost. Each pattern's first
// group is the name of the base without its extension.
var conflictNames = []*regexp.Regexp{
	// Syncthing: "tea.sync-conflict-20240102-030405-ABCDEFG.md".
	regexp.MustCompile(`^(.+)\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}$`),
	// Dropbox, Nextcloud, Obsidian Sync: "tea (Ann's conflicted copy 2024-01-02).md".
	regexp.MustCompile(`(?i)^(.+?) ?\((?:[^()]* )?conflicted copy(?: [^()]*)?(?: ?\(\d+\))?\)$`),
	// Dropbox: "tea (Case Conflict).md", "tea (Unicode Encoding Conflict 1).md".
	regexp.MustCompile(`(?i)^(.+?) ?\((?:case|unicode encoding|selective sync) conflict(?: \d+)?\)$`),
	// ownCloud, old Nextcloud: "tea_conflict-20240102-030405.md".
	regexp.MustCompile(`^(.+)_conflict-\d{8}-\d{6}$`),
}

// ConflictOf returns the name of the note that a sync tool's conflict copy
// belongs to, or "" when name is no such copy beyond doubt.
func ConflictOf(name string) string {
	if !strings.Contains(name, "onflict") && !strings.Contains(name, "ONFLICT") {
		return "" // nearly every name: spare the patterns
	}
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for _, re := range conflictNames {
		if m := re.FindStringSubmatch(stem); m != nil {
			return m[1] + ext
		}
	}
	return ""
}

// PossibleBase returns the name that "x 2.md" or "x (1).md" could be a copy
// of, or "". Only the presence of that file makes it worth a word.
func PossibleBase(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	n := len(stem)
	switch {
	case n > 2 && stem[n-2] == ' ' && '2' <= stem[n-1] && stem[n-1] <= '9':
		return stem[:n-2] + ext
	case n > 4 && strings.HasPrefix(stem[n-4:], " (") && stem[n-1] == ')' && '1' <= stem[n-2] && stem[n-2] <= '9':
		return stem[:n-4] + ext
	}
	return ""
}

// Alike reports whether two sizes could be of two versions of one text.
func Alike(a, b int64) bool { return a > 0 && b > 0 && a <= 2*b && b <= 2*a }

// Partial reports the names of downloads that have not ended and of editors'
// working files.
func Partial(name string) bool {
	if strings.HasPrefix(name, "~$") || strings.HasSuffix(name, "~") || name[0] == '#' && strings.HasSuffix(name, "#") {
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".part", ".partial", ".crdownload", ".download", ".tmp", ".swp":
		return true
	}
	return false
}

// Placeholder returns the name of the file that iCloud stands in for with
// ".name.icloud", or "".
func Placeholder(name string) string {
	s, ok := strings.CutSuffix(name, ".icloud")
	if !ok || len(s) < 2 || s[0] != '.' {
		return ""
	}
	return s[1:]
}
