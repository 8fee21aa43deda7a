package notes_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
)

func open(p tooltest.Place) []*tool.Tool {
	return notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now})
}

func TestTools(t *testing.T) { tooltest.Run(t, open) }

// TestPriceForModels keeps the default toolset cheap: every client sends it
// with every question.
func TestPriceForModels(t *testing.T) {
	total, each := tooltest.Tokens(t, open(tooltest.Place{}))
	t.Log(total, each)
	if total > 1800 {
		t.Errorf("the tools cost %d tokens together, 1800 is the limit: %v", total, each)
	}
}
