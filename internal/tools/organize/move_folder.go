package organize

import (
	"context"
	"fmt"
	"path"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// MoveFolder: Move or rename a folder and update every link to and from its
// files.
type MoveFolder struct {
	// Folder to move.
	Folder string `json:"folder"`
	// New path from the vault root; ending in a slash, it is the parent.
	To string `json:"to"`
}

// Help is the text for people.
func (MoveFolder) Help() tool.Help {
	return tool.Help{
		Short: "Move or rename a folder and update links",
		Flags: map[string]string{
			"to": "new path from the vault root; with a slash at the end, the folder to put it in",
		},
		Examples: []string{
			"Notes Tea",
			"Daily Journal/",
		},
	}
}

// FolderMoved is a folder with another path.
type FolderMoved struct {
	OldPath string `json:"old_path"`
	NewPath string `json:"new_path"`
	// Moved is the number of files that have another path.
	Moved        int `json:"moved"`
	LinksUpdated int `json:"links_updated"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Skipped are files with links that could not be rewritten.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	total    int
	warnings []string
}

// Plan moves every file of the folder.
func (in MoveFolder) Plan(ctx context.Context, env Env) (FolderMoved, change.Set, error) {
	list, err := env.Vault.Walk(ctx)
	if err != nil {
		return FolderMoved{}, nil, err
	}
	from, to, err := in.paths(ctx, env)
	if err != nil {
		return FolderMoved{}, nil, err
	}
	var files []string
	into := false
	for _, e := range list.Entries {
		files = append(files, e.Path)
		into = into || strings.HasPrefix(e.Path, to+"/")
	}
	moves := relink.Under(files, from, to)
	if len(moves) == 0 {
		return FolderMoved{}, nil, fault.New(fault.NotFound, "folder %q has no files", from)
	}
	for _, m := range moves {
		if _, taken := list.Get(m.To); taken {
			return FolderMoved{}, nil, &fault.Report{Kind: fault.Conflict, Field: "to", Message: fmt.Sprintf("to: %s exists", m.To), Fix: "choose another name, or move that file first"}
		}
	}
	plan, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Moves(ctx, moves)
	if err != nil {
		return FolderMoved{}, nil, err
	}
	out := FolderMoved{OldPath: from, NewPath: to, Moved: len(moves), LinksUpdated: plan.Links, Skipped: plan.Skipped, total: len(plan.Files)}
	out.Files, out.More = shown(plan.Files, "file")
	out.warnings = env.warnings(plan.Skipped, "link")
	if into {
		out.warnings = append(out.warnings, to+" exists; the two folders will be merged")
	}
	stay := 0
	for _, p := range list.Problems {
		if strings.HasPrefix(p.Path, from+"/") && (p.Kind == vault.FolderLink || p.Kind == vault.EscapingLink || p.Kind == vault.BrokenLink || p.Kind == vault.NotRegular || p.Kind == vault.Unreadable) {
			stay++
		}
	}
	if stay > 0 {
		out.warnings = append(out.warnings, fmt.Sprintf("%s that cannot be moved will stay in the old folder", toolkit.Count(stay, "path")))
	}
	return out, plan.Set, nil
}

func (in MoveFolder) paths(ctx context.Context, env Env) (from, to string, err error) {
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return "", "", err
	}
	if len(folder) == 0 {
		return "", "", fault.Field("folder", "name a folder in the vault", "must be a folder inside the vault, not the vault itself")
	}
	from = folder[0]
	to = strings.TrimSpace(in.To)
	if strings.HasSuffix(to, "/") {
		to += path.Base(from)
	}
	if to, err = vault.CleanNew(to); err != nil {
		return "", "", fault.Rename(err, "", "to")
	}
	switch {
	case from == to:
		return "", "", fault.Field("to", "give another name or folder", "%s is already the current path", from)
	case strings.HasPrefix(to, from+"/"):
		return "", "", fault.Field("to", "choose a path outside it", "%s is inside the folder itself", to)
	}
	return from, to, nil
}

// Preview counts what follows.
func (m FolderMoved) Preview() tool.Preview {
	summary := fmt.Sprintf("Move folder %s to %s (%s)", m.OldPath, m.NewPath, toolkit.Count(m.Moved, "file"))
	if m.LinksUpdated > 0 {
		summary += fmt.Sprintf(" and update %s in %s", toolkit.Count(m.LinksUpdated, "link"), toolkit.Count(m.total, "note"))
	}
	return tool.Preview{Summary: summary, Details: m, Warnings: m.warnings}
}

// View says where links followed.
func (m FolderMoved) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("moved %s to %s: %s\n", m.OldPath, m.NewPath, toolkit.Count(m.Moved, "file")), Items: fileItems(m.Files, m.Skipped)}
	v.Foot = toolkit.Count(m.LinksUpdated, "link") + " updated"
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
