package note

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FileName makes a title a name that every system can hold and that a link can
// name.
func FileName(title string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`[]|#^\/:*?"<>%`, r):
			return ' '
		case unicode.IsControl(r) || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, title)
	clean = strings.Trim(strings.Join(strings.Fields(clean), " "), " .")
	const most = 100
	for len(clean) > most {
		i := strings.LastIndexByte(clean[:most], ' ')
		if i < most/2 {
			i = most
			for !utf8.RuneStart(clean[i]) {
				i--
			}
		}
		clean = strings.TrimRight(clean[:i], " .,;-")
	}
	return clean
}
