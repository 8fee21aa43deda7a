package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/index"
)

// names adds points to the notes that are called exactly what was asked.
func (r *run) names(ctx context.Context) error {
	key := index.Key(strings.Trim(r.q.Text, `?!.,"' `))
	if key == "" || len(key) > 200 {
		return nil
	}
	found, err := r.s.Store.Names(ctx, index.NameQuery{Keys: []string{key}})
	if err != nil {
		return err
	}
	return r.addNamed(ctx, found, func(h *Hit, n index.Name) {
		h.add("name", r.w.Name, "its name is %q", n.Key)
	})
}

// addNamed makes hits of named files that pass the filter, each once.
func (r *run) addNamed(ctx context.Context, found []index.Name, add func(*Hit, index.Name)) error {
	if len(found) == 0 {
		return nil
	}
	name := map[string]index.Name{}
	var paths []string
	for _, n := range found {
		if _, ok := name[n.Path]; !ok {
			name[n.Path] = n
			paths = append(paths, n.Path)
		}
	}
	filter := r.filter
	if len(filter.Kinds) == 0 {
		filter.Kinds = []index.Kind{index.KindNote, index.KindCanvas}
	}
	rows, err := r.s.Store.Notes(ctx, index.Select{Paths: paths, Filter: filter})
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b index.Row) int {
		return slices.Index(paths, a.File.Path) - slices.Index(paths, b.File.Path)
	})
	for _, row := range rows {
		add(r.hit(row.ID, row.File.Path), name[row.File.Path])
	}
	return nil
}

// links adds a ranking of the notes that the best notes link to or mention by
// name. A question often names one note and asks for what another one says.
func (r *run) links(ctx context.Context) error {
	if r.w.Linked == 0 || len(r.order) == 0 {
		return nil
	}
	r.sort()
	sources := slices.Clone(r.order[:min(r.w.Sources, len(r.order))])
	best := sources[0].Score
	if best <= 0 {
		return nil
	}
	got := map[string]*gift{}
	var order []index.Name
	for _, src := range sources {
		names, err := r.linked(ctx, src)
		if err != nil {
			return err
		}
		for _, n := range names {
			if n.Path == src.Path {
				continue
			}
			g := got[n.Path]
			if g == nil {
				g = &gift{from: src.Path}
				got[n.Path] = g
				order = append(order, n)
			}
			g.points += src.Score / best * spread(len(names))
		}
	}
	slices.SortStableFunc(order, func(a, b index.Name) int { return -cmp.Compare(got[a.Path].points, got[b.Path].points) })
	order = order[:min(len(order), r.w.Depth)]
	return r.addNamed(ctx, order, func(h *Hit, n index.Name) {
		g := got[n.Path]
		h.add("link", r.w.Linked*min(1, g.points), "linked or mentioned by %s", g.from)
	})
}

// A gift is what a note gets from the notes that link to it.
type gift struct {
	points float64
	from   string
}

// spread is how much of its points a note gives to each of the notes it links
// to: a note that links to many says little about each.
func spread(links int) float64 { return min(1, math.Sqrt(4/float64(max(1, links)))) }

// linked lists what a note links to and which notes its text mentions.
func (r *run) linked(ctx context.Context, src *Hit) ([]index.Name, error) {
	links, err := r.s.Store.Links(ctx, index.LinkQuery{From: []string{src.Path}, Limit: 100})
	if err != nil {
		return nil, err
	}
	passages, err := r.s.Store.Passages(ctx, index.PassageQuery{IDs: []int64{src.id}})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, l := range links {
		if l.Target != "" {
			keys = append(keys, index.TargetKey(l.Target))
		}
	}
	own := len(keys)
	for _, p := range passages[:min(len(passages), 3)] {
		keys = append(keys, mentions(p.Text)...)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	names, err := r.s.Store.Names(ctx, index.NameQuery{Keys: keys})
	if err != nil {
		return nil, err
	}
	of := map[string][]index.Name{}
	for _, n := range names {
		of[n.Key] = append(of[n.Key], n)
	}
	var out []index.Name
	for _, l := range links {
		key := index.TargetKey(l.Target)
		if p, ok := index.Resolve(l.From, l.Kind, l.Target, of[key]); ok && l.Target != "" {
			out = append(out, index.Name{Key: key, Path: p})
		}
	}
	for _, k := range keys[own:] {
		// A name that several notes share says nothing about which is meant.
		if ns := of[k]; len(ns) > 0 && !slices.ContainsFunc(ns, func(n index.Name) bool { return n.Path != ns[0].Path }) {
			out = append(out, ns[0])
		}
	}
	return out, nil
}

// maxMention is how many words the name of a note may have to be recognised in
// a text.
const maxMention = 6

// mentions lists the runs of words in a text that could be names: they begin
// with a capital or a digit, and are at least two words, or one long one that
// does not merely begin a sentence.
func mentions(text string) []string {
	type word struct {
		text       string
		start, end int
	}
	var words []word
	eachWord(text, func(w string, start, end int) { words = append(words, word{w, start, end}) })
	var out []string
	seen := map[string]bool{}
	for i, w := range words {
		first, _ := utf8.DecodeRuneInString(w.text)
		if !unicode.IsUpper(first) && !unicode.IsDigit(first) {
			continue
		}
		for n := 1; n <= maxMention && i+n <= len(words); n++ {
			last := words[i+n-1]
			if n > 1 && strings.ContainsAny(text[words[i+n-2].end:last.start], ".!?\n\"“”|[]") && !initial(words[i+n-2].text) {
				break
			}
			if n == 1 && (len(w.text) < 4 || stopWords[strings.ToLower(w.text)]) {
				continue
			}
			// Brackets belong to names such as "Heat (film)".
			end := last.end
			if strings.HasPrefix(text[end:], ")") && strings.Contains(text[w.start:end], "(") {
				end++
			}
			if k := index.Key(text[w.start:end]); !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	return out
}

// initial reports whether a word before a full stop is an initial.
func initial(w string) bool { return utf8.RuneCountInString(w) <= 2 }

// similar forgives a typing mistake in a name: when a word of the question
// occurs in no note, the names most like the question are looked at.
func (r *run) similar(ctx context.Context) error {
	if r.o.Mode == Semantic || len(r.q.Words) == 0 || len(r.q.Words) > 8 {
		return nil
	}
	unknown, err := r.unknownWords(ctx)
	if err != nil || len(unknown) == 0 {
		return err
	}
	for _, w := range unknown {
		names, err := r.s.Store.Names(ctx, index.NameQuery{Like: w, Limit: 30})
		if err != nil {
			return err
		}
		var close []index.Name
		var meant string
		for _, n := range names {
			if word, ok := likeness(w, n.Key); ok {
				close = append(close, n)
				meant = cmp.Or(meant, word)
			}
		}
		if len(close) > 0 {
			r.note("%s contains %q; showing notes with names like %q", r.noNote(), w, meant)
		}
		rank := 0
		err = r.addNamed(ctx, close, func(h *Hit, n index.Name) {
			h.add("name", r.w.Similar/float64(1+rank), "its name %q is similar to %q", n.Key, w)
			rank++
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownWords are the words of the question that occur in no note at all.
func (r *run) unknownWords(ctx context.Context) ([]string, error) {
	var out []string
	for _, w := range content(r.q.Words) {
		w = strings.TrimFunc(w, notInWord)
		if utf8.RuneCountInString(w) < 5 { // every short word is like many others
			continue
		}
		found, err := r.s.Store.Match(ctx, index.Match{All: []index.Term{{Words: []string{w}}}, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			out = append(out, w)
		}
	}
	return out, nil
}

// likeness reports whether a name, or a word of it, is what someone who typed
// the word may have meant.
func likeness(word, name string) (string, bool) {
	word = index.Key(word)
	allowed := 1
	if utf8.RuneCountInString(word) >= 8 {
		allowed = 2
	}
	if distance(word, name) <= allowed {
		return name, true
	}
	for _, w := range strings.FieldsFunc(name, notLetter) {
		if distance(word, w) <= allowed {
			return w, true
		}
	}
	return "", false
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between two words.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > 3 || d < -3 {
		return 4 // no one asks for more
	}
	two := make([]int, len(y)+1)
	one := make([]int, len(y)+1)
	row := make([]int, len(y)+1)
	for j := range one {
		one[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(one[j]+cost, one[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(y)]
}
