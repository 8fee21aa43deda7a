package find_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/find"
)

func open(p tooltest.Place) []*tool.Tool {
	return find.Tools(find.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh})
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
