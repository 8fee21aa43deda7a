// Package files holds the tools that work on files as they are, notes or not,
// and on what surrounds them: a repository, processes, commands. One file is one
// tool.
//
// All of them see a file by the same rules as the tools for notes: the vault
// reads it, and every change is a plan that the registry asks about, records
// and can undo.
package files

import (
	"context"
	"time"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault *vault.Vault
	Store index.Store
	// Fresh tells how current the index is.
	Fresh func(context.Context) index.Freshness
	// Folder is the folder of the vault that the tools work in; empty is all of it.
	Folder string
	// PictureText reads the text in a picture, such as [Tesseract]; may be nil.
	PictureText func(ctx context.Context, name string, data []byte) (string, error)
}

// maxCommandTime is more than a command may take, with the copy that is made for
// it.
const maxCommandTime = 11 * time.Minute

// maxReadTime is more than a picture may take.
const maxReadTime = 2 * time.Minute

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("files", docs,
		tool.Read[FileRead](env, tool.Selects("file_paths"), tool.Drawn(tool.Text), tool.Alias("fileRead")),
		tool.Read[ReadAttachment](env, tool.Within(maxReadTime), tool.Drawn(tool.Text)),
		tool.Read[ReadFile](env, tool.Drawn(tool.Text), tool.Alias("readFile")),
		tool.Read[ListFiles](env, tool.Drawn(tool.Table), tool.Short("ls"), tool.Alias("listFiles")),
		tool.Read[SearchText](env, tool.Within(maxReadTime), tool.Drawn(tool.Text), tool.Short("grep"), tool.Alias("searchText")),
		tool.Read[GitStatus](env, tool.Drawn(tool.Text), tool.Short("git"), tool.Alias("gitStatus")),
		tool.Read[ListProcesses](env, tool.Drawn(tool.Table), tool.Short("ps"), tool.Alias("listProcesses")),
		tool.Change[WriteFile](env, tool.Drawn(tool.Text), tool.Alias("writeFile")),
		tool.Change[WriteToFile](env, tool.Drawn(tool.Text), tool.Alias("writeToFile")),
		tool.Change[EditFile](env, tool.Drawn(tool.Text), tool.Alias("editFile")),
		tool.Act[RunCommand](env, tool.Needs(access.Exec), tool.OffByDefault(), tool.Within(maxCommandTime), tool.Drawn(tool.Text), tool.Short("exec"), tool.Alias("runCommand")),
		tool.Change[ReplaceInFile](env, tool.Drawn(tool.Text), tool.Alias("replaceInFile")),
	)
}
