package notes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/vault"
)

// UpdateFrontmatter: Set or remove properties of a note.
type UpdateFrontmatter struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Properties to set; null writes null.
	Updates map[string]any `json:"updates,omitempty"`
	// Properties to remove.
	Remove []string `json:"remove,omitempty"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (UpdateFrontmatter) Help() tool.Help {
	return tool.Help{
		Short: "Set or remove properties of a note",
		Long:  "The text and all other properties stay as they are, byte for byte.",
		Flags: map[string]string{
			"updates": "property to set",
			"remove":  "properties to remove",
		},
		Examples: []string{
			"Matcha --updates rating=5",
			`Oolong --updates 'tags=["oolong","china"]' --remove temperature`,
		},
	}
}

// Properties are those of a note after a change.
type Properties struct {
	Path    string   `json:"path"`
	Set     []string `json:"set,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Frontmatter is all of it, as it is now.
	Frontmatter map[string]any `json:"frontmatter"`
	Hash        string         `json:"hash"`
}

// Plan sets each key in turn: every step reads what the one before left.
func (in UpdateFrontmatter) Plan(ctx context.Context, env Env) (Properties, change.Set, error) {
	if len(in.Updates) == 0 && len(in.Remove) == 0 {
		return Properties{}, nil, fault.Field("updates", "give properties to set or to remove", "is missing")
	}
	for _, k := range in.Remove {
		if _, both := in.Updates[k]; both {
			return Properties{}, nil, fault.Field("remove", "name it only once", "%q is both set and removed", k)
		}
	}
	n, err := env.open(ctx, in.Path)
	if err != nil {
		return Properties{}, nil, err
	}
	if vault.KindOf(n.File.Path) == vault.Canvas {
		return Properties{}, nil, fault.Field("path", "give a Markdown note", "%s is a canvas and has no front matter", n.File.Path)
	}
	if err := env.expect(ctx, n, in.IfHash); err != nil {
		return Properties{}, nil, err
	}
	out := Properties{Path: n.File.Path}
	now := n.Note
	step := func(patches []change.Patch, err error) error {
		if err != nil || len(patches) == 0 {
			return err
		}
		text, err := change.Splice(now.Text(), patches...)
		now = parse(n.File.Path, text)
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(in.Updates)) {
		if err := step(note.SetProperty(now, key, in.Updates[key])); err != nil {
			return Properties{}, nil, fault.Rename(err, "", "updates")
		}
		out.Set = append(out.Set, key)
	}
	for _, key := range in.Remove {
		if err := step(note.RemoveProperty(now, key)); err != nil {
			return Properties{}, nil, fault.Rename(err, "", "remove")
		}
		out.Removed = append(out.Removed, key)
	}
	after, set, err := n.edited([]change.Patch{{End: len(n.Text()), Text: now.Text()}})
	out.Hash, out.Frontmatter = vault.Sum([]byte(after)).String(), map[string]any{}
	for _, p := range now.Front.Props {
		out.Frontmatter[p.Key] = p.Value
	}
	return out, set, err
}

// Preview names the properties.
func (p Properties) Preview() tool.Preview {
	var parts []string
	if len(p.Set) > 0 {
		parts = append(parts, "set "+strings.Join(p.Set, ", "))
	}
	if len(p.Removed) > 0 {
		parts = append(parts, "remove "+strings.Join(p.Removed, ", "))
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Update properties of %s: %s", p.Path, strings.Join(parts, "; ")),
		Details: map[string]any{"path": p.Path, "set": p.Set, "removed": p.Removed},
	}
}

// View shows the properties as they are now.
func (p Properties) View() tool.View {
	v := tool.View{Foot: p.Path}
	for _, k := range slices.Sorted(maps.Keys(p.Frontmatter)) {
		v.Pairs = append(v.Pairs, [2]string{k, fmt.Sprint(p.Frontmatter[k])})
	}
	return v
}
