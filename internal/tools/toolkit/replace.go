package toolkit

import (
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// LineEnd is the line end that a text uses.
func LineEnd(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// LineEnds gives a text the line ends that are asked for.
func LineEnds(text, eol string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if eol == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", eol)
}

// ReplaceOne finds the one place of the text at path that search means: exactly,
// else with white space that may differ.
func ReplaceOne(path, text, search, replace string) (change.Patch, error) {
	eol := LineEnd(text)
	search, replace = LineEnds(search, eol), LineEnds(replace, eol)
	found := Occurrences(text, search)
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
			Kind: fault.NotFound, Field: "search", Message: fmt.Sprintf("search: %q was not found in %s", Truncate(OneLine(search), 60), path),
			Fix: "read it again and copy the text exactly" + likely(text, search),
		}
	case 1:
		return change.Patch{Start: found[0], End: found[0] + len(search), Text: replace}, nil
	}
	var lines []string
	for _, at := range found[:min(len(found), 10)] {
		lines = append(lines, fmt.Sprintf("line %d", LineAt(text, at)))
	}
	return change.Patch{}, &fault.Report{
		Kind: fault.Ambiguous, Field: "search", Message: fmt.Sprintf("search: %q occurs %d times in %s: %s", Truncate(OneLine(search), 60), len(found), path, strings.Join(lines, ", ")),
		Fix: "include more of the lines around it",
	}
}

// Occurrences are the places where a text stands, without overlaps.
func Occurrences(text, search string) []int {
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
		return nil, fault.Field("search", "give the text to replace", "contains only whitespace")
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
		have = append(have, OneLine(text[at:next]))
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
		out = append(out, OneLine(l))
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
	return fmt.Sprintf("; line %d is similar: %q", n, Truncate(OneLine(line), 60))
}

// ReplaceBlocks carries out SEARCH/REPLACE blocks:
//
//	<<<<<<< SEARCH
//	old text
//	=======
//	new text
//	>>>>>>> REPLACE
//
// The marks may also be rows of dashes and pluses, as some models write them.
func ReplaceBlocks(path, text, diff string) ([]change.Patch, error) {
	blocks, err := parseBlocks(diff)
	if err != nil {
		return nil, err
	}
	var out []change.Patch
	for i, b := range blocks {
		p, err := ReplaceOne(path, text, b.search, b.replace)
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
			return nil, bad(i+1, "a block has two lines of =======; search for shorter text without one")
		case mark == "search" || mark == "replace":
			return nil, bad(i+1, "this marker is out of place")
		case state == 1:
			b.search += l + "\n"
		case state == 2:
			b.replace += l + "\n"
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "```"):
			return nil, bad(i+1, "text outside a block")
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

// LineAt counts the line of a byte from 1.
func LineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
