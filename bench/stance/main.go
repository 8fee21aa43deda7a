// Command stance measures how well confidence.Node orders the topics and claims
// of a debate graph: claims out of articles, each for or against a topic.
//
// Nobody knows whether a topic is true. So it asks two things that can be
// checked: what the articles that were not shown say (held out), and a truth
// that is planted into the real shape of the graph (planted).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"lore/internal/graph/confidence"
)

// A claim is for or against its topic, and known with a confidence or not.
type claim struct {
	article string
	pro     bool
	sure    *float64
}

// A topic is the claims about it.
type topic []claim

// A system gives a topic a score; higher means rather true.
type system struct {
	name   string
	counts bool // its score is no probability
	score  func(topic) float64
}

func systems() []system {
	return []system{
		{"prior only", false, func(topic) float64 { return node(nil, true) }},
		{"supports minus contradicts", true, func(t topic) float64 {
			n := 0.0
			for _, c := range t {
				n += sign(c.pro)
			}
			return n
		}},
		{"Node, every claim its own source", false, func(t topic) float64 { return node(t, false) }},
		{"Node, an article is a source", false, func(t topic) float64 { return node(t, true) }},
		{"articles for minus articles against", true, votes},
	}
}

// votes gives each article one vote, that of most of its claims.
func votes(t topic) float64 {
	lean := map[string]float64{}
	for _, c := range t {
		lean[c.article] += sign(c.pro)
	}
	n := 0.0
	for _, l := range lean {
		switch {
		case l > 0:
			n++
		case l < 0:
			n--
		}
	}
	return n
}

func node(t topic, grouped bool) float64 {
	var all []confidence.Evidence
	for _, c := range t {
		e := confidence.Evidence{Relation: "contradicts", Incoming: true, NodeConfidence: c.sure}
		if c.pro {
			e.Relation = "supports"
		}
		if grouped {
			e.Source = c.article
		}
		all = append(all, e)
	}
	return confidence.Node(nil, all).New
}

func sign(pro bool) float64 {
	if pro {
		return 1
	}
	return -1
}

func main() {
	path := flag.String("graph", "bench/data/graph/ibm_claim_stance.json", "nodes (id, article) and edges (from, to, type)")
	draws := flag.Int("draws", 1000, "how often to draw")
	flag.Parse()
	topics, err := load(*path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Agreement within an article beyond that between articles: %.2f\n\n", kinship(topics))
	fmt.Println("| held out | AUC of claims | Spearman of topics | log loss | AUC minus the count (95 %) |")
	fmt.Println("|---|---|---|---|---|")
	heldOut(topics, *draws)
	fmt.Println("\n| planted truth | AUC of topics | minus the count (95 %) |")
	fmt.Println("|---|---|---|")
	planted(topics, *draws, false)
	planted(topics, *draws, true)
}

func load(path string) ([]topic, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var g struct {
		Nodes []struct{ ID, Article string }
		Edges []struct{ From, To, Type string }
	}
	if err := json.Unmarshal(b, &g); err != nil {
		return nil, err
	}
	article := map[string]string{}
	for _, n := range g.Nodes {
		article[n.ID] = n.Article
	}
	place := map[string]int{}
	var out []topic
	for _, e := range g.Edges {
		i, ok := place[e.To]
		if !ok {
			i = len(out)
			place[e.To] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], claim{article: article[e.From], pro: e.Type == "supports"})
	}
	return out, nil
}

// kinship is how much more two claims of one article agree than two of
// different articles on the same topic, of what is left to agree: an estimate
// of the correlation within a source.
func kinship(topics []topic) float64 {
	var same, sameAgree, other, otherAgree float64
	for _, t := range topics {
		for i, a := range t {
			for _, b := range t[:i] {
				agree := 0.0
				if a.pro == b.pro {
					agree = 1
				}
				if a.article == b.article {
					same, sameAgree = same+1, sameAgree+agree
				} else {
					other, otherAgree = other+1, otherAgree+agree
				}
			}
		}
	}
	return (sameAgree/same - otherAgree/other) / (1 - otherAgree/other)
}

// heldOut shows each system half of the articles of each topic and asks about
// the claims of the others. Every draw takes other topics and other halves.
func heldOut(topics []topic, draws int) {
	list := systems()
	auc, rho, loss := table(list, draws), table(list, draws), table(list, draws)
	r := rand.New(rand.NewPCG(1, 2))
	for d := range draws {
		var shown, hidden []topic
		for range topics {
			a, b := halves(topics[r.IntN(len(topics))], r)
			if len(a) > 0 && len(b) > 0 {
				shown, hidden = append(shown, a), append(hidden, b)
			}
		}
		for s, sys := range list {
			var pos, neg, scores, shares []float64
			total, n := 0.0, 0.0
			for i, t := range shown {
				score, pro := sys.score(t), 0.0
				for _, c := range hidden[i] {
					n++
					if c.pro {
						pos, pro = append(pos, score), pro+1
						total -= math.Log(score)
					} else {
						neg = append(neg, score)
						total -= math.Log(1 - score)
					}
				}
				scores, shares = append(scores, score), append(shares, pro/float64(len(hidden[i])))
			}
			auc[s][d], rho[s][d], loss[s][d] = area(pos, neg), spearman(scores, shares), total/n
		}
	}
	for s, sys := range list {
		l := fmt.Sprintf("%.3f", mean(loss[s]))
		if sys.counts {
			l = ""
		}
		fmt.Printf("| %s | %.3f | %.3f | %s | %s |\n", sys.name, mean(auc[s]), mean(rho[s]), l, against(auc, s))
	}
}

// halves divides the claims of a topic by a coin for each article.
func halves(t topic, r *rand.Rand) (a, b topic) {
	side := map[string]bool{}
	for _, c := range t {
		first, ok := side[c.article]
		if !ok {
			first = r.IntN(2) == 0
			side[c.article] = first
		}
		if first {
			a = append(a, c)
		} else {
			b = append(b, c)
		}
	}
	return a, b
}

// planted keeps topics, articles and how many claims each has, and draws the
// rest: a truth for each topic; how reliable an article is, 0.4 to 0.9; whether
// it leans to the truth; and nine of ten of its claims follow its lean.
func planted(topics []topic, draws int, told bool) {
	list := systems()
	auc := table(list, draws)
	r := rand.New(rand.NewPCG(3, 4))
	for d := range draws {
		pos, neg := make([][]float64, len(list)), make([][]float64, len(list))
		for _, t := range topics {
			truth := r.IntN(2) == 0
			made := plant(t, truth, told, r)
			for s, sys := range list {
				if truth {
					pos[s] = append(pos[s], sys.score(made))
				} else {
					neg[s] = append(neg[s], sys.score(made))
				}
			}
		}
		for s := range list {
			auc[s][d] = area(pos[s], neg[s])
		}
	}
	what := "reliability unknown"
	if told {
		what = "reliability stated"
	}
	for s, sys := range list {
		fmt.Printf("| %s: %s | %.3f | %s |\n", what, sys.name, mean(auc[s]), against(auc, s))
	}
}

func plant(t topic, truth, told bool, r *rand.Rand) topic {
	type source struct {
		lean bool
		sure float64
	}
	sources := map[string]*source{}
	made := slices.Clone(t)
	for i, c := range made {
		s := sources[c.article]
		if s == nil {
			s = &source{lean: truth, sure: 0.4 + 0.5*r.Float64()}
			if r.Float64() > s.sure {
				s.lean = !truth
			}
			sources[c.article] = s
		}
		made[i].pro = s.lean == (r.Float64() < 0.9)
		if told {
			made[i].sure = &s.sure
		}
	}
	return made
}
