// Package organize holds the tools that keep a vault in order: they move and
// delete folders, set and rename tags, repair and add links, merge notes, check
// off tasks, edit canvases, import exports and make notes from templates. Each plans
// one reviewed set of edits. One file is one tool.
package organize

import (
	"time"

	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault *vault.Vault
	Store index.Store
	Parse note.Options // the dialect of the vault
	Now   func() time.Time
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("organize", docs,
		tool.Change[MoveFolder](env, tool.Drawn(tool.Notes), tool.Plays(tool.MovesFolder)),
		tool.Change[DeleteFolder](env, tool.Drawn(tool.Facts), tool.PersonsOnly(), tool.Plays(tool.DeletesFolder)),
		tool.Change[CompleteTask](env, tool.Drawn(tool.Text), tool.Plays(tool.CompletesTask)),
		tool.Change[RenameTag](env, tool.Drawn(tool.Notes)),
		tool.Change[TagNotes](env, tool.Drawn(tool.Notes), tool.Short("tag")),
		tool.Change[CreateFromTemplate](env, tool.Drawn(tool.Text), tool.Short("new")),
		tool.Change[RepairLinks](env, tool.Drawn(tool.Table)),
		tool.Change[LinkMentions](env, tool.Drawn(tool.Notes)),
		tool.Change[MergeNotes](env, tool.Drawn(tool.Notes)),
		tool.Change[EditCanvas](env, tool.Drawn(tool.Text)),
		tool.Change[ImportNotes](env, tool.Untrusted(), tool.Drawn(tool.Notes), tool.Short("import")),
	)
}
