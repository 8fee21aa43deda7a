package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// FileRead: Read several files at once. A file that fails has its own error;
// the others are still read.
type FileRead struct {
	// Paths, as vault_search returns them.
	FilePaths []string `json:"file_paths" alias:"filePaths"`
	// First line of each, from 1.
	Offset int `json:"offset,omitempty" default:"1" min:"1"`
	// Max lines of each.
	Limit int `json:"limit,omitempty" default:"2000" min:"1" max:"5000"`
}

// Help is the text for people.
func (FileRead) Help() tool.Help {
	return tool.Help{
		Short: "Show several files at once",
		Long:  "lore read shows one note.",
		Flags: map[string]string{
			"file-paths": "paths of the files",
			"offset":     "first line of each file, counted from 1",
			"limit":      "maximum number of lines from each file",
		},
		Examples: []string{
			"Notes/Matcha.md Notes/Oolong.md",
			`"Tea map.canvas" --limit 5`,
		},
		Hidden: true,
	}
}

// FileContents are files in the requested order.
type FileContents struct {
	Files []FileContent   `json:"files"`
	Index index.Freshness `json:"index"`
}

// FileContent is one file, or why it could not be read.
type FileContent struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Size of the whole file in bytes.
	Size int64 `json:"size"`
	// Hash of the whole file; pass it as if_hash when you change it.
	Hash string `json:"hash,omitempty"`
	// More says how to read the rest when the content was cut.
	More  string `json:"more,omitempty"`
	Error string `json:"error,omitempty"`
	// Kind of the error, for programs.
	Kind fault.Kind `json:"kind,omitempty"`
}

// maxFiles is how many files one call reads.
const maxFiles = 50

// Run reads the files.
func (in FileRead) Run(ctx context.Context, env Env) (FileContents, error) {
	if len(in.FilePaths) == 0 {
		return FileContents{}, fault.Field("file_paths", `name at least one, for example ["ideas/tea.md"]`, "is empty")
	}
	if len(in.FilePaths) > maxFiles {
		return FileContents{}, fault.Field("file_paths", "call again for the rest", "%d files are too many; the limit is %d", len(in.FilePaths), maxFiles)
	}
	out := FileContents{Index: env.Fresh(ctx)}
	room := 4 * paging.MaxText
	for _, p := range in.FilePaths {
		c, err := in.read(ctx, env, p, room)
		if ctx.Err() != nil {
			return FileContents{}, ctx.Err()
		}
		if err != nil {
			c = FileContent{Path: p, Error: err.Error(), Kind: fault.Of(err)}
		}
		room -= len(c.Content)
		out.Files = append(out.Files, c)
	}
	return out, nil
}

func (in FileRead) read(ctx context.Context, env Env, name string, room int) (FileContent, error) {
	f, err := env.readFile(ctx, name)
	if err != nil {
		return FileContent{}, err
	}
	if !textual(f.Data) {
		return FileContent{}, fault.Fix(fault.Invalid, "use read_attachment", "%s is not text", f.Path)
	}
	cut := paging.CutLines(string(f.Data), in.Offset, in.Limit)
	if len(cut.Text) > room {
		return FileContent{}, fault.Fix(fault.TooLarge, "call again with this file only", "%s does not fit in this result", f.Path)
	}
	c := FileContent{Path: f.Path, Content: cut.Text, Size: f.Info.Size, More: cut.More, Hash: f.Hash.String()}
	if f.Truncated {
		c.Hash = ""
		c.More = strings.TrimPrefix(c.More+fmt.Sprintf("; only the first %d of %d bytes were read", len(f.Data), f.Info.Size), "; ")
	}
	return c, nil
}

// readFile reads the file of a path, or the one that the name means.
func (env Env) readFile(ctx context.Context, name string) (vault.File, error) {
	f, err := env.Vault.Head(ctx, name)
	if fault.Of(err) != fault.NotFound && fault.Of(err) != fault.Invalid {
		return f, err
	}
	row, locateErr := search.Locate(ctx, env.Store, name)
	if locateErr != nil {
		var r *fault.Report
		if fault.Of(err) == fault.Invalid && errors.As(err, &r) {
			return f, err // a path that no file can have says more than that there is none
		}
		if fault.Of(locateErr) == fault.NotFound {
			near, nearErr := search.Near(ctx, env.Store, name)
			if nearErr != nil {
				return f, nearErr
			}
			r := &fault.Report{Kind: fault.NotFound, Field: "path", Message: fmt.Sprintf("file not found: %q", name)}
			if len(near) > 0 {
				r.Fix = fmt.Sprintf("did you mean %q?", near[0])
			}
			return f, r
		}
		return f, locateErr
	}
	return env.Vault.Head(ctx, row.File.Path)
}

// textual reports whether data is text: UTF-8 without NUL bytes.
func textual(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	if utf8.Valid(data) {
		return true
	}
	// The beginning of a long file may end inside a character.
	for i := 1; i < utf8.UTFMax && i < len(data); i++ {
		if utf8.Valid(data[:len(data)-i]) {
			return len(data) > 1<<20
		}
	}
	return false
}

// View shows the contents one below the other.
func (c FileContents) View() tool.View {
	var b strings.Builder
	for i, f := range c.Files {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "==> %s <==\n", f.Path)
		if f.Error != "" {
			b.WriteString(f.Error + "\n")
			continue
		}
		b.WriteString(f.Content)
		if !strings.HasSuffix(f.Content, "\n") {
			b.WriteByte('\n')
		}
		if f.More != "" {
			fmt.Fprintf(&b, "(%s)\n", f.More)
		}
	}
	return tool.View{Text: b.String(), Foot: toolkit.Foot(c.Index)}
}
