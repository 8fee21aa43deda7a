package files

import (
	"context"

	"lore/internal/change"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// ReplaceInFile: Change parts of a file with SEARCH/REPLACE blocks.
type ReplaceInFile struct {
	// Path.
	Path string `json:"path"`
	// Blocks: <<<<<<< SEARCH, old lines, =======, new lines, >>>>>>> REPLACE.
	Diff string `json:"diff" size:"text"`
}

// Help is the text for people.
func (ReplaceInFile) Help() tool.Help {
	return tool.Help{
		Short:  "Change parts of a file with SEARCH/REPLACE blocks",
		Long:   "Each text to find must occur exactly once. Write - as the diff to read it from standard input.",
		Flags:  map[string]string{"path": "path of the file", "diff": "the SEARCH/REPLACE blocks, or - for standard input"},
		Hidden: true,
	}
}

// Plan finds the places and patches them.
func (in ReplaceInFile) Plan(ctx context.Context, env Env) (EditedFile, change.Set, error) {
	f, err := env.editable(ctx, in.Path, "")
	if err != nil {
		return EditedFile{}, nil, err
	}
	patches, err := toolkit.ReplaceBlocks(f.Path, f.text, in.Diff)
	if err != nil {
		return EditedFile{}, nil, err
	}
	return f.edited(patches)
}
