package organize

import (
	"context"
	"fmt"
	"path"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/organize/exports"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// ImportNotes: Create notes from an export of ChatGPT, Claude or Notion that is a
// file of the vault. Notes that exist stay as they are.
type ImportNotes struct {
	// Where the export is from.
	Format string `json:"format" enum:"chatgpt,claude,notion"`
	// Path of the export in the vault: the zip file, or the JSON with the chats.
	File string `json:"file"`
	// Folder for the new notes.
	Into string `json:"into,omitempty" default:"Imported"`
}

// Help is the text for people.
func (ImportNotes) Help() tool.Help {
	return tool.Help{
		Short: "Import chats from ChatGPT or Claude, or pages from Notion",
		Long: "Put the export into the vault first: the zip file as it was sent to you, or the JSON file with the chats in it. From Notion, export as Markdown & CSV. " +
			"The import is one change that you review and can undo. Imported notes are marked as untrusted; pictures and other files are not imported.",
		Flags: map[string]string{
			"format": "where the export is from",
			"file":   "path of the export in the vault",
			"into":   "folder for the new notes",
		},
	}
}

// Imported is what an import creates.
type Imported struct {
	Format string `json:"format"`
	Into   string `json:"into"`
	// Notes that are created.
	Notes int `json:"notes"`
	// Paths of some of them.
	Paths []string `json:"paths"`
	More  string   `json:"more,omitempty"`
	// Existing counts notes that are there already.
	Existing int `json:"existing,omitempty"`
	// Skipped counts pictures, other files, empty chats and names that cannot be used.
	Skipped int `json:"skipped,omitempty"`
}

// Plan reads the export and creates the notes that are not there yet.
func (in ImportNotes) Plan(ctx context.Context, env Env) (Imported, change.Set, error) {
	out := Imported{Format: in.Format}
	into, err := vault.CleanNew(strings.Trim(in.Into, "/"))
	if err != nil {
		return out, nil, fault.Rename(err, "", "into")
	}
	out.Into = into
	f, err := env.Vault.Read(ctx, in.File)
	if err != nil {
		return out, nil, fault.Rename(err, "path", "file")
	}
	found, err := exports.Read(ctx, in.Format, f.Data)
	if err != nil {
		return out, nil, fault.Rename(err, "", "file")
	}
	out.Skipped = found.Skipped
	var set change.Set
	var paths []string
	for _, n := range found.Notes {
		p, err := vault.CleanNew(path.Join(into, n.Path))
		if err == nil {
			p, err = env.Vault.Visible(p, false)
		}
		if err != nil { // a name that this vault does not take
			out.Skipped++
			continue
		}
		switch _, err := env.Vault.Stat(ctx, p); {
		case err == nil:
			out.Existing++
			continue
		case fault.Of(err) != fault.NotFound:
			return out, nil, err
		}
		set = append(set, change.Create(p, n.Text))
		paths = append(paths, p)
	}
	out.Notes = len(set)
	out.Paths, out.More = shown(paths, "note")
	return out, set, nil
}

func (i Imported) summary(verb string) string {
	s := fmt.Sprintf("%s %s from %s into %s", verb, toolkit.Count(i.Notes, "note"), exports.Called(i.Format), i.Into)
	if i.Existing > 0 {
		s += fmt.Sprintf("; %d already there", i.Existing)
	}
	return s
}

// Preview counts the notes.
func (i Imported) Preview() tool.Preview {
	p := tool.Preview{Summary: i.summary("Import"), Details: i}
	if i.Skipped > 0 {
		p.Warnings = append(p.Warnings, toolkit.Count(i.Skipped, "item")+" not imported: pictures and other files, or chats without messages")
	}
	return p
}

// View lists the notes.
func (i Imported) View() tool.View {
	v := tool.View{Text: i.summary("Imported") + "\n", Foot: i.More}
	for _, p := range i.Paths {
		v.Items = append(v.Items, tool.Item{Path: p, Title: strings.TrimSuffix(path.Base(p), ".md")})
	}
	return v
}
