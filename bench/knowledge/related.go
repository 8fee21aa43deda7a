package main

import (
	"cmp"
	"fmt"
	"slices"
)

// A hit is another claim, and how near it is.
type hit struct {
	id  string
	cos float64
}

// related asks how many of a claim's ten nearest claims are about its topic.
func related(g *graph) error {
	const near = 10
	topic := map[string]string{}
	size := map[string]int{}
	var ids []string
	for _, e := range g.Edges {
		topic[e.From] = e.To
		size[e.To]++
		ids = append(ids, e.From)
	}
	slices.Sort(ids)
	var found, chance, asked, right float64
	var strange, own []float64
	for _, id := range ids {
		others := size[topic[id]] - 1
		if others == 0 {
			continue
		}
		hits := g.nearest(id, ids)
		for i := int(asked) % 97; i < len(hits); i += 97 {
			if topic[hits[i].id] == topic[id] {
				own = append(own, hits[i].cos)
			} else {
				strange = append(strange, hits[i].cos)
			}
		}
		n := 0.0
		for _, h := range hits[:near] {
			if topic[h.id] == topic[id] {
				n++
			}
		}
		asked++
		found += n / float64(min(others, near))
		right += n / near
		chance += near * float64(others) / float64(len(ids)-1) / float64(min(others, near))
	}
	fmt.Printf("\nRelated claims: %.0f claims, %d topics\n\n", asked, len(size))
	fmt.Println("| of the ten nearest | embedder | chance |")
	fmt.Println("|---|---|---|")
	fmt.Printf("| share that is about the same topic | %.3f | %.3f |\n", right/asked, mean(size, len(ids)))
	fmt.Printf("| found of the topic's other claims (of ten at the most) | %.3f | %.3f |\n", found/asked, chance/asked)
	fmt.Println("\n| cosine of two claims | 5 % | half | 95 % | 99 % |")
	fmt.Println("|---|---|---|---|---|")
	spread("of one topic", own)
	spread("of different topics", strange)
	return nil
}

func spread(name string, v []float64) {
	slices.Sort(v)
	at := func(q float64) float64 { return v[int(q*float64(len(v)-1))] }
	fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f |\n", name, at(0.05), at(0.5), at(0.95), at(0.99))
}

// nearest are all other claims, the nearest first.
func (g *graph) nearest(id string, ids []string) []hit {
	hits := make([]hit, 0, len(ids))
	for _, o := range ids {
		if o != id {
			hits = append(hits, hit{o, cosine(g.vecs[id], g.vecs[o])})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.cos, a.cos), cmp.Compare(a.id, b.id)) })
	return hits
}

// mean is the chance that any other claim is about the same topic.
func mean(size map[string]int, all int) float64 {
	sum := 0.0
	for _, n := range size {
		sum += float64(n) * float64(n-1) / float64(all-1)
	}
	return sum / float64(all)
}
