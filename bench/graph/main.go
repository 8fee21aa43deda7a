// Command graph measures what questions about a knowledge graph cost in vaults
// that grow, and by how much they cost more in the largest:
//
//	graph [-sizes 1000,10000,100000] [-samples 50] [-only WORDS] [DIR]
//	graph files N DIR    writes the vault of N nodes as files
//
// The vaults are made up, the same every time, and put into real indexes on
// disk in DIR, which are used again when they are there. Pages are those of
// SQLite that one question looked at, in memory or not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	sizes := flag.String("sizes", "1000,10000,100000", "nodes of the vaults, separated by commas")
	samples := flag.Int("samples", 50, "nodes to ask about in each vault")
	only := flag.String("only", "", "ask only questions whose names contain this")
	flag.Parse()
	if err := run(flag.Args(), *sizes, *samples, *only); err != nil {
		log.Fatal(err)
	}
}

func run(args []string, sizes string, samples int, only string) (err error) {
	if len(args) == 3 && args[0] == "files" {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return newWorld(n).write(args[2], all)
	}
	dir := ""
	if len(args) > 0 {
		dir = args[0]
	} else {
		if dir, err = os.MkdirTemp("", "lore-graph-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ctx := context.Background()
	var places []*place
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		p, err := open(ctx, filepath.Join(dir, s), n, samples)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.close()) }()
		if p.filled > 0 {
			log.Printf("%d nodes indexed in %.1f s", n, p.filled.Seconds())
		}
		places = append(places, p)
	}
	fmt.Println("The answer is as large in every vault:")
	if err := table(ctx, places, constant(), samples, only); err != nil {
		return err
	}
	fmt.Println("\nThe answer, or what it stands on, grows with the vault:")
	return table(ctx, places, growing(), min(samples, 10), only)
}

// table asks every question of every vault in turn, so that noise meets all
// alike.
func table(ctx context.Context, places []*place, questions []question, samples int, only string) error {
	head, rule := "| question |", "|---|"
	for _, p := range places {
		head += fmt.Sprintf(" %d: p50 µs | p95 | pages |", p.n)
		rule += "---|---|---|"
	}
	fmt.Printf("\n%s p50, last to first | pages, last to first |\n%s---|---|\n", head, rule)
	for _, q := range questions {
		if !strings.Contains(q.name, only) {
			continue
		}
		took, pages := make([][]time.Duration, len(places)), make([][]int, len(places))
		for k := range samples {
			for i, p := range places {
				d, n, err := once(ctx, p, q, k)
				if err != nil {
					return fmt.Errorf("%s, %d nodes: %w", q.name, p.n, err)
				}
				took[i], pages[i] = append(took[i], d), append(pages[i], n)
			}
		}
		row := "| " + q.name + " |"
		for i := range places {
			slices.Sort(took[i])
			slices.Sort(pages[i])
			row += fmt.Sprintf(" %d | %d | %d |", middle(took[i]).Microseconds(), took[i][len(took[i])*95/100].Microseconds(), middle(pages[i]))
		}
		last := len(places) - 1
		fmt.Printf("%s %.2f | %.2f |\n", row, float64(middle(took[last]))/float64(middle(took[0])), float64(middle(pages[last]))/float64(max(1, middle(pages[0]))))
	}
	return nil
}

func middle[T any](sorted []T) T { return sorted[len(sorted)/2] }

// once asks a question three times and takes the best time; the pages are those
// of the last.
func once(ctx context.Context, p *place, q question, k int) (best time.Duration, pages int, err error) {
	for i := range 3 {
		before, start := p.pages.read(), time.Now()
		if err := q.ask(ctx, p, k); err != nil {
			return 0, 0, err
		}
		took := time.Since(start)
		pages = p.pages.read() - before
		if i == 0 || took < best {
			best = took
		}
		if took > time.Second {
			break
		}
	}
	return best, pages, nil
}
