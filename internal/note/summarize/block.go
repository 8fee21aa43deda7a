package summarize

import (
	"strings"
	"unicode"

	"lore/internal/note"
)

// A sentence is one candidate.
type sentence struct {
	text    string // plain, in one line
	heading string // it stands under
	doc     int
	place   int  // among the sentences of its text
	first   bool // of its paragraph
	item    bool // of a list
}

// A reader takes the blocks of a text apart, line by line. It knows just enough
// of Markdown to tell prose from the rest; note.Plain does what is inside.
type reader struct {
	text     string
	limit    int
	para     []string
	item     bool
	heading  string
	headings []string
	out      []sentence
	last     map[string]int // where a closing mark stands last
}

// read gives the sentences of a text, or its headings when it has none.
func read(text string, limit int) []sentence {
	r := &reader{text: head(text), limit: limit, last: map[string]int{}}
	if strings.HasPrefix(r.text, "---") {
		r.text = r.text[frontEnd(r.text):]
	}
	r.lines()
	if len(r.out) == 0 {
		for _, h := range r.headings[:min(len(r.headings), limit)] {
			r.out = append(r.out, sentence{text: h, first: true, place: len(r.out)})
		}
	}
	return r.out
}

// frontEnd is where the YAML block at the top ends.
func frontEnd(text string) int {
	for pos, first := 0, true; pos < len(text); first = false {
		line, next := cutLine(text, pos)
		if t := strings.TrimRight(line, " \t"); !first && (t == "---" || t == "...") {
			return next
		} else if first && t != "---" {
			return 0
		}
		pos = next
	}
	return 0
}

func cutLine(text string, pos int) (line string, next int) {
	end := strings.IndexByte(text[pos:], '\n')
	if end < 0 {
		return strings.TrimRight(text[pos:], "\r"), len(text)
	}
	return strings.TrimRight(text[pos:pos+end], "\r"), pos + end + 1
}

func (r *reader) lines() {
	until := ""    // what ends the block that is left out
	blank := true  // the line before
	table := false // rows follow
	for pos := 0; pos < len(r.text) && len(r.out) < r.limit; {
		line, next := cutLine(r.text, pos)
		pos = next
		bare := strings.TrimLeft(line, " \t>")
		if until != "" {
			if ends(until, bare) {
				until = ""
			}
			continue
		}
		table = table && strings.Contains(bare, "|")
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		switch {
		case bare == "":
			r.flush()
		case table || bare[0] == '|':
			r.flush()
		case indented && blank && !r.item: // code
		case r.opens(bare, pos, &until):
			r.flush()
		case delimiter(bare):
			r.drop()
			table = true
		case bare[0] == '#' && r.hashes(bare):
		case len(r.para) > 0 && !r.item && strings.Trim(bare, "=") == "", len(r.para) > 0 && !r.item && len(bare) > 1 && strings.Trim(bare, "-") == "":
			r.title(strings.Join(r.para, " "))
			r.para = nil
		default:
			r.prose(bare, indented)
		}
		blank = bare == ""
	}
	r.flush()
}

// opens notices the beginning of a block that is left out: code, mathematics, a
// comment. Those that may stay open count only where their end is in sight.
func (r *reader) opens(bare string, pos int, until *string) bool {
	for _, mark := range []string{"```", "~~~", "$$", "%%", "<!--"} {
		if !strings.HasPrefix(bare, mark) {
			continue
		}
		rest := strings.TrimLeft(bare, mark[:1])
		switch mark {
		case "```", "~~~":
			if mark == "```" && strings.Contains(rest, "`") {
				return false
			}
			*until = bare[:len(bare)-len(rest)]
			return true
		case "<!--":
			mark, rest = "-->", bare[4:]
		default:
			rest = bare[2:]
		}
		if strings.Contains(rest, mark) {
			return strings.HasSuffix(rest, mark) // of one line
		}
		if r.lastOf(mark) < pos {
			return false
		}
		*until = mark
		return true
	}
	return false
}

// lastOf looks for the last place of a mark once, however often it is asked.
func (r *reader) lastOf(mark string) int {
	at, ok := r.last[mark]
	if !ok {
		at = strings.LastIndex(r.text, mark)
		r.last[mark] = at
	}
	return at
}

func ends(until, bare string) bool {
	switch until[0] {
	case '`', '~':
		return strings.HasPrefix(bare, until) && strings.Trim(bare, until[:1]+" \t") == ""
	}
	return strings.Contains(bare, until)
}

// delimiter reports whether a line divides the head of a table from its rows.
func delimiter(bare string) bool {
	return strings.Contains(bare, "|") && strings.Contains(bare, "-") && strings.Trim(bare, "|-: \t") == ""
}

func (r *reader) hashes(bare string) bool {
	rest := strings.TrimLeft(bare, "#")
	if len(bare)-len(rest) > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return false
	}
	r.flush()
	r.title(strings.TrimRight(rest, "# \t"))
	return true
}

func (r *reader) title(text string) {
	r.heading = note.Plain(text)
	if r.heading != "" {
		r.headings = append(r.headings, r.heading)
	}
}

// prose takes a line that may be part of a sentence.
func (r *reader) prose(bare string, indented bool) {
	if rest, ok := marker(bare); ok {
		r.flush()
		r.item = true
		bare = rest
		if len(bare) > 3 && bare[0] == '[' && bare[2] == ']' && bare[3] == ' ' {
			bare = bare[4:] // a task
		}
	} else if r.item && len(r.para) == 0 && !indented {
		r.item = false
	}
	if strings.HasPrefix(bare, "[!") {
		if _, rest, ok := strings.Cut(bare, "]"); ok { // a callout says what it is
			bare = strings.TrimLeft(rest, "+- ")
		}
	}
	if isField(bare) || strings.HasPrefix(bare, "[^") && strings.Contains(bare, "]:") || onlyTags(bare) {
		r.flush()
		return
	}
	r.para = append(r.para, bare)
}

// marker takes the mark of a list item off.
func marker(s string) (string, bool) {
	if len(s) > 1 && strings.IndexByte("-*+", s[0]) >= 0 && (s[1] == ' ' || s[1] == '\t') {
		return strings.TrimSpace(s[2:]), true
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < 10 && digits+1 < len(s) && (s[digits] == '.' || s[digits] == ')') && s[digits+1] == ' ' {
		return strings.TrimSpace(s[digits+2:]), true
	}
	return s, false
}

// isField reports whether a line is a property, "supports:: [[x]]".
func isField(s string) bool {
	key, _, ok := strings.Cut(s, "::")
	if !ok || len(key) == 0 || len(key) > 40 {
		return false
	}
	for _, c := range key {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-' && c != ' ' {
			return false
		}
	}
	return true
}

func onlyTags(s string) bool {
	if !strings.HasPrefix(s, "#") {
		return false
	}
	for w := range strings.FieldsSeq(s) {
		if w[0] != '#' {
			return false
		}
	}
	return true
}

// drop forgets the last line, which was the head of a table.
func (r *reader) drop() {
	if len(r.para) > 0 {
		r.para = r.para[:len(r.para)-1]
	}
	r.flush()
}

// flush makes sentences of the paragraph.
func (r *reader) flush() {
	if len(r.para) == 0 {
		return
	}
	text := strings.Join(r.para, "\n")
	r.para = r.para[:0]
	first := true
	for s := range Sentences(note.Plain(text)) {
		if len(r.out) >= r.limit {
			break
		}
		if !strings.ContainsFunc(s, unicode.IsLetter) || isAddress(s) {
			continue
		}
		r.out = append(r.out, sentence{text: s, heading: r.heading, place: len(r.out), first: first, item: r.item})
		first = false
	}
}

func isAddress(s string) bool {
	return strings.Contains(s, "://") && !strings.Contains(s, " ")
}
