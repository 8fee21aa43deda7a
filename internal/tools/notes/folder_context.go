package notes

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/index"
	"lore/internal/note"
)

// contextName is the note that describes the folder it is in.
const contextName = "_context.md"

// Limits of what an answer tells about folders.
const (
	contextText    = 600  // bytes of one description
	contextNearest = 2    // descriptions for one note
	contextTotal   = 3000 // bytes of all
)

// FolderContext is what the note _context.md says about everything in its folder.
type FolderContext struct {
	// Path of the description.
	Path string `json:"path"`
	Text string `json:"text"`
}

// contextOf are the descriptions of the folders that notes are in, each once: for
// every note the nearest two. Descriptions that are marked as untrusted, and those
// that are in the answer themselves, are left out. They are extra, so what cannot
// be read is left out too.
func (env Env) contextOf(ctx context.Context, paths []string) ([]FolderContext, error) {
	var candidates []string
	for _, p := range paths {
		for _, c := range contextPaths(p) {
			if !slices.Contains(candidates, c) {
				candidates = append(candidates, c)
			}
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	rows, err := env.Store.Notes(ctx, index.Select{Paths: candidates})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	texts := map[string]string{}
	for i := range rows {
		p := rows[i].File.Path
		f, err := env.Vault.Head(ctx, p)
		if err != nil {
			continue
		}
		if n := note.Parse(p, f.Data); !n.IsUntrusted() {
			texts[p] = beginning(strings.TrimSpace(n.Text()[n.Front.Span.End:]), contextText)
		}
	}
	var out []FolderContext
	size := 0
	told := map[string]bool{}
	for _, p := range paths {
		near := 0
		for _, c := range contextPaths(p) {
			text := texts[c]
			if text == "" || near == contextNearest {
				continue
			}
			near++
			if told[c] || slices.Contains(paths, c) || size+len(text) > contextTotal {
				continue
			}
			told[c] = true
			size += len(text)
			out = append(out, FolderContext{Path: c, Text: text})
		}
	}
	return out, ctx.Err()
}

// contextPaths are where descriptions of a note can be, the nearest first.
func contextPaths(p string) []string {
	var out []string
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		out = append(out, path.Join(dir, contextName))
		if dir == "." || dir == "/" {
			return out
		}
	}
}

// beginning cuts a text to at most so many bytes, between characters.
func beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.TrimSpace(s[:most]) + "…"
}
