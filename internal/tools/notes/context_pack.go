package notes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// ContextPack: Gather the best passages for a question, also from linked notes,
// with citations.
type ContextPack struct {
	// What you want to know.
	Question string `json:"question"`
	// Max bytes of text.
	Budget int `json:"budget,omitempty" default:"6000" min:"200" max:"100000"`
	// Only notes in this folder.
	Folder string `json:"folder,omitempty"`
}

// Help is the text for people.
func (ContextPack) Help() tool.Help {
	return tool.Help{
		Short: "Gather the best passages for a question, with citations",
		Long:  "Takes passages from matching notes and from the notes linked to them, up to a budget. Useful for pasting into another program.",
		Flags: map[string]string{
			"budget": "maximum number of bytes",
			"folder": "only notes in this folder",
		},
		Examples: []string{
			`"why does green tea get bitter"`,
			`"how much caffeine is in matcha" --budget 2000`,
		},
	}
}

// Pack is a set of passages that together fit a budget, best first.
type Pack struct {
	Passages []PackPassage `json:"passages"`
	// Context describes the folders of the notes; it does not count for the budget.
	Context []FolderContext `json:"context,omitempty"`
	// Bytes of the passages.
	Bytes  int `json:"bytes"`
	Budget int `json:"budget"`
	// LeftOut counts matching passages that did not fit the budget.
	LeftOut int `json:"left_out"`
	// Mode of the search that was used.
	Mode string `json:"mode"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	Hints   []string         `json:"hints,omitempty"`
	Index   index.Freshness  `json:"index"`
}

// PackPassage is one passage with its source.
type PackPassage struct {
	// Citation is path#heading, as a reader should quote it.
	Citation string  `json:"citation"`
	Path     string  `json:"path"`
	Title    string  `json:"title"`
	Heading  string  `json:"heading,omitempty"`
	Line     int     `json:"line"`
	Text     string  `json:"text"`
	Score    float64 `json:"score,omitempty"`
	// Via names the note that links to it, when the question did not match it.
	Via string `json:"via,omitempty"`
	// Cut says that the passage is truncated.
	Cut bool `json:"cut,omitempty"`
}

// How a pack is made.
const (
	packHits    = 15 // notes that the search gives
	packSources = 5  // of them, whose links are followed
	packMost    = 40 // neighbours that are looked into
	packShare   = 70 // percent of the budget for what the search found, when there are neighbours
)

// Run searches, follows the links of the best notes, and packs.
func (in ContextPack) Run(ctx context.Context, env Env) (Pack, error) {
	folders, err := toolkit.Folder(ctx, env.Vault, env.Store, in.Folder)
	if err != nil {
		return Pack{}, err
	}
	filter := index.Filter{Folders: folders}
	q, err := env.Search.Parse(in.Question)
	if err != nil {
		return Pack{}, fault.Rename(err, "query", "question")
	}
	a, err := env.Search.Ask(ctx, q, search.Options{Limit: packHits, Filter: filter, Partial: env.Fresh(ctx).Partial})
	if err != nil {
		return Pack{}, err
	}
	out := Pack{Passages: []PackPassage{}, Budget: in.Budget, Mode: string(a.Mode), Unknown: a.Unknown, Hints: a.Notes, Index: env.Fresh(ctx)}
	var found []PackPassage
	for _, h := range a.Hits {
		if strings.TrimSpace(h.Passage) == "" {
			continue
		}
		found = append(found, passage(h.Path, h.Title, h.Heading, h.Line, h.Passage, toolkit.Round(h.Score)))
	}
	near, err := env.neighbors(ctx, q, a.Hits, filter)
	if err != nil {
		return Pack{}, err
	}
	share := in.Budget
	if len(near) > 0 {
		share = in.Budget * packShare / 100
	}
	rest := out.fill(found, share)
	near = out.fill(near, in.Budget)
	rest = out.fill(rest, in.Budget)
	out.LeftOut = len(near) + len(rest)
	var paths []string
	for _, p := range out.Passages {
		paths = append(paths, p.Path)
	}
	out.Context, err = env.contextOf(ctx, paths)
	return out, err
}

func passage(path, title, heading string, line int, text string, score float64) PackPassage {
	p := PackPassage{Citation: path, Path: path, Title: title, Heading: heading, Line: line, Text: text, Score: score}
	if heading != "" {
		p.Citation += "#" + heading
	}
	return p
}

// fill adds passages as long as they fit, and returns those that do not. The
// very first one is cut rather than left out.
func (p *Pack) fill(list []PackPassage, budget int) (rest []PackPassage) {
	for _, x := range list {
		if room := budget - p.Bytes; len(x.Text) > room {
			if len(p.Passages) > 0 {
				rest = append(rest, x)
				continue
			}
			for room > 0 && !utf8.RuneStart(x.Text[room]) {
				room--
			}
			x.Text, x.Cut = x.Text[:room], true
		}
		p.Bytes += len(x.Text)
		p.Passages = append(p.Passages, x)
	}
	return rest
}

// neighbors are the passages that fit the question best in notes that are
// linked with the best hits, those with the most words of the question first.
// The conditions of the question hold for them too.
func (env Env) neighbors(ctx context.Context, q search.Query, hits []search.Hit, filter index.Filter) ([]PackPassage, error) {
	via, paths, err := env.around(ctx, hits)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	conditions := q.Conditions()
	filter.Kinds, filter.And = []index.Kind{index.KindNote}, &conditions
	rows, err := env.Store.Notes(ctx, index.Select{Paths: paths, Filter: filter})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var ids []int64
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	fits, err := env.Search.Fitting(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	var list []search.Fit
	for _, id := range ids {
		if f, ok := fits[id]; ok && f.Score > 0 {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b search.Fit) int { return -cmp.Compare(a.Score, b.Score) })
	var out []PackPassage
	for _, f := range list {
		p := passage(f.Path, f.Title, f.Heading, f.Line, f.Text, 0)
		p.Via = via[f.Path]
		out = append(out, p)
	}
	return out, nil
}

// around lists the notes that are linked with the best hits and are no hits
// themselves, with the hit that led there.
func (env Env) around(ctx context.Context, hits []search.Hit) (via map[string]string, paths []string, err error) {
	via = map[string]string{}
	for _, h := range hits {
		via[h.Path] = ""
	}
	add := func(path, words string) {
		if _, known := via[path]; !known && path != "" && len(paths) < packMost {
			via[path] = words
			paths = append(paths, path)
		}
	}
	for _, h := range hits[:min(packSources, len(hits))] {
		forward, err := graph.Forward(ctx, env.Store, h.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range forward {
			add(l.To, "linked from "+h.Path)
		}
		back, err := graph.Backlinks(ctx, env.Store, h.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range back {
			add(l.From, "links to "+h.Path)
		}
	}
	return via, paths, nil
}

// View lists the passages.
func (p Pack) View() tool.View {
	var v tool.View
	for _, x := range p.Passages {
		v.Items = append(v.Items, tool.Item{
			Title: x.Title, Path: x.Path, Line: x.Line, Detail: strings.Trim(x.Heading+"  "+x.Via, " "), Text: x.Text, Score: x.Score,
		})
	}
	if len(p.Passages) == 0 {
		v.Foot = toolkit.Foot(p.Index, append([]string{"no notes found"}, p.Hints...)...)
		return v
	}
	left := ""
	if p.LeftOut > 0 {
		left = toolkit.Count(p.LeftOut, "more passage") + " did not fit; raise the budget"
	}
	v.Foot = toolkit.Foot(p.Index, append([]string{fmt.Sprintf("%s, %d of %d bytes", toolkit.Count(len(p.Passages), "passage"), p.Bytes, p.Budget), left}, p.Hints...)...)
	return v
}
