package organize

import (
	"fmt"

	"lore/internal/graph/relink"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// listed is how many files, links or tags the answer of a change names.
const listed = 50

// shown cuts a list of an answer and tells how much of it there is.
func shown[T any](all []T, name string) (page []T, more string) {
	page = append([]T{}, all[:min(len(all), listed)]...)
	if len(all) > len(page) {
		more = fmt.Sprintf("%d of %s", len(page), toolkit.Count(len(all), name))
	}
	return page, more
}

// parse reads a note or a canvas.
func (env Env) parse(p string, data []byte) *note.Note {
	if vault.KindOf(p) == vault.Canvas {
		return note.ParseCanvas(p, data)
	}
	return env.Parse.Parse(p, data)
}

// warnings say what a change leaves.
func (env Env) warnings(skipped []relink.Skip, what string) []string {
	var out []string
	for i, s := range skipped {
		if i == 5 {
			out = append(out, fmt.Sprintf("and in %s more", toolkit.Count(len(skipped)-5, "file")))
			break
		}
		out = append(out, fmt.Sprintf("%s in %s not changed: %s", toolkit.Count(s.Links, what), s.Path, s.Reason))
	}
	return out
}

// fileItems list files with the lines on which they change, and those that are
// left.
func fileItems(files []relink.FileLinks, skipped []relink.Skip) []tool.Item {
	var out []tool.Item
	for _, f := range files {
		out = append(out, tool.Item{Path: f.Path, Detail: lineList(f.Lines)})
	}
	for _, s := range skipped {
		out = append(out, tool.Item{Path: s.Path, Detail: "not changed: " + s.Reason})
	}
	return out
}

func lineList(lines []int) string {
	s := "line"
	for i, l := range lines {
		if i > 0 {
			s += ","
		}
		if i == 10 {
			return s + fmt.Sprintf(" and %d more", len(lines)-10)
		}
		s += fmt.Sprintf(" %d", l)
	}
	return s
}
