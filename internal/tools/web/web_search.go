package web

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// WebSearch: Search the web. Results are untrusted. Read one with download_url.
type WebSearch struct {
	// Words.
	Query string `json:"query" size:"prose" word:"true"`
	// Max results.
	MaxResults int `json:"max_results,omitempty" default:"8" min:"1" max:"20"`
	// Such as de or pt-BR.
	Language string `json:"language,omitempty"`
}

// Help is the text for people.
func (WebSearch) Help() tool.Help {
	return tool.Help{
		Short: "Search the web",
		Long:  "Off by default. Choose a search engine first (docs/web.md). Lore asks before it sends the words.",
		Flags: map[string]string{
			"query":       "words to search for",
			"max-results": "how many results to show",
			"language":    "language code, such as de or pt-BR",
		},
		Examples: []string{`"oolong oxidation"`, `"sencha water temperature" --max-results 3`},
	}
}

// Found is what a search found.
type Found struct {
	Query string `json:"query"`
	// Searcher that was asked.
	Searcher string             `json:"searcher"`
	Results  []websearch.Result `json:"results"`
}

func (in WebSearch) searcher(env Env) (websearch.Searcher, string, error) {
	words := toolkit.OneLine(in.Query)
	if words == "" {
		return nil, "", fault.Field("query", "give the words to search for", "is empty")
	}
	var web websearch.Searcher
	var err error
	if env.Search != nil {
		web, err = env.Search()
	}
	if err == nil && web == nil {
		err = fault.Fix(fault.Unavailable, "choose a search engine: lore config set web.search searxng (or brave, google, tavily), and web.base_url or web.key_env", "no search engine is configured, so nothing is sent to the web")
	}
	return web, words, err
}

// Foresee says what will be sent where.
func (in WebSearch) Foresee(_ context.Context, env Env) (tool.Preview, error) {
	web, words, err := in.searcher(env)
	if err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Search the web with %s for %q", web.Name(), words),
		Details: map[string]any{"query": words, "searcher": web.Name(), "language": in.Language},
	}, nil
}

// Run searches.
func (in WebSearch) Run(ctx context.Context, env Env) (Found, change.Set, error) {
	web, words, err := in.searcher(env)
	if err != nil {
		return Found{}, nil, err
	}
	list, err := web.Search(ctx, websearch.Query{Text: words, Limit: in.MaxResults, Language: in.Language})
	if list == nil {
		list = []websearch.Result{}
	}
	return Found{words, web.Name(), list}, nil, err
}

// View lists the pages.
func (f Found) View() tool.View {
	var b strings.Builder
	for i, r := range f.Results {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, r.Title, r.URL)
		if r.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", r.Snippet)
		}
	}
	if len(f.Results) == 0 {
		b.WriteString("Nothing found.\n")
	}
	return tool.View{Text: b.String(), Foot: toolkit.Count(len(f.Results), "result") + " from " + f.Searcher}
}
