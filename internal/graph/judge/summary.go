package judge

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"lore/internal/graph/stance"
	"lore/internal/note/summarize"
)

// A Summary is what a note says in short, and what it and its neighbours come
// to.
type Summary struct {
	Summary   string   `json:"summary"`
	KeyPoints []string `json:"key_points"`
	Synthesis string   `json:"synthesis,omitempty"` // only with neighbours
	Basis     Basis    `json:"basis"`
}

// Summarise puts a note into at most limit characters; 0: 200. With neighbours
// it also says what all of them come to, in at most twice as many.
func (j Judge) Summarise(ctx context.Context, d Doc, limit int, neighbours []Doc) Summary {
	if limit <= 0 {
		limit = summarize.DefaultMax
	}
	basis := Basis{Method: ByDigest}
	if d.empty() && len(neighbours) == 0 {
		return Summary{Basis: Basis{Method: ByNothing}}
	}
	if j.Model != nil {
		s, used, err := ask(ctx, j, aboutSummary(d, limit, neighbours), func(f fields) (Summary, error) { return readSummary(f, limit, len(neighbours) > 0) })
		if err == nil {
			s.Basis = used
			return s
		}
		basis = used
		j.fellBack(&basis, ByDigest, "summary", err)
	}
	got := summarize.Of(d.Text, summarize.Options{Max: limit, Title: d.Title})
	if got.Summary == "" {
		got.Summary = summarize.Shorten(oneLine(d.Title), limit)
	}
	return Summary{got.Summary, got.KeyPoints, together(d, limit, neighbours), basis}
}

func aboutSummary(d Doc, limit int, neighbours []Doc) question {
	q := question{
		task: fmt.Sprintf("Summarise the note in at most %d characters, and give up to %d key points that the summary leaves out. Say only what the note says.", limit, maxPoints),
		schema: map[string]any{
			"summary":    text(fmt.Sprintf("At most %d characters, whole sentences, no markup.", limit)),
			"key_points": listOf(maxPoints, "Short sentences."),
		},
		blocks: []block{{"note", d, MaxText}},
	}
	if len(neighbours) > 0 {
		q.task += fmt.Sprintf(" Then say in at most %d characters what the note and its neighbours come to: what speaks for it, what against, what is open.", 2*limit)
		q.schema["synthesis"] = text(fmt.Sprintf("At most %d characters.", 2*limit))
		q.blocks = append(q.blocks, beside(neighbours)...)
	}
	return q
}

func readSummary(f fields, limit int, together bool) (s Summary, err error) {
	if s.Summary, err = f.str("summary", limit); err != nil {
		return s, err
	}
	if s.KeyPoints, err = f.list("key_points", maxPoints, maxPoint); err != nil || !together {
		return s, err
	}
	s.Synthesis, err = f.str("synthesis", 2*limit)
	return s, err
}

// together counts what speaks for and against a note, and lets it and its
// neighbours speak.
func together(d Doc, limit int, neighbours []Doc) string {
	if len(neighbours) == 0 {
		return ""
	}
	pro, con := 0, 0
	docs := []summarize.Doc{d.digest()}
	for _, n := range neighbours {
		switch typ := spelled(n.Relation); {
		case typ == stance.Supports && n.Incoming:
			pro++
		case typ == stance.Contradicts:
			con++
		}
		docs = append(docs, n.digest())
	}
	counts := summarize.Shorten(tally(pro, con, len(neighbours)-pro-con), 2*limit)
	left := 2*limit - utf8.RuneCountInString(counts) - 1
	if left <= 0 {
		return counts
	}
	all := summarize.Several(docs, summarize.Options{Max: left, Points: -1})
	return strings.TrimSpace(counts + " " + all.Summary)
}

func tally(pro, con, other int) string {
	var parts []string
	for _, p := range []struct {
		n          int
		one, other string
	}{{pro, "one neighbor supports it", "%d neighbors support it"}, {con, "one neighbor contradicts it", "%d neighbors contradict it"}, {other, "one is related otherwise", "%d are related otherwise"}} {
		switch {
		case p.n == 1:
			parts = append(parts, p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf(p.other, p.n))
		}
	}
	s := strings.Join(parts, ", ") + "."
	return strings.ToUpper(s[:1]) + s[1:]
}
