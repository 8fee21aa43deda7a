package relation

import (
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"lore/internal/note"
)

// An entry is a relation with the places that an edit needs.
type entry struct {
	Relation
	key   note.Span // the name of the type as written
	after int       // where the links end: a confidence goes there
	conf  note.Span // the whole field of the confidence, zero when there is none
	cval  note.Span // its value
	prio  note.Span // the same of the prior
	pval  note.Span
	rest  []note.Span // the notes
	at    int         // where the link begins
	line  note.Span
}

// A reader collects the relations of one note.
type reader struct {
	n      *note.Note
	text   string
	starts []int // where each line begins
	types  map[string]bool
	under  []note.Span   // what stands below headings called Relations, in order, apart
	owner  []int         // of each link, the innermost field whose value it stands in, or -1
	conf   map[int]int   // of each field, the field in it that is its confidence
	prior  map[int]int   // and the one that is its prior
	marks  map[int]int   // of the begin of each line, the block whose mark stands on it
	loose  map[int][]int // of the begin of each line, the confidences in no field
	out    []entry
}

func read(n *note.Note, types Types) []entry {
	if !may(n) || isCanvas(n) {
		return nil
	}
	r := &reader{n: n, text: n.Text(), types: types.set(), conf: map[int]int{}, prior: map[int]int{}, marks: map[int]int{}, loose: map[int][]int{}}
	r.starts = lineStarts(r.text)
	for i, b := range n.Blocks {
		r.marks[r.lineOf(b.Mark.Start).Start] = i
	}
	r.sections()
	r.owners()
	r.properties()
	r.fields()
	r.items()
	slices.SortStableFunc(r.out, func(a, b entry) int { return a.at - b.at })
	r.name()
	return r.out
}

// may reports whether a note has what a relation can stand in. Most have not, and
// an index reads them all.
func may(n *note.Note) bool {
	return len(n.Links) > 0 && (len(n.Fields) > 0 ||
		slices.ContainsFunc(n.Headings, func(h note.Heading) bool { return isRelations(&h) }) ||
		slices.ContainsFunc(n.Links, func(l note.Link) bool { return l.Kind == note.InFront }))
}

// isCanvas reports whether the text is JSON, in which spans are escaped.
func isCanvas(n *note.Note) bool { return strings.EqualFold(path.Ext(n.Path), ".canvas") }

// lineStarts finds the lines as the parser does: CR, LF and CRLF end one.
func lineStarts(s string) []int {
	out := []int{0}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			out = append(out, i+1)
		}
	}
	return out
}

// lineOf is the line around pos, without its end.
func (r *reader) lineOf(pos int) note.Span {
	i := max(1, sort.SearchInts(r.starts, pos+1))
	end := len(r.text)
	if i < len(r.starts) {
		end = r.starts[i] - 1
		if end > r.starts[i-1] && r.text[end] == '\n' && r.text[end-1] == '\r' {
			end--
		}
	}
	return note.Span{Start: r.starts[i-1], End: end}
}

func (r *reader) lineNumber(pos int) int { return max(1, sort.SearchInts(r.starts, pos+1)) }

// isRelations reports whether a heading is called Relations.
func isRelations(h *note.Heading) bool {
	return strings.EqualFold(strings.TrimSpace(strings.TrimRight(h.Text, ": \t")), "relations")
}

// sections finds what stands below headings called Relations.
func (r *reader) sections() {
	for i := range r.n.Headings {
		h := &r.n.Headings[i]
		if !isRelations(h) {
			continue
		}
		s := note.Span{Start: h.Span.End, End: h.Section.End}
		if h.Nested {
			s.End = min(s.End, r.nestedEnd(h))
		}
		if k := len(r.under) - 1; k >= 0 && s.Start <= r.under[k].End {
			r.under[k].End = max(r.under[k].End, s.End)
			continue
		}
		r.under = append(r.under, s)
	}
}

// nestedEnd is where the quote or list item around a heading ends: the parser
// lets the section of such a heading reach to the next one.
func (r *reader) nestedEnd(h *note.Heading) int {
	first := r.lineOf(h.Span.Start)
	lead := indent(r.text[first.Start:first.End])
	quote := strings.HasPrefix(r.text[first.Start+lead:first.End], ">")
	own := first.Start+lead == h.Span.Start
	for k := r.lineNumber(max(h.Span.Start, h.Span.End-1)); k < len(r.starts) && r.starts[k] < h.Section.End; k++ {
		l := r.lineOf(r.starts[k])
		text := r.text[l.Start:l.End]
		in := indent(text)
		switch {
		case quote && !strings.HasPrefix(text[in:], ">"):
			return l.Start
		case !quote && in < len(text) && (in < lead || in == lead && !own):
			return l.Start
		}
	}
	return h.Section.End
}

// indent counts the blanks that a line begins with.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func (r *reader) isUnder(pos int) bool {
	i := sort.Search(len(r.under), func(i int) bool { return pos < r.under[i].End })
	return i < len(r.under) && pos >= r.under[i].Start
}

// owners finds the innermost field around every link, and the confidence in
// every field. Fields come in the order of the text, the outer one first.
func (r *reader) owners() {
	fields := r.n.Fields
	var open []int
	around := func(s note.Span) int {
		for len(open) > 0 && fields[open[len(open)-1]].Span.End <= s.Start {
			open = open[:len(open)-1]
		}
		for k := len(open) - 1; k >= 0; k-- {
			if v := fields[open[k]].Val; v.Start <= s.Start && s.End <= v.End {
				return open[k]
			}
		}
		return -1
	}
	r.owner = make([]int, len(r.n.Links))
	next := 0
	enter := func(limit int) {
		for ; next < len(fields) && fields[next].Span.Start < limit; next++ {
			up := around(fields[next].Span)
			if _, taken := r.prior[up]; !taken && up >= 0 && strings.EqualFold(fields[next].Key, "prior") {
				r.prior[up] = next
			}
			if strings.EqualFold(fields[next].Key, "confidence") {
				if _, taken := r.conf[up]; !taken && up >= 0 {
					r.conf[up] = next
				} else if up < 0 {
					at := r.lineOf(fields[next].Span.Start).Start
					r.loose[at] = append(r.loose[at], next)
				}
			}
			open = append(open, next)
		}
	}
	for i := range r.n.Links {
		enter(r.n.Links[i].Span.Start)
		r.owner[i] = around(r.n.Links[i].Span)
	}
	enter(len(r.text) + 1)
}

// counts reports whether a link can be the target of a relation.
func counts(l *note.Link) bool {
	if l.External || l.Definition || l.Target == "" {
		return false
	}
	switch l.Kind {
	case note.Wikilink, note.InFront:
		return true
	case note.Markdown:
		return strings.EqualFold(path.Ext(l.Target), ".md")
	}
	return false
}

func (r *reader) entry(l *note.Link, typ string, form Form, span note.Span) entry {
	return entry{
		Relation: Relation{
			Type: typ, Target: l.Target, Fragment: l.Fragment, Kind: l.Kind, Form: form,
			Line: r.lineNumber(l.Span.Start), Span: span, Dest: l.Dest,
		},
		at: l.Span.Start, line: r.lineOf(l.Span.Start),
	}
}

// properties reads the front matter.
func (r *reader) properties() {
	k := 0
	props := r.n.Front.Props
	for i := range r.n.Links {
		l := &r.n.Links[i]
		typ, ok := Normal(l.Field)
		if l.Kind != note.InFront || !counts(l) || !ok || !r.types[typ] {
			continue
		}
		for k < len(props) && props[k].Span.End <= l.Span.Start {
			k++
		}
		if k == len(props) {
			return
		}
		r.out = append(r.out, r.entry(l, typ, FormProperty, props[k].Span))
	}
}

// fields reads what stands in inline fields.
func (r *reader) fields() {
	groups := make(map[int][]int)
	var order []int
	for i, f := range r.owner {
		if l := &r.n.Links[i]; f < 0 || l.Kind == note.InFront || !counts(l) {
			continue
		}
		if groups[f] == nil {
			order = append(order, f)
		}
		groups[f] = append(groups[f], i)
	}
	for _, k := range order {
		f, links := &r.n.Fields[k], groups[k]
		typ, ok := Normal(f.Key)
		begins := r.n.Links[links[0]].Span.Start == f.Val.Start
		if !ok || !r.types[typ] && !(begins && r.isUnder(f.Span.Start)) {
			continue
		}
		line := r.lineOf(f.Span.Start)
		form, span := FormField, f.Span
		if c := r.text[f.Span.Start]; c != '[' && c != '(' && r.isUnder(f.Span.Start) && isItem(r.text[line.Start:f.Span.Start]) {
			form, span = FormLine, line
		}
		r.add(r.run(links), typ, form, span, note.Span{Start: f.Val.Start, End: f.Val.End}, r.keySpan(f), at(r.conf, k), at(r.prior, k))
	}
}

// at is the number that a field has in a table, or -1.
func at(table map[int]int, field int) int {
	if i, has := table[field]; has {
		return i
	}
	return -1
}

// keySpan is the name of a field as written, without marks of emphasis.
func (r *reader) keySpan(f *note.Field) note.Span {
	if i := strings.Index(r.text[f.Span.Start:f.Span.End], f.Key); i >= 0 {
		return note.Span{Start: f.Span.Start + i, End: f.Span.Start + i + len(f.Key)}
	}
	return note.Span{}
}

// isItem reports whether the text before the words of a line ends with the mark
// of a list item, and perhaps the box of a task.
func isItem(prefix string) bool {
	p := strings.TrimRight(prefix, " \t")
	if strings.HasSuffix(p, "]") {
		if i := strings.LastIndexByte(p, '['); i >= 0 && !strings.HasPrefix(p[i:], "[^") {
			p = strings.TrimRight(p[:i], " \t")
		}
	}
	return p != "" && p != prefix && strings.IndexByte("-*+.)", p[len(p)-1]) >= 0
}

// run keeps the first links that only separators stand between.
func (r *reader) run(links []int) []int {
	for k := 1; k < len(links); k++ {
		a, b := r.n.Links[links[k-1]].Span, r.n.Links[links[k]].Span
		if a.End > b.Start || !separates(r.text[a.End:b.Start]) {
			return links[:k]
		}
	}
	return links
}

func separates(s string) bool {
	if len(s) > 16 {
		return false
	}
	s = strings.ToLower(strings.Trim(s, " \t,;&/"))
	return s == "" || s == "and" || s == "or"
}

// add makes the relations of one field or item, whose words are in val.
func (r *reader) add(links []int, typ string, form Form, span, val, key note.Span, conf, prior int) {
	first, last := &r.n.Links[links[0]], &r.n.Links[links[len(links)-1]]
	var shared entry
	cuts := []note.Span{{Start: first.Span.Start, End: last.Span.End}}
	if conf >= 0 {
		f := &r.n.Fields[conf]
		shared.conf, shared.cval = f.Span, f.Val
		shared.Confidence, shared.Problem = confidence(f.Value)
		cuts = append(cuts, f.Span)
	}
	if prior >= 0 {
		f := &r.n.Fields[prior]
		if c, problem := confidence(f.Value); problem == "" { // else it is a word of the notes
			shared.prio, shared.pval, shared.Prior = f.Span, f.Val, c
			cuts = append(cuts, f.Span)
		}
	}
	slices.SortFunc(cuts, func(a, b note.Span) int { return a.Start - b.Start })
	var words []string
	at := val.Start
	for _, c := range append(cuts, note.Span{Start: val.End, End: val.End}) {
		if c.Start > at {
			s := trimmed(r.text, note.Span{Start: at, End: c.Start})
			if s.Len() > 0 {
				shared.rest = append(shared.rest, s)
				words = append(words, r.text[s.Start:s.End])
			}
		}
		at = max(at, c.End)
	}
	for _, i := range links {
		e := r.entry(&r.n.Links[i], typ, form, span)
		e.key, e.after, e.conf, e.cval, e.rest = key, last.Span.End, shared.conf, shared.cval, shared.rest
		e.prio, e.pval, e.Prior = shared.prio, shared.pval, shared.Prior
		e.Confidence, e.Problem, e.Notes = shared.Confidence, shared.Problem, strings.Join(words, " ")
		if form == FormItem {
			e.Notes = unwrap(e.Notes)
		}
		r.out = append(r.out, e)
	}
}

// unwrap takes the one pair of parentheses off that stands around all of s.
func unwrap(s string) string {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' || strings.ContainsAny(s[1:len(s)-1], "()") {
		return s
	}
	return strings.TrimSpace(s[1 : len(s)-1])
}

func trimmed(text string, s note.Span) note.Span {
	for s.Start < s.End && (text[s.Start] == ' ' || text[s.Start] == '\t') {
		s.Start++
	}
	for s.End > s.Start && (text[s.End-1] == ' ' || text[s.End-1] == '\t') {
		s.End--
	}
	return s
}

// confidence reads a number between 0 and 1, or says what is wrong with it.
func confidence(s string) (*float64, string) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return nil, "the confidence " + strconv.Quote(s) + " is not a number between 0 and 1"
	}
	f += 0 // a zero has no sign
	return &f, ""
}

// items reads "- supports [[x]] (why)" below headings called Relations.
func (r *reader) items() {
	links := r.n.Links
	for i := 0; i < len(links); {
		line := r.lineOf(links[i].Span.Start)
		j := i + 1
		for j < len(links) && links[j].Span.Start <= line.End {
			j++
		}
		r.item(i, j, line)
		i = j
	}
}

// item reads the line on which the links i to j stand.
func (r *reader) item(i, j int, line note.Span) {
	l := &r.n.Links[i]
	if r.owner[i] >= 0 || l.Kind == note.InFront || !counts(l) || l.Span.End > line.End || !r.isUnder(line.Start) {
		return
	}
	from := line.Start + itemMark(r.text[line.Start:line.End])
	if from == line.Start || from > l.Span.Start || l.Span.Start-from > maxType {
		return
	}
	key := trimmed(r.text, note.Span{Start: from, End: l.Span.Start})
	typ, ok := Normal(strings.Trim(r.text[key.Start:key.End], "*_"))
	if !ok {
		return
	}
	val := note.Span{Start: l.Span.Start, End: line.End}
	if b, has := r.marks[line.Start]; has {
		val.End = max(val.Start, r.n.Blocks[b].Mark.Start)
	}
	conf := -1
	if list := r.loose[line.Start]; len(list) > 0 && r.n.Fields[list[0]].Span.Start >= l.Span.End {
		conf = list[0]
	}
	var group []int
	for k := i; k < j && r.owner[k] < 0 && counts(&r.n.Links[k]) && r.n.Links[k].Span.End <= val.End; k++ {
		group = append(group, k)
	}
	if len(group) > 0 {
		r.add(r.run(group), typ, FormItem, line, val, key, conf, -1)
	}
}

// itemMark is the length of what stands before the words of a list item: quote
// marks, blanks, the marks of the item and of those around it, and a task's box.
// It is 0 when the line is no list item.
func itemMark(s string) int {
	i, item := 0, false
	for {
		i += indent(s[i:])
		if i < len(s) && s[i] == '>' {
			i++
			continue
		}
		n := 0
		if i < len(s) && strings.IndexByte("-*+", s[i]) >= 0 {
			n = 1
		} else if d := len(s[i:]) - len(strings.TrimLeft(s[i:], "0123456789")); d > 0 && d < 10 && i+d < len(s) && (s[i+d] == '.' || s[i+d] == ')') {
			n = d + 1
		}
		if n == 0 || i+n >= len(s) || s[i+n] != ' ' && s[i+n] != '\t' {
			break
		}
		i, item = i+n, true
	}
	if !item {
		return 0
	}
	if rest := s[i:]; len(rest) > 3 && rest[0] == '[' && rest[1] != '[' {
		if k := strings.Index(rest, "] "); k > 0 && k <= 5 {
			i += k + 2
		}
	}
	return i
}

// name gives the relations that are alone on their line the id of the line.
func (r *reader) name() {
	count := make(map[int]int)
	for i := range r.out {
		count[r.out[i].line.Start]++
	}
	for i := range r.out {
		e := &r.out[i]
		b, ok := r.marks[e.line.Start]
		if ok && e.Form != FormProperty && count[e.line.Start] == 1 && r.n.Blocks[b].Mark.Start >= e.at {
			e.ID = r.n.Blocks[b].ID
		}
	}
}
