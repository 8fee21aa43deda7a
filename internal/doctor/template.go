package doctor

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"lore/internal/vault"
)

// templates tells which notes are templates: their properties hold placeholders
// such as {{date}}, which are no mistakes there.
type templates []string // folders, in lower case

// templateFolders are those that Obsidian and its plugin Templater are set to.
// Folders with the usual names count everywhere; see has.
func templateFolders(ctx context.Context, v *vault.Vault) templates {
	var out templates
	for file, key := range map[string]string{
		".obsidian/templates.json":                       "folder",
		".obsidian/plugins/templater-obsidian/data.json": "templates_folder",
	} {
		f, err := v.ReadHidden(ctx, file)
		if err != nil {
			continue // it has no such settings
		}
		var set map[string]any
		if json.Unmarshal(f.Data, &set) != nil {
			continue // Obsidian tells
		}
		if name, ok := set[key].(string); ok && strings.Trim(name, "/") != "" {
			out = append(out, strings.ToLower(strings.Trim(name, "/"))+"/")
		}
	}
	return out
}

// has reports whether a note is a template.
func (t templates) has(note string) bool {
	note = strings.ToLower(note)
	for _, folder := range t {
		if strings.HasPrefix(note, folder) {
			return true
		}
	}
	for dir := path.Dir(note); dir != "."; dir = path.Dir(dir) {
		if name := strings.Trim(path.Base(dir), "_- "); name == "templates" || name == "template" {
			return true
		}
	}
	return false
}
