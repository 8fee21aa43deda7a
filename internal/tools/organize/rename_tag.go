package organize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/schema"
	"lore/internal/tools/toolkit"
)

// RenameTag: Rename a tag in all notes, text and properties; nested tags
// follow. An existing name merges the two tags.
type RenameTag struct {
	// Current tag, with or without #, in any case.
	Tag string `json:"tag"`
	// New name; may be nested, such as "drinks/tea".
	NewTag string `json:"new_tag"`
}

// Help is the text for people.
func (RenameTag) Help() tool.Help {
	return tool.Help{
		Short: "Rename a tag in all notes",
		Long:  "Tags nested below it are renamed too. If the new name exists, the two tags become one.",
		Flags: map[string]string{
			"tag": "current tag, with or without #; case does not matter",
		},
		Examples: []string{
			"brewing preparation",
			"teaware tools/tea",
		},
	}
}

// TagRenamed is a tag with another name.
type TagRenamed struct {
	Tag    string `json:"tag"`
	NewTag string `json:"new_tag"`
	// Notes that changed.
	Notes int `json:"notes"`
	// Files that changed, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Skipped are notes with the tag that could not be changed.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	joins    int // notes that have the new name already
	warnings []string
}

// Plan changes every note that has the tag.
func (in RenameTag) Plan(ctx context.Context, env Env) (TagRenamed, change.Set, error) {
	out := TagRenamed{Tag: strings.Trim(strings.TrimSpace(in.Tag), "#/"), NewTag: strings.Trim(strings.TrimSpace(in.NewTag), "#/")}
	switch {
	case out.Tag == "":
		return out, nil, fault.Field("tag", "name a tag", "is empty")
	case !note.IsTag(out.NewTag):
		return out, nil, fault.Field("new_tag", "use letters, digits, _, - and /, and not only digits", "%q cannot be a tag", in.NewTag)
	case out.Tag == out.NewTag:
		return out, nil, fault.Field("new_tag", "give another name", "is the same as the old name")
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Tags: []string{out.Tag}}})
	if err != nil {
		return out, nil, err
	}
	if len(rows) == 0 {
		return out, nil, env.noTag(ctx, out.Tag)
	}
	var set change.Set
	var files []relink.FileLinks
	for _, r := range rows {
		e, lines, err := env.retag(ctx, r.File.Path, out.Tag, out.NewTag)
		switch {
		case ctx.Err() != nil:
			return out, nil, ctx.Err()
		case fault.Of(err) == fault.NotFound:
		case err != nil:
			out.Skipped = append(out.Skipped, relink.Skip{Path: r.File.Path, Reason: err.Error(), Links: 1})
		case e != nil:
			set = append(set, *e)
			files = append(files, relink.FileLinks{Path: r.File.Path, Lines: lines})
		}
	}
	if err := env.unreadTags(ctx, &out); err != nil {
		return out, nil, err
	}
	if out.joins, err = toolkit.CountNotes(ctx, env.Store, index.Filter{Tags: []string{out.NewTag}}); err != nil {
		return out, nil, err
	}
	if strings.EqualFold(out.Tag, out.NewTag) || strings.HasPrefix(strings.ToLower(out.NewTag), strings.ToLower(out.Tag)+"/") {
		out.joins = 0
	}
	out.Notes = len(set)
	out.Files, out.More = shown(files, "file")
	out.warnings = env.warnings(out.Skipped, "tag")
	return out, set, nil
}

// retag renames the tag in one note; nil when there is nothing to do.
func (env Env) retag(ctx context.Context, p, old, now string) (*change.Edit, []int, error) {
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	n := env.parse(p, f.Data)
	patches, lines, err := note.RenameTag(n, old, now)
	if err != nil || len(patches) == 0 {
		return nil, nil, err
	}
	text, err := change.Splice(n.Text(), patches...)
	if err != nil {
		return nil, nil, err
	}
	e := change.Replace(p, string(f.Data), text).Relinking()
	return &e, lines, nil
}

// unreadTags tells about notes whose properties cannot be read and seem to hold
// the tag: the index does not know it there.
func (env Env) unreadTags(ctx context.Context, out *TagRenamed) error {
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Problems: true}})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !slices.ContainsFunc(r.Problems, func(p index.Problem) bool { return p.Kind == "broken_yaml" }) {
			continue
		}
		f, err := env.Vault.Read(ctx, r.File.Path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		n := env.parse(r.File.Path, f.Data)
		yaml := strings.ToLower(n.Text()[n.Front.YAML.Start:n.Front.YAML.End])
		words := strings.FieldsFunc(yaml, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]\"'#", r) })
		tag := strings.ToLower(out.Tag)
		if slices.ContainsFunc(words, func(w string) bool { return w == tag || strings.HasPrefix(w, tag+"/") }) && strings.Contains(yaml, "tag") {
			out.Skipped = append(out.Skipped, relink.Skip{Path: r.File.Path, Links: 1,
				Reason: fmt.Sprintf("the front matter has an error on line %d: %s", n.Front.BrokenLine, n.Front.Broken)})
		}
	}
	return nil
}

// noTag says that a tag does not exist, with those that are near.
func (env Env) noTag(ctx context.Context, tag string) error {
	counts, err := env.Store.Facets(ctx, index.FacetTag, index.Filter{})
	if err != nil {
		return err
	}
	var known []string
	for _, c := range counts {
		known = append(known, c.Value)
	}
	r := &fault.Report{Kind: fault.NotFound, Field: "tag", Message: fmt.Sprintf("no note has the tag %q", tag)}
	if near := schema.Nearest(tag, known, 3); len(near) > 0 {
		r.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return r
}

// Preview counts the notes.
func (r TagRenamed) Preview() tool.Preview {
	p := tool.Preview{Summary: fmt.Sprintf("Rename #%s to #%s in %s", r.Tag, r.NewTag, toolkit.Count(r.Notes, "note")), Details: r, Warnings: r.warnings}
	if r.joins > 0 {
		p.Warnings = append([]string{fmt.Sprintf("%s already tagged #%s; the two tags will be merged, and only undo can separate them", toolkit.Count(r.joins, "note"), r.NewTag)}, p.Warnings...)
	}
	return p
}

// View lists the notes.
func (r TagRenamed) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("renamed #%s to #%s\n", r.Tag, r.NewTag), Items: fileItems(r.Files, r.Skipped), Foot: toolkit.Count(r.Notes, "note") + " changed"}
	if r.More != "" {
		v.Foot += "; " + r.More
	}
	return v
}
