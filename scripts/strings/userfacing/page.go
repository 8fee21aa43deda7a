package userfacing

import (
	"regexp"
	"slices"
	"strings"
)

// Page are the texts of the page: markup, attributes that people see, and
// literals in scripts that look like words for people.
func Page(root string) (out []String, err error) {
	err = files(root, "web/src", []string{".svelte", ".ts"}, func(name, text string) error {
		if strings.Contains(name, ".test.") || strings.HasSuffix(name, ".gen.ts") {
			return nil
		}
		s := scanner{name: name, text: text, src: []byte(text)}
		if strings.HasSuffix(name, ".svelte") {
			s.takeScripts()
			s.scanMarkup()
		} else {
			s.scanScript(0, len(s.src))
		}
		out = append(out, s.found...)
		return nil
	})
	return out, err
}

// A scanner reads one file of the page. It knows as much of TypeScript and
// Svelte as telling text from code needs.
type scanner struct {
	name, text string
	src        []byte // text with scripts and styles blanked once they are read
	found      []String
}

var (
	section = regexp.MustCompile(`(?s)<(script|style)\b[^>]*>.*?</(?:script|style)>`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	blanks  = regexp.MustCompile(`\s+`)
	// A text begins like a sentence or a label, or has several words.
	looksLikeText = regexp.MustCompile(`^[^\pL]*\p{Lu}\p{Ll}+|\pL{2,}[,.:;]? +\pL{2,}`)
)

// hiddenAttributes are never shown or read aloud.
var hiddenAttributes = []string{"class", "id", "for", "href", "type", "role", "style", "name", "src", "rel", "target", "d", "viewBox", "transform", "points", "xmlns", "autocomplete", "slot", "data-kind"}

func (s *scanner) add(offset int, text string) {
	text = strings.TrimSpace(blanks.ReplaceAllString(text, " "))
	if hasWord.MatchString(text) {
		s.found = append(s.found, String{"page", place(s.name, s.text, offset), text})
	}
}

func (s *scanner) takeScripts() {
	for _, m := range section.FindAllSubmatchIndex(s.src, -1) {
		if string(s.src[m[2]:m[3]]) == "script" {
			begin := m[0] + strings.IndexByte(s.text[m[0]:], '>') + 1
			s.scanScript(begin, m[1]-len("</script>"))
		}
		s.blank(m[0], m[1])
	}
	for _, m := range comment.FindAllIndex(s.src, -1) {
		s.blank(m[0], m[1])
	}
}

func (s *scanner) blank(from, to int) {
	for i := from; i < to; i++ {
		if s.src[i] != '\n' {
			s.src[i] = ' '
		}
	}
}

func (s *scanner) scanMarkup() {
	from := 0
	flush := func(to int) {
		s.add(from+len(s.text[from:to])-len(strings.TrimLeft(s.text[from:to], " \n\t")), string(s.src[from:to]))
	}
	for i := 0; i < len(s.src); {
		switch {
		case s.src[i] == '{':
			flush(i)
			i = s.scanBraces(i + 1)
			from = i
		case s.src[i] == '<' && i+1 < len(s.src) && (s.src[i+1] == '/' || isLetter(s.src[i+1])):
			flush(i)
			i = s.scanTag(i)
			from = i
		default:
			i++
		}
	}
	flush(len(s.src))
}

var attribute = regexp.MustCompile(`([\w:-]+)="$`)

// scanTag reads a tag: values of attributes, and expressions in them.
func (s *scanner) scanTag(open int) int {
	for i := open + 1; i < len(s.src); {
		switch s.src[i] {
		case '>':
			return i + 1
		case '{':
			i = s.scanBraces(i + 1)
		case '"':
			name := ""
			if m := attribute.FindSubmatch(s.src[open : i+1]); m != nil {
				name = string(m[1])
			}
			i = s.scanValue(name, i+1)
		default:
			i++
		}
	}
	return len(s.src)
}

// scanValue reads the value of an attribute up to its closing quote.
func (s *scanner) scanValue(name string, begin int) int {
	var value strings.Builder
	i := begin
	for i < len(s.src) && s.src[i] != '"' {
		if s.src[i] == '{' {
			i = s.scanBraces(i + 1)
			value.WriteString("…")
			continue
		}
		value.WriteByte(s.src[i])
		i++
	}
	if !slices.Contains(hiddenAttributes, name) && looksLikeText.MatchString(value.String()) {
		s.add(begin, value.String())
	}
	return i + 1
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
