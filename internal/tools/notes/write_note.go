package notes

import (
	"context"
	"fmt"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// WriteNote: Create or overwrite a note, or add to its end or start. To
// change a part, use edit_note.
type WriteNote struct {
	// Path from the vault root; folders are created.
	Path string `json:"path"`
	// Markdown.
	Content string `json:"content"`
	// Default: create, or ask to overwrite.
	Mode string `json:"mode,omitempty" enum:"create,overwrite,append,prepend"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (WriteNote) Help() tool.Help {
	return tool.Help{
		Short: "Create, replace or extend a note",
		Long:  "Without --mode, a new note is created; if the note exists, you are asked before it is overwritten. Write - as the content to read it from standard input.",
		Flags: map[string]string{
			"path":    "path of the note; missing folders are created",
			"content": "the text in Markdown, or - for standard input",
			"mode":    "how to write",
		},
		Examples: []string{
			`Notes/Genmaicha.md "Green tea with roasted rice."`,
			`Matcha "Bought a new whisk." --mode append`,
		},
	}
}

// Written is a note that was written.
type Written struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	// Bytes of the note after the change.
	Bytes int    `json:"bytes"`
	Hash  string `json:"hash"`
	// Same says that the note was unchanged.
	Same bool `json:"unchanged,omitempty"`

	verb     string
	warnings []string
}

// Plan decides what the note will be.
func (in WriteNote) Plan(ctx context.Context, env Env) (Written, change.Set, error) {
	n, err := in.existing(ctx, env)
	if fault.Of(err) == fault.NotFound && in.IfHash == "" && in.Mode != "overwrite" {
		return in.create(ctx, env)
	}
	if err != nil {
		return Written{}, nil, err
	}
	if in.Mode == "create" {
		return Written{}, nil, &fault.Report{
			Kind: fault.Conflict, Field: "path", Message: fmt.Sprintf("%s already exists", n.File.Path),
			Fix: "choose another path, or use mode overwrite, append or prepend",
		}
	}
	if err := env.expect(ctx, n, in.IfHash); err != nil {
		return Written{}, nil, err
	}
	var patches []change.Patch
	switch in.Mode {
	case "append":
		patches, err = note.InsertUnder(n.Note, "", in.Content, note.AtEnd)
	case "prepend":
		patches, err = note.InsertUnder(n.Note, "", in.Content, note.AtStart)
	default:
		patches = []change.Patch{{End: len(n.Text()), Text: kept(n.Text(), in.Content)}}
	}
	if err != nil {
		return Written{}, nil, fault.Rename(err, "text", "content")
	}
	after, set, err := n.edited(patches)
	out := Written{Path: n.File.Path, Bytes: len(after), Hash: vault.Sum([]byte(after)).String(), Same: len(set) == 0, verb: "Overwrite"}
	switch in.Mode {
	case "append":
		out.verb = "Add to the end of"
	case "prepend":
		out.verb = "Add to the start of"
	}
	return out, set, err
}

// existing is the note that the path names. Only a mode that needs a note
// takes another name for it than its path.
func (in WriteNote) existing(ctx context.Context, env Env) (noteFile, error) {
	if in.Mode == "append" || in.Mode == "prepend" || in.Mode == "overwrite" {
		return env.open(ctx, in.Path)
	}
	p, err := toolkit.NewNotePath("path", in.Path)
	if err != nil {
		return noteFile{}, err
	}
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return noteFile{}, err
	}
	return noteFile{File: f, Note: parse(f.Path, string(f.Data))}, nil
}

func (in WriteNote) create(ctx context.Context, env Env) (Written, change.Set, error) {
	p, err := toolkit.NewNotePath("path", in.Path)
	if err != nil {
		return Written{}, nil, err
	}
	out := Written{Path: p, Created: true, Bytes: len(in.Content), Hash: vault.Sum([]byte(in.Content)).String(), verb: "Create"}
	names, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{index.TargetKey(p)}})
	if err != nil {
		return Written{}, nil, err
	}
	for _, n := range names {
		if n.Kind == index.NameFile && n.Path != p {
			out.warnings = append(out.warnings, "another note has this name: "+n.Path+"; links by name may point to either")
			break
		}
	}
	return out, change.Set{change.Create(p, in.Content)}, nil
}

// Preview says what is about to be written.
func (w Written) Preview() tool.Preview {
	return tool.Preview{
		Summary:  fmt.Sprintf("%s %s (%s)", w.verb, w.Path, toolkit.Count(w.Bytes, "byte")),
		Details:  map[string]any{"path": w.Path, "created": w.Created, "bytes": w.Bytes},
		Warnings: w.warnings,
	}
}

// View says what was written.
func (w Written) View() tool.View {
	if w.Same {
		return tool.View{Text: w.Path + " is unchanged\n"}
	}
	verb := "wrote"
	if w.Created {
		verb = "created"
	}
	return tool.View{Text: fmt.Sprintf("%s %s, %s\n", verb, w.Path, toolkit.Count(w.Bytes, "byte"))}
}
