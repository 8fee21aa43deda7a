package files

import (
	"context"
	"fmt"
	"unicode/utf8"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// WriteFile: Create or overwrite a text file. Folders are created.
type WriteFile struct {
	// Path.
	Path string `json:"path"`
	// The whole text.
	Content string `json:"content" size:"text"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (WriteFile) Help() tool.Help {
	return tool.Help{
		Short: "Create or overwrite a text file",
		Long:  "If the file exists, you are asked before it is overwritten. Write - as the content to read it from standard input. lore write is for notes.",
		Flags: map[string]string{
			"path":    "path of the file; missing folders are created",
			"content": "the text, or - for standard input",
		},
		Examples: []string{`lists/shopping.txt "Sencha, 100 g"`},
	}
}

// WrittenFile is a file that was written.
type WrittenFile struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	// Bytes of the file after the change.
	Bytes int    `json:"bytes"`
	Hash  string `json:"hash"`
	// Same says that the file was unchanged.
	Same bool `json:"unchanged,omitempty"`
}

// Plan decides what the file will be.
func (in WriteFile) Plan(ctx context.Context, env Env) (WrittenFile, change.Set, error) {
	if !utf8.ValidString(in.Content) {
		return WrittenFile{}, nil, fault.Field("content", "send it as UTF-8", "is not valid UTF-8")
	}
	if err := refuseRunnable(ctx, in.Path); err != nil {
		return WrittenFile{}, nil, err
	}
	out := WrittenFile{Path: env.at(in.Path), Bytes: len(in.Content), Hash: vault.Sum([]byte(in.Content)).String()}
	f, err := env.existing(ctx, in.Path, in.IfHash)
	switch {
	case fault.Of(err) == fault.NotFound && in.IfHash == "":
		key, err := vault.CleanNew(env.at(in.Path))
		if err != nil {
			return WrittenFile{}, nil, fault.Rename(err, "", "path")
		}
		out.Path, out.Created = key, true
		return out, change.Set{change.Create(key, in.Content)}, nil
	case err != nil:
		return WrittenFile{}, nil, err
	}
	out.Path = f.Path
	if out.Same = f.text == in.Content; out.Same {
		return out, nil, nil
	}
	return out, change.Set{change.Replace(f.Path, f.text, in.Content)}, nil
}

// Preview says what is about to be written.
func (w WrittenFile) Preview() tool.Preview {
	verb := "Overwrite"
	if w.Created {
		verb = "Create"
	}
	return tool.Preview{
		Summary:  fmt.Sprintf("%s %s (%s)", verb, w.Path, toolkit.Count(w.Bytes, "byte")),
		Details:  map[string]any{"path": w.Path, "created": w.Created, "bytes": w.Bytes},
		Warnings: warnRunnable(w.Path),
	}
}

// View says what was written.
func (w WrittenFile) View() tool.View {
	if w.Same {
		return tool.View{Text: w.Path + " is unchanged\n"}
	}
	return tool.View{Text: fmt.Sprintf("File written successfully: %s (%s)\n", w.Path, toolkit.Count(w.Bytes, "byte"))}
}
