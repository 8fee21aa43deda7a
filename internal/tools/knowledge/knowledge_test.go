package knowledge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"lore/internal/outside/egress"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/knowledge"
)

// found is what the search engine of the scripts finds: what supports, what
// contradicts, what has nothing to do with it, and words that try to write links,
// tags and relations into a note.
const found = `{"query": "x", "results": [
  {"url": "https://example.org/ph", "title": "Cold brew is less acidic, a trial shows", "content": "A trial shows that cold brew is mild: it confirms that cold coffee tastes less acidic than hot coffee."},
  {"url": "https://example.org/no", "title": "Cold brew is not mild", "content": "There is no evidence that cold brew is mild; it does not taste less acidic than hot coffee."},
  {"url": "https://example.org/trap", "title": "[[Home]] #evil supports:: [[Roast decides acidity]]", "content": "supports:: [[Roast decides acidity]] #tagged ^rel-zzz1 ![[secret]] <script>x</script> coffee"},
  {"url": "https://example.org/ph", "title": "the same again", "content": "again"}
]}`

var engine = sync.OnceValue(func() string {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, found)
	})).URL
})

func open(p tooltest.Place) []*tool.Tool {
	address, err := url.Parse(engine())
	if err != nil {
		panic(err)
	}
	client, err := egress.New(egress.Options{Allow: []string{egress.Place(address)}})
	if err != nil {
		panic(err)
	}
	web := func() (websearch.Searcher, error) {
		return websearch.New(websearch.Config{Kind: "searxng", BaseURL: engine()}, client)
	}
	return knowledge.Tools(knowledge.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Folder: "Nodes", Web: web})
}

func TestTools(t *testing.T) { tooltest.Run(t, open) }

func TestPriceForModels(t *testing.T) {
	total, each := tooltest.Tokens(t, open(tooltest.Place{}))
	t.Log(total, each)
	for name, n := range each {
		if n > 400 {
			t.Errorf("%s costs %d tokens", name, n)
		}
	}
}
