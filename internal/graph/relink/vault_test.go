package relink_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/note"
)

// A tree is a vault in memory: what files hold, by path.
type tree map[string]string

// A bench is a store that one tree after the other is put into.
type bench struct {
	store index.Store
	known []string
}

func newBench(t testing.TB) *bench {
	t.Helper()
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &bench{store: s}
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// put makes the store know exactly the files of v.
func (b *bench) put(t fataler, v tree) {
	t.Helper()
	batch := index.Batch{Drop: b.known}
	b.known = nil
	for _, p := range slices.Sorted(maps.Keys(v)) {
		batch.Put = append(batch.Put, document(p, v[p]))
		b.known = append(b.known, p)
	}
	if err := b.store.Apply(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
}

func document(p, text string) index.Document {
	f := index.File{Path: p, Size: int64(len(text)), Hash: index.HashOf([]byte(text))}
	switch path.Ext(p) {
	case ".md", ".markdown":
		return index.NewDocument(f, index.KindNote, note.Parse(p, []byte(text)))
	case ".canvas":
		return index.NewDocument(f, index.KindCanvas, note.ParseCanvas(p, []byte(text)))
	}
	return index.NewAttachment(f, index.KindAttachment)
}

// planner plans over v.
func (b *bench) planner(v tree) *relink.Planner {
	return &relink.Planner{Store: b.store, Read: func(_ context.Context, p string) (string, error) {
		text, ok := v[p]
		if !ok {
			return "", fault.New(fault.NotFound, "%q does not exist", p)
		}
		return text, nil
	}}
}

// apply does what a set says to a copy of v.
func (v tree) apply(t fataler, set change.Set) tree {
	t.Helper()
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	out := maps.Clone(v)
	for _, e := range set {
		from := e.Path
		if e.From != "" {
			from = e.From
		}
		if e.Before != nil && out[from] != *e.Before {
			t.Fatalf("%s is not what the edit says", from)
		}
		text := out[from]
		if _, taken := out[e.Path]; taken && e.From != "" {
			t.Fatalf("%s exists", e.Path)
		}
		delete(out, from)
		if e.After != nil {
			text = *e.After
		}
		if e.After != nil || e.Before == nil {
			out[e.Path] = text
		}
	}
	return out
}

// names are those of every file of v.
func (v tree) names() map[string][]index.Name {
	out := map[string][]index.Name{}
	for _, p := range slices.Sorted(maps.Keys(v)) {
		d := document(p, v[p])
		for _, n := range index.NamesOf(p, d.Kind, d.Title, "", d.Aliases) {
			out[n.Key] = append(out[n.Key], n)
		}
	}
	for _, ns := range out {
		slices.SortStableFunc(ns, func(a, b index.Name) int { return int(a.Kind) - int(b.Kind) })
	}
	return out
}

func parse(p, text string) *note.Note {
	switch path.Ext(p) {
	case ".md", ".markdown":
		return note.Parse(p, []byte(text))
	case ".canvas":
		return note.ParseCanvas(p, []byte(text))
	}
	return note.Parse(p, nil)
}

// check wants that links mean after the moves what they meant before, that only
// those were rewritten of which this would not be true, and that no other byte
// changed. Files whose links the plan skipped are only looked at for the bytes.
func check(t fataler, was, now tree, moves []relink.Move, plan relink.Plan) {
	t.Helper()
	follow := map[string]string{}
	for _, m := range moves {
		follow[m.From] = m.To
	}
	later := func(p string) string {
		if q, ok := follow[p]; ok {
			return q
		}
		return p
	}
	skipped := map[string]bool{}
	for _, s := range plan.Skipped {
		skipped[s.Path] = true
	}
	if len(was) != len(now) {
		t.Fatalf("%d files became %d", len(was), len(now))
	}
	before, after := was.names(), now.names()
	for p, text := range was {
		q := later(p)
		a, b := parse(p, text), parse(q, now[q])
		if len(a.Links) != len(b.Links) {
			t.Fatalf("%s: %d links became %d:\n%s\n---\n%s", p, len(a.Links), len(b.Links), text, now[q])
		}
		if x, y := outside(a, text), outside(b, now[q]); x != y {
			t.Fatalf("%s: bytes outside of links changed:\n%q\n%q", p, x, y)
		}
		for i, l := range a.Links {
			m := b.Links[i]
			if l.External || l.Target == "" || skipped[p] || l.Definition && !used(a, l.Target) {
				continue
			}
			to, ok := index.Resolve(p, string(l.Kind), l.Target, before[index.TargetKey(l.Target)])
			if !ok {
				if m.Target != l.Target {
					t.Fatalf("%s: the broken link %q became %q", p, l.Target, m.Target)
				}
				continue
			}
			got, _ := index.Resolve(q, string(m.Kind), m.Target, after[index.TargetKey(m.Target)])
			if got != later(to) {
				t.Fatalf("%s: the link %q (%s) meant %s; in %s it is %q and means %q, not %s\nmoves %v", p, l.Target, l.Kind, to, q, m.Target, got, later(to), moves)
			}
			unwritten, _ := index.Resolve(q, string(l.Kind), l.Target, after[index.TargetKey(l.Target)])
			lost := pathLost(a, l, p, to, q, later(to))
			if unwritten == later(to) && m.Target != l.Target && !lost {
				t.Fatalf("%s: the link %q would have been right, and became %q", p, l.Target, m.Target)
			}
			if lost && m.Target == l.Target {
				t.Fatalf("%s: the link %q was a path to %s, and is none any more", p, l.Target, to)
			}
		}
	}
}

// used reports whether a link takes a target from a definition. The index does
// not know definitions that nothing uses.
func used(n *note.Note, target string) bool {
	return slices.ContainsFunc(n.Links, func(l note.Link) bool { return l.Dest == (note.Span{}) && l.Target == target })
}

// pathLost reports whether a Markdown link was the path to its file and is not
// any more, whatever name it would be found by.
func pathLost(n *note.Note, l note.Link, from, to, place, now string) bool {
	if l.Kind != note.Markdown && (l.Kind != note.Embed || strings.HasPrefix(n.Text()[l.Span.Start:], "![[")) {
		return false
	}
	if strings.HasPrefix(l.Target, "/") {
		return false // it leads nowhere else by itself
	}
	is := func(from, to string) bool {
		have := index.Key(path.Join(path.Dir(from), l.Target))
		return have == index.Key(to) || have == index.Key(path.Dir(to))
	}
	root := index.Key(strings.TrimSuffix(l.Target, "/"))
	if is(from, to) {
		return !is(place, now)
	}
	return strings.Contains(root, "/") && (root == index.Key(to) || root == index.Key(path.Dir(to))) && root != index.Key(now) && root != index.Key(path.Dir(now)) && !is(place, now)
}

// outside is a text with a mark in place of every target.
func outside(n *note.Note, text string) string {
	var b strings.Builder
	at := 0
	links := slices.Clone(n.Links)
	slices.SortFunc(links, func(x, y note.Link) int { return x.Dest.Start - y.Dest.Start })
	for _, l := range links {
		if l.Dest.Len() == 0 || l.Dest.Start < at {
			continue
		}
		b.WriteString(text[at:l.Dest.Start])
		b.WriteByte(0)
		at = l.Dest.End
	}
	return b.String() + text[at:]
}

func show(v tree) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(v)) {
		fmt.Fprintf(&b, "-- %s --\n%s\n", p, v[p])
	}
	return b.String()
}
