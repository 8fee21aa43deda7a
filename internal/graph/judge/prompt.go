package judge

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"lore/internal/note"
	"lore/internal/note/summarize"
)

// A block is one text with a name that the task uses.
type block struct {
	name string // ours, never from a note
	doc  Doc
	most int // characters
}

// enclose puts texts between marked lines. The mark depends on the texts and
// stands in none of them, so no text can pretend to end its block.
func enclose(blocks []block) string {
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		var p strings.Builder
		fmt.Fprintf(&p, "title: %s\n", summarize.Shorten(oneLine(b.doc.Title), 300))
		if b.doc.Type != "" {
			fmt.Fprintf(&p, "type: %s\n", summarize.Shorten(oneLine(b.doc.Type), 60))
		}
		p.WriteString(summarize.Cut(note.Plain(b.doc.Text), b.most))
		parts[i] = p.String()
	}
	mark := strange(parts, hash(strings.Join(parts, "\n")))
	var out strings.Builder
	for i, b := range blocks {
		fmt.Fprintf(&out, "===== %s begins %s =====\n%s\n===== %s ends %s =====\n\n", b.name, mark, parts[i], b.name, mark)
	}
	return strings.TrimSpace(out.String())
}

func hash(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return fmt.Sprintf("%016x", h.Sum64())
}

// strange makes a mark that stands in no part, beginning with the one given.
func strange(parts []string, mark string) string {
	for slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(p, mark) }) {
		mark = hash(mark)
	}
	return mark
}

// oneLine takes out what draws on a screen or breaks a line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 }), " ")
}

// beside are the neighbours that are sent, sharing what all of them may have.
func beside(neighbours []Doc) []block {
	neighbours = neighbours[:min(len(neighbours), MaxNeighbours)]
	var out []block
	for i, n := range neighbours {
		name := fmt.Sprintf("neighbour %d", i+1)
		if n.Relation != "" {
			how := "the note %s it"
			if n.Incoming {
				how = "it %s the note"
			}
			name += " (" + fmt.Sprintf(how, safeName(n.Relation)) + ")"
		}
		out = append(out, block{name, n, min(MaxText, maxBeside/len(neighbours))})
	}
	return out
}

// safeName keeps what a type may be made of, since it stands outside the marks.
func safeName(t string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, summarize.Shorten(spelled(t), 40))
}
