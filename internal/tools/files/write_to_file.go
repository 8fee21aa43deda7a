package files

import (
	"context"

	"lore/internal/change"
	"lore/internal/tool"
)

// WriteToFile: Create or overwrite a text file; another name of write_file.
type WriteToFile struct {
	// Path.
	Path string `json:"path"`
	// The whole text.
	Content string `json:"content" size:"text"`
}

// Help is the text for people.
func (WriteToFile) Help() tool.Help {
	return tool.Help{
		Short:    "Create or overwrite a text file",
		Flags:    map[string]string{"path": "path of the file", "content": "the text"},
		Examples: []string{`lists/shopping.txt "Sencha, 100 g"`},
		Hidden:   true,
	}
}

// Plan is the plan of write_file.
func (in WriteToFile) Plan(ctx context.Context, env Env) (WrittenFile, change.Set, error) {
	return WriteFile{Path: in.Path, Content: in.Content}.Plan(ctx, env)
}
