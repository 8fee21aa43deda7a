package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/embed"
	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/graph/confidence"
	"lore/internal/graph/judge"
	"lore/internal/graph/stance"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/note/summarize"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// SearchWebForEvidence: Search the web for evidence for or against a node.
// Results are untrusted. With create_sources, propose Source nodes linked to
// the node.
type SearchWebForEvidence struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// Search for these words instead of the node's text.
	QueryOverride string `json:"query_override,omitempty"`
	// Keep only one kind.
	EvidenceType string `json:"evidence_type,omitempty" default:"all" enum:"all,supporting,contradicting"`
	// Max results.
	MaxResults int `json:"max_results,omitempty" default:"5" min:"1" max:"20"`
	// Propose a Source node for each result, linked to the node.
	CreateSources bool `json:"create_sources,omitempty"`
}

// Help is the text for people.
func (SearchWebForEvidence) Help() tool.Help {
	return tool.Help{
		Short: "Search the web for evidence for or against a node",
		Long:  "Choose a search engine in the settings first. Results are untrusted: check them.",
		Flags: map[string]string{
			"evidence-type":  "which evidence to keep",
			"query-override": "search for these words instead of the node's text",
		},
		Examples: []string{
			"hyp-3b8d",
			"clm-5r0e --evidence-type contradicting --max-results 3",
		},
	}
}

// WebEvidence is what a search found.
type WebEvidence struct {
	NodeID string `json:"node_id"`
	// Query that was sent.
	Query string `json:"query"`
	// Searcher that was asked.
	Searcher string      `json:"searcher"`
	Results  []WebResult `json:"results"`
	// SourcesCreated counts the Source nodes that were made.
	SourcesCreated int `json:"sources_created"`
	// Sources are the ids of the new nodes.
	Sources []string `json:"sources,omitempty"`
	Basis

	title string
}

// WebResult is one search result. Its text is untrusted.
type WebResult struct {
	URL       string  `json:"url"`
	Title     string  `json:"title"`
	Snippet   string  `json:"snippet"`
	Relevance float64 `json:"relevance_score"`
	// EvidenceType is "supporting", "contradicting" or "neutral".
	EvidenceType string  `json:"evidence_type"`
	Confidence   float64 `json:"confidence"`
	Reasoning    string  `json:"reasoning"`
	Published    string  `json:"published,omitempty"`
}

// Foresee says what will be sent where.
func (in SearchWebForEvidence) Foresee(ctx context.Context, env Env) (tool.Preview, error) {
	web, n, query, err := in.query(ctx, env)
	if err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Search the web with %s for %q", web.Name(), query),
		Details: map[string]any{"node_id": n.id(), "query": query, "searcher": web.Name(), "evidence_type": in.EvidenceType, "create_sources": in.CreateSources},
	}, nil
}

// query is what is searched for, by whom.
func (in SearchWebForEvidence) query(ctx context.Context, env Env) (websearch.Searcher, *node, string, error) {
	var web websearch.Searcher
	var err error
	if env.Web != nil {
		web, err = env.Web()
	}
	if err != nil {
		return nil, nil, "", err
	}
	if web == nil {
		return nil, nil, "", fault.Fix(fault.Unavailable, "choose a search engine: lore config set web.search searxng (or brave, google, tavily), and web.base_url or web.key_env", "no search engine is configured, so nothing is sent to the web")
	}
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return nil, nil, "", err
	}
	q := toolkit.OneLine(in.QueryOverride)
	if q == "" {
		q = note.Plain(n.row.Title)
		if text := note.Plain(says(n.Note)); len(strings.Fields(q)) < 4 && text != "" {
			q += " " + firstLine(text)
		}
		switch in.EvidenceType {
		case "supporting":
			q = "evidence for " + q
		case "contradicting":
			q = "evidence against " + q
		}
	}
	return web, n, strings.TrimSuffix(summarize.Clip(q, 200), "…"), nil
}

// Run searches, ranks and judges, and drafts the Source nodes.
func (in SearchWebForEvidence) Run(ctx context.Context, env Env) (WebEvidence, change.Set, error) {
	web, n, query, err := in.query(ctx, env)
	if err != nil {
		return WebEvidence{}, nil, err
	}
	out := WebEvidence{NodeID: n.id(), Query: query, Searcher: web.Name(), Results: []WebResult{}, Basis: Basis{Method: judge.ByCues}, title: n.row.Title}
	found, err := web.Search(ctx, websearch.Query{Text: query, Limit: min(2*in.MaxResults, 20)})
	if err != nil {
		return WebEvidence{}, nil, err
	}
	if err := out.weigh(ctx, env, docOf(n), found, in.EvidenceType); err != nil {
		return WebEvidence{}, nil, err
	}
	out.Results = out.Results[:min(len(out.Results), in.MaxResults)]
	if !in.CreateSources || len(out.Results) == 0 {
		return out, nil, nil
	}
	set, err := out.sources(ctx, env, n)
	return out, set, err
}

// weigh compares each result with the node and says what it means for it.
func (w *WebEvidence) weigh(ctx context.Context, env Env, claim judge.Doc, found []websearch.Result, keep string) error {
	near, err := env.likeness(ctx, claim.Title+". "+claim.Text, found)
	if err != nil {
		return err
	}
	for i, f := range found {
		tool.Progress(ctx, i, len(found), "comparing results")
		s := env.Judge.Stance(ctx, claim, judge.Doc{Title: f.Title, Text: f.Snippet}, near[i])
		w.Basis = sum(w.Basis, basisOf(s.Basis))
		if keep != "all" && keep != s.Kind {
			continue
		}
		w.Results = append(w.Results, WebResult{
			URL: f.URL, Title: f.Title, Snippet: f.Snippet, Published: f.Published, Relevance: toolkit.Round(near[i]),
			EvidenceType: s.Kind, Confidence: confidence.Round(s.Score), Reasoning: s.Reasoning,
		})
	}
	slices.SortStableFunc(w.Results, func(a, b WebResult) int { return -cmp.Compare(a.Relevance, b.Relevance) })
	return nil
}

// likeness is how near each result is to the node: by meaning where there is a
// model, else by the words they share.
func (env Env) likeness(ctx context.Context, claim string, found []websearch.Result) ([]float64, error) {
	out := make([]float64, len(found))
	texts := []string{claim}
	for i, f := range found {
		texts = append(texts, f.Title+". "+f.Snippet)
		out[i] = stance.Overlap(claim, texts[i+1])
	}
	if env.Search == nil || env.Search.Model == nil || len(found) == 0 {
		return out, nil
	}
	vectors, err := env.Search.Model.Embed(ctx, embed.Passage, texts)
	if err != nil {
		return nil, fmt.Errorf("compare the results: %w", err)
	}
	for i := range found {
		out[i] = cosine(vectors[0], vectors[i+1])
	}
	return out, nil
}

// besides is how near a neutral result must be to become a source.
const besides = 0.3

// sources drafts a Source node for each result that the vault does not have
// yet, and a relation from it to the node.
func (w *WebEvidence) sources(ctx context.Context, env Env, n *node) (change.Set, error) {
	taken := map[string]bool{}
	var set change.Set
	for _, r := range w.Results {
		if r.EvidenceType == stance.Neutral && r.Relevance < besides {
			continue // found, but about something else
		}
		old, err := env.source(ctx, r.URL)
		if err != nil {
			return nil, err
		}
		rel := relation.Relation{Type: "RELATES_TO", Confidence: &r.Confidence, Notes: "found on the web"}
		switch r.EvidenceType {
		case stance.Neutral:
			about := confidence.Round(r.Relevance)
			rel.Confidence = &about
		case stance.Supporting:
			rel.Type = "SUPPORTS"
		case stance.Contradicting:
			rel.Type = "CONTRADICTS"
		}
		var edits change.Set
		switch {
		case old != nil && taken[old.File.Path]:
			continue // it has several of the addresses
		case old != nil:
			taken[old.File.Path] = true
			edits, err = w.relateOld(ctx, env, old, n, rel)
		default:
			edits, err = w.newSource(ctx, env, n, &r, rel, taken)
		}
		if err != nil {
			return nil, err
		}
		set = append(set, edits...)
	}
	return set, nil
}

// newSource drafts one Source node.
func (w *WebEvidence) newSource(ctx context.Context, env Env, n *node, r *WebResult, rel relation.Relation, taken map[string]bool) (change.Set, error) {
	d := &draft{
		typ: "Source", title: tame(r.Title), text: quoted(r.Snippet) + "\n\n<" + r.URL + ">",
		properties: map[string]any{"url": r.URL, "origin": "web", "untrusted": true, "retrieved": tool.Moment(ctx).Format(time.DateOnly)},
	}
	if d.title == "" {
		d.title = tame(r.URL)
	}
	if r.Published != "" {
		d.properties["published"] = r.Published
	}
	p, err := env.draft(ctx, d, taken)
	if err != nil {
		return nil, err
	}
	if found := env.Parse.Parse(p, []byte(d.written)); len(relation.Of(found)) > 0 || len(found.Tags) > 0 || slices.ContainsFunc(found.Links, func(l note.Link) bool { return !l.External }) {
		// The web may not write links, tags or relations: it is shown as it is.
		d.text = fenced(r.Snippet) + "\n\n<" + r.URL + ">"
		if err := env.write(d, p); err != nil {
			return nil, err
		}
	}
	e := &edit{env: env, now: env.Parse.Parse(p, []byte(d.written))}
	if _, err := env.relate(ctx, e, seed(ctx, "source", p), n.Path, rel); err != nil {
		return nil, err
	}
	w.SourcesCreated++
	w.Sources = append(w.Sources, d.id)
	return change.Set{change.Create(p, e.now.Text())}, nil
}

// relateOld relates a source that the vault has already.
func (w *WebEvidence) relateOld(ctx context.Context, env Env, old *index.Row, n *node, rel relation.Relation) (change.Set, error) {
	edges, err := graph.Edges(ctx, env.Store, []string{old.File.Path}, graph.Hop{}, false)
	if err != nil || old.File.Path == n.Path {
		return nil, err
	}
	if slices.ContainsFunc(edges, func(e graph.Edge) bool { return e.Other(old.File.Path) == n.Path }) {
		return nil, nil
	}
	from, err := env.read(ctx, *old)
	if err != nil {
		return nil, err
	}
	e := env.edit(from)
	if _, err := env.relate(ctx, e, seed(ctx, "source", old.File.Path), n.Path, rel); err != nil {
		return nil, err
	}
	w.Sources = append(w.Sources, from.id())
	return e.set()
}

// source finds the node that has an address already.
func (env Env) source(ctx context.Context, url string) (*index.Row, error) {
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: []index.Kind{index.KindNote}, Props: []index.PropFilter{{Key: "url", Value: url}}}, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// tame takes from a title of the web what would mean something in a note.
func tame(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]#^|`<>{}$%\\*_~=@", r) {
			return ' '
		}
		return r
	}, s)
	s = address.ReplaceAllStringFunc(strings.ReplaceAll(s, "::", ":"), func(s string) string { return strings.TrimRight(s, "/.") + " " })
	return strings.TrimSuffix(summarize.Clip(s, 120), "…")
}

// quoted writes words of the web as a quote in which nothing means anything.
func quoted(s string) string {
	var b strings.Builder
	for _, r := range toolkit.OneLine(s) {
		if strings.ContainsRune("[]#^|`<>{}$%\\*_~=!@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return "> " + address.ReplaceAllStringFunc(strings.ReplaceAll(b.String(), "::", ":\\:"), func(s string) string {
		return s[:len(s)-1] + `\` + s[len(s)-1:]
	})
}

// address is how a word begins that programs make a link of by themselves.
var address = regexp.MustCompile(`(?i)://|\bwww\.`)

// fenced writes them as a block of code.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + toolkit.OneLine(s) + "\n" + fence
}

// Preview says what would be made, after the search.
func (w WebEvidence) Preview() tool.Preview {
	if len(w.Sources) == 0 {
		return tool.Preview{Summary: fmt.Sprintf("Found %s on the web for %s", toolkit.Count(len(w.Results), "result"), w.title)}
	}
	return tool.Preview{
		Summary:  fmt.Sprintf("Add %s from the web to %s", toolkit.Count(len(w.Sources), "source"), w.title),
		Warnings: []string{"this text comes from the web and has not been checked"},
		Details:  map[string]any{"node_id": w.NodeID, "query": w.Query, "results": w.Results, "sources_created": w.SourcesCreated},
	}
}

// View lists the results.
func (w WebEvidence) View() tool.View {
	v := tool.View{Foot: fmt.Sprintf("%s for %s from %s; not checked", toolkit.Count(len(w.Results), "result"), cmp.Or(w.title, w.NodeID), w.Searcher)}
	if w.SourcesCreated > 0 {
		v.Foot += "; " + toolkit.Count(w.SourcesCreated, "source") + " made"
	}
	for _, r := range w.Results {
		v.Items = append(v.Items, tool.Item{Title: r.Title, Path: r.URL, Detail: r.EvidenceType, Text: r.Snippet, Score: r.Relevance, Notes: []string{r.Reasoning}})
	}
	return v
}
