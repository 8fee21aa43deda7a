package search

import (
	"cmp"
	"context"
	"math/bits"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/index"
)

// Spellings holds every name of a vault and finds those that differ from a word
// by a typing mistake. It answers as [Near] does, for callers that ask often.
type Spellings struct {
	list []spelling
}

// A spelling is a name, or one word of it.
type spelling struct {
	text   string
	path   string
	length int
	set    uint64 // which characters it has
	part   bool
}

// LoadSpellings reads the names of all files.
func LoadSpellings(ctx context.Context, s index.Store) (*Spellings, error) {
	names, err := s.Names(ctx, index.NameQuery{})
	if err != nil {
		return nil, err
	}
	out := &Spellings{}
	for i, n := range names {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		out.add(n.Key, n.Path, false)
		if words := strings.FieldsFunc(n.Key, notLetter); len(words) > 1 {
			for _, w := range words {
				out.add(w, n.Path, true)
			}
		}
	}
	return out, nil
}

func (s *Spellings) add(text, path string, part bool) {
	s.list = append(s.list, spelling{text, path, utf8.RuneCountInString(text), letters(text), part})
}

// letters is a set of the characters of a word; several may share a place.
func letters(s string) uint64 {
	var set uint64
	for _, r := range s {
		set |= 1 << (uint(r) % 64)
	}
	return set
}

// Near returns the files that someone who wrote the name may have meant, most
// likely first.
func (s *Spellings) Near(name string) []string { return s.near(name, false) }

// Misspelt is [Spellings.Near] for a whole name: one that resembles a word of a
// longer name does not count.
func (s *Spellings) Misspelt(name string) []string { return s.near(name, true) }

func (s *Spellings) near(name string, whole bool) []string {
	word := index.Key(path.Base(strings.TrimSuffix(name, "/")))
	length, set := utf8.RuneCountInString(word), letters(word)
	if length < 3 {
		return nil
	}
	allowed := 1
	if length >= 8 {
		allowed = 2
	}
	type near struct {
		path string
		dist int
	}
	var found []near
	for i := range s.list {
		e := &s.list[i]
		// Each mistake changes at most two members of the set.
		if e.part && whole || abs(e.length-length) > allowed || bits.OnesCount64(e.set^set) > 2*allowed {
			continue
		}
		d := distance(word, e.text)
		if d > allowed {
			continue
		}
		if e.part {
			d += 3 // a whole name is a better guess than a word of one
		}
		found = append(found, near{e.path, d})
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(a.dist-b.dist, strings.Compare(a.path, b.path)) })
	var out []string
	for _, f := range found {
		if !slices.Contains(out, f.path) && len(out) < 10 {
			out = append(out, f.path)
		}
	}
	return out
}

func abs(n int) int { return max(n, -n) }
