// Package syncname tells from the name of a file alone what a sync tool, a
// browser or an editor made of it. It opens nothing.
package syncname

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The names that sync tools give to the copy that lost. Each pattern's first
// group is the name of the base without its extension.
var conflictNames = []*regexp.Regexp{
	// Syncthing: "tea.sync-conflict-20240102-030405-ABCDEFG.md".
	regexp.MustCompile(`^(.+)\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}$`),
	// Dropbox, Nextcloud, Obsidian Sync: "tea (Ann's conflicted copy 2024-01-02).md".
	regexp.MustCompile(`(?i)^(.+?) ?\((?:[^()]* )?conflicted copy(?: [^()]*)?(?: ?\(\d+\))?\)$`),
	// Dropbox: "tea (Case Conflict).md", "tea (Unicode Encoding Conflict 1).md".
	regexp.MustCompile(`(?i)^(.+?) ?\((?:case|unicode encoding|selective sync|white ?space) conflict(?: \d+)?\)$`),
	// ownCloud, old Nextcloud: "tea_conflict-20240102-030405.md", with a name too.
	regexp.MustCompile(`^(.+)_conflict-(?:.+-)?\d{8}-\d{6}$`),
	// pCloud: "tea [conflicted].md".
	regexp.MustCompile(`(?i)^(.+?) ?\[conflicted(?: \d+)?\](?: ?\(\d+\))?$`),
	// MEGA: "tea_conf(1).md".
	regexp.MustCompile(`^(.+)_conf\(\d+\)$`),
	// Seafile: "tea (SFConflict ann@example.org 2024-01-02-03-04-05).md".
	regexp.MustCompile(`^(.+?) ?\(SFConflict [^()]*\d{4}-\d{2}-\d{2}[^()]*\)$`),
	// Synology Drive: "tea_Andy-PC_Jan-03-0901-2013_CaseConflict_1.md".
	regexp.MustCompile(`^(.+)_[^_]+_[A-Z][a-z]{2}-\d{2}-\d{4,6}-\d{4}_[A-Za-z]*Conflict(?:_\d+)?$`),
	// FileCloud: "tea(Conflict_ann (Web browser)_2020-03-25-22-50-36).md".
	regexp.MustCompile(`^(.+?) ?\(Conflict_.+_\d{4}(?:-\d{2}){5}\)$`),
	// Proton Drive: "tea (# Edit conflict 2024-01-02 ab12cd #).md".
	regexp.MustCompile(`^(.+?) ?\(# (?:Edit conflict|Name clash) \d{4}-\d{2}-\d{2} [^()]*#\)$`),
	// rclone: "tea.conflict1.md".
	regexp.MustCompile(`^(.+)\.conflict\d+$`),
}

// dated is a remark at the end of a name that says a day, as Dropbox writes it
// in every language: "tea (Copie en conflit de Ann 2024-01-02).md".
var dated = regexp.MustCompile(`^(.+?) ?\(([^()]*\d{4}-\d{2}-\d{2}[^()]*)\)$`)

// A remark in another language than English is believed when it has the word for
// a copy and the word for a conflict.
var (
	copyWords     = []string{"kopi", "copi", "cópi", "exemplaar", "копи", "コピー", "副本"}
	conflictWords = []string{"konflikt", "conflit", "conflict", "конфликт", "競合", "冲突", "衝突"}
)

// ConflictOf returns the name of the note that a sync tool's conflict copy
// belongs to, or "" when name is no such copy beyond doubt.
func ConflictOf(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	said := strings.Contains(stem, "onflict") || strings.Contains(stem, "ONFLICT")
	if !said && !strings.HasSuffix(stem, ")") {
		return "" // nearly every name: spare the patterns
	}
	if !said && !strings.Contains(stem, "_conf(") && !strings.Contains(stem, "(# ") {
		return translated(stem, ext)
	}
	for _, re := range conflictNames {
		if m := re.FindStringSubmatch(stem); m != nil {
			return m[1] + ext
		}
	}
	return translated(stem, ext)
}

// translated is [ConflictOf] for a remark that is not in English.
func translated(stem, ext string) string {
	open := strings.LastIndexByte(stem, '(')
	if open < 0 || strings.Count(stem[open:], "-") < 2 {
		return ""
	}
	m := dated.FindStringSubmatch(stem)
	if m == nil {
		return ""
	}
	remark := strings.ToLower(norm.NFC.String(m[2]))
	has := func(word string) bool { return strings.Contains(remark, word) }
	if slices.ContainsFunc(copyWords, has) && slices.ContainsFunc(conflictWords, has) {
		return m[1] + ext
	}
	return ""
}

// The names that may be a copy, or may be what a person called a note. Each
// pattern's first group is the name of the base without its extension.
var possibleNames = []*regexp.Regexp{
	// OneDrive appends the name of the computer: "tea-DESKTOP-ABC123.md".
	regexp.MustCompile(`^(.+)-(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{3,}$`),
	regexp.MustCompile(`^(.+)-[A-Z0-9]+-(?:PC|MBP|MBA|DESKTOP|LAPTOP|NOTEBOOK|SURFACE)$`),
	regexp.MustCompile(`^(.+)-[^- ]+-(?:MacBook(?:-Pro|-Air)?|iMac|Mac-mini|Mac-Studio)(?:-\d+)?$`),
	// Resilio Sync: "tea.Conflict.md".
	regexp.MustCompile(`^(.+)\.Conflict(?:\(\d+\))?$`),
	// Google Drive: "tea [Conflict].md".
	regexp.MustCompile(`^(.+?) ?\[[Cc]onflict(?: \d+)?\]$`),
	// Encrypted and other drives: "tea (DESKTOP-QRI9EIH conflict 2023-04-02).md".
	regexp.MustCompile(`^(.+?) ?\([^()]+ conflict \d{4}-\d{2}-\d{2}[^()]*\)$`),
	// Git, beside a file that could not be merged: "tea~HEAD.md".
	regexp.MustCompile(`^(.+)~HEAD$`),
}

// possibleSigns are pieces of which a name has one when a pattern fits.
var possibleSigns = []string{"onflict", "~HEAD", "-DESKTOP", "-LAPTOP", "-WIN-", "-PC", "-MB", "-NOTEBOOK", "-SURFACE", "Mac"}

// PossibleBase returns the name that "x 2.md", "x (1).md" or "x-DESKTOP-ABC.md"
// could be a copy of, or "". Only the presence of that file makes it worth a
// word.
func PossibleBase(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	n := len(stem)
	switch {
	case n > 2 && stem[n-2] == ' ' && '2' <= stem[n-1] && stem[n-1] <= '9':
		return stem[:n-2] + ext
	case n > 4 && strings.HasPrefix(stem[n-4:], " (") && stem[n-1] == ')' && '1' <= stem[n-2] && stem[n-2] <= '9':
		return stem[:n-4] + ext
	case !slices.ContainsFunc(possibleSigns, func(sign string) bool { return strings.Contains(stem, sign) }):
		return "" // nearly every name: spare the patterns
	}
	for _, re := range possibleNames {
		if m := re.FindStringSubmatch(stem); m != nil {
			return m[1] + ext
		}
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
