package explore

import (
	"context"
	"fmt"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/explore/property"
	"lore/internal/tools/toolkit"
)

// InferSchema: See which properties the notes of each type or folder have, and
// which notes deviate from the others.
type InferSchema struct {
	// Group the notes by.
	By string `json:"by,omitempty" default:"type" enum:"type,folder"`
	// Only notes of this type.
	Type string `json:"type,omitempty"`
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Max deviations.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
	// Deviations to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (InferSchema) Help() tool.Help {
	return tool.Help{
		Short: "Show the properties of each type of note, and notes that deviate",
		Long: "A note deviates if it lacks a property that at least four of five notes of its group have, or if its value has another kind than theirs. " +
			"Groups of fewer than four notes are not compared.",
		Flags: map[string]string{
			"by":     "group notes by type or folder",
			"limit":  "maximum number of deviations",
			"offset": "skip this many deviations",
		},
		Examples: []string{
			"",
			"--by folder --folder Notes",
		},
	}
}

// Schema is what the notes of a vault have in common.
type Schema struct {
	Groups []property.Group `json:"groups"`
	// MoreGroups says how many groups are not listed.
	MoreGroups string `json:"more_groups,omitempty"`
	// Deviations are notes that differ from their group.
	Deviations []property.Deviation `json:"deviations"`
	// Total deviations, including those not shown.
	Total int             `json:"total"`
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// maxGroups is how many groups an answer lists.
const maxGroups = 50

// Run reads the properties from the index.
func (in InferSchema) Run(ctx context.Context, env Env) (Schema, error) {
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return Schema{}, err
	}
	filter := index.Filter{Kinds: []index.Kind{index.KindNote}, Folders: folder}
	if in.Type != "" {
		filter.Types = []string{in.Type}
	}
	rows, err := env.Store.Notes(ctx, index.Select{Filter: filter})
	if err != nil {
		return Schema{}, err
	}
	groups, deviations := property.Schema(rows, in.By == "folder")
	out := Schema{Groups: groups, Index: env.Fresh(ctx)}
	if n := len(out.Groups); n > maxGroups {
		out.Groups, out.MoreGroups = out.Groups[:maxGroups], fmt.Sprintf("%d of %s", maxGroups, toolkit.Count(n, "group"))
	}
	page, more := paging.Cut(deviations, in.Offset, in.Limit)
	out.Deviations, out.Total, out.More = append([]property.Deviation{}, page...), len(deviations), more
	return out, nil
}

// View lists the groups, and below them the deviations.
func (s Schema) View() tool.View {
	return tool.View{Text: property.Text(s.Groups, s.Deviations), Foot: toolkit.Foot(s.Index, toolkit.Count(s.Total, "deviation"), s.MoreGroups, s.More)}
}
