package organize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// TagNotes: Add tags to notes and remove tags from them, in the property tags.
// Removing "tea" keeps "tea/green".
type TagNotes struct {
	// Paths, names, titles or aliases; up to 200.
	Paths []string `json:"paths"`
	// Tags to add, with or without #.
	Add []string `json:"add,omitempty"`
	// Tags to remove.
	Remove []string `json:"remove,omitempty"`
	// Remove #tags in the text too.
	Inline bool `json:"inline,omitempty"`
}

// Help is the text for people.
func (TagNotes) Help() tool.Help {
	return tool.Help{
		Short: "Add or remove tags of notes",
		Long:  "Tags are added to the property tags. Removing a tag keeps the tags nested below it.",
		Flags: map[string]string{
			"paths":  "notes: paths, names, titles or aliases",
			"add":    "tags to add",
			"remove": "tags to remove",
			"inline": "also remove the tags from the text",
		},
		Examples: []string{
			"Matcha Oolong --add favorite",
			"Matcha --remove brewing --inline",
		},
	}
}

// NotesTagged are notes with other tags.
type NotesTagged struct {
	// Notes that changed.
	Notes int `json:"notes"`
	// Files that changed, with their tags.
	Files []NoteTags `json:"files"`
	// Unchanged counts the notes that needed no change.
	Unchanged int `json:"unchanged,omitempty"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Kept are notes that still have a removed tag in their text.
	Kept []string `json:"kept,omitempty"`
	// Skipped are notes that could not be changed.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	add, remove []string
	warnings    []string
}

// NoteTags is one note that changed.
type NoteTags struct {
	Path    string   `json:"path"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Tags that it has now.
	Tags []string `json:"tags"`
}

// maxTagged is how many notes one call changes.
const maxTagged = 200

// Plan changes each note once, however often it is named.
func (in TagNotes) Plan(ctx context.Context, env Env) (NotesTagged, change.Set, error) {
	var out NotesTagged
	var err error
	if out.add, err = tagList("add", in.Add); err != nil {
		return out, nil, err
	}
	if out.remove, err = tagList("remove", in.Remove); err != nil {
		return out, nil, err
	}
	switch {
	case len(in.Paths) == 0:
		return out, nil, fault.Field("paths", "name the notes", "is empty")
	case len(in.Paths) > maxTagged:
		return out, nil, fault.Field("paths", "use several calls", "has %d notes; the limit is %d", len(in.Paths), maxTagged)
	case len(out.add)+len(out.remove) == 0:
		return out, nil, fault.Field("add", "give tags to add or to remove", "is missing")
	}
	for _, t := range out.add {
		if slices.ContainsFunc(out.remove, func(r string) bool { return strings.EqualFold(r, t) }) {
			return out, nil, fault.Field("remove", "name it only once", "%q is both added and removed", t)
		}
	}
	var paths []string
	for _, name := range in.Paths {
		row, err := toolkit.Locate(ctx, env.Store, "paths", name)
		if err != nil {
			return out, nil, err
		}
		if !slices.Contains(paths, row.File.Path) {
			paths = append(paths, row.File.Path)
		}
	}
	var set change.Set
	var files []NoteTags
	for i, p := range paths {
		tool.Progress(ctx, i, len(paths), "Reading notes")
		e, tags, err := env.setTags(ctx, p, &out, in.Inline)
		switch {
		case ctx.Err() != nil:
			return out, nil, ctx.Err()
		case err != nil && len(paths) == 1:
			return out, nil, err
		case err != nil:
			out.Skipped = append(out.Skipped, relink.Skip{Path: p, Reason: err.Error(), Links: 1})
		case e == nil:
			out.Unchanged++
		default:
			set, files = append(set, *e), append(files, tags)
		}
	}
	out.Notes = len(set)
	out.Files, out.More = shown(files, "file")
	out.warnings = env.warnings(out.Skipped, "tag")
	if n := len(out.Kept); n > 0 {
		out.warnings = append(out.warnings, fmt.Sprintf("%s still tagged in the text; set inline to remove #tags there", toolkit.Count(n, "note")))
	}
	return out, set, nil
}

// tagList takes the # from tags; each must be one.
func tagList(field string, tags []string) ([]string, error) {
	var out []string
	for _, t := range tags {
		name := strings.TrimPrefix(strings.TrimSpace(t), "#")
		if !note.IsTag(name) {
			return nil, fault.Field(field, "use letters, digits, _, - and /, and not only digits", "%q cannot be a tag", t)
		}
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, name) }) {
			out = append(out, name)
		}
	}
	return out, nil
}

// setTags changes the tags of one note; nil when there is nothing to do.
func (env Env) setTags(ctx context.Context, p string, out *NotesTagged, inline bool) (*change.Edit, NoteTags, error) {
	done := NoteTags{Path: p, Tags: []string{}}
	if vault.KindOf(p) != vault.Note {
		return nil, done, fault.Field("paths", "give a Markdown note", "%s has no front matter", p)
	}
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return nil, done, err
	}
	n := env.parse(p, f.Data)
	before := n.Text()
	step := func(patches []change.Patch) error {
		text, err := change.Splice(n.Text(), patches...)
		n = env.parse(p, []byte(text))
		return err
	}
	for _, tag := range out.remove {
		for patches, err := note.RemoveTag(n, tag, inline); ; patches, err = note.RemoveTag(n, tag, inline) {
			if err == nil && len(patches) > 0 {
				err = step(patches)
			}
			if err != nil {
				return nil, done, err
			}
			if len(patches) == 0 {
				break
			}
			if !slices.Contains(done.Removed, tag) {
				done.Removed = append(done.Removed, tag)
			}
		}
		if slices.ContainsFunc(n.Tags, func(t note.Tag) bool { return strings.EqualFold(t.Name, tag) }) && !slices.Contains(out.Kept, p) {
			out.Kept = append(out.Kept, p)
		}
	}
	for _, tag := range out.add {
		patches, err := note.AddTag(n, tag)
		if err == nil && len(patches) > 0 {
			done.Added = append(done.Added, tag)
			err = step(patches)
		}
		if err != nil {
			return nil, done, err
		}
	}
	if n.Text() == before {
		return nil, done, nil
	}
	for _, t := range n.Tags {
		if !slices.Contains(done.Tags, t.Name) {
			done.Tags = append(done.Tags, t.Name)
		}
	}
	e := change.Replace(p, string(f.Data), n.Text())
	return &e, done, nil
}

// Preview counts the notes.
func (r NotesTagged) Preview() tool.Preview {
	var parts []string
	if len(r.add) > 0 {
		parts = append(parts, "add #"+strings.Join(r.add, " #"))
	}
	if len(r.remove) > 0 {
		parts = append(parts, "remove #"+strings.Join(r.remove, " #"))
	}
	p := tool.Preview{Summary: fmt.Sprintf("Tags of %s: %s", toolkit.Count(r.Notes, "note"), strings.Join(parts, ", ")), Details: r, Warnings: r.warnings}
	if r.Notes == 0 {
		p.Summary = "No tags to change"
	}
	return p
}

// View lists the notes with their tags.
func (r NotesTagged) View() tool.View {
	v := tool.View{Foot: toolkit.Count(r.Notes, "note") + " changed"}
	for _, f := range r.Files {
		v.Items = append(v.Items, tool.Item{Path: f.Path, Detail: "#" + strings.Join(f.Tags, " #")})
	}
	for _, s := range r.Skipped {
		v.Items = append(v.Items, tool.Item{Path: s.Path, Detail: "not changed: " + s.Reason})
	}
	if len(r.Kept) > 0 {
		v.Foot += "; still tagged in the text: " + strings.Join(r.Kept[:min(5, len(r.Kept))], ", ")
	}
	if r.More != "" {
		v.Foot += "; " + r.More
	}
	return v
}
