package find

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/join"
	"lore/internal/note"
	"lore/internal/relink"
	"lore/internal/tool"
	"lore/internal/vault"
)

// MergeNotes puts the text of another note into a note and removes the other.
// Links to the other lead to the kept one and show the same words, its title
// becomes an alias, and properties are joined; nothing of either text is lost.
type MergeNotes struct {
	// Path, file name, title or alias of the note that is kept.
	Path string `json:"path"`
	// The note that goes into it.
	Other string `json:"other"`
	// Where the other's text goes.
	Strategy string `json:"strategy,omitempty" default:"append" enum:"append,prepend"`
}

// NotesMerged are two notes that became one.
type NotesMerged struct {
	Path string `json:"path"`
	// Other is the note that is gone.
	Other        string `json:"other"`
	Hash         string `json:"hash"`
	LinksUpdated int    `json:"links_updated"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More tells how many files are not listed.
	More string `json:"more,omitempty"`
	// Added are the properties that the kept note got or that grew.
	Added []string `json:"added,omitempty"`
	// Shown are the properties of which the kept note has another value: the other's stands in the text.
	Shown []string `json:"shown,omitempty"`
	// Aliases that the kept note got.
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
		return NotesMerged{}, nil, fault.Field("other", "name another note", "%s is the note itself", other.Path)
	}
	aliases := join.Names(kept, other)
	m, err := env.planner().Merge(ctx, kept.Path, other.Path, join.AllNames(kept, aliases))
	if err != nil {
		return NotesMerged{}, nil, err
	}
	one, err := join.Notes(env.parse(kept.Path, []byte(m.Kept)), env.parse(other.Path, []byte(m.Other)), aliases, join.Options{Parse: env.parse, First: in.Strategy == "prepend"})
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
	row, err := env.locate(ctx, field, name)
	if err != nil {
		return nil, err
	}
	if vault.KindOf(row.File.Path) != vault.Note {
		return nil, fault.Field(field, "name a Markdown note", "%s is no note", row.File.Path)
	}
	f, err := env.Vault.Read(ctx, row.File.Path)
	if err != nil {
		return nil, err
	}
	n := env.parse(row.File.Path, f.Data)
	if n.ReadOnly {
		return nil, fault.New(fault.ReadOnly, "%s is not plain text", row.File.Path)
	}
	return n, nil
}

// Preview says what is removed.
func (m NotesMerged) Preview() tool.Preview {
	summary := fmt.Sprintf("Merge %s into %s and remove it", m.Other, m.Path)
	if m.LinksUpdated > 0 {
		summary += fmt.Sprintf("; update %s in %s", many(m.LinksUpdated, "link"), many(m.total, "note"))
	}
	return tool.Preview{Summary: summary, Details: m, Warnings: m.warnings, Destroys: true}
}

// View says where links followed.
func (m NotesMerged) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("merged %s into %s\n", m.Other, m.Path), Items: fileItems(m.Files, m.Skipped), Foot: many(m.LinksUpdated, "link") + " updated"}
	if len(m.Shown) > 0 {
		v.Foot += "; shown in the text: " + strings.Join(m.Shown, ", ")
	}
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
