package syncname_test

import (
	"testing"

	"lore/internal/vault/syncname"
)

// TestConflictOf: a name that is a conflict copy beyond doubt hides the file
// from search, so a name that a person may have given must not be one.
func TestConflictOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		// Syncthing.
		"tea.sync-conflict-20240102-030405-ABCDEFG.md": "tea.md",
		"sync-conflict-20240102.md":                    "",
		// Dropbox, in several languages.
		"tea (Ann's conflicted copy 2024-01-02).md":              "tea.md",
		"tea (conflicted copy 2024-01-02 101010).md":             "tea.md",
		"tea (Whitespace Conflict).md":                           "tea.md",
		"tea (Anns in Konflikt stehende Kopie 2024-01-02).md":    "tea.md",
		"tea (In Konflikt stehende Kopie von Ann 2024-01-02).md": "tea.md",
		"tea (Copie en conflit de Ann 2024-01-02).md":            "tea.md",
		"tea (Copia en conflicto de Ann 2024-01-02).md":          "tea.md",
		"tea (Copia in conflitto di Ann 2024-01-02).md":          "tea.md",
		"tea (Cópia em conflito de Ann 2024-01-02).md":           "tea.md",
		"tea (Co\u0301pia em conflito de Ann 2024-01-02).md":     "tea.md",
		"tea (Conflicterend exemplaar van Ann 2024-01-02).md":    "tea.md",
		"tea (Anns konfliktkopia 2024-01-02).md":                 "tea.md",
		"tea (конфликтующая копия Ann 2024-01-02).md":            "tea.md",
		"tea (Annの競合コピー 2024-01-02).md":                          "tea.md",
		"tea (Ann 的冲突副本 2024-01-02).md":                          "tea.md",
		"Konflikte (Kopie von 2024-01-02).md":                    "",
		"Plan (Konflikt der Kopien).md":                          "",
		"Krieg (Konflikt 1914-07-28).md":                         "",
		"Balkans (Balkan conflict 1912-10-08).md":                "",
		"tea (copied 2024-01-02).md":                             "",
		"The conflicted copy of a man.md":                        "",
		"Conflict (2024-01-02).md":                               "",
		"Conflict.md":                                            "",
		// Nextcloud, ownCloud.
		"tea_conflict-20240102-030405.md":     "tea.md",
		"tea_conflict-ann-20240102-030405.md": "tea.md",
		"tea_conflict-2024.md":                "",
		// pCloud.
		"tea [conflicted].md":       "tea.md",
		"tea [conflicted 2].md":     "tea.md",
		"tea [conflicted] (1).md":   "tea.md",
		"tea[conflicted].md":        "tea.md",
		"[conflicted].md":           "",
		"tea [a conflicted one].md": "",
		// MEGA.
		"tea_conf(1).md":  "tea.md",
		"tea_conf(12).md": "tea.md",
		"tea_conf.md":     "",
		"tea conf(1).md":  "",
		"my_conf (1).md":  "",
		// Seafile.
		"tea (SFConflict ann@example.org 2024-01-02-03-04-05).md": "tea.md",
		"tea (SFConflict).md": "",
		// Synology Drive.
		"tea_Andy-PC_Jan-03-0901-2013_CaseConflict_1.md":  "tea.md",
		"my tea_DiskStation_Jan-03-0901-2013_Conflict.md": "my tea.md",
		"tea_Jan-03_Conflict.md":                          "",
		// FileCloud.
		"tea(Conflict_ann (Web browser)_2020-03-25-22-50-36).md": "tea.md",
		// Proton Drive.
		"tea (# Edit conflict 2024-01-02 ab12cd #).md": "tea.md",
		"tea (# Name clash 2024-01-02 ab12cd #).md":    "tea.md",
		// rclone.
		"tea.conflict1.md": "tea.md",
		"tea.conflict.md":  "",
		"v1.conflictx.md":  "",
		// What is never beyond doubt.
		"tea 2.md": "", "tea (1).md": "", "tea-DESKTOP-ABC1234.md": "", "tea.Conflict.md": "", "tea [conflict].md": "", "tea~HEAD.md": "", "tea - Copy.md": "",
		".md": "", "": "", "[conflicted]": "", "a)": "",
	} {
		if got := syncname.ConflictOf(name); got != want {
			t.Errorf("ConflictOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestPossibleBase: these names are told about only when the base lies beside
// them and is about as long.
func TestPossibleBase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"tea 2.md": "tea.md", "tea 9.md": "tea.md", "tea 1.md": "", "tea 10.md": "", "tea2.md": "",
		"tea (1).md": "tea.md", "tea (0).md": "", "tea(1).md": "",
		// OneDrive appends the name of the computer.
		"tea-DESKTOP-ABC123.md": "tea.md", "tea-DESKTOP-ABC.md": "tea.md", "tea-LAPTOP-1A2B3C4D.md": "tea.md", "my-tea-WIN-A1B2C3D4E5F.md": "my-tea.md",
		"tea-ANN-PC.md": "tea.md", "tea-ANNS-MBP.md": "tea.md", "tea-Anns-MacBook-Pro.md": "tea.md", "tea-Anns-MacBook-Air-2.md": "tea.md", "tea-Anns-iMac.md": "tea.md",
		"Report-2024.md": "", "Plan-B.md": "", "Notes-USA.md": "", "how-to-pc.md": "", "my-desktop-setup.md": "", "DESKTOP-ABC123.md": "", "well-known.md": "", "Mac-mini-PC-build.md": "",
		// Resilio, and others that only say so.
		"tea.Conflict.md": "tea.md", "tea.Conflict(1).md": "tea.md", "tea.conflict.md": "", "tea [conflict].md": "tea.md", "tea[Conflict].md": "tea.md", "tea [Conflict 1].md": "tea.md",
		"tea (DESKTOP-QRI9EIH conflict 2023-04-02).md": "tea.md", "Balkans (Balkan conflict 1912-10-08).md": "Balkans.md",
		"tea~HEAD.md": "tea.md", "tea~main.md": "", "tea.md": "", ".md": "", "": "", " 2.md": "",
	} {
		if got := syncname.PossibleBase(name); got != want {
			t.Errorf("PossibleBase(%q) = %q, want %q", name, got, want)
		}
	}
}
