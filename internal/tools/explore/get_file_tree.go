package explore

import (
	"context"
	"path"
	"slices"
	"strings"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// GetFileTree: Show the folders of the vault with the number of notes in
// each, and the files if asked.
type GetFileTree struct {
	// Folder to start from; default the whole vault.
	Folder string `json:"folder,omitempty"`
	// Levels of folders to show.
	Depth int `json:"depth,omitempty" default:"3" min:"1" max:"20"`
	// List the notes too.
	Notes bool `json:"notes,omitempty"`
	// List the attachments too.
	Attachments bool `json:"attachments,omitempty"`
	// Max lines.
	Limit int `json:"limit,omitempty" default:"200" min:"1" max:"1000"`
	// Lines to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (GetFileTree) Help() tool.Help {
	return tool.Help{
		Short: "Show the folders in the vault",
		Examples: []string{
			"",
			"--notes --folder Nodes",
		},
	}
}

// FileTree is a tree, one line for each folder or file, in the order of paths.
type FileTree struct {
	Folder  string      `json:"folder"`
	Entries []TreeEntry `json:"entries"`
	// Notes and Attachments count the files in the whole folder, at any depth.
	Notes       int `json:"notes"`
	Attachments int `json:"attachments"`
	// Total number of lines, including those not shown.
	Total int `json:"total"`
	// More says how to get the next lines.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`
}

// TreeEntry is a folder, or a file.
type TreeEntry struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
	// IsFolder tells folders from files.
	IsFolder bool `json:"is_folder"`
	// Notes and Attachments count the files in a folder, at any depth.
	Notes       int `json:"notes,omitempty"`
	Attachments int `json:"attachments,omitempty"`
	// Hidden counts the folders below the depth limit.
	Hidden int `json:"deeper_folders,omitempty"`
}

// Run builds the tree.
func (in GetFileTree) Run(ctx context.Context, env Env) (FileTree, error) {
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return FileTree{}, err
	}
	root := strings.Join(folder, "")
	t := tree{root: root, depth: in.Depth, folders: map[string]*TreeEntry{}}
	for _, kind := range []index.Kind{index.KindNote, index.KindCanvas, index.KindAttachment} {
		counts, err := env.Store.Facets(ctx, index.FacetFolder, index.Filter{Kinds: []index.Kind{kind}, Folders: folder})
		if err != nil {
			return FileTree{}, err
		}
		for _, c := range counts {
			t.add(c.Value, c.Notes, kind == index.KindAttachment)
		}
	}
	top := t.get(root)
	entries := t.entries()
	if kinds := in.kinds(); len(kinds) > 0 {
		rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: kinds, Folders: folder}})
		if err != nil {
			return FileTree{}, err
		}
		for _, r := range rows {
			if d := t.level(path.Dir(r.File.Path)); d < in.Depth {
				entries = append(entries, TreeEntry{Path: r.File.Path, Depth: d + 1})
			}
		}
	}
	slices.SortFunc(entries, func(a, b TreeEntry) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	page, more := paging.Cut(entries, in.Offset, in.Limit)
	return FileTree{
		Folder: root, Entries: append([]TreeEntry{}, page...), Notes: top.Notes, Attachments: top.Attachments,
		Total: len(entries), More: more, Index: env.Fresh(ctx),
	}, nil
}

// kinds are the files that are listed one by one.
func (in GetFileTree) kinds() []index.Kind {
	var out []index.Kind
	if in.Notes {
		out = append(out, index.KindNote, index.KindCanvas)
	}
	if in.Attachments {
		out = append(out, index.KindAttachment)
	}
	return out
}

// A tree adds the counts of folders up to their parents.
type tree struct {
	root    string
	depth   int
	folders map[string]*TreeEntry
}

// level is how many folders a path lies below the root of the tree.
func (t *tree) level(folder string) int {
	if folder == "." || strings.EqualFold(folder, t.root) {
		return 0
	}
	n := strings.Count(folder, "/") + 1
	if t.root != "" {
		n -= strings.Count(t.root, "/") + 1
	}
	return n
}

func (t *tree) get(folder string) *TreeEntry {
	key := strings.ToLower(folder)
	if t.folders[key] == nil {
		t.folders[key] = &TreeEntry{Path: folder, IsFolder: true, Depth: t.level(folder)}
	}
	return t.folders[key]
}

func (t *tree) add(folder string, n int, attachments bool) {
	for at := folder; ; at = path.Dir(at) {
		if at == "." {
			at = ""
		}
		e := t.get(at)
		if attachments {
			e.Attachments += n
		} else {
			e.Notes += n
		}
		if strings.EqualFold(at, t.root) || at == "" {
			return
		}
	}
}

// entries are the folders that the depth shows, without the root.
func (t *tree) entries() []TreeEntry {
	var out []TreeEntry
	for key, e := range t.folders {
		if key == strings.ToLower(t.root) || e.Depth > t.depth {
			continue
		}
		shown := *e
		if e.Depth == t.depth {
			for k := range t.folders {
				if strings.HasPrefix(k, key+"/") {
					shown.Hidden++
				}
			}
		}
		out = append(out, shown)
	}
	return out
}

// View draws the tree.
func (f FileTree) View() tool.View {
	var b strings.Builder
	for _, e := range f.Entries {
		b.WriteString(strings.Repeat("  ", e.Depth-1) + path.Base(e.Path))
		if e.IsFolder {
			b.WriteString("/  " + toolkit.Count(e.Notes, "note"))
			if e.Attachments > 0 {
				b.WriteString(", " + toolkit.Count(e.Attachments, "attachment"))
			}
			if e.Hidden > 0 {
				b.WriteString(", " + toolkit.Count(e.Hidden, "deeper folder"))
			}
		}
		b.WriteByte('\n')
	}
	return tool.View{Text: b.String(), Foot: toolkit.Foot(f.Index, toolkit.Count(f.Notes, "note")+", "+toolkit.Count(f.Attachments, "attachment"), f.More)}
}
