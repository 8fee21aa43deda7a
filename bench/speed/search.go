package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lore/internal/embed/vector"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/search"
)

// questions are made from the titles and passages of the vault itself: two to
// five words that stand near each other, as people remember them.
func questions(ctx context.Context, s index.Store, n int) ([]string, error) {
	rows, err := s.Notes(ctx, index.Select{Limit: 20000})
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(7, 7))
	var out []string
	for len(out) < n {
		row := rows[r.IntN(len(rows))]
		ps, err := s.Passages(ctx, index.PassageQuery{IDs: []int64{row.ID}})
		if err != nil {
			return nil, err
		}
		if len(ps) == 0 {
			continue
		}
		ws, _ := index.Phrase(ps[r.IntN(len(ps))].Text)
		k := 2 + r.IntN(4)
		if len(ws) < k+1 {
			continue
		}
		at := r.IntN(len(ws) - k)
		out = append(out, strings.Join(ws[at:at+k], " "))
	}
	return out, nil
}

func compareSearch(vault, dir string) error {
	ctx := context.Background()
	if err := indexOnce(vault, filepath.Join(dir, "index")); err != nil {
		return err
	}
	s, _, err := sqlite.Open(ctx, filepath.Join(dir, "index"), time.Now)
	if err != nil {
		return err
	}
	defer s.Close()
	qs, err := questions(ctx, s, 200)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+sqlite.Path(filepath.Join(dir, "index"))+"?mode=ro&_pragma=cache_size(-16384)")
	if err != nil {
		return err
	}
	defer db.Close()
	searcher := &search.Searcher{Store: s, Now: time.Now}
	var plain, ours, ratio []float64
	for _, q := range qs {
		a, err := fastest(3, func() error { return plainQuery(db, q) })
		if err != nil {
			return err
		}
		b, err := fastest(3, func() error {
			_, err := searcher.Find(ctx, q, search.Options{Mode: search.Lexical})
			return err
		})
		if err != nil {
			return err
		}
		plain, ours, ratio = append(plain, ms(a)), append(ours, ms(b)), append(ratio, b.Seconds()/a.Seconds())
	}
	fmt.Println("| 200 questions, best of 3 each | p50 ms | p95 ms | worst |")
	fmt.Println("|---|---|---|---|")
	fmt.Printf("| plain FTS5, words joined by OR, ten rows | %.2f | %.2f | %.2f |\n", at(plain, 50), at(plain, 95), at(plain, 100))
	fmt.Printf("| Lore, lexical, with excerpts | %.2f | %.2f | %.2f |\n", at(ours, 50), at(ours, 95), at(ours, 100))
	fmt.Printf("| ratio of the percentiles | %.2f | %.2f | %.2f |\n", at(ours, 50)/at(plain, 50), at(ours, 95)/at(plain, 95), at(ours, 100)/at(plain, 100))
	fmt.Printf("| ratio, question by question | %.2f | %.2f | %.2f |\n", at(ratio, 50), at(ratio, 95), at(ratio, 100))
	return nil
}

// plainQuery is what a program would do that has the same table and no more.
func plainQuery(db *sql.DB, q string) error {
	var terms []string
	words, _ := index.Phrase(q)
	for _, w := range words {
		terms = append(terms, `"`+w+`"`)
	}
	rows, err := db.Query(`SELECT h.rowid, n.path, n.title FROM (
	  SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 2, 1, 0.5, 1, 1) LIMIT 10) h JOIN notes n ON n.id = h.rowid`, strings.Join(terms, " OR "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var path, title string
		if err := rows.Scan(&id, &path, &title); err != nil {
			return err
		}
	}
	return rows.Err()
}

func fastest(n int, f func() error) (time.Duration, error) {
	best := time.Hour
	for range n {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

func at(values []float64, percent int) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[min(len(s)-1, len(s)*percent/100)]
}

func compareVectors() error {
	const rows, dim = 100_000, 384
	r := rand.New(rand.NewPCG(1, 1))
	m := vector.NewMatrix(dim)
	m.Grow(rows)
	bytes := make([]uint64, rows*dim/8)
	q := make([]float32, dim)
	v := make([]float32, dim)
	for range rows {
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		m.Append(v)
	}
	for j := range q {
		q[j] = float32(r.NormFloat64())
	}
	for i := range bytes {
		bytes[i] = r.Uint64()
	}
	var sum uint64
	read, _ := fastest(30, func() error {
		var a, b, c, d uint64
		for i := 0; i+4 <= len(bytes); i += 4 {
			a += bytes[i]
			b += bytes[i+1]
			c += bytes[i+2]
			d += bytes[i+3]
		}
		sum += a + b + c + d
		return nil
	})
	scan, err := fastest(30, func() error {
		if len(m.Top(q, 20, nil)) != 20 {
			return fmt.Errorf("lost rows")
		}
		return nil
	})
	fmt.Println("| 100,000 vectors of 384 int8 | ms, best of 30 |")
	fmt.Println("|---|---|")
	fmt.Printf("| read the bytes (sum of words, one core) | %.2f |\n", ms(read))
	fmt.Printf("| the 20 nearest, exact (all cores) | %.2f |\n", ms(scan))
	fmt.Printf("| ratio | %.2f |\n", scan.Seconds()/read.Seconds())
	_ = sum
	return err
}
