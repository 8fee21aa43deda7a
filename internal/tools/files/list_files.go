package files

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ListFiles: List a folder: files, folders, sizes and dates.
type ListFiles struct {
	// Folder; default: the top.
	Path string `json:"path,omitempty" word:"true"`
	// Skip this many.
	Offset int `json:"offset,omitempty" min:"0"`
	// Max entries.
	Limit int `json:"limit,omitempty" default:"500" min:"1" max:"5000"`
}

// Help is the text for people.
func (ListFiles) Help() tool.Help {
	return tool.Help{
		Short: "List the files in a folder",
		Long:  "Hidden files (their names begin with a dot) are listed, but Lore does not read them.",
		Flags: map[string]string{
			"path":   "folder to list (default: the top folder)",
			"offset": "skip this many entries",
			"limit":  "maximum number of entries",
		},
		Examples: []string{"", "Notes --limit 5"},
	}
}

// FileList is a folder.
type FileList struct {
	// Path of the folder; empty for the vault.
	Path    string          `json:"path"`
	Entries []FileEntry     `json:"entries"`
	Total   int             `json:"total"`
	More    string          `json:"more,omitempty"`
	Index   index.Freshness `json:"index"`
}

// FileEntry is one name in a folder.
type FileEntry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Type is "file", "folder", "link" or "special".
	Type string `json:"type"`
	// Mode as ls writes it.
	Mode string `json:"mode"`
	Size int64  `json:"size"`
	// Modified is when a file was last changed.
	Modified string `json:"modified,omitempty"`
	// Hidden files are not read.
	Hidden bool `json:"hidden,omitempty"`
}

// Run lists the folder.
func (in ListFiles) Run(ctx context.Context, env Env) (FileList, error) {
	folder, err := env.folderAt(in.Path)
	if err != nil {
		return FileList{}, err
	}
	items, err := env.list(ctx, folder)
	if err != nil {
		return FileList{}, err
	}
	page, more := paging.Cut(items, in.Offset, in.Limit)
	out := FileList{Path: folder, Entries: []FileEntry{}, Total: len(items), More: more, Index: env.Fresh(ctx)}
	for _, i := range page {
		e := FileEntry{Name: path.Base(i.path), Path: i.path, Type: typeOf(i.mode), Mode: i.mode.String(), Size: i.size, Hidden: i.hidden}
		if !i.mode.IsDir() {
			e.Modified = toolkit.Stamp(i.modTime)
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

func typeOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m.IsRegular():
		return "file"
	}
	return "special"
}

// View is a table like that of ls -l.
func (l FileList) View() tool.View {
	v := tool.View{Head: []string{"mode", "size", "modified", "name"}, Foot: toolkit.Foot(l.Index, l.More)}
	for _, e := range l.Entries {
		name := e.Name
		switch {
		case e.Type == "folder":
			name += "/"
		case e.Type != "file":
			name += " (" + e.Type + ")"
		}
		if e.Hidden {
			name += " (hidden)"
		}
		v.Rows = append(v.Rows, []string{e.Mode, fmt.Sprint(e.Size), e.Modified, name})
	}
	return v
}
