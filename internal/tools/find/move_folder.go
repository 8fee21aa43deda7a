package find

import (
	"context"
	"fmt"
	"path"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/relink"
	"lore/internal/tool"
	"lore/internal/vault"
)

// MoveFolder gives a folder another path and updates every link to and from the
// files in it.
type MoveFolder struct {
	// Folder to move.
	Folder string `json:"folder"`
	// New path of the folder from the vault root; one that ends in a slash takes the name along.
	To string `json:"to"`
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
	// More tells how many files are not listed.
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
		return FolderMoved{}, nil, fault.New(fault.NotFound, "there is no file in folder %q", from)
	}
	for _, m := range moves {
		if _, taken := list.Get(m.To); taken {
			return FolderMoved{}, nil, &fault.Report{Kind: fault.Conflict, Field: "to", Message: fmt.Sprintf("to: %s exists", m.To), Fix: "choose another name, or move that file first"}
		}
	}
	plan, err := env.planner().Moves(ctx, moves)
	if err != nil {
		return FolderMoved{}, nil, err
	}
	out := FolderMoved{OldPath: from, NewPath: to, Moved: len(moves), LinksUpdated: plan.Links, Skipped: plan.Skipped, total: len(plan.Files)}
	out.Files, out.More = shown(plan.Files, "file")
	out.warnings = env.warnings(plan.Skipped, "link")
	if into {
		out.warnings = append(out.warnings, to+" exists: the two folders become one")
	}
	stay := 0
	for _, p := range list.Problems {
		if strings.HasPrefix(p.Path, from+"/") && (p.Kind == vault.FolderLink || p.Kind == vault.EscapingLink || p.Kind == vault.BrokenLink || p.Kind == vault.NotRegular || p.Kind == vault.Unreadable) {
			stay++
		}
	}
	if stay > 0 {
		out.warnings = append(out.warnings, fmt.Sprintf("%s in it that cannot be moved will stay", many(stay, "path")))
	}
	return out, plan.Set, nil
}

func (in MoveFolder) paths(ctx context.Context, env Env) (from, to string, err error) {
	folder, err := env.folder(ctx, in.Folder)
	if err != nil {
		return "", "", err
	}
	if len(folder) == 0 {
		return "", "", fault.Field("folder", "name a folder in the vault", "is empty or the whole vault")
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
		return "", "", fault.Field("to", "give another name or folder", "%s is its path already", from)
	case strings.HasPrefix(to, from+"/"):
		return "", "", fault.Field("to", "choose a place outside of it", "%s lies in the folder itself", to)
	}
	return from, to, nil
}

// Preview counts what follows.
func (m FolderMoved) Preview() tool.Preview {
	summary := fmt.Sprintf("Move folder %s to %s (%s)", m.OldPath, m.NewPath, many(m.Moved, "file"))
	if m.LinksUpdated > 0 {
		summary += fmt.Sprintf(" and update %s in %s", many(m.LinksUpdated, "link"), many(m.total, "note"))
	}
	return tool.Preview{Summary: summary, Details: m, Warnings: m.warnings}
}

// View says where links followed.
func (m FolderMoved) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("moved %s to %s: %s\n", m.OldPath, m.NewPath, many(m.Moved, "file")), Items: fileItems(m.Files, m.Skipped)}
	v.Foot = many(m.LinksUpdated, "link") + " updated"
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
