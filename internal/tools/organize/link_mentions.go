package organize

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/mention"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// LinkMentions: Turn mentions of a note in other notes, by title, file name
// or alias, into wikilinks. The visible text stays the same.
type LinkMentions struct {
	// Path, name, title or alias.
	Path string `json:"path"`
	// Only in this note or folder.
	In string `json:"in,omitempty"`
}

// Help is the text for people.
func (LinkMentions) Help() tool.Help {
	return tool.Help{
		Short: "Turn mentions of a note into links",
		Long:  "The visible text stays the same. lore mentions lists the mentions first.",
		Flags: map[string]string{
			"in": "only in this note, or in the notes in this folder",
		},
		Examples: []string{
			"Caffeine",
			"Oxidation --in Notes",
		},
	}
}

// MentionsLinked are mentions that became links.
type MentionsLinked struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	// Names that were searched for.
	Names []string `json:"names"`
	// Linked is the number of mentions that became links.
	Linked int `json:"linked"`
	// Files that changed, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More says how many files are not listed.
	More string `json:"more,omitempty"`
	// Left counts mentions in headings, code, math, comments and tags.
	Left int `json:"left,omitempty"`
	// Skipped are notes with mentions that could not be changed.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	total    int
	warnings []string
}

// Plan links every mention that reads as plain text.
func (in LinkMentions) Plan(ctx context.Context, env Env) (MentionsLinked, change.Set, error) {
	row, err := toolkit.Locate(ctx, env.Store, "path", in.Path)
	if err != nil {
		return MentionsLinked{}, nil, err
	}
	out := MentionsLinked{Path: row.File.Path, Title: row.Title, Names: mention.Names(&row), Files: []relink.FileLinks{}}
	only, err := env.onlyIn(ctx, in.In)
	if err != nil || len(out.Names) == 0 {
		return out, nil, err
	}
	found, expr, err := mention.Candidates(ctx, env.Store, row.File.Path, out.Names)
	if err != nil {
		return out, nil, err
	}
	var set change.Set
	var files []relink.FileLinks
	looked := 0
	for _, f := range found {
		if f.Path == row.File.Path || !strings.EqualFold(path.Ext(f.Path), ".md") || !only(f.Path) {
			continue
		}
		if looked++; looked > mention.MaxNotes {
			continue
		}
		e, lines, left, err := env.linkIn(ctx, f.Path, row.File.Path, expr)
		switch {
		case ctx.Err() != nil:
			return out, nil, ctx.Err()
		case fault.Of(err) == fault.NotFound:
			continue
		case err != nil:
			out.Skipped = append(out.Skipped, relink.Skip{Path: f.Path, Reason: err.Error(), Links: 1})
			continue
		}
		out.Left += left
		if e != nil {
			set = append(set, *e)
			out.Linked += len(lines)
			files = append(files, relink.FileLinks{Path: f.Path, Lines: slices.Compact(lines)})
		}
	}
	out.total = len(files)
	out.Files, out.More = shown(files, "file")
	out.warnings = env.warnings(out.Skipped, "mention")
	if looked > mention.MaxNotes {
		out.warnings = append(out.warnings, fmt.Sprintf("%s not searched; set \"in\" to a note or folder", toolkit.Count(looked-mention.MaxNotes, "note")))
	}
	return out, set, nil
}

// onlyIn narrows a change to a note or a folder.
func (env Env) onlyIn(ctx context.Context, name string) (func(string) bool, error) {
	if name == "" {
		return func(string) bool { return true }, nil
	}
	folder, err := toolkit.Folder(ctx, env.Vault, env.Store, name)
	if err == nil {
		return func(p string) bool { return toolkit.IsInFolder(p, folder) }, nil
	}
	row, noteErr := toolkit.Locate(ctx, env.Store, "in", name)
	if noteErr != nil {
		return nil, noteErr
	}
	return func(p string) bool { return p == row.File.Path }, nil
}

// linkIn makes links in one note; a nil edit when there is nothing to do.
func (env Env) linkIn(ctx context.Context, p, to string, expr *regexp.Regexp) (e *change.Edit, lines []int, left int, err error) {
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return nil, nil, 0, err
	}
	n := env.parse(p, f.Data)
	spans := mention.Spans(n, expr)
	all := len(spans)
	spans = plainSpans(n, spans)
	if len(spans) == 0 {
		return nil, nil, all, nil
	}
	if n.ReadOnly {
		return nil, nil, 0, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not valid UTF-8", p)
	}
	target, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Spell(ctx, p, to)
	if err != nil {
		return nil, nil, 0, err
	}
	// Where the text is no plain text, such as in math, no link comes out: such
	// places are left, and then all others must have become one.
	for range 3 {
		patches := linkPatches(n.Text(), spans, target)
		text, err := change.Splice(n.Text(), patches...)
		if err != nil {
			return nil, nil, 0, err
		}
		again := env.parse(p, []byte(text))
		good, same := linked(n, again, patches, target)
		if same && len(good) == len(spans) && len(spans) > 0 {
			for _, s := range spans {
				lines = append(lines, 1+strings.Count(n.Text()[:s.Start], "\n"))
			}
			edit := change.Replace(p, string(f.Data), text).Relinking()
			return &edit, lines, all - len(spans), nil
		}
		var keep []note.Span
		for _, i := range good {
			keep = append(keep, spans[i])
		}
		if spans = keep; len(spans) == 0 {
			return nil, nil, all, nil
		}
	}
	return nil, nil, 0, fault.New(fault.Invalid, "links would change the structure of %s", p)
}

// plainSpans leaves out what stands in headings, tags, block marks and the keys
// of fields: a link there would change what they are called.
func plainSpans(n *note.Note, spans []note.Span) []note.Span {
	var taken []note.Span
	for _, h := range n.Headings {
		taken = append(taken, h.Span)
	}
	for _, t := range n.Tags {
		taken = append(taken, t.Span)
	}
	for _, b := range n.Blocks {
		taken = append(taken, b.Mark)
	}
	for _, f := range n.Fields {
		taken = append(taken, note.Span{Start: f.Span.Start, End: f.Val.Start})
	}
	slices.SortFunc(taken, func(a, b note.Span) int { return a.Start - b.Start })
	var out []note.Span
	i, end := 0, 0
	for _, s := range spans {
		for ; i < len(taken) && taken[i].Start < s.End; i++ {
			end = max(end, taken[i].End)
		}
		if s.Start >= end {
			out = append(out, s)
		}
	}
	return out
}

func linkPatches(text string, spans []note.Span, target string) []change.Patch {
	var out []change.Patch
	for _, s := range spans {
		said := text[s.Start:s.End]
		link := "[[" + said + "]]"
		if said != target {
			bar := "|"
			if inTable(text, s.Start) {
				bar = `\|`
			}
			link = "[[" + target + bar + said + "]]"
		}
		out = append(out, change.Patch{Start: s.Start, End: s.End, Text: link})
	}
	return out
}

// linked tells which patches became links to the target, and whether the rest
// of the note reads as before.
func linked(was, now *note.Note, patches []change.Patch, target string) (good []int, same bool) {
	at := make(map[int]note.Link, len(now.Links))
	for _, l := range now.Links {
		at[l.Span.Start] = l
	}
	shift := 0
	for i, p := range patches {
		if l, ok := at[p.Start+shift]; ok && l.Kind == note.Wikilink && index.Key(l.Target) == index.Key(target) && l.Span.Len() == len(p.Text) {
			good = append(good, i)
		}
		shift += len(p.Text) - (p.End - p.Start)
	}
	same = len(now.Links) == len(was.Links)+len(good) && len(now.Tags) == len(was.Tags) && len(now.Headings) == len(was.Headings) &&
		len(now.Fields) == len(was.Fields) && len(now.Tasks) == len(was.Tasks) && len(now.Blocks) == len(was.Blocks)
	return good, same
}

// delimiter is the second row of a table.
var delimiter = regexp.MustCompile(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)*\|?[ \t\r]*$`)

// inTable reports whether the line of a place is a row of a table: a bar in it
// would divide cells.
func inTable(text string, pos int) bool {
	start := strings.LastIndexByte(text[:pos], '\n') + 1
	line, rest, _ := strings.Cut(text[start:], "\n")
	if !strings.Contains(line, "|") {
		return false
	}
	if next, _, _ := strings.Cut(rest, "\n"); strings.Contains(next, "|") && delimiter.MatchString(next) {
		return true
	}
	for start > 0 {
		end := start - 1
		start = strings.LastIndexByte(text[:end], '\n') + 1
		above := text[start:end]
		if strings.TrimSpace(above) == "" {
			return false
		}
		if strings.Contains(above, "-") && delimiter.MatchString(above) {
			return true
		}
	}
	return false
}

// Preview counts the links.
func (m MentionsLinked) Preview() tool.Preview {
	p := tool.Preview{Summary: fmt.Sprintf("Link %s of %s in %s", toolkit.Count(m.Linked, "mention"), m.Title, toolkit.Count(m.total, "note")), Details: m, Warnings: m.warnings}
	if m.Linked == 0 {
		p.Summary = "No mention of " + m.Title + " can be linked"
	}
	return p
}

// View lists the notes.
func (m MentionsLinked) View() tool.View {
	v := tool.View{Items: fileItems(m.Files, m.Skipped), Foot: fmt.Sprintf("%s of %s linked", toolkit.Count(m.Linked, "mention"), m.Title)}
	if m.Left > 0 {
		v.Foot += fmt.Sprintf("; %d not linked, in headings, code or tags", m.Left)
	}
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
