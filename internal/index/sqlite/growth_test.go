package sqlite

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	engine "modernc.org/sqlite"

	"lore/internal/index"
)

// A meter counts the pages that the connections to one index looked at, in
// memory or not. It is as exact as a query plan, and sees what a plan does not
// say: how far a walk goes.
type meter struct {
	dir   string
	mu    sync.Mutex
	conns []engine.DBStatus
}

var meters sync.Map // of folders

var hooked = sync.OnceFunc(func() {
	engine.RegisterConnectionHook(func(c engine.ExecQuerierContext, dsn string) error {
		path, err := url.PathUnescape(dsn)
		if err != nil {
			return err
		}
		meters.Range(func(dir, m any) bool {
			if strings.Contains(path, dir.(string)) {
				m := m.(*meter)
				m.mu.Lock()
				defer m.mu.Unlock()
				m.conns = append(m.conns, c.(engine.DBStatus))
			}
			return true
		})
		return nil
	})
})

func (m *meter) pages(t *testing.T) int {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := 0
	for _, c := range m.conns {
		for _, op := range []engine.DBStatusOp{engine.DBStatusCacheHit, engine.DBStatusCacheMiss} {
			n, _, err := c.Status(op, false)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// grown is an index of n nodes of three types: three relations and a link lead
// from each to others near it. Titles go the other way round than paths, and the
// nodes of one type lie together, as in the folders that nodes are made in.
func grown(t *testing.T, n int) (*Store, *meter) {
	t.Helper()
	hooked()
	dir := t.TempDir()
	m := &meter{dir: dir}
	meters.Store(dir, m)
	t.Cleanup(func() { meters.Delete(dir) })
	s, _ := openAt(t, dir)
	name := func(i int) string { return fmt.Sprintf("thought %05d", i%n) }
	var docs []index.Document
	for i := range n {
		typ := []string{"Claim", "Person", "Überzeugung"}[i%3]
		sure := float64(i*37%100) / 100
		d := index.Document{
			File: index.File{Path: fmt.Sprintf("%s/%s.md", typ, name(i)), ModTime: int64(i) * 1e9, Size: 100, Hash: index.HashOf([]byte(name(i)))},
			Kind: index.KindNote, Title: fmt.Sprintf("T %05d", n-i), Type: typ, Node: fmt.Sprintf("id-%05d", i), Sure: &sure, Words: 3, Lines: 3, Body: "one two three",
			Chunks: []index.Chunk{{Text: "one two three", Hash: index.HashOf([]byte(name(i)))}},
		}
		for k := range 3 {
			d.Relations = append(d.Relations, index.Relation{Type: []string{"CITES", "SUPPORTS", "CAUSES"}[k], Kind: "wiki", Target: name(i + k + 1), ID: fmt.Sprintf("rel-%d-%d", i, k), Start: k, End: k + 1})
		}
		d.Links = []index.Link{{From: d.Path, Kind: "wiki", Target: name(i + 5), Start: 9, End: 10}}
		docs = append(docs, d)
	}
	if err := s.Apply(t.Context(), index.Batch{Put: docs}); err != nil {
		t.Fatal(err)
	}
	if err := s.Optimize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, m
}

func asks() map[string]func(context.Context, *Store) (int, error) {
	half, less, most := 0.5, 0.2, 0.995
	claims, three := []string{"claim"}, []string{"Person", "überzeugung", "CLAIM"}
	list := func(sel index.Select) func(context.Context, *Store) (int, error) {
		return func(ctx context.Context, s *Store) (int, error) {
			sel.Filter.Kinds, sel.Limit = []index.Kind{index.KindNote}, 21
			rows, err := s.Notes(ctx, sel)
			return len(rows), err
		}
	}
	relations := func(q index.RelationQuery) func(context.Context, *Store) (int, error) {
		return func(ctx context.Context, s *Store) (int, error) {
			found, err := s.Relations(ctx, q)
			return len(found), err
		}
	}
	names := func(q index.NameQuery) func(context.Context, *Store) (int, error) {
		return func(ctx context.Context, s *Store) (int, error) {
			found, err := s.Names(ctx, q)
			return len(found), err
		}
	}
	out := map[string]func(context.Context, *Store) (int, error){
		"relations from":             relations(index.RelationQuery{From: []string{"Claim/thought 00300.md", "Person/thought 00301.md"}}),
		"relations from, of a type":  relations(index.RelationQuery{From: []string{"Claim/thought 00300.md"}, Types: []string{"CITES"}}),
		"relations to":               relations(index.RelationQuery{To: []string{"thought 00300", "thought 00200"}}),
		"relations to, of a type":    relations(index.RelationQuery{To: []string{"thought 00300", "thought 00200", "thought 00100"}, Types: []string{"CITES"}}),
		"relations by id":            relations(index.RelationQuery{IDs: []string{"rel-300-1"}}),
		"one relation of a type":     relations(index.RelationQuery{Types: []string{"CITES"}, Limit: 1}),
		"one relation of no type":    relations(index.RelationQuery{Types: []string{"MOVES"}, Limit: 1}),
		"names":                      names(index.NameQuery{Keys: []string{"id-00300", "thought 00300"}}),
		"ids that begin so":          names(index.NameQuery{Prefix: "id-", Kind: index.NameNode, Limit: 21}),
		"ids that begin as files do": names(index.NameQuery{Prefix: "thought", Kind: index.NameNode, Limit: 21}),
		"notes by path": func(ctx context.Context, s *Store) (int, error) {
			rows, err := s.Notes(ctx, index.Select{Paths: []string{"Claim/thought 00300.md", "Person/thought 00301.md"}})
			return len(rows), err
		},
		"links": func(ctx context.Context, s *Store) (int, error) {
			from, err := s.Links(ctx, index.LinkQuery{From: []string{"Claim/thought 00300.md"}})
			if err != nil {
				return 0, err
			}
			to, err := s.Links(ctx, index.LinkQuery{To: []string{"thought 00300"}, Untyped: true})
			return len(from) + len(to), err
		},
		"types": func(ctx context.Context, s *Store) (int, error) {
			counts, err := s.Facets(ctx, index.FacetType, index.Filter{Kinds: []index.Kind{index.KindNote}})
			return len(counts), err
		},
	}
	for _, o := range []index.Order{index.ByPath, index.BySure, index.ByModified, index.ByTitle} {
		for what, f := range map[string]index.Filter{
			"all":               {Typed: true},
			"a type":            {Types: claims},
			"three types":       {Types: three},
			"no such type":      {Types: []string{"ghost"}},
			"sure":              {Typed: true, MinSure: &half},
			"a type, sure":      {Types: claims, MinSure: &half},
			"three types, sure": {Types: three, MinSure: &less, MaxSure: &half},
			"too sure":          {Typed: true, MinSure: &most},
			"a type, too sure":  {Types: claims, MinSure: &most},
		} {
			out[fmt.Sprintf("nodes by %q: %s", o, what)] = list(index.Select{Filter: f, Order: o})
		}
	}
	return out
}

// A question whose answer is as long in a vault eight times as large may look at
// few pages more, because trees grow a level, and not at eight times as many.
func TestQuestionsCostWhatTheyTouch(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills large stores, which the race detector makes slow")
	}
	t.Parallel()
	small, of := grown(t, 1000)
	large, than := grown(t, 8000)
	for name, ask := range asks() {
		cost := func(s *Store, m *meter) (pages, rows int) {
			for range 3 { // the first times, questions are prepared
				before := m.pages(t)
				n, err := ask(t.Context(), s)
				if err != nil {
					t.Fatal(name, err)
				}
				pages, rows = m.pages(t)-before, n
			}
			return pages, rows
		}
		less, want := cost(small, of)
		more, got := cost(large, than)
		if got != want {
			t.Errorf("%s: %d rows, and %d in the large vault", name, want, got)
		}
		if less == 0 {
			t.Errorf("%s: no page was counted", name)
		}
		if more > 2*less+10 {
			t.Errorf("%s: %d pages for %d rows in a small vault, %d in a large one", name, less, want, more)
		}
	}
}

// A page of nodes is the part of the whole list that it says.
func TestNodePages(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills large stores, which the race detector makes slow")
	}
	t.Parallel()
	s := openTemp(t)
	var docs []index.Document
	for i := range 2 * few {
		d := index.Document{
			File: index.File{Path: fmt.Sprintf("%d/%d.md", i*7%10, i), ModTime: int64(i * 31 % 50)}, Kind: index.KindNote,
			Title: []string{"tea", "Tea", "Äpfel", "äpfel", "zoo"}[i%5], Type: []string{"Claim", "claim", "Überzeugung", "überzeugung", "Person", ""}[i%6],
		}
		if i%11 == 0 {
			d.Kind = index.KindCanvas
		}
		if sure := float64(i*17%20) / 20; i%4 > 0 {
			d.Sure = &sure
		}
		docs = append(docs, d)
	}
	if err := s.Apply(t.Context(), index.Batch{Put: docs}); err != nil {
		t.Fatal(err)
	}
	low, high := 0.3, 0.7
	for range 2 {
		for _, f := range []index.Filter{
			{Typed: true}, {Types: []string{"CLAIM"}}, {Types: []string{"ÜBERZEUGUNG"}}, {Types: []string{"person", "claim", "Person"}}, {Types: []string{"ghost"}},
			{Typed: true, MinSure: &low}, {Types: []string{"claim", "überzeugung"}, MinSure: &low, MaxSure: &high}, {Typed: true, MaxSure: &low, Types: []string{"person"}},
			{Types: []string{"claim"}, Folders: []string{"3"}}, {Types: []string{"claim"}, And: &index.Filter{Types: []string{"person"}}},
			{Types: []string{"claim"}, Untyped: true}, {Types: []string{"", "person"}},
		} {
			for _, f.Kinds = range [][]index.Kind{nil, {index.KindNote}, {index.KindCanvas}} {
				checkPages(t, s, f)
			}
		}
		if err := s.Optimize(t.Context()); err != nil { // there are indexes for them from now on
			t.Fatal(err)
		}
	}
}

func checkPages(t *testing.T, s *Store, f index.Filter) {
	t.Helper()
	for _, o := range []index.Order{index.ByPath, index.BySure, index.ByModified, index.ByTitle, index.BySize} {
		all, err := s.Notes(t.Context(), index.Select{Filter: f, Order: o})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, 7, 2 * few} {
			got, err := s.Notes(t.Context(), index.Select{Filter: f, Order: o, Limit: 9, Offset: at})
			if err != nil {
				t.Fatal(err)
			}
			want := all[min(at, len(all)):min(at+9, len(all))]
			if paths(got) != paths(want) {
				t.Errorf("%+v by %q from %d:\n got %s\nwant %s", f, o, at, paths(got), paths(want))
			}
		}
	}
}

func paths(rows []index.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.File.Path + " ")
	}
	return b.String()
}
