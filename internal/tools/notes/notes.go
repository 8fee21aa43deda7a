// Package notes holds the tools that every client starts with: read, search,
// follow links, write and edit. One file is one tool.
//
// To add one: write a file with an input struct, an output struct and a Run
// method, or a Plan method when it changes notes; add its line to [Tools]; add testdata/<name>.txtar; run go generate.
package notes

import (
	"context"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault  *vault.Vault
	Store  index.Store
	Search *search.Searcher
	// Fresh tells how current the index is.
	Fresh func(context.Context) index.Freshness
	Now   func() time.Time
	Parse note.Options // the dialect of the vault
	// Version returns the text that had a hash, where history still has it; may
	// be nil.
	Version func(ctx context.Context, hash string) (string, bool)
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("notes", docs,
		tool.Read[SearchNotes](env, tool.Drawn(tool.Notes), tool.Short("search"), tool.Plays(tool.SearchesNotes), tool.AnswersPartly(),
			tool.Try("why does my tea taste bitter --top-k 3", `{"query": "why does my tea taste bitter", "top_k": 3}`)),
		tool.Read[ReadNote](env, tool.Drawn(tool.Text), tool.Short("read"), tool.Plays(tool.ReadsNote),
			tool.Try("Matcha --section \"Thin tea, usucha\"", `{"path": "Matcha", "section": "Thin tea, usucha"}`)),
		tool.Read[ListBacklinks](env, tool.Drawn(tool.Notes), tool.Short("backlinks"), tool.Plays(tool.ListsBacklinks),
			tool.Try("Oxidation --limit 3", `{"path": "Oxidation", "limit": 3}`)),
		tool.Read[ListForwardLinks](env, tool.Drawn(tool.Table), tool.Short("links"), tool.Plays(tool.ListsLinks)),
		tool.Read[GetNoteMetadata](env, tool.Drawn(tool.Facts), tool.Short("info"), tool.Plays(tool.TellsNote),
			tool.Try("Oolong", `{"path": "Oolong"}`)),
		tool.Read[ContextPack](env, tool.Drawn(tool.Notes), tool.Short("pack"), tool.Plays(tool.PacksContext), tool.AnswersPartly()),
		tool.Change[WriteNote](env, tool.Drawn(tool.Text), tool.Short("write"), tool.Plays(tool.WritesNote), tool.Alias("writeNote")),
		tool.Change[EditNote](env, tool.Drawn(tool.Text), tool.Short("edit"), tool.Alias("editNote")),
		tool.Change[UpdateFrontmatter](env, tool.Drawn(tool.Facts), tool.Short("set"), tool.Plays(tool.SetsProperties), tool.Alias("updateFrontmatter")),
		tool.Change[CreateDailyNote](env, tool.Drawn(tool.Text), tool.Short("daily"), tool.Plays(tool.MakesDaily), tool.Alias("createDailyNote")),
		tool.Change[RenameNote](env, tool.Drawn(tool.Notes), tool.Short("rename"), tool.Plays(tool.RenamesNote), tool.Alias("renameNote")),
		tool.Change[DeleteNote](env, tool.Drawn(tool.Notes), tool.Short("delete"), tool.Plays(tool.DeletesNote), tool.Alias("deleteNote")),
	)
}

// A noteFile is one note as it stands on disk.
type noteFile struct {
	vault.File
	*note.Note
	row   index.Row // what the index knows; empty for a note that it does not know yet
	known bool
}

// read reads the text that name means. Most callers give the path, and then the
// index need not be asked.
func (env Env) read(ctx context.Context, name string) (noteFile, error) {
	if vault.KindOf(name) == vault.Note && strings.HasSuffix(name, ".md") {
		if f, err := env.Vault.Read(ctx, name); err == nil {
			return noteFile{File: f, Note: note.Parse(f.Path, f.Data)}, nil
		}
	}
	return env.open(ctx, name)
}

// open reads the note that name means. A note that is newer than the index is
// found by its path.
func (env Env) open(ctx context.Context, name string) (noteFile, error) {
	row, err := search.Locate(ctx, env.Store, name)
	path, known := row.File.Path, err == nil
	if fault.Of(err) == fault.NotFound {
		for _, p := range []string{name, name + ".md"} {
			e, statErr := env.Vault.Stat(ctx, p)
			if statErr == nil {
				path, err = e.Path, nil
				break
			}
			if k := fault.Of(statErr); k != fault.NotFound && k != fault.Invalid {
				return noteFile{}, statErr // hidden, or out of the vault: that says more
			}
		}
	}
	if err != nil {
		return noteFile{}, err
	}
	if k := vault.KindOf(path); k == vault.Attachment {
		return noteFile{}, &fault.Report{
			Kind: fault.Invalid, Field: "path", Message: "path: " + path + " is an attachment, not a note", Fix: "use read_attachment",
		}
	}
	f, err := env.Vault.Read(ctx, path)
	if err != nil {
		return noteFile{}, err
	}
	n := noteFile{File: f, row: row, known: known}
	if vault.KindOf(path) == vault.Canvas {
		n.Note = note.ParseCanvas(path, f.Data)
	} else {
		n.Note = note.Parse(path, f.Data)
	}
	return n, nil
}
