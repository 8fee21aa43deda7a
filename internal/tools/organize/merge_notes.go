package organize

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/merge"
	"lore/internal/graph/relink"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// MergeNotes: Merge another note into a note and delete the other. Links to
// it are updated, its title becomes an alias, properties are combined; no
// text is lost.
type MergeNotes struct {
	// Note to keep: path, name, title or alias.
	Path string `json:"path"`
	// Note to merge into it.
	Other string `json:"other"`
	// Where the other's text goes.
	Strategy string `json:"strategy,omitempty" default:"append" enum:"append,prepend"`
}

// Help is the text for people.
func (MergeNotes) Help() tool.Help {
	return tool.Help{
		Short: "Merge one note into another",
		Long:  "Adds the text of OTHER to PATH and moves OTHER to the trash. Links to OTHER are updated, its title becomes an alias of PATH, and properties are combined; no text is lost.",
		Flags: map[string]string{
			"path":     "note to keep; the text of the other note is added to it",
			"other":    "note to merge into PATH; moved to the trash afterward",
			"strategy": "where the other note's text goes",
		},
		Examples: []string{
			`"Green tea" Sencha`,
			`Gaiwan "Yixing teapot" --strategy prepend`,
		},
	}
}

// NotesMerged are two notes that became one.
type NotesMerged struct {
	Path string `json:"path"`
	// Other is the note that was merged and deleted.
	Other        string `json:"other"`
	Hash         string `json:"hash"`
	LinksUpdated int    `json:"links_updated"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Added are the properties that were added to the kept note or extended.
	Added []string `json:"added,omitempty"`
	// Shown are the properties with two different values: the other note's value is kept in the text.
	Shown []string `json:"shown,omitempty"`
	// Aliases that were added to the kept note.
	Aliases []string `json:"aliases,omitempty"`
	// Skipped are files with links that could not be rewritten.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	total    int
	warnings []string
}

// Plan joins the two texts and points all links to the kept note.
func (in MergeNotes) Plan(ctx context.Context, env Env) (NotesMerged, change.Set, error) {
	kept, err := env.mergeable(ctx, "path", in.Path)
	if err != nil {
		return NotesMerged{}, nil, err
	}
	other, err := env.mergeable(ctx, "other", in.Other)
	if err != nil {
		return NotesMerged{}, nil, err
	}
	if kept.Path == other.Path {
		return NotesMerged{}, nil, fault.Field("other", "name another note", "%s cannot be merged with itself", other.Path)
	}
	aliases := merge.Names(kept, other)
	m, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Merge(ctx, kept.Path, other.Path, merge.AllNames(kept, aliases))
	if err != nil {
		return NotesMerged{}, nil, err
	}
	one, err := merge.Notes(env.parse(kept.Path, []byte(m.Kept)), env.parse(other.Path, []byte(m.Other)), aliases, merge.Options{Parse: env.parse, First: in.Strategy == "prepend"})
	if err != nil {
		return NotesMerged{}, nil, err
	}
	out := NotesMerged{
		Path: kept.Path, Other: other.Path, LinksUpdated: m.Links, Skipped: m.Skipped, Aliases: one.Aliases, Added: one.Added, Shown: one.Shown, total: len(m.Files),
		Hash: vault.Sum([]byte(one.Text)).String(), warnings: append(env.warnings(m.Skipped, "link"), one.Warnings...),
	}
	out.Files, out.More = shown(m.Files, "file")
	set := append(change.Set{change.Replace(kept.Path, m.KeptWas, one.Text), change.Delete(other.Path, m.OtherWas)}, m.Set...)
	return out, set, nil
}

// mergeable reads a note that can be merged.
func (env Env) mergeable(ctx context.Context, field, name string) (*note.Note, error) {
	row, err := toolkit.Locate(ctx, env.Store, field, name)
	if err != nil {
		return nil, err
	}
	if vault.KindOf(row.File.Path) != vault.Note {
		return nil, fault.Field(field, "name a Markdown note", "%s is not a note", row.File.Path)
	}
	f, err := env.Vault.Read(ctx, row.File.Path)
	if err != nil {
		return nil, err
	}
	n := env.parse(row.File.Path, f.Data)
	if n.ReadOnly {
		return nil, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not valid UTF-8", row.File.Path)
	}
	return n, nil
}

// Preview says what is removed.
func (m NotesMerged) Preview() tool.Preview {
	summary := fmt.Sprintf("Merge %s into %s and delete it", m.Other, m.Path)
	if m.LinksUpdated > 0 {
		summary += fmt.Sprintf("; update %s in %s", toolkit.Count(m.LinksUpdated, "link"), toolkit.Count(m.total, "note"))
	}
	return tool.Preview{Summary: summary, Details: m, Warnings: m.warnings, Destroys: true}
}

// View says where links followed.
func (m NotesMerged) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("merged %s into %s\n", m.Other, m.Path), Items: fileItems(m.Files, m.Skipped), Foot: toolkit.Count(m.LinksUpdated, "link") + " updated"}
	if len(m.Shown) > 0 {
		v.Foot += "; kept in the text: " + strings.Join(m.Shown, ", ")
	}
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
