package notes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/vault"
)

// EditNote changes a part of a note: replaces text, or puts text under a
// heading or at a block.
type EditNote struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Text to find; must fit one place.
	Search string `json:"search,omitempty" size:"prose"`
	// Its replacement.
	Replace string `json:"replace,omitempty" size:"text"`
	// Instead: several SEARCH/REPLACE blocks.
	Diff string `json:"diff,omitempty" size:"text"`
	// Instead: heading ("Tea > Brewing") ...
	UnderHeading string `json:"under_heading,omitempty"`
	// ... or block ("^id") ...
	Block string `json:"block,omitempty"`
	// ... and the text to put there.
	Text string `json:"text,omitempty" size:"text"`
	// Where to put it.
	Where string `json:"where,omitempty" default:"end" enum:"end,start,replace"`
	// Hash from reading.
	IfHash string `json:"if_hash,omitempty"`
}

// Edited is a note of which a part changed.
type Edited struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	// Lines where the changes begin, as they were.
	Lines []int `json:"lines"`
	Bytes int   `json:"bytes"`
}

// Plan finds the places and patches them.
func (in EditNote) Plan(ctx context.Context, env Env) (Edited, change.Set, error) {
	if err := in.oneWay(); err != nil {
		return Edited{}, nil, err
	}
	n, err := env.open(ctx, in.Path)
	if err != nil {
		return Edited{}, nil, err
	}
	if err := env.expect(ctx, n, in.IfHash); err != nil {
		return Edited{}, nil, err
	}
	if n.ReadOnly {
		return Edited{}, nil, fault.New(fault.ReadOnly, "%s is not plain text", n.File.Path)
	}
	patches, err := in.patches(n.Note)
	if err != nil {
		return Edited{}, nil, err
	}
	after, set, err := n.edited(patches)
	if err != nil {
		return Edited{}, nil, err
	}
	out := Edited{Path: n.File.Path, Hash: vault.Sum([]byte(after)).String(), Bytes: len(after), Lines: []int{}}
	for _, p := range patches {
		out.Lines = append(out.Lines, lineAt(n.Text(), p.Start))
	}
	slices.Sort(out.Lines)
	return out, set, nil
}

// oneWay checks that the call says one thing.
func (in EditNote) oneWay() error {
	ways := 0
	for _, w := range []string{in.Search, in.Diff, in.UnderHeading, in.Block} {
		if w != "" {
			ways++
		}
	}
	switch {
	case ways == 0:
		return fault.Field("search", "give search and replace, diff, under_heading and text, or block and text", "nothing says what to change")
	case ways > 1:
		return fault.Field("search", "call it once for each", "give only one of search, diff, under_heading and block")
	case (in.UnderHeading != "" || in.Block != "") && strings.TrimSpace(in.Text) == "":
		return fault.Field("text", "give the text to put there", "is missing")
	case in.Search != "" && in.Text != "":
		return fault.Field("text", "use replace", "belongs to under_heading and block")
	}
	return nil
}

func (in EditNote) patches(n *note.Note) ([]change.Patch, error) {
	switch {
	case in.Search != "":
		p, err := replaceIn(n, in.Search, in.Replace)
		return []change.Patch{p}, err
	case in.Diff != "":
		return replaceBlocks(n, in.Diff)
	case in.Block != "":
		return in.atBlock(n)
	case in.Where == "replace":
		return replaceSection(n, in.UnderHeading, in.Text)
	}
	where := note.AtEnd
	if in.Where == "start" {
		where = note.AtStart
	}
	patches, err := note.InsertUnder(n, in.UnderHeading, in.Text, where)
	return patches, fault.Rename(fault.Rename(err, "section", "under_heading"), "", "under_heading")
}

// replaceSection puts text in place of what stands under a heading. The heading
// and the blank lines before the next one stay.
func replaceSection(n *note.Note, heading, text string) ([]change.Patch, error) {
	s, err := n.Section(heading)
	if err != nil {
		return nil, fault.Rename(err, "", "under_heading")
	}
	i := slices.IndexFunc(n.Headings, func(h note.Heading) bool { return h.Section == s })
	if i < 0 {
		return nil, fault.Field("under_heading", "use block for blocks", "%q is no heading", heading)
	}
	old := n.Text()[n.Headings[i].Span.End:s.End]
	tail := old[len(strings.TrimRight(old, " \t\r\n")):]
	if strings.TrimSpace(old) == "" {
		tail = "\n"
	}
	if tail == "" {
		tail = "" // the last line of the note had no line end, and keeps none
	}
	eol := lineEnd(n.Text())
	body := lineEnds("\n\n"+strings.Trim(text, "\n"), eol)
	return []change.Patch{{Start: n.Headings[i].Span.End, End: s.End, Text: body + tail}}, nil
}

// atBlock puts text before, behind or in place of a block. A block that is
// replaced keeps its mark, so that links to it stay true.
func (in EditNote) atBlock(n *note.Note) ([]change.Patch, error) {
	id := strings.TrimLeft(strings.TrimSpace(in.Block), "#^")
	if _, err := n.Section("^" + id); err != nil {
		return nil, fault.Rename(err, "", "block")
	}
	i := slices.IndexFunc(n.Blocks, func(b note.Block) bool { return strings.EqualFold(b.ID, id) })
	b := n.Blocks[i]
	eol := lineEnd(n.Text())
	text := lineEnds(strings.Trim(in.Text, "\n"), eol)
	old := n.Text()[b.Span.Start:b.Span.End]
	end := b.Span.Start + len(strings.TrimRight(old, "\r\n"))
	gap := eol + eol
	if isItem(old) && isItem(text) {
		gap = eol
	}
	switch in.Where {
	case "start":
		return []change.Patch{{Start: b.Span.Start, End: b.Span.Start, Text: text + gap}}, nil
	case "replace":
		mark := n.Text()[b.Mark.Start:b.Mark.End]
		if !strings.Contains(text, mark) {
			text += n.Text()[b.Span.Start+len(strings.TrimRight(n.Text()[b.Span.Start:b.Mark.Start], " \t\r\n")) : b.Mark.End]
		}
		return []change.Patch{{Start: b.Span.Start, End: end, Text: text}}, nil
	}
	return []change.Patch{{Start: end, End: end, Text: gap + text}}, nil
}

// isItem reports whether a text begins with a list item.
func isItem(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "+ ")
}

// Preview tells how many places change.
func (e Edited) Preview() tool.Preview {
	summary := fmt.Sprintf("Edit %s at line %d", e.Path, first(e.Lines))
	if len(e.Lines) > 1 {
		summary = fmt.Sprintf("Edit %s in %d places", e.Path, len(e.Lines))
	}
	return tool.Preview{Summary: summary, Details: map[string]any{"path": e.Path, "lines": e.Lines}}
}

func first(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// View says where the note changed.
func (e Edited) View() tool.View {
	return tool.View{Text: fmt.Sprintf("edited %s at %s\n", e.Path, places(e.Lines))}
}

func places(lines []int) string {
	if len(lines) == 0 {
		return "no place"
	}
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprint(l))
	}
	return "line " + strings.Join(out, ", ")
}
