package search

import (
	"context"
	"strings"
	"unicode/utf8"

	"lore/internal/index"
)

// A Fit is a passage, and how well it fits a question: about the number of the
// question's words that it has.
type Fit struct {
	index.Passage
	Score float64
}

// Fitting returns for each of the notes the passage that has most of the words
// of a question, by note. Of equal ones it is the first.
func (s *Searcher) Fitting(ctx context.Context, q Query, ids []int64) (map[int64]Fit, error) {
	passages, err := s.Store.Passages(ctx, index.PassageQuery{IDs: ids})
	if err != nil {
		return nil, err
	}
	a := newAsked(q)
	out := make(map[int64]Fit, len(ids))
	for _, p := range passages {
		score := a.score(p.Heading + "\n" + p.Text)
		if best, ok := out[p.ID]; !ok || score > best.Score {
			out[p.ID] = Fit{p, score}
		}
	}
	return out, nil
}

// Around returns the part of a text that surrounds the bytes from start to end,
// on one line and at most about width bytes long, with an ellipsis where
// something was left out.
func Around(text string, start, end, width int) string {
	start = min(max(start, 0), len(text))
	end = min(max(end, start), len(text), start+width)
	if i := strings.IndexByte(text[start:end], '\n'); i >= 0 {
		end = start + i
	}
	// A line is what people read: the text beside it says something else.
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i
	}
	head, tail := "", ""
	if to-from > width {
		side := max(0, width-(end-start)) / 2
		if start-side > from {
			from, head = wordStart(text, start-side, start), "… "
		}
		if limit := max(end, from+width); limit < to {
			to, tail = max(wordEnd(text, limit), runeEnd(text, end, limit)), " …"
		}
	}
	return head + strings.Join(strings.Fields(text[from:to]), " ") + tail
}

// runeEnd is the end of the character that end lies in, but not past limit.
func runeEnd(text string, end, limit int) int {
	for end < limit && !utf8.RuneStart(text[end]) {
		end++
	}
	return end
}
