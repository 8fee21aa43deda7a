package note

import "strings"

// htmlStart reports whether a line begins an HTML block, and what ends it: the
// text in lower case, or "" for a blank line.
func htmlStart(l string, interrupts bool) (end string, ok bool) {
	switch {
	case strings.HasPrefix(l, "<!--"):
		return "-->", true
	case strings.HasPrefix(l, "<?"):
		return "?>", true
	case strings.HasPrefix(l, "<![CDATA["):
		return "]]>", true
	case len(l) > 2 && l[1] == '!' && isLetter(l[2]):
		return ">", true
	}
	i := 1
	if i < len(l) && l[i] == '/' {
		i++
	}
	from := i
	for i < len(l) && (isLetter(l[i]) || i > from && l[i] >= '0' && l[i] <= '9') {
		i++
	}
	if i == from || i-from > 10 {
		return "", !interrupts && wholeTag(l)
	}
	var buf [10]byte
	name := buf[:copy(buf[:], l[from:i])]
	for j := range name {
		name[j] |= 0x20
	}
	ends := i == len(l) || l[i] == ' ' || l[i] == '\t' || l[i] == '>'
	switch string(name) {
	case "script", "pre", "style", "textarea":
		if from == 1 && ends {
			return "</" + string(name) + ">", true
		}
		return "", !interrupts && from == 2 && wholeTag(l)
	}
	if (ends || strings.HasPrefix(l[i:], "/>")) && isBlockTag(string(name)) {
		return "", true
	}
	return "", !interrupts && wholeTag(l)
}

// wholeTag reports whether a line is one complete tag and nothing else.
func wholeTag(l string) bool {
	end, _ := htmlTag(l, 0)
	return end > 0 && trimLeft(l, end, len(l)) == len(l)
}

func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
		"footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
		"iframe", "legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup", "option",
		"p", "param", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr",
		"track", "ul":
		return true
	}
	return false
}

// htmlTag reads an open or closing tag at s[i]. It returns its end, or 0 and
// how far it looked.
func htmlTag(s string, i int) (end, seen int) {
	j := i + 1
	closing := j < len(s) && s[j] == '/'
	if closing {
		j++
	}
	if j >= len(s) || !isLetter(s[j]) {
		return 0, j
	}
	for j < len(s) && (isLetter(s[j]) || s[j] >= '0' && s[j] <= '9' || s[j] == '-') {
		j++
	}
	for {
		k := skipSpace(s, j)
		if k >= len(s) {
			return 0, k
		}
		if s[k] == '>' {
			return k + 1, k
		}
		if closing {
			return 0, k
		}
		if s[k] == '/' && k+1 < len(s) && s[k+1] == '>' {
			return k + 2, k
		}
		if k == j || !isLetter(s[k]) && s[k] != '_' && s[k] != ':' {
			return 0, k
		}
		if j = htmlAttribute(s, k); j < 0 {
			return 0, -j
		}
	}
}

// htmlAttribute reads name[=value] at s[k]; a negative result is a failure and
// how far it looked.
func htmlAttribute(s string, k int) int {
	for k < len(s) && (isLetter(s[k]) || s[k] >= '0' && s[k] <= '9' || strings.IndexByte("_:.-", s[k]) >= 0) {
		k++
	}
	eq := skipSpace(s, k)
	if eq >= len(s) || s[eq] != '=' {
		return k
	}
	v := skipSpace(s, eq+1)
	if v >= len(s) {
		return -v
	}
	if q := s[v]; q == '"' || q == '\'' {
		e := strings.IndexByte(s[v+1:], q)
		if e < 0 {
			return -len(s)
		}
		return v + 1 + e + 1
	}
	e := v
	for e < len(s) && strings.IndexByte(" \t\r\n\"'=<>`", s[e]) < 0 {
		e++
	}
	if e == v {
		return -e
	}
	return e
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// indexFold is strings.Index for a needle in lower-case ASCII that begins with
// a byte that is no letter.
func indexFold(s, needle string) int {
	for i := 0; ; i++ {
		j := strings.IndexByte(s[i:], needle[0])
		if j < 0 || i+j+len(needle) > len(s) {
			return -1
		}
		i += j
		if strings.EqualFold(s[i:i+len(needle)], needle) {
			return i
		}
	}
}
