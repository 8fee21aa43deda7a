package organize

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// DeleteFolder: Move a folder with all its files to the trash, where they
// stay 30 days.
type DeleteFolder struct {
	// Folder to delete.
	Folder string `json:"folder"`
}

// Help is the text for people.
func (DeleteFolder) Help() tool.Help {
	return tool.Help{
		Short: "Move a folder and its files to the trash",
		Long:  "The files stay in the trash for 30 days. You see how many links will break before you confirm.",
		Examples: []string{
			"Prompts",
		},
	}
}

// FolderDeleted is a folder that was moved to the trash.
type FolderDeleted struct {
	Path string `json:"path"`
	// Files that were moved to the trash.
	Files int `json:"files"`
	// Dangling counts the links from other folders that are broken now.
	Dangling int `json:"dangling"`
}

// Plan deletes every file of the folder.
func (in DeleteFolder) Plan(ctx context.Context, env Env) (FolderDeleted, change.Set, error) {
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return FolderDeleted{}, nil, err
	}
	if len(folder) == 0 {
		return FolderDeleted{}, nil, fault.Field("folder", "name a folder in the vault", "must be a folder inside the vault, not the vault itself")
	}
	list, err := env.Vault.Walk(ctx)
	if err != nil {
		return FolderDeleted{}, nil, err
	}
	out := FolderDeleted{Path: folder[0]}
	inside := func(p string) bool { return strings.HasPrefix(p, out.Path+"/") }
	var set change.Set
	for _, e := range list.Entries {
		if !inside(e.Path) {
			continue
		}
		f, err := env.Vault.Read(ctx, e.Path)
		if err != nil {
			return FolderDeleted{}, nil, err
		}
		set = append(set, change.Delete(f.Path, string(f.Data)))
		links, err := graph.Backlinks(ctx, env.Store, f.Path)
		if err != nil {
			return FolderDeleted{}, nil, err
		}
		for _, l := range links {
			if !inside(l.From) {
				out.Dangling++
			}
		}
	}
	if out.Files = len(set); out.Files == 0 {
		return FolderDeleted{}, nil, fault.New(fault.NotFound, "folder %q has no files", out.Path)
	}
	return out, set, nil
}

// Preview counts what will dangle.
func (d FolderDeleted) Preview() tool.Preview {
	p := tool.Preview{Summary: fmt.Sprintf("Delete folder %s (%s)", d.Path, toolkit.Count(d.Files, "file")), Details: d}
	if d.Dangling > 0 {
		p.Warnings = []string{toolkit.Count(d.Dangling, "link") + " in other notes will break"}
	}
	return p
}

// View says what was deleted.
func (d FolderDeleted) View() tool.View {
	return tool.View{Text: fmt.Sprintf("moved %s (%s) to the trash for 30 days\n", d.Path, toolkit.Count(d.Files, "file"))}
}
