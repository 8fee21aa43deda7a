package notes

import (
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// lineEnd is the line end that a text uses.
func lineEnd(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineEnds gives a text the line ends that are asked for.
func lineEnds(text, eol string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if eol == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", eol)
}

// replaceIn finds the one place of the note that search means: exactly, else
// with white space that may differ.
func replaceIn(n *note.Note, search, replace string) (change.Patch, error) {
	text, eol := n.Text(), lineEnd(n.Text())
	search, replace = lineEnds(search, eol), lineEnds(replace, eol)
	found := occurrences(text, search)
	if len(found) == 0 {
		spans, err := loosely(text, search)
		if err != nil {
			return change.Patch{}, err
		}
		for _, s := range spans {
			found = append(found, s.Start)
		}
		if len(spans) == 1 {
			end := spans[0].End
			// A search without a last line end must not swallow the note's.
			replace = strings.TrimSuffix(replace, eol)
			return change.Patch{Start: spans[0].Start, End: end, Text: replace}, nil
		}
	}
	switch len(found) {
	case 0:
		return change.Patch{}, &fault.Report{
			Kind: fault.NotFound, Field: "search", Message: fmt.Sprintf("search: %q does not stand in %s", short(search), n.Path),
			Fix: "read the note and copy the text as it is" + likely(text, search),
		}
	case 1:
		return change.Patch{Start: found[0], End: found[0] + len(search), Text: replace}, nil
	}
	var lines []string
	for _, at := range found[:min(len(found), 10)] {
		lines = append(lines, fmt.Sprintf("line %d", lineAt(text, at)))
	}
	return change.Patch{}, &fault.Report{
		Kind: fault.Ambiguous, Field: "search", Message: fmt.Sprintf("search: %q stands %d times in %s: %s", short(search), len(found), n.Path, strings.Join(lines, ", ")),
		Fix: "add the lines around the one you mean",
	}
}

// occurrences are the places where a text stands, without overlaps.
func occurrences(text, search string) []int {
	var out []int
	for at := 0; ; {
		i := strings.Index(text[at:], search)
		if i < 0 {
			return out
		}
		out = append(out, at+i)
		at += i + max(len(search), 1)
	}
}

// loosely finds lines that differ from the lines of search in white space only.
func loosely(text, search string) ([]note.Span, error) {
	want := looseLines(search)
	if len(want) == 0 {
		return nil, fault.Field("search", "give the text that is to be replaced", "there is only white space in it")
	}
	var starts []int
	var have []string
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		next := at + end + 1
		if end < 0 {
			next = len(text)
		}
		starts = append(starts, at)
		have = append(have, strings.Join(strings.Fields(text[at:next]), " "))
		at = next
	}
	var out []note.Span
	for i := 0; i+len(want) <= len(have); i++ {
		if !equalLines(have[i:i+len(want)], want) {
			continue
		}
		end := len(text)
		if i+len(want) < len(starts) {
			end = starts[i+len(want)]
		}
		end = starts[i] + len(strings.TrimRight(text[starts[i]:end], "\r\n"))
		out = append(out, note.Span{Start: starts[i], End: end})
	}
	return out, nil
}

// looseLines are the lines of a search, white space folded, without blank ones
// at its ends.
func looseLines(search string) []string {
	var out []string
	for l := range strings.SplitSeq(strings.Trim(search, "\r\n"), "\n") {
		out = append(out, strings.Join(strings.Fields(l), " "))
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func equalLines(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// likely names the line that shares most words with a search that was not
// found.
func likely(text, search string) string {
	words := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(search)) {
		words[w] = true
	}
	best, line, n := 0, "", 0
	i := 0
	for l := range strings.SplitSeq(text, "\n") {
		i++
		score := 0
		for _, w := range strings.Fields(strings.ToLower(l)) {
			if words[w] {
				score++
			}
		}
		if score > best {
			best, line, n = score, strings.TrimSpace(l), i
		}
	}
	if best == 0 {
		return ""
	}
	return fmt.Sprintf("; the nearest is line %d: %q", n, short(line))
}

// short is the beginning of a text, on one line.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 60
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}

// replaceBlocks carries out SEARCH/REPLACE blocks:
//
//	<<<<<<< SEARCH
//	old text
//	=======
//	new text
//	>>>>>>> REPLACE
//
// The marks may also be rows of dashes and pluses, as some models write them.
func replaceBlocks(n *note.Note, diff string) ([]change.Patch, error) {
	blocks, err := parseBlocks(diff)
	if err != nil {
		return nil, err
	}
	var out []change.Patch
	for i, b := range blocks {
		p, err := replaceIn(n, b.search, b.replace)
		if err != nil {
			return nil, fault.Rename(fmt.Errorf("block %d: %w", i+1, err), "search", "diff")
		}
		out = append(out, p)
	}
	return out, nil
}

type block struct{ search, replace string }

func parseBlocks(diff string) ([]block, error) {
	bad := func(line int, what string) error {
		return fault.Field("diff", "write <<<<<<< SEARCH, the old text, =======, the new text, >>>>>>> REPLACE", "line %d: %s", line, what)
	}
	var out []block
	var b block
	state := 0 // 0 outside, 1 in the search, 2 in the replacement
	lines := strings.Split(strings.ReplaceAll(diff, "\r\n", "\n"), "\n")
	for i, l := range lines {
		switch mark := markOf(l); {
		case mark == "search" && state == 0:
			b, state = block{}, 1
		case mark == "middle" && state == 1:
			state = 2
		case mark == "replace" && state == 2:
			b.search, b.replace = strings.TrimSuffix(b.search, "\n"), strings.TrimSuffix(b.replace, "\n")
			if strings.TrimSpace(b.search) == "" {
				return nil, bad(i+1, "the search is empty")
			}
			out, state = append(out, b), 0
		case mark == "middle" && state == 2:
			return nil, bad(i+1, "a block has two lines of =======; search for less, so that none stands in it")
		case mark == "search" || mark == "replace":
			return nil, bad(i+1, "this mark does not belong here")
		case state == 1:
			b.search += l + "\n"
		case state == 2:
			b.replace += l + "\n"
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "```"):
			return nil, bad(i+1, "text outside of a block")
		}
	}
	switch {
	case state != 0:
		return nil, bad(len(lines), "the last block is not closed")
	case len(out) == 0:
		return nil, bad(1, "there is no block")
	}
	return out, nil
}

// markOf tells which mark a line is, or "".
func markOf(l string) string {
	l = strings.TrimRight(l, " \t")
	switch {
	case len(l) >= 10 && strings.HasSuffix(l, " SEARCH") && strings.Trim(strings.TrimSuffix(l, " SEARCH"), "<-") == "":
		return "search"
	case l == "=======":
		return "middle"
	case len(l) >= 11 && strings.HasSuffix(l, " REPLACE") && strings.Trim(strings.TrimSuffix(l, " REPLACE"), ">+") == "":
		return "replace"
	}
	return ""
}
