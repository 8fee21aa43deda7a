package main

import (
	"context"
	"errors"
	"fmt"

	"lore/internal/graph"
	"lore/internal/index"
)

// A question is asked about sample k of a place.
type question struct {
	name string
	ask  func(ctx context.Context, p *place, k int) error
}

func edgesOf(hop graph.Hop) func(context.Context, *place, int) error {
	return func(ctx context.Context, p *place, k int) error {
		_, err := graph.Edges(ctx, p.store, []string{p.path(p.nodes[k])}, hop, false)
		return err
	}
}

func around(depth int, hop graph.Hop, hub bool) func(context.Context, *place, int) error {
	return func(ctx context.Context, p *place, k int) error {
		at := p.nodes[k]
		if hub {
			at = p.hubs[0]
		}
		_, err := graph.Around(ctx, p.store, p.path(at), depth, 100, hop)
		return err
	}
}

func way(pairs func(*place) [][2]int, found bool) func(context.Context, *place, int) error {
	return func(ctx context.Context, p *place, k int) error {
		pair := pairs(p)[k]
		edges, err := graph.Way(ctx, p.store, p.path(pair[0]), p.path(pair[1]), 30, graph.Hop{Links: true})
		if !found && errors.Is(err, graph.ErrFar) {
			return nil
		}
		if err == nil && found != (len(edges) > 0) {
			err = fmt.Errorf("way of %d steps from %d to %d", len(edges), pair[0], pair[1])
		}
		return err
	}
}

func tell(name, args string) func(context.Context, *place, int) error {
	return func(ctx context.Context, p *place, k int) error { return p.call(ctx, name, args) }
}

func tellOf(name, args string, of func(p *place, k int) string) func(context.Context, *place, int) error {
	return func(ctx context.Context, p *place, k int) error {
		return p.call(ctx, name, fmt.Sprintf(args, of(p, k)))
	}
}

func sample(p *place, k int) string { return p.id(p.nodes[k]) }
func hub(p *place, _ int) string    { return p.id(p.hubs[0]) }

// constant are the questions whose answer is as large in every vault.
func constant() []question {
	all, links, cites := graph.Hop{}, graph.Hop{Links: true}, graph.Hop{Types: []string{"CITES"}}
	return []question{
		{"edges of a node", edgesOf(all)},
		{"edges of a node, one type", edgesOf(cites)},
		{"edges of a node, and its links", edgesOf(links)},
		{"around a node, 1 step", around(1, all, false)},
		{"around a node, 2 steps", around(2, all, false)},
		{"around a node, 2 steps, one type", around(2, cites, false)},
		{"around a node, 2 steps, and links", around(2, links, false)},
		{"way of 2 to 4 steps", way(func(p *place) [][2]int { return p.apart }, true)},
		{"edge by its id", func(ctx context.Context, p *place, k int) error {
			_, err := graph.Find(ctx, p.store, p.edge(p.nodes[k], 1))
			return err
		}},
		{"names of an id", func(ctx context.Context, p *place, k int) error {
			_, err := p.store.Names(ctx, index.NameQuery{Keys: []string{p.id(p.nodes[k])}})
			return err
		}},
		{"get_node by id", tellOf("get_node", `{"node_id":%q}`, sample)},
		{"get_node by title", tellOf("get_node", `{"node_id":%q}`, func(p *place, k int) string { return p.name(p.nodes[k]) })},
		{"get_neighbourhood, 2 steps", tellOf("get_neighbourhood", `{"node_id":%q,"depth":2}`, sample)},
		{"list_nodes", tell("list_nodes", `{}`)},
		{"list_nodes by confidence", tell("list_nodes", `{"sort":"confidence"}`)},
		{"list_nodes by modified", tell("list_nodes", `{"sort":"modified"}`)},
		{"list_nodes by title", tell("list_nodes", `{"sort":"title"}`)},
		{"list_nodes, a type", tell("list_nodes", `{"types":["claim"]}`)},
		{"list_nodes, a type, by confidence", tell("list_nodes", `{"types":["claim"],"sort":"confidence"}`)},
		{"list_nodes, a type, by modified", tell("list_nodes", `{"types":["claim"],"sort":"modified"}`)},
		{"list_nodes, three types", tell("list_nodes", `{"types":["claim","person","event"]}`)},
		{"list_nodes, three types, by confidence", tell("list_nodes", `{"types":["claim","person","event"],"sort":"confidence"}`)},
		{"list_nodes, no such type", tell("list_nodes", `{"types":["ghost"]}`)},
		{"list_nodes, confidence 0.4 to 0.6", tell("list_nodes", `{"min_confidence":0.4,"max_confidence":0.6}`)},
		{"list_nodes, confidence 0.4 to 0.6, by confidence", tell("list_nodes", `{"min_confidence":0.4,"max_confidence":0.6,"sort":"confidence"}`)},
		{"list_nodes, confidence 0.995 to 1 (none)", tell("list_nodes", `{"min_confidence":0.995}`)},
		{"list_nodes, a type, confidence to 0.1", tell("list_nodes", `{"types":["claim"],"max_confidence":0.1}`)},
		{"list_nodes, a type, confidence to 0.1, by confidence", tell("list_nodes", `{"types":["claim"],"max_confidence":0.1,"sort":"confidence"}`)},
		{"list_nodes, prefix of one id", tellOf("list_nodes", `{"prefix":%q}`, sample)},
		{"list_nodes, prefix of a type", tell("list_nodes", `{"prefix":"clm-"}`)},
		{"list_nodes, prefix of files and no id", tell("list_nodes", `{"prefix":"thought"}`)},
		{"a type of relation is in use", func(ctx context.Context, p *place, _ int) error {
			_, err := p.store.Relations(ctx, index.RelationQuery{Types: []string{"CITES"}, Limit: 1})
			return err
		}},
	}
}

// growing are the questions about a hub, whose relations grow with the vault,
// and the way that does not exist.
func growing() []question {
	return []question{
		{"edges of the hub", func(ctx context.Context, p *place, _ int) error {
			_, err := graph.Edges(ctx, p.store, []string{p.path(p.hubs[0])}, graph.Hop{}, false)
			return err
		}},
		{"get_node of the hub", tellOf("get_node", `{"node_id":%q}`, hub)},
		{"get_neighbourhood of the hub, 1 step", tellOf("get_neighbourhood", `{"node_id":%q}`, hub)},
		{"get_neighbourhood of the hub, 2 steps", tellOf("get_neighbourhood", `{"node_id":%q,"depth":2}`, hub)},
		{"no way, links too", way(func(p *place) [][2]int { return p.severed }, false)},
	}
}
