// Command quality measures how well search finds what it should, on public
// retrieval sets: plain FTS5 as the floor, then each mode of Lore's search, and
// how sure the difference is.
//
// A set is a folder with notes/*.md, queries.tsv (id, text) and qrels.tsv (id,
// path below notes/ without .md, gain), or one file of lines of JSON, which is
// unpacked into such a folder.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/embed"
	"lore/internal/embed/bert"
	"lore/internal/embed/builtin"
	"lore/internal/event"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/search"
	"lore/internal/vault"
)

func main() {
	data := flag.String("data", "bench/data/ir", "folder of the sets")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "lore-bench-quality"), "where indexes are kept between runs")
	only := flag.String("sets", "", "names of sets, separated by commas; all when empty")
	modes := flag.String("modes", "fts5,lexical,semantic,hybrid", "what to measure")
	weights := flag.String("weights", "", "weights that differ from the default, as JSON: {\"Linked\": 0}")
	threads := flag.Int("threads", runtime.GOMAXPROCS(0), "cores to embed with")
	file := flag.String("model", "", "model file to embed with; the built-in one when empty")
	ranks := flag.String("ranks", "", "file for the first hundred notes of every question, to compare two versions")
	flag.Parse()
	ctx := context.Background()
	var model embed.Model = builtin.New()
	if *file != "" {
		raw, err := os.ReadFile(*file)
		if err != nil {
			log.Fatal(err)
		}
		if model, err = bert.Load(string(raw), bert.Options{}); err != nil {
			log.Fatal(err)
		}
	}
	w := search.DefaultWeights()
	if *weights != "" {
		if err := json.Unmarshal([]byte(*weights), &w); err != nil {
			log.Fatal(err)
		}
	}
	if err := unpackAll(*data, filepath.Join(*cache, "unpacked")); err != nil {
		log.Fatal(err)
	}
	var sets []string
	for _, below := range []string{*data, filepath.Join(*cache, "unpacked", filepath.Base(*data))} {
		found, _ := filepath.Glob(filepath.Join(below, "*", "queries.tsv")) // the pattern is a good one
		sets = append(sets, found...)
	}
	if len(sets) == 0 {
		log.Fatalf("no sets below %s", *data)
	}
	if *ranks != "" {
		f, err := os.Create(*ranks)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		report = f
	}
	fmt.Println("| set | system | nDCG@10 | MRR@10 | recall@10 | all@10 | nDCG minus FTS5 (95 %) |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, q := range sets {
		dir := filepath.Dir(q)
		if *only != "" && !slices.Contains(strings.Split(*only, ","), filepath.Base(dir)) {
			continue
		}
		if err := measure(ctx, dir, *cache, strings.Split(*modes, ","), model, *threads, w); err != nil {
			log.Fatal(err)
		}
	}
}

// report gets the notes that every question found.
var report io.Writer = io.Discard

// A set is one retrieval test.
type set struct {
	name    string
	queries map[string]string
	gains   map[string]map[string]int
}

func load(dir string) (*set, error) {
	s := &set{name: filepath.Base(dir), queries: map[string]string{}, gains: map[string]map[string]int{}}
	err := lines(filepath.Join(dir, "queries.tsv"), func(f []string) {
		s.queries[f[0]] = f[1]
	})
	if err != nil {
		return nil, err
	}
	err = lines(filepath.Join(dir, "qrels.tsv"), func(f []string) {
		gain, _ := strconv.Atoi(f[2])
		if gain > 0 {
			if s.gains[f[0]] == nil {
				s.gains[f[0]] = map[string]int{}
			}
			s.gains[f[0]][f[1]] = gain
		}
	})
	return s, err
}

func lines(path string, use func([]string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		use(strings.SplitN(sc.Text(), "\t", 3))
	}
	return sc.Err()
}

func measure(ctx context.Context, dir, cache string, modes []string, model embed.Model, threads int, w search.Weights) error {
	s, err := load(dir)
	if err != nil {
		return err
	}
	vectors := slices.Contains(modes, "semantic") || slices.Contains(modes, "hybrid")
	store, err := build(ctx, filepath.Join(dir, "notes"), filepath.Join(cache, s.name), model, threads, vectors)
	if err != nil {
		return err
	}
	defer store.Close()
	plain, err := newPlain(filepath.Join(dir, "notes"))
	if err != nil {
		return err
	}
	defer plain.close()
	searcher := &search.Searcher{Store: store, Model: model, Weights: w, Now: time.Now}
	base := map[string]score{}
	for _, mode := range modes {
		scores := map[string]score{}
		for _, id := range slices.Sorted(maps.Keys(s.queries)) {
			text := s.queries[id]
			var got []string
			if mode == "fts5" {
				got, err = plain.find(text)
			} else {
				got, err = find(ctx, searcher, text, search.Mode(mode))
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", s.name, id, err)
			}
			fmt.Fprintln(report, s.name, mode, id, strings.Join(got, " "))
			scores[id] = judge(got, s.gains[id])
		}
		if mode == "fts5" {
			base = scores
		}
		m := mean(scores)
		diff := ""
		if mode != "fts5" && len(base) > 0 {
			d, lo, hi := bootstrap(scores, base)
			diff = fmt.Sprintf("%+.4f [%+.4f, %+.4f]", d, lo, hi)
		}
		fmt.Printf("| %s | %s | %.4f | %.4f | %.4f | %.4f | %s |\n", s.name, mode, m.ndcg, m.mrr, m.recall, m.all, diff)
	}
	return nil
}

// build indexes the notes and gives them vectors, or finds that done.
func build(ctx context.Context, notes, dir string, model embed.Model, threads int, vectors bool) (*sqlite.Store, error) {
	v, err := vault.Open(notes, vault.Options{})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	store, _, err := sqlite.Open(ctx, dir, time.Now)
	if err != nil {
		return nil, err
	}
	if _, err := index.New(v, store, index.Options{}).Sync(ctx); err != nil {
		return nil, err
	}
	if !vectors {
		return store, nil
	}
	e := index.Embedder{Store: store, Model: model, Threads: func() int { return threads }, Bus: event.NewBus(), Now: time.Now}
	_, err = e.Run(ctx)
	return store, err
}

// find asks as a person would who types the question: the marks of the query
// language are taken out of it, because these questions know nothing of them.
func find(ctx context.Context, s *search.Searcher, text string, mode search.Mode) ([]string, error) {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"“”„[]:`, r) {
			return ' '
		}
		return r
	}, text)
	a, err := s.Find(ctx, text, search.Options{Mode: mode, Limit: 100})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range a.Hits {
		out = append(out, strings.TrimSuffix(h.Path, ".md"))
	}
	return out, nil
}

type score struct{ ndcg, mrr, recall, all float64 }

func judge(got []string, gains map[string]int) score {
	var s score
	ideal := slices.SortedFunc(maps.Values(gains), func(a, b int) int { return cmp.Compare(b, a) })
	best := 0.0
	for i, g := range ideal[:min(10, len(ideal))] {
		best += (math.Exp2(float64(g)) - 1) / math.Log2(float64(i+2))
	}
	hits := 0
	for i, p := range got[:min(10, len(got))] {
		g := gains[p]
		if g == 0 {
			continue
		}
		hits++
		s.ndcg += (math.Exp2(float64(g)) - 1) / math.Log2(float64(i+2))
		if s.mrr == 0 {
			s.mrr = 1 / float64(i+1)
		}
	}
	s.ndcg /= best
	s.recall = float64(hits) / float64(len(gains))
	if hits == len(gains) {
		s.all = 1
	}
	return s
}

func mean(scores map[string]score) score {
	var m score
	n := float64(len(scores))
	for _, s := range scores {
		m.ndcg += s.ndcg / n
		m.mrr += s.mrr / n
		m.recall += s.recall / n
		m.all += s.all / n
	}
	return m
}

// bootstrap draws the questions again and again, to see how much the mean
// difference depends on which ones were asked.
func bootstrap(a, b map[string]score) (diff, lo, hi float64) {
	var d []float64
	for _, id := range slices.Sorted(maps.Keys(a)) {
		d = append(d, a[id].ndcg-b[id].ndcg)
		diff += d[len(d)-1] / float64(len(a))
	}
	r := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, 4000)
	for i := range means {
		for range d {
			means[i] += d[r.IntN(len(d))]
		}
		means[i] /= float64(len(d))
	}
	slices.Sort(means)
	return diff, means[len(means)*25/1000], means[len(means)*975/1000]
}
