// Package prompts turns the text of a note into a prompt with arguments, and
// fills them in. It owns how such a note is written; it knows no vault, no tool
// and no protocol.
//
// A prompt is a note with {{names}} in its text. {{topic}} must be given,
// {{topic?}} may stay empty. The front matter may have a title, a description,
// and arguments: either name to description, or a list of name and description.
package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
)

// Limits of one prompt.
const (
	// MaxBytes is how long a note may be that is a prompt.
	MaxBytes = 64 << 10
	// MaxArguments is how many names may stand in it.
	MaxArguments = 20
	// MaxValue is how long one value may be, MaxFilled the filled text.
	MaxValue  = 16 << 10
	MaxFilled = 256 << 10

	maxName = 64
	maxLine = 200
)

// A Template is a prompt that a note holds.
type Template struct {
	Title       string
	Description string // never empty
	Arguments   []Argument
	body        string
}

// An Argument is a name that is filled in.
type Argument struct {
	Name        string
	Description string
	Required    bool
}

// place is where a value goes. What only looks like one, such as {{date:YYYY}},
// is left alone.
var place = regexp.MustCompile(`\{\{[ \t]*([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*(\?)?[ \t]*\}\}`)

// Parse reads the text of a note. Name is its file's name, for want of a title.
func Parse(name, text string) (*Template, error) {
	if len(text) > MaxBytes {
		return nil, fault.New(fault.TooLarge, "the prompt is longer than %d bytes", MaxBytes)
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	head, body := split(text)
	var f front
	if err := yaml.Unmarshal([]byte(head), &f); err != nil {
		f = front{} // front matter that cannot be read says nothing; the text is there
	}
	t := &Template{Title: oneLine(f.Title), Description: oneLine(f.Description), body: strings.TrimSpace(body)}
	if t.Title == "" {
		t.Title = oneLine(name)
	}
	if t.Description == "" {
		t.Description = oneLine(firstLine(t.body))
	}
	if t.Description == "" {
		t.Description = "The prompt " + t.Title + "."
	}
	for _, m := range place.FindAllStringSubmatch(t.body, -1) {
		i := slices.IndexFunc(t.Arguments, func(a Argument) bool { return a.Name == m[1] })
		if i < 0 {
			i = len(t.Arguments)
			t.Arguments = append(t.Arguments, Argument{Name: m[1], Description: oneLine(f.Arguments.about[m[1]])})
		}
		t.Arguments[i].Required = t.Arguments[i].Required || m[2] == ""
	}
	if len(t.Arguments) > MaxArguments {
		return nil, fault.New(fault.TooLarge, "the prompt has more than %d arguments", MaxArguments)
	}
	return t, nil
}

// split takes the front matter off a text.
func split(text string) (head, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text
	}
	if strings.HasPrefix(rest, "---\n") {
		return "", strings.TrimPrefix(rest, "---\n")
	}
	head, body, ok = strings.Cut(rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix(rest, "\n---"); ok {
			return head, ""
		}
		return "", text
	}
	return head, body
}

type front struct {
	Title       string      `yaml:"title"`
	Description string      `yaml:"description"`
	Arguments   description `yaml:"arguments"`
}

// A description tells about arguments, in either of its forms.
type description struct{ about map[string]string }

// UnmarshalYAML reads both forms, and nothing from anything else.
func (d *description) UnmarshalYAML(n *yaml.Node) error {
	d.about = map[string]string{}
	if n.Decode(&d.about) == nil {
		return nil
	}
	var list []struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}
	if n.Decode(&list) != nil {
		return nil
	}
	for _, a := range list {
		d.about[a.Name] = a.Description
	}
	return nil
}

// firstLine is the first line with words in it, without the marks of a heading.
func firstLine(body string) string {
	for l := range strings.Lines(body) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "#>*- ")); l != "" {
			return l
		}
	}
	return ""
}

// oneLine keeps what a menu can show.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxLine {
		s = string(r[:maxLine-1]) + "…"
	}
	return s
}

// Fill puts values into the text, each once: what stands in a value is text,
// also when it looks like a name.
func (t *Template) Fill(values map[string]string) (string, error) {
	for _, a := range t.Arguments {
		switch v := values[a.Name]; {
		case a.Required && strings.TrimSpace(v) == "":
			return "", fault.Field(a.Name, "add the argument", "is required")
		case len(v) > MaxValue:
			return "", fault.Field(a.Name, "shorten it", "has more than %d bytes", MaxValue)
		}
	}
	// The length is known before anything is made: a name may stand often.
	size := len(t.body)
	for _, m := range place.FindAllStringSubmatch(t.body, -1) {
		size += len(values[m[1]]) - len(m[0])
	}
	if size > MaxFilled {
		return "", fault.New(fault.TooLarge, "the prompt with its arguments filled in has more than %d bytes", MaxFilled)
	}
	return place.ReplaceAllStringFunc(t.body, func(s string) string { return values[place.FindStringSubmatch(s)[1]] }), nil
}

// Names gives every path a name of [a-z0-9_-], made from the path alone (without
// its first folder), and different from all others and from those that are
// taken. Paths that would share a name all get a part that tells them apart, so
// that their order means nothing.
func Names(paths []string, taken ...string) map[string]string {
	count := map[string]int{}
	for _, t := range taken {
		count[t]++
	}
	plain := map[string]string{}
	for _, p := range paths {
		_, below, ok := strings.Cut(p, "/")
		if !ok {
			below = p
		}
		plain[p] = plainName(below)
		count[plain[p]]++
	}
	out := map[string]string{}
	for _, p := range paths {
		out[p] = plain[p]
		if plain[p] == "" || count[plain[p]] > 1 {
			sum := sha256.Sum256([]byte(p))
			out[p] = strings.TrimPrefix(fmt.Sprintf("%s-%s", cut(plain[p], maxName-9), hex.EncodeToString(sum[:4])), "-")
		}
	}
	return out
}

// plainName writes a path with few letters: accents fall off, folders are
// parted by a dash, and everything else becomes one underscore.
func plainName(p string) string {
	p = strings.TrimSuffix(p, path.Ext(p))
	var b strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(p)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		case r == '/':
			b.WriteByte('-')
		case unicode.Is(unicode.Mn, r):
		default:
			if !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
		}
	}
	return cut(strings.Trim(b.String(), "_-"), maxName)
}

func cut(s string, n int) string { return s[:min(n, len(s))] }
