package note

import (
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
)

// IsTag reports whether name, without a '#', is a tag wherever tags may stand.
func IsTag(name string) bool {
	return validTag(name) && tagEnd(name, 0) == len(name) && strings.Trim(name, "/") == name && !strings.Contains(name, "//")
}

// RenameTag gives a tag another name, in the body and in properties, and with
// it the tags below it: "tea/green" follows "tea". Case does not matter, other
// bytes stay. A property that would name a tag twice afterwards names it once.
// The lines are those on which something changes.
func RenameTag(n *Note, old, now string) (patches []change.Patch, lines []int, err error) {
	if !IsTag(now) {
		return nil, nil, fault.Field("new_tag", "use letters, digits, _, - and /, and not only digits", "%q cannot be a tag", now)
	}
	var want []string // the tags that the note has afterwards, in order
	seen := make(map[string]bool)
	for _, t := range n.Tags {
		if t.Front && !tagUnder(t.Name, old) {
			seen[strings.ToLower(t.Name)] = true
		}
	}
	for _, t := range n.Tags {
		if !tagUnder(t.Name, old) {
			want = append(want, t.Name)
			continue
		}
		if err := n.editable(); err != nil {
			return nil, nil, err
		}
		own := tagPart(t.Name, old)
		name := now + t.Name[len(own):]
		at := strings.Index(n.text[t.Span.Start:t.Span.End], t.Name)
		if at < 0 {
			return nil, nil, fault.New(fault.Invalid, "the tag %q in %s is written in a way that cannot be edited safely", t.Name, n.Path)
		}
		at += t.Span.Start
		if name == t.Name {
			want = append(want, name)
			continue
		}
		p := change.Patch{Start: at, End: at + len(own), Text: now}
		if key := strings.ToLower(name); t.Front && seen[key] {
			p = n.dropItem(Span{at, at + len(t.Name)})
		} else {
			want = append(want, name)
			seen[key] = seen[key] || t.Front
		}
		patches, lines = append(patches, p), append(lines, n.line(at))
	}
	if len(patches) == 0 {
		return nil, nil, nil
	}
	if !n.verifyTags(patches, want) {
		return nil, nil, fault.Fix(fault.Invalid, "edit the note by hand", "the tag %q in %s cannot be renamed without changing other text", old, n.Path)
	}
	return patches, slices.Compact(lines), nil
}

// tagUnder reports whether a tag is old or lies below it.
func tagUnder(name, old string) bool {
	part := tagPart(name, old)
	return part != "" && strings.EqualFold(part, old)
}

// tagPart is the beginning of a tag that has as many levels as old, or "".
func tagPart(name, old string) string {
	end := 0
	for range 1 + strings.Count(old, "/") {
		if end > 0 {
			if end == len(name) {
				return ""
			}
			end++ // the slash
		}
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			end = len(name)
			continue
		}
		end += next
	}
	return name[:end]
}

// dropItem takes one item out of a list in the front matter: its line, or it
// and the comma beside it.
func (n *Note) dropItem(s Span) change.Patch {
	text := n.text
	line := n.line(s.Start)
	start, end := n.starts[line-1], len(text)
	if line < len(n.starts) {
		end = n.starts[line]
	}
	if t := strings.TrimLeft(text[start:s.Start], " \t"); strings.HasPrefix(t, "-") && strings.Trim(t, "- \t\"'#") == "" {
		return change.Patch{Start: start, End: end}
	}
	for s.Start > 0 && strings.IndexByte("#\"'", text[s.Start-1]) >= 0 {
		s.Start--
	}
	for s.End < len(text) && strings.IndexByte("\"'", text[s.End]) >= 0 {
		s.End++
	}
	before := s.Start
	for before > start && strings.IndexByte(" \t,", text[before-1]) >= 0 {
		before--
	}
	if before > start && text[before-1] != '[' && text[before-1] != ':' {
		return change.Patch{Start: before, End: s.End}
	}
	for s.End < end && strings.IndexByte(" \t,", text[s.End]) >= 0 {
		s.End++
	}
	return change.Patch{Start: s.Start, End: s.End}
}

// verifyTags reads the note again with the patches: the tags must be those in
// want, and everything else what it was.
func (n *Note) verifyTags(patches []change.Patch, want []string) bool {
	text, err := change.Splice(n.text, patches...)
	if err != nil {
		return false
	}
	var again *Note
	if n.canvas {
		again = ParseCanvas(n.Path, []byte(text))
	} else {
		again = n.opt.Parse(n.Path, []byte(text))
	}
	same := func(t Tag, name string) bool { return t.Name == name }
	return slices.EqualFunc(again.Tags, want, same) && again.Front.Broken == n.Front.Broken && len(again.Front.Props) == len(n.Front.Props) &&
		len(again.Headings) == len(n.Headings) && len(again.Blocks) == len(n.Blocks) && len(again.Tasks) == len(n.Tasks) &&
		slices.EqualFunc(again.Links, n.Links, func(a, b Link) bool {
			// Logseq writes tags as links, too: "tags:: [[tea]]".
			inside := func(p change.Patch) bool { return b.Span.Start <= p.Start && p.End <= b.Span.End }
			return a.Kind == b.Kind && (a.Target == b.Target || slices.ContainsFunc(patches, inside))
		})
}
