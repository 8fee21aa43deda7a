package work

import (
	"context"
	"fmt"
	"path"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// MissingNotes: List notes that Lore knows but no longer finds in the vault,
// until it is clear whether they were deleted. With accept, treat them as
// deleted: search finds them again only if they return. Changes no file.
type MissingNotes struct {
	// Treat the missing notes as deleted.
	Accept bool `json:"accept,omitempty"`
	// Max notes to list.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"1000"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (MissingNotes) Help() tool.Help {
	return tool.Help{
		Short: "List notes that are missing from the vault",
		Long:  "Lore keeps missing notes in the index until it is clear whether they were deleted or the folder is not available. With --accept, Lore treats them as deleted; search finds them again only if they return. No file is changed.",
		Flags: map[string]string{
			"limit": "maximum number of notes to list",
		},
		Examples: []string{
			"",
		},
	}
}

// Missing are the notes that are missing from a vault.
type Missing struct {
	// State of the vault: "online", "read_only", "settling" or "offline".
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Total  int    `json:"total"`
	// Notes are their paths.
	Notes []string `json:"notes"`
	// Folders counts the missing notes by folder.
	Folders map[string]int `json:"folders"`
	// Accepted says that they are treated as deleted from now on.
	Accepted bool   `json:"accepted"`
	More     string `json:"more,omitempty"`
}

// Run lists them, and believes it when a person says so.
func (in MissingNotes) Run(ctx context.Context, env Env) (Missing, error) {
	if env.Look != nil {
		if err := env.Look(ctx); err != nil {
			return Missing{}, err
		}
	}
	st, paths := env.Vault.Missing()
	out := Missing{State: string(st.Mode), Reason: st.Reason, Total: len(paths), Folders: map[string]int{}}
	for _, p := range paths {
		out.Folders[path.Dir(p)]++
	}
	page, more := paging.Cut(paths, in.Offset, in.Limit)
	out.Notes, out.More = append([]string{}, page...), more
	if !in.Accept || st.Believed() {
		return out, nil
	}
	if len(paths) == 0 {
		return Missing{}, fault.New(fault.Offline, "the vault is offline: %s", st.Reason)
	}
	if err := env.Accept(ctx); err != nil {
		return Missing{}, err
	}
	st, _ = env.Vault.Missing()
	out.Accepted, out.State, out.Reason = st.Believed(), string(st.Mode), st.Reason
	return out, nil
}

// View is a list of paths, and what they mean.
func (m Missing) View() tool.View {
	what := toolkit.Count(m.Total, "note")
	switch {
	case m.Total == 0:
		return tool.View{Text: "No notes are missing.\n"}
	case m.Accepted:
		return tool.View{Text: what + " accepted as deleted.\n"}
	}
	v := tool.View{Head: []string{"missing"}, Foot: m.More}
	for _, n := range m.Notes {
		v.Rows = append(v.Rows, []string{n})
	}
	if v.Foot == "" {
		v.Foot = fmt.Sprintf("%s missing. If you deleted them: lore index --accept", what)
	}
	return v
}
