// Command knowledge measures the judgements about nodes and relations that need
// no language model: which type a relation has (cue), which notes are duplicates
// and which are related (the built-in embedder).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"lore/internal/embed"
	"lore/internal/embed/builtin"
)

func main() {
	graph := flag.String("graph", "bench/data/graph/ibm_claim_stance.json", "nodes (id, text, split of topics) and edges (from, to, type)")
	pairs := flag.String("pairs", "bench/data/graph/pairs_stackexchange.json", "pairs of texts (a, b, label)")
	split := flag.String("split", "test", "topics to judge relations of: train or test")
	parts := flag.String("parts", "relations,duplicates,related", "what to measure; also ordinary")
	notes := flag.String("notes", "bench/data/vaults/mdn-css", "a folder of notes, for ordinary")
	flag.Parse()
	g, err := loadGraph(*graph)
	if err != nil {
		log.Fatal(err)
	}
	for part := range strings.SplitSeq(*parts, ",") {
		switch part {
		case "relations":
			err = relations(g, *split)
		case "duplicates":
			err = duplicates(*pairs)
		case "related":
			err = related(g)
		case "ordinary":
			err = ordinary(*notes)
		default:
			err = fmt.Errorf("no part %q", part)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// A node is a topic or a claim.
type node struct{ ID, Text, Split string }

// An edge is a claim about a topic.
type edge struct {
	From, To, Type string
}

type graph struct {
	Nodes []node
	Edges []edge
	byID  map[string]node
	vecs  map[string][]float32 // by id
}

func loadGraph(path string) (*graph, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &graph{byID: map[string]node{}, vecs: map[string][]float32{}}
	if err := json.Unmarshal(b, g); err != nil {
		return nil, err
	}
	texts := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		g.byID[n.ID] = n
		texts[i] = n.Text
	}
	vecs, err := vectors(texts)
	if err != nil {
		return nil, err
	}
	for i, n := range g.Nodes {
		g.vecs[n.ID] = vecs[i]
	}
	return g, nil
}

// vectors embeds texts with the model that every installation has.
func vectors(texts []string) ([][]float32, error) {
	model := builtin.New()
	var out [][]float32
	for from := 0; from < len(texts); from += 64 {
		v, err := model.Embed(context.Background(), embed.Passage, texts[from:min(from+64, len(texts))])
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

func cosine(a, b []float32) float64 {
	sum := float32(0)
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}
