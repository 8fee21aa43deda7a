package note

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Plain is a passage as a reader sees it, for excerpts and for embedding: links
// are their text, there is no markup, no front matter and no comment, tables
// are words, and every run of blanks is one space.
func Plain(text string) string {
	var w plainWriter
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, bom) {
		n := &Note{text: text, end: len(text)}
		p := &parser{note: n, text: text}
		text = text[p.front():]
	}
	fence, fenceLen := byte(0), 0
	absent := "" // marks that do not come any more: looking once is enough
	for pos := 0; pos < len(text); {
		end, next := lineEnd(text, pos, false)
		l := stripContainers(text[pos:end])
		pos = next
		if c, n := fenceRun(l); n > 0 && (fence == 0 || c == fence && n >= fenceLen && strings.TrimSpace(l[n:]) == "") {
			w.flush()
			if fence != 0 {
				fence = 0
			} else {
				fence, fenceLen = c, n
			}
			continue
		}
		if fence != 0 {
			w.flush()
			w.raw(l)
			w.space()
			continue
		}
		if mark := hiddenUntil(l); mark != "" && !strings.Contains(absent, mark) {
			if at := strings.Index(text[pos:], mark); at >= 0 {
				w.flush()
				_, pos = lineEnd(text, pos+at, false)
				continue
			}
			absent += mark
		}
		w.line(l)
	}
	w.flush()
	return w.done()
}

// hiddenUntil names the mark that ends a comment of several lines which begins
// with this line, or "".
func hiddenUntil(l string) string {
	switch {
	case strings.HasPrefix(l, "%%") && !strings.Contains(l[2:], "%%"):
		return "%%"
	case strings.HasPrefix(l, "<!--") && !strings.Contains(l[4:], "-->"):
		return "-->"
	}
	return ""
}

// plainInline is Plain for a text without block structure.
func plainInline(s string) string {
	if !strings.ContainsAny(s, "\\`*_~=[]<&%(\n\r\t\x00") && !strings.Contains(s, "  ") {
		return strings.TrimSpace(s)
	}
	var w plainWriter
	w.inline(s)
	return w.done()
}

// stripContainers takes quote marks, list markers, task boxes, footnote and
// callout labels off a line.
func stripContainers(l string) string {
	for {
		l = strings.TrimLeft(l, " \t")
		switch {
		case l == "":
			return l
		case l[0] == '>':
			l = l[1:]
			if t := strings.TrimLeft(l, " "); strings.HasPrefix(t, "[!") {
				if i := strings.IndexByte(t, ']'); i > 0 {
					return strings.TrimLeft(t[i+1:], "+-")
				}
			}
		case strings.IndexByte("-*+", l[0]) >= 0 && len(l) > 1 && (l[1] == ' ' || l[1] == '\t'):
			if strings.Trim(l, "-* \t") == "" {
				return ""
			}
			return stripTask(l[2:])
		case l[0] >= '0' && l[0] <= '9':
			i := len(l) - len(strings.TrimLeft(l, "0123456789"))
			if i < 10 && i+1 < len(l) && (l[i] == '.' || l[i] == ')') && l[i+1] == ' ' {
				return stripTask(l[i+2:])
			}
			return l
		case strings.HasPrefix(l, "[^"):
			if end := footnoteLabel(l, 0); end > 0 && strings.HasPrefix(l[end:], ":") {
				return l[end+1:]
			}
			return l
		default:
			return l
		}
	}
}

func stripTask(l string) string {
	l = strings.TrimLeft(l, " \t")
	if len(l) > 3 && l[0] == '[' {
		if _, n := utf8.DecodeRuneInString(l[1:]); strings.HasPrefix(l[1+n:], "] ") {
			return l[n+3:]
		}
	}
	return l
}

// fenceRun tells whether a line is a code fence.
func fenceRun(l string) (c byte, n int) {
	if len(l) < 3 || l[0] != '`' && l[0] != '~' {
		return 0, 0
	}
	n = runLen(l, 0)
	if n < 3 || l[0] == '`' && strings.IndexByte(l[n:], '`') >= 0 {
		return 0, 0
	}
	return l[0], n
}

// A plainWriter collects readable text. A zero byte in out is a mark that turned
// out to be markup.
type plainWriter struct {
	out   []byte
	para  []byte // lines of the paragraph that is not written yet
	opens []int  // positions in out of brackets that may begin a link
}

// line takes one line without its containers.
func (w *plainWriter) line(l string) {
	t := strings.TrimSpace(l)
	switch {
	case t == "":
		w.flush()
		return
	case strings.Trim(t, "-=* \t") == "" && len(t) > 1, strings.Trim(t, "_") == "", t == "$$", delimiterCells(t) > 0:
		w.flush()
		return
	case t[0] == '#':
		if n := runLen(t, 0); n <= 6 && (n == len(t) || t[n] == ' ' || t[n] == '\t') {
			w.flush()
			if m := blockMark(t, n, len(t)); m.Len() > 0 {
				t = t[:m.Start]
			}
			w.inline(strings.TrimRight(t[n:], "#"))
			w.space()
			return
		}
	case t[0] == '[':
		if n := labelEnd(t, 0); n > 2 && n < len(t) && t[n] == ':' && len(w.para) == 0 && !strings.HasPrefix(t[n:], "::") {
			return
		}
	case t[0] == '|':
		w.flush()
		eachCell(t, func(a, b int) {
			w.inline(strings.ReplaceAll(t[a:b], "\\|", "|"))
			w.space()
		})
		return
	}
	if m := blockMark(t, 0, len(t)); m.Len() > 0 {
		t = t[:m.Start]
	}
	w.para = append(append(w.para, t...), '\n')
}

func (w *plainWriter) flush() {
	if len(w.para) > 0 {
		s := string(w.para)
		w.para = w.para[:0]
		w.inline(s)
		w.space()
	}
}

func (w *plainWriter) space() { w.out = append(w.out, ' ') }

func (w *plainWriter) raw(s string) { w.out = append(w.out, s...) }

// done folds the blanks and drops the marks.
func (w *plainWriter) done() string {
	out := w.out[:0]
	gap := false
	for _, c := range w.out {
		switch {
		case c == 0:
		case blankByte[c]:
			gap = len(out) > 0
		default:
			if gap {
				out = append(out, ' ')
				gap = false
			}
			out = append(out, c)
		}
	}
	return string(out)
}

// inline writes a run of text without its markup.
func (w *plainWriter) inline(s string) {
	w.opens = w.opens[:0]
	var code ticks
	wasted := 0
	for i := 0; i < len(s); {
		c := s[i]
		next := i + 1
		switch c {
		case '\\':
			if next < len(s) && isPunct(s[next]) {
				w.out = append(w.out, s[next])
				next++
			} else {
				w.out = append(w.out, c)
			}
		case '`':
			n := runLen(s, i)
			if next = code.end(s, i); next > i+n {
				w.raw(s[i+n : next-n])
			}
		case '*', '_', '~', '=':
			next = i + runLen(s, i)
			if !isMark(s, i, next) {
				w.raw(s[i:next])
			}
		case '[':
			next = w.open(s, i)
		case ']':
			next = w.close(s, i)
		case '<':
			next = w.angle(s, i, &wasted)
		case '&':
			text, n := entity(s[i:])
			w.raw(text)
			next = i + n
		case '%':
			next = i + runLen(s, i)
			if end := strings.Index(s[next:], "%%"); next == i+2 && end >= 0 {
				next += end + 2
			} else {
				w.raw(s[i:next])
			}
		case ':':
			next = urlEnd(s, i)
			w.raw(s[i:next])
		case '(':
			if i+40 <= len(s) && s[next] == '(' && isUUID(s[i+2:i+38]) {
				next = i + 40
			} else {
				w.out = append(w.out, c)
			}
		default:
			w.out = append(w.out, c)
		}
		i = next
	}
}

// urlEnd is where the rest of a URL ends that has its colon at i: the marks
// inside of it are no markup. After any other colon it is the next byte.
func urlEnd(s string, i int) int {
	next := i + 1
	if strings.HasPrefix(s[i:], "://") {
		for next < len(s) && s[next] > ' ' && strings.IndexByte("<>[]()\"`*|\\", s[next]) < 0 {
			next++
		}
	}
	return next
}

// isMark reports whether the run s[i:j] of * _ ~ or = is markup: it touches a
// word on one side at least, and for all but * not on both.
func isMark(s string, i, j int) bool {
	left := i > 0 && !blankByte[s[i-1]]
	right := j < len(s) && !blankByte[s[j]]
	if !left && !right {
		return false
	}
	switch s[i] {
	case '~', '=':
		if j-i != 2 {
			return false
		}
	case '*':
		return true
	}
	return !(left && right && isWordChar(s[i-1]) && isWordChar(s[j]))
}

func isWordChar(c byte) bool { return isWordByte(c) || c >= utf8.RuneSelf || c == '_' }

func (w *plainWriter) open(s string, i int) int {
	if strings.HasPrefix(s[i:], "[[") {
		if end := wikiEnd(s, i+2); end > 0 && !strings.HasPrefix(s[end:], "(") {
			w.wiki(s[i+2:end-2], i > 0 && s[i-1] == '!')
			return end
		}
	}
	if strings.HasPrefix(s[i:], "[^") {
		if end := footnoteLabel(s, i); end > 0 {
			return end
		}
	}
	w.opens = append(w.opens, len(w.out))
	w.out = append(w.out, '[')
	return i + 1
}

// wiki writes what a wikilink shows; of an embedded picture nothing.
func (w *plainWriter) wiki(inner string, embed bool) {
	l, _, _ := splitWiki(inner, Options{})
	if embed && len(w.out) > 0 && w.out[len(w.out)-1] == '!' {
		w.out[len(w.out)-1] = 0
		if ext := path.Ext(l.Target); ext != "" && ext != ".md" && len(ext) < 6 {
			return
		}
	}
	switch {
	case l.Text != "":
		w.raw(l.Text)
	case l.Fragment == "":
		w.raw(l.Target)
	case l.Fragment[0] == '^':
		w.raw(l.Target)
	default:
		w.raw(l.Target + " " + strings.ReplaceAll(l.Fragment, "#", " "))
	}
}

func (w *plainWriter) close(s string, i int) int {
	n := len(w.opens) - 1
	if n < 0 {
		w.out = append(w.out, ']')
		return i + 1
	}
	at := w.opens[n]
	w.opens = w.opens[:n]
	end := 0
	if i+1 < len(s) && s[i+1] == '(' {
		_, end = linkTail(s, i+2)
	} else if i+1 < len(s) && s[i+1] == '[' && !strings.HasPrefix(s[i+1:], "[[") {
		end = labelEnd(s, i+1)
	}
	if end == 0 {
		w.out = append(w.out, ']')
		return i + 1
	}
	w.out[at] = 0
	if at > 0 && w.out[at-1] == '!' {
		w.out[at-1] = 0
	}
	return end
}

func (w *plainWriter) angle(s string, i int, wasted *int) int {
	if end := autolink(s, i); end > 0 {
		w.raw(s[i+1 : end-1])
		return end
	}
	end, seen := 0, i
	if *wasted > 4096+8*len(s) {
		seen = i
	} else if strings.HasPrefix(s[i:], "<!--") {
		if j := strings.Index(s[i+4:], "-->"); j >= 0 {
			return i + 4 + j + 3
		}
		seen = len(s)
	} else {
		end, seen = htmlTag(s, i)
	}
	if end == 0 {
		*wasted += seen - i
		w.out = append(w.out, '<')
		return i + 1
	}
	name := strings.TrimLeft(s[i+1:end], "/")
	k := 0
	for k < len(name) && isWordByte(name[k]) {
		k++
	}
	if name = strings.ToLower(name[:k]); name == "br" || isBlockTag(name) {
		w.space()
	}
	return end
}
