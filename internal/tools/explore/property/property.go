// Package property counts the properties of notes: how often each is used, what
// its values look like, and what notes of one type or folder have in common. It
// knows rows of the index and opens nothing.
package property

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lore/internal/index"
)

// Count is how often a property is used, and what its values are.
type Count struct {
	Name  string `json:"name"`
	Notes int    `json:"notes"`
	// Kind is what most of its values are: text, number, date, checkbox or list.
	Kind string `json:"kind"`
	// Values that occur most often.
	Values []string `json:"values"`
}

// maxValues is how many values of a property are listed.
const maxValues = 50

// Counts counts the properties of notes, most used first.
func Counts(rows []index.Row) []Count {
	found := map[string]*property{}
	for i := range rows {
		count(found, rows[i].Props)
	}
	out := []Count{}
	for _, p := range found {
		out = append(out, Count{Name: p.name, Notes: p.notes, Kind: mostOf(p.kinds)[0], Values: mostOf(p.values)})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Notes, a.Notes), strings.Compare(a.Name, b.Name))
	})
	return out
}

// A property is what is known of one key.
type property struct {
	name          string
	notes         int
	kinds, values map[string]int
}

// count adds the properties of one note. A list has its key several times.
func count(found map[string]*property, props []index.Prop) {
	times := map[string]int{}
	for _, q := range props {
		times[strings.ToLower(q.Key)]++
	}
	for _, q := range props {
		key := strings.ToLower(q.Key)
		p := found[key]
		if p == nil {
			p = &property{name: q.Key, kinds: map[string]int{}, values: map[string]int{}}
			found[key] = p
		}
		if q.Value != "" {
			p.values[q.Value]++
		}
		if n := times[key]; n > 0 {
			p.notes++
			p.kinds[kindOf(key, q.Value, n)]++
			times[key] = 0
		}
	}
}

var (
	date     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?.*)?$`)
	isListed = map[string]bool{"tags": true, "aliases": true, "cssclasses": true}
)

// IsDate reports whether a value is written as a date.
func IsDate(value string) bool { return date.MatchString(value) }

// kindOf is what a value looks like. The index does not tell a list of one from
// a value, so keys that always hold lists are known by name.
func kindOf(key, value string, times int) string {
	_, err := strconv.ParseFloat(value, 64)
	switch {
	case times > 1 || isListed[key]:
		return "list"
	case value == "true" || value == "false":
		return "checkbox"
	case IsDate(value):
		return "date"
	case err == nil:
		return "number"
	}
	return "text"
}

// mostOf lists the most frequent words first.
func mostOf(counts map[string]int) []string {
	out := make([]string, 0, len(counts))
	for w := range counts {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	return out[:min(len(out), maxValues)]
}
