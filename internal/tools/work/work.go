// Package work holds the tools that look after what was done: undo and redo,
// the list of calls, single operations with their diffs, and what waits for a
// person; results and conversations of minds. One file is one tool. None of them
// can answer a question.
package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lore/internal/agent/chat"
	"lore/internal/change"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/vault"
	"lore/internal/vault/visibility"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	History   *history.Store
	Questions *approval.Store
	Vault     *vault.Vault // for what files hold now
	Now       func() time.Time
	Chats     *chat.Store
	Folder    string // where conversations go that are saved as notes
	// Store and Parse tell which links a move back would break; Store may be nil.
	Store index.Store
	Parse note.Options
	// Look compares the index with the vault as it is now. May be nil.
	Look func(ctx context.Context) error
	// Tools are all tools, and those that are on; may be nil.
	Tools func() (all, on []*tool.Tool)
	// Accept takes the notes that the vault misses for deleted.
	Accept func(ctx context.Context) error
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	return tool.Toolset("work", docs,
		tool.Change[Undo](env, tool.Drawn(tool.Facts), tool.Short("undo"), tool.Plays(tool.TakesBack), tool.Everyday()),
		tool.Change[Redo](env, tool.Drawn(tool.Facts), tool.Short("redo"), tool.Plays(tool.BringsBack)),
		tool.Read[GetActivity](env, tool.Drawn(tool.Table), tool.Short("activity"), tool.Feed(), tool.Plays(tool.TellsActivity)),
		tool.Read[GetOperation](env, tool.Drawn(tool.Text), tool.Short("diff"), tool.Plays(tool.TellsOperation)),
		tool.Read[ListPending](env, tool.Drawn(tool.Table), tool.Everyday()),
		tool.Read[MissingNotes](env, tool.Drawn(tool.Table), tool.PersonsOnly(), tool.Plays(tool.TellsMissing)),
		tool.Change[SaveChat](env, tool.Drawn(tool.Facts), tool.Plays(tool.SavesChat)),
		tool.Read[SearchTools](env, tool.Drawn(tool.Table), tool.Plays(tool.FindsTools)),
		tool.Read[ReadResult](env, tool.Drawn(tool.Text), tool.Plays(tool.ReadsResult)),
	)
}

// hides reports whether the caller must not know of one of the files.
func hides(ctx context.Context, files ...string) bool {
	l := visibility.From(ctx)
	return !l.Everything() && slices.ContainsFunc(files, func(f string) bool { return f != "" && !l.Allows(f) })
}

// isLimited reports whether the caller sees only a part of the vault.
func isLimited(ctx context.Context) bool { return !visibility.From(ctx).Everything() }

// sees reports whether the caller may know everything about what another one did.
// One who sees a part of the vault knows its own work alone: the words of others
// may name any note.
func sees(ctx context.Context, other access.Principal) bool {
	who := tool.Caller(ctx)
	return tool.Sees(who, other) && (!isLimited(ctx) || who.ID == other.ID)
}

// seesAll reports whether the caller may know everything about what anybody did.
func seesAll(ctx context.Context) bool { return tool.SeesAll(tool.Caller(ctx)) && !isLimited(ctx) }

// paths are the files of changes.
func paths(list []tool.FileChange) []string {
	var out []string
	for _, c := range list {
		if c.Action != change.Reads {
			out = append(out, c.Path)
		}
	}
	return out
}

// by names who did something, for people.
func by(p access.Principal) string {
	if p.ID == "" || p.ID == string(p.Kind) {
		return string(p.Kind)
	}
	return string(p.Kind) + " " + p.ID
}

// short is enough of an id for a person to type.
func short(id string) string {
	word, rest, ok := strings.Cut(id, "-")
	if !ok || len(rest) <= 8 {
		return id
	}
	return word + "-" + rest[:8]
}

// at is a moment for people, to the minute and in local time.
func at(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// arguments are canonical arguments as an object.
func arguments(raw json.RawMessage) map[string]any {
	var m map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// some joins a few names and counts the rest.
func some(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
