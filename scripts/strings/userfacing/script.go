package userfacing

import (
	"bytes"
	"strings"
)

// scanScript reads TypeScript for literals.
func (s *scanner) scanScript(from, to int) {
	for i := from; i < to; {
		i = s.next(i)
	}
}

// scanBraces reads TypeScript up to the brace that closes it, and answers with
// the place after that.
func (s *scanner) scanBraces(from int) int {
	depth := 1
	for i := from; i < len(s.src); {
		switch s.src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i = s.next(i)
	}
	return len(s.src)
}

// next steps over one comment, literal, regular expression or byte.
func (s *scanner) next(i int) int {
	rest := s.src[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		return i + until(rest, "\n")
	case bytes.HasPrefix(rest, []byte("/*")):
		return i + until(rest, "*/")
	case rest[0] == '/' && s.beginsRegexp(i):
		return s.endOfRegexp(i)
	case rest[0] == '\'' || rest[0] == '"':
		return s.scanLiteral(i)
	case rest[0] == '`':
		return s.scanTemplate(i)
	}
	return i + 1
}

func until(b []byte, end string) int {
	if at := bytes.Index(b, []byte(end)); at >= 0 {
		return at + len(end)
	}
	return len(b)
}

// beginsRegexp says whether a slash follows what no division can follow.
func (s *scanner) beginsRegexp(i int) bool {
	before := strings.TrimRight(string(s.src[max(0, i-40):i]), " \t")
	return before == "" || strings.ContainsRune("(,=:[!&|?{};>\n", rune(before[len(before)-1])) || strings.HasSuffix(before, "return")
}

func (s *scanner) endOfRegexp(i int) int {
	isClass := false
	for i++; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch s.src[i] {
		case '\\':
			i++
		case '[':
			isClass = true
		case ']':
			isClass = false
		case '/':
			if !isClass {
				return i + 1
			}
		}
	}
	return i
}

func (s *scanner) scanLiteral(open int) int {
	i := open + 1
	for i < len(s.src) && s.src[i] != s.src[open] && s.src[i] != '\n' {
		if s.src[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(s.src))
	s.addLiteral(open, strings.ReplaceAll(string(s.src[open+1:i]), `\`, ""))
	return i + 1
}

func (s *scanner) scanTemplate(open int) int {
	var value strings.Builder
	i := open + 1
	for i < len(s.src) && s.src[i] != '`' {
		switch {
		case bytes.HasPrefix(s.src[i:], []byte("${")):
			i = s.scanBraces(i + 2)
			value.WriteString("…")
			continue
		case s.src[i] == '\\':
			i++
		}
		value.WriteByte(s.src[min(i, len(s.src)-1)])
		i++
	}
	s.addLiteral(open, value.String())
	return i + 1
}

func (s *scanner) addLiteral(offset int, text string) {
	isModule := strings.HasPrefix(text, ".") || strings.HasPrefix(text, "@")
	if !isModule && looksLikeText.MatchString(text) {
		s.add(offset, text)
	}
}
