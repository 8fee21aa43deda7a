package websearch

import (
	"html"
	"lore/internal/note/invisible"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Lengths of what is kept of a result, in characters.
const (
	maxTitle   = 200
	maxSnippet = 600
	maxEngine  = 40
	// maxRaw bounds the work on one text, in bytes.
	maxRaw = 8 << 10
)

var language = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z]{2,4})?$`)

// plain makes one line of a text of strangers: no markup, no characters that
// nobody sees or that turn the words around, at the most n characters.
func plain(s string, n int) string {
	if len(s) > maxRaw {
		s = s[:maxRaw]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = html.UnescapeString(untag(s))
	return short(strings.Join(strings.Fields(visible(s)), " "), n)
}

// untag takes out tags, comments, and all of scripts and styles. What only
// looks like the begin of a tag stays: people write "a < b".
func untag(s string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			break
		}
		out.WriteString(s[:at])
		s = s[at:]
		end := tag(s)
		if end == 0 {
			out.WriteByte('<')
			s = s[1:]
			continue
		}
		// Words on both sides of a break are two; those around emphasis may be one.
		if name := tagName(s); name != "" && strings.Contains(" br p li ul ol td tr th div h1 h2 h3 h4 h5 h6 ", " "+name+" ") {
			out.WriteByte(' ')
		}
		s = s[end:]
	}
	out.WriteString(s)
	return out.String()
}

// tag is the length of the tag that a text begins with, 0 when it is none. A
// tag that does not end is text: the length of texts is bounded, so is the
// search for ends.
func tag(s string) int {
	if len(s) < 2 || !(s[1] == '/' || s[1] == '!' || s[1] == '?' || isLetter(s[1])) {
		return 0
	}
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s, "-->"); end >= 0 {
			return end + len("-->")
		}
		return 0
	}
	end := strings.IndexByte(s, '>') + 1
	if end == 0 || end > maxTag {
		return 0
	}
	if name := tagName(s); name == "script" || name == "style" {
		if close := strings.Index(strings.ToLower(s[end:]), "</"+name); close >= 0 {
			if over := strings.IndexByte(s[end+close:], '>'); over >= 0 {
				return end + close + over + 1
			}
		}
	}
	return end
}

// maxTag is longer than any tag in a snippet.
const maxTag = 2000

// tagName is the name of the tag that a text begins with, in small letters.
func tagName(s string) string {
	s = strings.TrimPrefix(s[1:], "/")
	n := 0
	for n < len(s) && n < 10 && (isLetter(s[n]) || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return strings.ToLower(s[:n])
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// visible takes out what a person would not see and a model would read.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return invisible.Is(r) || joiner(r) || unicode.IsControl(r) }) {
		return s
	}
	var out strings.Builder
	before := rune(0)
	for i, r := range s {
		switch {
		case unicode.IsSpace(r), r < 0x20:
			r = ' '
		case invisible.Is(r):
			continue
		case joiner(r):
			// Scripts and emoji need it between two characters of theirs.
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if !written(before) || r != emoji && !written(next) {
				continue
			}
		}
		out.WriteRune(r)
		before = r
	}
	return out.String()
}

// emoji says that the character before it is drawn as one.
const emoji = 0xfe0f

func joiner(r rune) bool { return r == 0x200c || r == 0x200d || r == emoji }

// written are the characters that a joiner may stand between.
func written(r rune) bool {
	return r > 0x7f && r != utf8.RuneError && !invisible.Is(r) && !unicode.IsSpace(r) && (!joiner(r) || r == emoji)
}

// short cuts a text to n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n]
	return strings.TrimRight(string(r), " \u200c\u200d") + "…"
}

// layouts are the ways in which the services write a time.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05.999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05", "2006-01-02",
	time.RFC1123, time.RFC1123Z, "Mon, 2 Jan 2006 15:04:05 MST", "January 2, 2006", "2 January 2006",
}

// day is the date of a time however it is written, or "".
func day(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 60 {
		return ""
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil && t.Year() > 1 {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}
