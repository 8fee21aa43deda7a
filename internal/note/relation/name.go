package relation

import (
	"io"
	"strings"

	"lore/internal/note"
)

// A Node is a note as a node of the graph.
type Node struct {
	ID         string   // property "id"; empty when the note is addressed by its path
	Type       string   // property "type", as written
	Title      string   // as [note.Note.Title]
	Path       string   // from the vault root
	Confidence *float64 // property "confidence", between 0 and 1; nil when it is not known
	Problem    string   // what cannot be understood in it
}

// NodeOf reads what a note says of itself.
func NodeOf(n *note.Note) Node {
	out := Node{Type: strings.TrimSpace(n.Type), Title: n.Title, Path: n.Path}
	if v, ok := n.Front.Get("id"); ok {
		out.ID = strings.TrimSpace(plain(n, "id", v))
	}
	if v, ok := n.Front.Get("confidence"); ok && v != nil {
		out.Confidence, out.Problem = confidence(plain(n, "confidence", v))
	}
	return out
}

// plain is a property as text: of a number the digits that were written, so that
// an id of 007 stays one.
func plain(n *note.Note, key string, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	switch v.(type) {
	case nil, []any, map[string]any, bool:
		return ""
	}
	for _, p := range n.Front.Props {
		if p.Key == key {
			return n.Text()[p.Val.Start:p.Val.End]
		}
	}
	return ""
}

// Prefix is how the ids of nodes of a type begin: "obs" for Observation. A type
// that is not known gives its first three letters.
func Prefix(typ string) string {
	switch low := strings.ToLower(strings.TrimSpace(typ)); low {
	case "observation", "hypothesis", "concept", "entity", "question":
		return low[:3]
	case "source":
		return "src"
	case "claim":
		return "clm"
	case "task":
		return "tsk"
	case "note", "":
		return "note"
	default:
		var b strings.Builder
		for _, r := range low {
			if r >= 'a' && r <= 'z' && b.Len() < 3 {
				b.WriteRune(r)
			}
		}
		if b.Len() == 0 {
			return "node"
		}
		return b.String()
	}
}

// NewID makes the id of a relation: "rel-" and four to eight letters and digits,
// more of them where short ones are taken. It is empty when random ends, or
// when nothing free is found in it.
func NewID(random io.Reader, taken func(string) bool) string { return newID("rel", random, taken) }

// NewNodeID makes the id of a node of a type, as [NewID] does.
func NewNodeID(typ string, random io.Reader, taken func(string) bool) string {
	return newID(Prefix(typ), random, taken)
}

const (
	alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
	shortest = 4
	longest  = 8
	tries    = 8 // per length
)

func newID(prefix string, random io.Reader, taken func(string) bool) string {
	for size := shortest; size <= longest; size++ {
		for range tries {
			tail := letters(random, size)
			if tail == "" {
				return ""
			}
			if id := prefix + "-" + tail; taken == nil || !taken(id) {
				return id
			}
		}
	}
	return ""
}

// letters draws from the alphabet, each letter as likely as every other.
func letters(random io.Reader, size int) string {
	const fair = 256 - 256%len(alphabet)
	out := make([]byte, 0, size)
	var buf [4 * longest]byte
	for range 8 {
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return ""
		}
		for _, c := range buf {
			if int(c) < fair && len(out) < size {
				out = append(out, alphabet[int(c)%len(alphabet)])
			}
		}
		if len(out) == size {
			return string(out)
		}
	}
	return ""
}
