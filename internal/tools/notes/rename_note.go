package notes

import (
	"context"
	"fmt"
	"path"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// RenameNote: Rename or move a note, file, folder or heading; links are
// updated.
type RenameNote struct {
	// Path or name.
	Path string `json:"path"`
	// A name alone keeps the folder.
	NewPath string `json:"new_path,omitempty" word:"true"`
	// Instead: a heading ...
	Heading string `json:"heading,omitempty"`
	// ... and its new text.
	NewHeading string `json:"new_heading,omitempty"`
	// Update links.
	UpdateLinks bool `json:"update_links,omitempty" default:"true"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (RenameNote) Help() tool.Help {
	return tool.Help{
		Short: "Rename or move a note, file, folder or heading",
		Long:  "Every link that would break is updated in the same step.",
		Flags: map[string]string{
			"path":         "path or name of the note, file or folder",
			"new-path":     "new path; a name alone keeps the folder",
			"heading":      "rename this heading instead of the note",
			"new-heading":  "new heading text",
			"update-links": "update links to the renamed note, file or folder",
		},
		Examples: []string{
			`Gaiwan "Lidded bowl"`,
			"Puer Aged/Puer",
			`Matcha --heading "Thin tea, usucha" --new-heading Usucha`,
		},
	}
}

// Renamed is a file, a folder or a heading with another name.
type Renamed struct {
	OldPath string `json:"old_path"`
	NewPath string `json:"new_path"`
	// Heading is the new text of a heading that was renamed.
	Heading string `json:"heading,omitempty"`
	// Moved is the number of files that have another path.
	Moved        int `json:"moved"`
	LinksUpdated int `json:"links_updated"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Skipped are files with links that could not be rewritten.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	oldHeading string
	total      int // files with rewritten links
	warnings   []string
}

// Plan finds what moves, and what links to it.
func (in RenameNote) Plan(ctx context.Context, env Env) (Renamed, change.Set, error) {
	switch {
	case in.Heading == "" && in.NewHeading != "":
		return Renamed{}, nil, fault.Field("heading", "name the heading to rename", "is missing")
	case in.Heading != "" && in.NewPath != "":
		return Renamed{}, nil, fault.Field("heading", "make one call for each", "new_path and heading cannot be combined")
	case in.Heading != "":
		return in.heading(ctx, env)
	case strings.TrimSpace(in.NewPath) == "":
		return Renamed{}, nil, fault.Field("new_path", "give the new path, or heading and new_heading", "is missing")
	}
	from, folder, err := env.whatMoves(ctx, in.Path)
	if err != nil {
		return Renamed{}, nil, err
	}
	if folder {
		return in.folder(ctx, env, from)
	}
	return in.file(ctx, env, from)
}

func (in RenameNote) heading(ctx context.Context, env Env) (Renamed, change.Set, error) {
	if !in.UpdateLinks {
		return Renamed{}, nil, fault.Field("update_links", "use edit_note to change the heading alone", "cannot be false for a heading")
	}
	n, err := env.open(ctx, in.Path)
	if err != nil {
		return Renamed{}, nil, err
	}
	if err := env.expect(ctx, n, in.IfHash); err != nil {
		return Renamed{}, nil, err
	}
	plan, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Heading(ctx, n.File.Path, in.Heading, in.NewHeading)
	if err != nil {
		return Renamed{}, nil, fault.Rename(err, "", "heading")
	}
	out := Renamed{OldPath: n.File.Path, NewPath: n.File.Path, Heading: strings.TrimSpace(in.NewHeading), oldHeading: in.Heading}
	env.tell(&out, &plan)
	return out, plan.Set, nil
}

func (in RenameNote) file(ctx context.Context, env Env, from string) (Renamed, change.Set, error) {
	if in.IfHash != "" {
		f, err := env.Vault.Read(ctx, from)
		if err != nil {
			return Renamed{}, nil, err
		}
		if err := env.expect(ctx, noteFile{File: f, Note: parse(from, string(f.Data))}, in.IfHash); err != nil {
			return Renamed{}, nil, err
		}
	}
	to, err := renamed(from, in.NewPath)
	if err != nil {
		return Renamed{}, nil, err
	}
	if err := env.free(ctx, from, to); err != nil {
		return Renamed{}, nil, err
	}
	return in.move(ctx, env, from, to, []relink.Move{{From: from, To: to, Kind: index.Kind(vault.KindOf(to))}})
}

func (in RenameNote) folder(ctx context.Context, env Env, from string) (Renamed, change.Set, error) {
	if in.IfHash != "" {
		return Renamed{}, nil, fault.Field("if_hash", "leave it out", "a folder has no hash")
	}
	to, err := vault.CleanNew(beside(from, in.NewPath))
	if err != nil {
		return Renamed{}, nil, fault.Rename(err, "", "new_path")
	}
	list, err := env.Vault.Walk(ctx)
	if err != nil {
		return Renamed{}, nil, err
	}
	var files []string
	for _, e := range list.Entries {
		files = append(files, e.Path)
	}
	moves := relink.Under(files, from, to)
	if err := folderFree(list, from, to, moves); err != nil {
		return Renamed{}, nil, err
	}
	return in.move(ctx, env, from, to, moves)
}

func (in RenameNote) move(ctx context.Context, env Env, from, to string, moves []relink.Move) (Renamed, change.Set, error) {
	plan, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Moves(ctx, moves)
	if err != nil {
		return Renamed{}, nil, err
	}
	out := Renamed{OldPath: from, NewPath: to, Moved: len(moves)}
	if !in.UpdateLinks {
		set := change.Set{}
		for _, m := range moves {
			set = append(set, change.Move(m.From, m.To))
		}
		if plan.Links > 0 {
			out.warnings = []string{toolkit.Count(plan.Links, "link") + " will break or point to another file"}
		}
		out.Files = []relink.FileLinks{}
		return out, set, nil
	}
	env.tell(&out, &plan)
	return out, plan.Set, nil
}

// listed is how many files an answer names.
const listed = 50

// tell puts what a plan says into the answer.
func (env Env) tell(out *Renamed, plan *relink.Plan) {
	out.LinksUpdated, out.Skipped, out.total = plan.Links, plan.Skipped, len(plan.Files)
	page, more := paging.Cut(plan.Files, 0, listed)
	out.Files = append([]relink.FileLinks{}, page...)
	if more != "" {
		out.More = fmt.Sprintf("%d of %d files", len(page), len(plan.Files))
	}
	for _, s := range plan.Skipped {
		if len(out.warnings) == 5 {
			out.warnings = append(out.warnings, fmt.Sprintf("and links in %d more files", len(plan.Skipped)-5))
			break
		}
		out.warnings = append(out.warnings, fmt.Sprintf("%s in %s cannot be updated: %s", toolkit.Count(s.Links, "link"), s.Path, s.Reason))
	}
}

// whatMoves finds the file or folder that a name means: the path itself before
// a name somewhere else.
func (env Env) whatMoves(ctx context.Context, name string) (key string, folder bool, err error) {
	clean := strings.Trim(strings.TrimSpace(name), "/")
	if !strings.HasSuffix(strings.TrimSpace(name), "/") {
		for _, p := range []string{clean, clean + ".md"} {
			e, err := env.Vault.Stat(ctx, p)
			if err == nil {
				return e.Path, false, nil
			}
			if k := fault.Of(err); k != fault.NotFound && k != fault.Invalid {
				return "", false, err
			}
		}
	}
	if key, err := vault.Clean(clean); err == nil {
		every := []index.Kind{index.KindNote, index.KindCanvas, index.KindAttachment, index.KindConflict}
		rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Folders: []string{key}, Kinds: every}, Limit: 1})
		if err != nil {
			return "", false, err
		}
		if len(rows) > 0 {
			return key, true, nil
		}
	}
	row, err := search.Locate(ctx, env.Store, name)
	return row.File.Path, false, err
}

// beside is a new path as it is meant: a name alone stays in the folder of the
// old one, a folder with a slash takes the name along, and a name after a slash
// lies in the root of the vault. A longer path from the root of the machine is
// left as it is, to be refused.
func beside(from, to string) string {
	to = strings.TrimSpace(to)
	if strings.HasSuffix(to, "/") {
		to += path.Base(from)
	}
	if !strings.Contains(to, "/") {
		return path.Join(path.Dir(from), to)
	}
	if name, ok := strings.CutPrefix(to, "/"); ok && name != "" && !strings.Contains(name, "/") {
		return name
	}
	return to
}

// renamed is the new path of a file, which stays what it is.
func renamed(from, to string) (string, error) {
	to = beside(from, to)
	kind := vault.KindOf(from)
	same := func(p string) bool {
		k := vault.KindOf(p)
		return k == kind || kind == vault.Conflict && k == vault.Note
	}
	if kind == vault.Attachment && path.Ext(to) == "" || !same(to) && (path.Ext(to) == "" || !isNotNote(to)) {
		to += path.Ext(from)
	}
	if !same(to) {
		return "", fault.Field("new_path", "keep the extension "+path.Ext(from), "%q would change the file type of %s", to, from)
	}
	key, err := vault.CleanNew(to)
	if err != nil {
		return "", fault.Rename(err, "", "new_path")
	}
	if key == from {
		return "", fault.Field("new_path", "give another name or folder", "%s is already the current path", from)
	}
	return key, nil
}

func isNotNote(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".md" || ext == ".markdown" || toolkit.IsOtherFile(p)
}

// free refuses a path that is taken. A file that only changes the case of its
// name is in its own way where case does not matter.
func (env Env) free(ctx context.Context, from, to string) error {
	_, err := env.Vault.Stat(ctx, to)
	if fault.Of(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return fault.Rename(err, "", "new_path")
	}
	if vault.Fold(from) == vault.Fold(to) {
		list, err := env.Vault.Walk(ctx) // inode numbers prove nothing: some disks give each spelling its own
		if err != nil {
			return err
		}
		if _, taken := list.Get(to); !taken {
			return nil
		}
	}
	return &fault.Report{Kind: fault.Conflict, Field: "new_path", Message: fmt.Sprintf("new_path: %s exists", to), Fix: "choose another name, or merge the two with merge_notes"}
}

// folderFree refuses a new path for a folder that lies in itself or holds a
// file that would be in the way.
func folderFree(list *vault.Listing, from, to string, moves []relink.Move) error {
	switch {
	case from == to:
		return fault.Field("new_path", "give another name or folder", "%s is already the current path", from)
	case strings.HasPrefix(to+"/", from+"/"):
		return fault.Field("new_path", "choose a path outside it", "%s is inside the folder itself", to)
	case len(moves) == 0:
		return fault.New(fault.NotFound, "folder %q has no files", from)
	}
	for _, m := range moves {
		if _, taken := list.Get(m.To); taken {
			return &fault.Report{Kind: fault.Conflict, Field: "new_path", Message: fmt.Sprintf("new_path: %s exists", m.To), Fix: "choose another name, or move that file first"}
		}
	}
	return nil
}

// Preview counts what follows.
func (r Renamed) Preview() tool.Preview {
	summary := fmt.Sprintf("Rename %s to %s", r.OldPath, r.NewPath)
	if r.Heading != "" {
		summary = fmt.Sprintf("Rename the heading %q in %s to %q", r.oldHeading, r.OldPath, r.Heading)
	}
	if r.Moved > 1 {
		summary += fmt.Sprintf(" (%s)", toolkit.Count(r.Moved, "file"))
	}
	if r.LinksUpdated > 0 {
		summary += fmt.Sprintf(" and update %s in %s", toolkit.Count(r.LinksUpdated, "link"), toolkit.Count(r.total, "note"))
		if r.total == 1 {
			summary = strings.TrimSuffix(summary, "s")
		}
	}
	return tool.Preview{Summary: summary, Details: r, Warnings: r.warnings}
}

// View says what was renamed and where links followed.
func (r Renamed) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("renamed %s to %s\n", r.OldPath, r.NewPath)}
	if r.Heading != "" {
		v.Text = fmt.Sprintf("renamed a heading in %s to %q\n", r.OldPath, r.Heading)
	}
	for _, f := range r.Files {
		v.Items = append(v.Items, tool.Item{Path: f.Path, Detail: places(f.Lines)})
	}
	for _, s := range r.Skipped {
		v.Items = append(v.Items, tool.Item{Path: s.Path, Detail: "left: " + s.Reason})
	}
	v.Foot = toolkit.Count(r.LinksUpdated, "link") + " updated"
	if r.More != "" {
		v.Foot += "; " + r.More
	}
	return v
}
