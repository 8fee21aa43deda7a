package knowledge_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/knowledge"
)

func open(p tooltest.Place) []*tool.Tool {
	return knowledge.Tools(knowledge.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Folder: "Nodes"})
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
