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
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// EditNote: Change a part of a note: replace text, or add text under a
// heading or at a block.
type EditNote struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Text to find, copied from the note; must match once.
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
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (EditNote) Help() tool.Help {
	return tool.Help{
		Short: "Change part of a note",
		Long:  "Replace text that occurs once, or add text under a heading or at a block. Differences in spaces and line breaks are ignored.",
		Flags: map[string]string{
			"search":        "text to find; it must occur exactly once",
			"replace":       "replacement for the text that --search found",
			"diff":          "several edits at once, as SEARCH/REPLACE blocks",
			"under-heading": `add the text under this heading ("Tea > Brewing")`,
			"block":         `add the text at this block ("^id")`,
			"text":          "text to add",
			"where":         "put the text at the end or the start, or replace what is there",
		},
		Examples: []string{
			`Matcha --search "70 ml of water" --replace "80 ml of water"`,
			`Matcha --under-heading "Thin tea, usucha" --text "Sift it first."`,
		},
	}
}

// Edited is a note that was changed in part.
type Edited struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	// Lines where the changes start, in the old text.
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
		return Edited{}, nil, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not valid UTF-8", n.File.Path)
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
		out.Lines = append(out.Lines, toolkit.LineAt(n.Text(), p.Start))
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
		return fault.Field("search", "give one of: search with replace; diff; under_heading with text; block with text", "is missing")
	case ways > 1:
		return fault.Field("search", "make one call for each", "only one of search, diff, under_heading and block is allowed")
	case (in.UnderHeading != "" || in.Block != "") && strings.TrimSpace(in.Text) == "":
		return fault.Field("text", "give the text to add", "is missing")
	case in.Search != "" && in.Text != "":
		return fault.Field("text", "to replace the text that was found, use the argument \"replace\"", "needs under_heading or block")
	}
	return nil
}

func (in EditNote) patches(n *note.Note) ([]change.Patch, error) {
	switch {
	case in.Search != "":
		p, err := toolkit.ReplaceOne(n.Path, n.Text(), in.Search, in.Replace)
		return []change.Patch{p}, err
	case in.Diff != "":
		return toolkit.ReplaceBlocks(n.Path, n.Text(), in.Diff)
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
		return nil, fault.Field("under_heading", "to edit a block, use the argument \"block\"", "%q is not a heading", heading)
	}
	old := n.Text()[n.Headings[i].Span.End:s.End]
	tail := old[len(strings.TrimRight(old, " \t\r\n")):]
	if strings.TrimSpace(old) == "" {
		tail = "\n"
	}
	if tail == "" {
		tail = "" // the last line of the note had no line end, and keeps none
	}
	eol := toolkit.LineEnd(n.Text())
	body := toolkit.LineEnds("\n\n"+strings.Trim(text, "\n"), eol)
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
	eol := toolkit.LineEnd(n.Text())
	text := toolkit.LineEnds(strings.Trim(in.Text, "\n"), eol)
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
		return "no line"
	}
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprint(l))
	}
	return "line " + strings.Join(out, ", ")
}
