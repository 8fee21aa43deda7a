package find

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/relink"
	"lore/internal/tool"
	"lore/internal/vault"
)

// MergeNotes puts the text of another note into a note and removes the other.
// Links to the other lead to the kept one, its title becomes an alias, and
// properties are joined; nothing of either text is lost.
type MergeNotes struct {
	// Path, file name, title or alias of the note that is kept.
	Path string `json:"path"`
	// The note that goes into it.
	Other string `json:"other"`
	// Where the other's text goes.
	Strategy string `json:"strategy,omitempty" default:"append" enum:"append,prepend"`
}

// NotesMerged are two notes that became one.
type NotesMerged struct {
	Path string `json:"path"`
	// Other is the note that is gone.
	Other        string `json:"other"`
	Hash         string `json:"hash"`
	LinksUpdated int    `json:"links_updated"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`
	// More tells how many files are not listed.
	More string `json:"more,omitempty"`
	// Added are the properties that the kept note got or that grew.
	Added []string `json:"added,omitempty"`
	// Shown are the properties of which the kept note has another value: the other's stands in the text.
	Shown []string `json:"shown,omitempty"`
	// Aliases that the kept note got.
	Aliases []string `json:"aliases,omitempty"`
	// Skipped are files with links that could not be rewritten.
	Skipped []relink.Skip `json:"skipped,omitempty"`

	total    int
	warnings []string
}

// Plan joins the two texts and points all links to the kept note.
func (in MergeNotes) Plan(ctx context.Context, env Env) (NotesMerged, change.Set, error) {
	kept, err := env.mergeable(ctx, "path", in.Path)
	if err != nil {
		return NotesMerged{}, nil, err
	}
	other, err := env.mergeable(ctx, "other", in.Other)
	if err != nil {
		return NotesMerged{}, nil, err
	}
	if kept.Path == other.Path {
		return NotesMerged{}, nil, fault.Field("other", "name another note", "%s is the note itself", other.Path)
	}
	aliases := joinNames(kept, other)
	m, err := env.planner().Merge(ctx, kept.Path, other.Path, append(slices.Clone(kept.Aliases), aliases...))
	if err != nil {
		return NotesMerged{}, nil, err
	}
	out := NotesMerged{Path: kept.Path, Other: other.Path, LinksUpdated: m.Links, Skipped: m.Skipped, Aliases: aliases, total: len(m.Files)}
	out.Files, out.More = shown(m.Files, "file")
	j := joiner{env: env, out: &out, kept: env.parse(kept.Path, []byte(m.Kept)), other: env.parse(other.Path, []byte(m.Other))}
	j.properties(aliases)
	text, err := j.text(in.Strategy == "prepend")
	if err != nil {
		return NotesMerged{}, nil, err
	}
	out.Hash = vault.Sum([]byte(text)).String()
	out.warnings = append(env.warnings(m.Skipped, "link"), j.warnings()...)
	set := append(change.Set{change.Replace(kept.Path, m.KeptWas, text), change.Delete(other.Path, m.OtherWas)}, m.Set...)
	return out, set, nil
}

// mergeable reads a note that can be merged.
func (env Env) mergeable(ctx context.Context, field, name string) (*note.Note, error) {
	row, err := env.locate(ctx, field, name)
	if err != nil {
		return nil, err
	}
	if vault.KindOf(row.File.Path) != vault.Note {
		return nil, fault.Field(field, "name a Markdown note", "%s is no note", row.File.Path)
	}
	f, err := env.Vault.Read(ctx, row.File.Path)
	if err != nil {
		return nil, err
	}
	n := env.parse(row.File.Path, f.Data)
	if n.ReadOnly {
		return nil, fault.New(fault.ReadOnly, "%s is not plain text", row.File.Path)
	}
	return n, nil
}

// joinNames are the names of the other note that the kept one does not have.
func joinNames(kept, other *note.Note) []string {
	have := []string{index.TargetKey(kept.Path)}
	for _, a := range kept.Aliases {
		have = append(have, index.Key(a))
	}
	var out []string
	for _, name := range append([]string{other.Title}, other.Aliases...) {
		if k := index.Key(name); k != "" && !slices.Contains(have, k) {
			have = append(have, k)
			out = append(out, name)
		}
	}
	return out
}

// A joiner makes one text of two notes.
type joiner struct {
	env         Env
	out         *NotesMerged
	kept, other *note.Note
	lost        []string // entries of the other's front matter that stand in the text
}

// set gives the kept note a property. It reports whether that worked.
func (j *joiner) set(key string, v any) bool {
	patches, err := note.SetProperty(j.kept, key, v)
	if err != nil {
		return false
	}
	text, err := change.Splice(j.kept.Text(), patches...)
	if err != nil {
		return false
	}
	j.kept = j.env.parse(j.kept.Path, []byte(text))
	return true
}

// properties joins the front matter. What cannot be joined is shown as it was
// written.
func (j *joiner) properties(aliases []string) {
	named := true
	if len(aliases) > 0 {
		key, list := "aliases", []any{}
		for _, p := range j.kept.Front.Props {
			if k := strings.ToLower(p.Key); k == "aliases" || k == "alias" {
				key, list = p.Key, asList(p.Value)
				break
			}
		}
		for _, a := range aliases {
			list = append(list, a)
		}
		if named = j.set(key, list); !named {
			j.out.Aliases = nil
		}
	}
	f := &j.other.Front
	yaml := j.other.Text()[f.YAML.Start:f.YAML.End]
	if f.Broken != "" || strings.Contains(yaml, "#") && hasComment(yaml) {
		// Comments belong to nobody: the whole block is kept.
		j.lost = []string{yaml}
	}
	for _, p := range f.Props {
		if k := strings.ToLower(p.Key); named && (k == "aliases" || k == "alias") {
			continue // they are names, and joined as names
		}
		j.property(p)
	}
}

func (j *joiner) property(p note.Property) {
	have, both := j.kept.Front.Get(p.Key)
	mine, isList := have.([]any)
	yours, areList := p.Value.([]any)
	raw := j.other.Text()[p.Span.Start:p.Span.End]
	switch {
	case !both:
		if j.set(p.Key, p.Value) {
			j.out.Added = append(j.out.Added, p.Key)
			return
		}
	case fmt.Sprint(have) == fmt.Sprint(p.Value):
		return
	case isList && areList:
		all := slices.Clone(mine)
		for _, v := range yours {
			if !slices.ContainsFunc(all, func(w any) bool { return strings.EqualFold(fmt.Sprint(w), fmt.Sprint(v)) }) {
				all = append(all, v)
			}
		}
		if len(all) == len(mine) {
			return
		}
		if j.set(p.Key, all) {
			j.out.Added = append(j.out.Added, p.Key)
			return
		}
	}
	j.out.Shown = append(j.out.Shown, p.Key)
	if len(j.lost) == 0 || !strings.Contains(j.lost[0], raw) {
		j.lost = append(j.lost, raw)
	}
}

func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return slices.Clone(v)
	case string:
		var out []any
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return []any{v}
}

// hasComment reports whether YAML holds what may be a comment. A '#' inside of
// quotes counts too: keeping too much loses nothing.
func hasComment(yaml string) bool {
	for line := range strings.SplitSeq(yaml, "\n") {
		if t := strings.TrimLeft(line, " \t"); strings.HasPrefix(t, "#") || strings.Contains(t, " #") {
			return true
		}
	}
	return false
}

// text puts the two bodies together and makes sure that both read as before.
func (j *joiner) text(first bool) (string, error) {
	kept := j.kept.Text()
	eol := "\n"
	if i := strings.IndexByte(kept, '\n'); i > 0 && kept[i-1] == '\r' {
		eol = "\r\n"
	}
	// What comes takes the line ends of the kept note, whose bytes stay.
	part := strings.ReplaceAll(strings.ReplaceAll(j.part(), "\r\n", "\n"), "\n", eol)
	head := j.kept.Front.Span.End
	if head == 0 && strings.HasPrefix(kept, "\ufeff") {
		head = len("\ufeff")
	}
	var text string
	if first {
		body := strings.TrimLeft(kept[head:], "\r\n")
		text = kept[:head] + part
		if body != "" {
			text += eol + body
		}
	} else {
		body := strings.TrimRight(kept[head:], "\r\n")
		text = kept[:head] + body
		if body != "" {
			text += eol + eol
		}
		text += part
	}
	again := j.env.parse(j.kept.Path, []byte(text))
	if !slices.Equal(targets(again), j.targets(first)) || len(again.Headings) < len(j.kept.Headings)+len(j.other.Headings) {
		return "", fault.Fix(fault.Conflict, "close code, comments and HTML that are open, and give their [labels]: other names",
			"%s and %s would not read as before in one note", j.kept.Path, j.other.Path)
	}
	return text, nil
}

// part is what comes into the kept note: the other's text under a heading, and
// properties that have no other place.
func (j *joiner) part() string {
	body := strings.TrimLeft(j.other.Text()[j.other.Front.Span.End:], "\ufeff\r\n")
	var b strings.Builder
	if len(j.other.Headings) == 0 || j.other.Headings[0].Span.Start > j.other.Front.Span.End+len(j.other.Text()[j.other.Front.Span.End:])-len(body) {
		b.WriteString("## " + strings.Join(strings.Fields(j.other.Title), " ") + "\n\n")
	}
	if len(j.lost) > 0 {
		block := "```yaml\n" + strings.TrimRight(strings.Join(j.lost, ""), "\r\n") + "\n```\n"
		if b.Len() > 0 {
			b.WriteString(block + "\n")
		} else {
			// The note begins with a heading: its properties stand below it.
			end := j.other.Headings[0].Span.End - (len(j.other.Text()) - len(body))
			b.WriteString(body[:end] + "\n\n" + block + "\n")
			body = strings.TrimLeft(body[end:], "\r\n")
		}
	}
	b.WriteString(body)
	if s := b.String(); !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return b.String()
}

// targets are the links that the one note must have.
func (j *joiner) targets(first bool) []string {
	a, b := targets(j.kept), targets(j.other)
	if first {
		a, b = b, a
	}
	return append(a, b...)
}

// targets lists the links in the body of a note.
func targets(n *note.Note) []string {
	out := []string{}
	for _, l := range n.Links {
		if l.Span.Start >= n.Front.Span.End {
			out = append(out, l.Target+"#"+l.Fragment)
		}
	}
	return out
}

// warnings tell what is no longer unique in the one note.
func (j *joiner) warnings() []string {
	var out []string
	both := 0
	for _, h := range j.other.Headings {
		if slices.ContainsFunc(j.kept.Headings, func(k note.Heading) bool { return strings.EqualFold(k.Text, h.Text) }) {
			both++
		}
	}
	switch both {
	case 0:
	case 1:
		out = append(out, "one heading stands in both notes: links to it lead to the first")
	default:
		out = append(out, fmt.Sprintf("%d headings stand in both notes: links to them lead to the first", both))
	}
	for _, b := range j.other.Blocks {
		if slices.ContainsFunc(j.kept.Blocks, func(k note.Block) bool { return strings.EqualFold(k.ID, b.ID) }) {
			out = append(out, "the block ^"+b.ID+" stands in both notes")
		}
	}
	if len(j.out.Shown) > 0 {
		out = append(out, "both notes have "+strings.Join(j.out.Shown, ", ")+": the kept note's stays, the other's stands in the text")
	}
	if strings.Contains(j.kept.Text(), "[^") && strings.Contains(j.other.Text(), "[^") {
		out = append(out, "both notes have footnotes: equal labels meet")
	}
	return out
}

// Preview says what is removed.
func (m NotesMerged) Preview() tool.Preview {
	summary := fmt.Sprintf("Merge %s into %s and remove it", m.Other, m.Path)
	if m.LinksUpdated > 0 {
		summary += fmt.Sprintf("; update %s in %s", many(m.LinksUpdated, "link"), many(m.total, "note"))
	}
	return tool.Preview{Summary: summary, Details: m, Warnings: m.warnings, Destroys: true}
}

// View says where links followed.
func (m NotesMerged) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("merged %s into %s\n", m.Other, m.Path), Items: fileItems(m.Files, m.Skipped), Foot: many(m.LinksUpdated, "link") + " updated"}
	if len(m.Shown) > 0 {
		v.Foot += "; shown in the text: " + strings.Join(m.Shown, ", ")
	}
	if m.More != "" {
		v.Foot += "; " + m.More
	}
	return v
}
