package relation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// title is the heading that is made where a note has no Relations.
const title = "## Relations"

// Add writes r as a line at the end of the section Relations, with the line ends
// and the list marks that the note uses. Where there is no such section, or
// nothing can follow what stands in it, one is made at the end of the note. The
// relation needs an id that the note does not have; its form and its places do
// not matter.
func Add(n *note.Note, r Relation) ([]change.Patch, error) {
	if err := editable(n); err != nil {
		return nil, err
	}
	r, err := checked(n, r)
	if err != nil {
		return nil, err
	}
	p := newPage(n)
	var first error
	for _, patch := range p.places(r) {
		patches := []change.Patch{patch}
		err := p.verify(patches, r.ID, &r)
		if err == nil {
			return patches, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// Remove takes the line of a relation out of a note, and a heading that [Add]
// made for it when nothing else stands below.
func Remove(n *note.Note, id string) ([]change.Patch, error) {
	p, e, err := find(n, id)
	if err != nil {
		return nil, err
	}
	for _, b := range n.Blocks {
		if b.ID == e.ID && b.Span.End > e.line.End {
			return nil, fault.Fix(fault.Invalid, "move the lines below it, or remove it by hand",
				"the relationship ^%s on line %d of %s has nested lines below it", e.ID, e.Line, n.Path)
		}
	}
	patches := []change.Patch{p.removal(e)}
	return patches, p.verify(patches, e.ID, nil)
}

// Whole reports whether the line of a relation says nothing but what [Relation]
// has a place for, so that [Remove] and [Add] lose no word of it. What a link is
// shown as, a link in Markdown, a confidence in words and the box of a task are
// such words.
func Whole(n *note.Note, id string) bool {
	p, e, err := find(n, id)
	if err != nil || e.Problem != "" || e.Kind != note.Wikilink || strings.Contains(p.text[e.line.Start:e.key.Start], "[") {
		return false
	}
	link := "[[" + e.Target
	if e.Fragment != "" {
		link += "#" + e.Fragment
	}
	return strings.HasPrefix(p.text[e.at:], link+"]]")
}

// Retype gives a relation another type. The words beside the link stay when
// keepNotes is set.
func Retype(n *note.Note, id, typ string, keepNotes bool) ([]change.Patch, error) {
	p, e, err := find(n, id)
	if err != nil {
		return nil, err
	}
	typ, err = checkedType(typ)
	if err != nil {
		return nil, err
	}
	want := e.Relation
	want.Type = typ
	var patches []change.Patch
	if typ != e.Type {
		patches = append(patches, change.Patch{Start: e.key.Start, End: e.key.End, Text: written(typ)})
	}
	if !keepNotes && len(e.rest) > 0 {
		want.Notes = ""
		for _, s := range e.rest {
			patches = append(patches, p.cut(s))
		}
	}
	if len(patches) == 0 {
		return nil, nil
	}
	return patches, p.verify(patches, e.ID, &want)
}

// Reconfide gives a relation another confidence; nil takes it away.
func Reconfide(n *note.Note, id string, confidence *float64) ([]change.Patch, error) {
	p, e, err := find(n, id)
	if err != nil {
		return nil, err
	}
	if err := checkedConfidence(confidence); err != nil {
		return nil, err
	}
	want := e.Relation
	want.Confidence, want.Problem = confidence, ""
	var patch change.Patch
	switch has := e.conf.Len() > 0; {
	case has && confidence == nil:
		patch = p.cut(e.conf)
	case has && e.Confidence != nil && *e.Confidence == *confidence, !has && confidence == nil:
		return nil, nil
	case has && e.cval.Len() == 0:
		patch = change.Patch{Start: e.conf.Start, End: e.conf.End, Text: confidenceField(*confidence)}
	case has:
		patch = change.Patch{Start: e.cval.Start, End: e.cval.End, Text: number(*confidence)}
	default:
		patch = change.Patch{Start: e.after, End: e.after, Text: " " + confidenceField(*confidence)}
	}
	return []change.Patch{patch}, p.verify([]change.Patch{patch}, e.ID, &want)
}

// Reprior notes what confidence was stated before another was calculated; nil
// takes it away.
func Reprior(n *note.Note, id string, prior *float64) ([]change.Patch, error) {
	p, e, err := find(n, id)
	if err != nil {
		return nil, err
	}
	if err := checkedConfidence(prior); err != nil {
		return nil, err
	}
	want := e.Relation
	want.Prior = prior
	var patch change.Patch
	switch has := e.prio.Len() > 0; {
	case has && prior == nil:
		patch = p.cut(e.prio)
	case has && *e.Prior == *prior, !has && prior == nil:
		return nil, nil
	case has:
		patch = change.Patch{Start: e.pval.Start, End: e.pval.End, Text: number(*prior)}
	default:
		at := max(e.after, e.conf.End)
		patch = change.Patch{Start: at, End: at, Text: " " + priorField(*prior)}
	}
	return []change.Patch{patch}, p.verify([]change.Patch{patch}, e.ID, &want)
}

func number(f float64) string { return strconv.FormatFloat(f+0, 'f', -1, 64) }

func confidenceField(f float64) string { return "[confidence:: " + number(f) + "]" }

func priorField(f float64) string { return "[prior:: " + number(f) + "]" }

// editable refuses notes whose bytes cannot be changed safely.
func editable(n *note.Note) error {
	switch {
	case n.ReadOnly || isCanvas(n):
		why := "it is not a plain-text note"
		if len(n.Problems) > 0 {
			why = n.Problems[0].Detail
		}
		return fault.New(fault.ReadOnly, "%s: %s", n.Path, why)
	case len(n.Text()) > note.MaxText:
		return fault.New(fault.TooLarge, "%s is too large to be read completely", n.Path)
	}
	return nil
}

// badTarget are the characters that end the target of a link, or that Obsidian
// forbids in one.
const badTarget = "[]|#^\r\n\t"

// validID reports whether s can be a block id.
func validID(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// checked gives a relation that is to be written its normal form.
func checked(n *note.Note, r Relation) (Relation, error) {
	typ, err := checkedType(r.Type)
	if err != nil {
		return r, err
	}
	for _, c := range []*float64{r.Confidence, r.Prior} {
		if err := checkedConfidence(c); err != nil {
			return r, err
		}
	}
	r = Relation{Type: typ, Target: strings.TrimSpace(r.Target), Fragment: strings.TrimSpace(r.Fragment), Confidence: r.Confidence, Prior: r.Prior,
		Notes: strings.Join(strings.Fields(r.Notes), " "), ID: strings.TrimPrefix(r.ID, "^"), Form: FormLine}
	for field, s := range map[string]string{"target": r.Target, "fragment": r.Fragment, "notes": r.Notes} {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return r, fault.Field(field, "use plain text", "%q contains characters that are not allowed in a note", s)
		}
	}
	switch {
	case r.Target == "" || strings.ContainsAny(r.Target, badTarget):
		return r, fault.Field("target", "name the note as in a link, without brackets or fragment", "%q cannot be used in a link", r.Target)
	case strings.ContainsAny(r.Fragment, "[]|\r\n"):
		return r, fault.Field("fragment", "name a heading or a ^block", "%q cannot be used in a link", r.Fragment)
	case !validID(r.ID):
		return r, fault.Field("id", "use letters, digits and hyphens", "%q is not a block ID", r.ID)
	}
	for _, b := range n.Blocks {
		if strings.EqualFold(b.ID, r.ID) {
			return r, fault.Field("id", "choose another one", "^%s is already used on line %d of %s", r.ID, b.Line, n.Path)
		}
	}
	return r, nil
}

func checkedType(name string) (string, error) {
	typ, ok := Normal(name)
	if !ok || typ == "CONFIDENCE" {
		return "", fault.Field("type", "use a word such as SUPPORTS", "%q cannot be a relationship type", name)
	}
	return typ, nil
}

func checkedConfidence(f *float64) error {
	if f != nil && !(*f >= 0 && *f <= 1) {
		return fault.Field("confidence", "give a number between 0 and 1", "%v is not valid", *f)
	}
	return nil
}

// canonical is a relation as a line, without the mark of the list item.
func canonical(r Relation) string {
	s := written(r.Type) + ":: [[" + r.Target
	if r.Fragment != "" {
		s += "#" + r.Fragment
	}
	s += "]]"
	if r.Confidence != nil {
		s += " " + confidenceField(*r.Confidence)
	}
	if r.Prior != nil {
		s += " " + priorField(*r.Prior)
	}
	if r.Notes != "" {
		s += " " + r.Notes
	}
	return s + " ^" + r.ID
}

// find looks for the one line that may be rewritten, and says why another form
// may not.
func find(n *note.Note, id string) (*page, *entry, error) {
	if err := editable(n); err != nil {
		return nil, nil, err
	}
	id = strings.TrimPrefix(strings.TrimSpace(id), "^")
	p := newPage(n)
	var found []*entry
	var ids []string
	for i := range p.entries {
		e := &p.entries[i]
		if strings.EqualFold(e.ID, id) && id != "" {
			found = append(found, e)
		} else if e.ID != "" && len(ids) < 10 {
			ids = append(ids, "^"+e.ID)
		}
	}
	marks := slices.DeleteFunc(slices.Clone(n.Blocks), func(b note.Block) bool { return !strings.EqualFold(b.ID, id) })
	switch {
	case len(marks) > 1:
		return nil, nil, fault.Fix(fault.Ambiguous, "give one of them another ID", "^%s is used on lines %d and %d of %s", id, marks[0].Line, marks[1].Line, n.Path)
	case len(found) == 1 && found[0].Form == FormLine:
		return p, found[0], nil
	case len(found) == 1:
		return nil, nil, fault.Fix(fault.Invalid, "write it as \"- type:: [[note]] ^id\" under a \"Relations\" heading, or edit it by hand",
			"the relationship ^%s on line %d of %s is written in a form that Lore cannot edit", id, found[0].Line, n.Path)
	case len(marks) == 1:
		return nil, nil, fault.Fix(fault.Invalid, "give every relationship its own line and ID",
			"^%s on line %d of %s is not the ID of a single relationship", id, marks[0].Line, n.Path)
	}
	fix := "it has no relationship with an id; edit relationships in front matter or in sentences by hand"
	if len(ids) > 0 {
		fix = "its relationships are " + strings.Join(ids, ", ")
	}
	return nil, nil, fault.Fix(fault.NotFound, fix, "there is no relationship ^%s in %s", id, n.Path)
}
