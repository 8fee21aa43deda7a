// Package relation reads and writes typed relations in plain Markdown: lines
// such as
//
//	## Relations
//	- supports:: [[Cold brew is less acidic]] [confidence:: 0.8] measured ^rel-9x2m
//	- contradicts:: [[Roast decides]] [confidence:: 0.7] [prior:: 0.6] ^rel-4t1c
//
// that a person can read, Obsidian can follow and Dataview can query. It owns
// the four forms in which a relation is written, and what a note says of itself
// as a node of the graph.
//
// Everything here is pure. Nothing knows which file a target means, that an
// index or a vault exists, or what the time is; randomness is given.
//
// Where the forms leave room, this is what is read:
//
//   - Of the links of one field or item, the first ones count that only commas,
//     blanks, "and" or "or" stand between. A link behind other words belongs
//     to the notes.
//   - A link into the same note, to a URL, to an attachment by a Markdown link,
//     and an embed are no relations.
//   - A block id is the id of a relation only where the line holds one relation.
package relation

import (
	"slices"
	"strings"
	"unicode"

	"lore/internal/note"
)

// A Form says how a relation is written.
type Form string

// The forms. Only the first, with an id, is ever rewritten.
const (
	FormLine     Form = "line"     // "- supports:: [[x]] [confidence:: 0.8] notes ^id" under Relations
	FormField    Form = "field"    // "supports:: [[x]]", [supports:: [[x]]] or (supports:: [[x]]) anywhere in a body
	FormProperty Form = "property" // supports: ["[[x]]"] in the front matter
	FormItem     Form = "item"     // "- supports [[x]] (why)" under Relations
)

// A Relation says that the note it stands in has something to do with another.
type Relation struct {
	Type       string        // SUPPORTS: upper case, words joined by "_"
	Target     string        // as the link names it: without fragment and alias
	Fragment   string        // "Heading" or "^block" of the target; often empty
	Kind       note.LinkKind // how the link is written
	Confidence *float64      // between 0 and 1; nil when it is not known
	Prior      *float64      // the confidence that was stated before another was calculated; nil when there is none
	Notes      string        // the words beside the link
	ID         string        // the block id without "^"; empty when the line has none
	Form       Form
	Problem    string    // what cannot be understood in it, such as a confidence of "high"
	Line       int       // counted from 1, of the file
	Span       note.Span // the whole line without its end; of a field or a property, that alone
	Dest       note.Span // the target of the link as written; zero where a definition has it
}

// known are the types that count wherever they stand.
func known() []string {
	return []string{"RELATES_TO", "SUPPORTS", "CONTRADICTS", "CITES", "DERIVED_FROM", "PART_OF", "CAUSES", "SIMILAR_TO"}
}

// Known lists the types that every vault has.
func Known() []string { return known() }

// Types are the names of relations that a user added to the known ones.
type Types []string

// Of reads the relations of a note, in the order of the text, with the types
// that every vault has.
func Of(n *note.Note) []Relation { return Types(nil).Of(n) }

// Of is like the function [Of], and counts these types too wherever they stand.
func (t Types) Of(n *note.Note) []Relation {
	found := read(n, t)
	if len(found) == 0 {
		return nil
	}
	out := make([]Relation, len(found))
	for i := range found {
		out[i] = found[i].Relation
	}
	return out
}

// set makes the types a set in their normal form.
func (t Types) set() map[string]bool {
	out := make(map[string]bool, len(t)+8)
	for _, name := range slices.Concat(known(), t) {
		if typ, ok := Normal(name); ok {
			out[typ] = true
		}
	}
	return out
}

// maxType is the longest name of a type, in bytes.
const maxType = 64

// Normal gives the name of a type its one form, upper case with "_" between
// words, and reports whether it can be a type: letters, digits, "_", "-" and
// blanks, with a letter first.
func Normal(name string) (string, bool) {
	if len(name) > maxType {
		return "", false
	}
	var b strings.Builder
	gap := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == ' ' || r == '\t':
			gap = b.Len() > 0
			continue
		case b.Len() == 0 && !unicode.IsLetter(r), !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
			return "", false
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String(), b.Len() > 0
}

// written is a type as it stands in a note: lower case.
func written(typ string) string { return strings.ToLower(typ) }
