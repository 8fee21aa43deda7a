package work_test

import (
	"context"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/work"
)

func open(p tooltest.Place) []*tool.Tool {
	return work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now, Result: result})
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

// result is one that was too long for somebody.
func result(_ context.Context, id string) (string, error) {
	if id != "run-1/2" {
		return "", fault.New(fault.NotFound, "there is no result %s", id)
	}
	return strings.Repeat("täglich Tee\n", 20), nil
}
